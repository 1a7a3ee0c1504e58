//! What was done, and when.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::schedule::KINDS;

/// A run this long has met every kind of fault, or the schedule is wrong.
const ALL_KINDS: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Record {
    start: Instant,
    lasts: Duration,
    faults: Mutex<Vec<(Duration, &'static str, String)>>,
}

impl Record {
    pub fn new(lasts: Duration) -> Self {
        Self { start: Instant::now(), lasts, faults: Mutex::default() }
    }

    pub fn note(&self, kind: &'static str, what: String) {
        self.all().push((self.elapsed(), kind, what));
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.start.elapsed().as_millis().try_into().unwrap_or(u64::MAX))
    }

    /// How long faults go on still.
    pub fn left(&self) -> Duration {
        self.lasts.saturating_sub(self.start.elapsed())
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    pub fn faults(&self) -> usize {
        self.all().len()
    }

    pub fn lines(&self) -> Vec<String> {
        self.all().iter().map(|(at, _, what)| format!("{at:?}: {what}")).collect()
    }

    /// How often each kind came.
    pub fn kinds(&self) -> String {
        let counts: Vec<_> = self.counts().into_iter().map(|(kind, times)| format!("{kind} {times}")).collect();
        counts.join(", ")
    }

    /// Kinds that never came, though there was time.
    pub fn missing(&self) -> Vec<String> {
        if self.lasts < ALL_KINDS {
            return Vec::new();
        }
        let never = self.counts().into_iter().filter(|(_, times)| *times == 0);
        never.map(|(kind, _)| format!("no fault of the kind {kind}")).collect()
    }

    fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::from(KINDS.map(|kind| (kind, 0)));
        for (_, kind, _) in self.all().iter() {
            *counts.entry(kind).or_default() += 1;
        }
        counts
    }

    fn all(&self) -> MutexGuard<'_, Vec<(Duration, &'static str, String)>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
