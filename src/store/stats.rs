use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::time::Instant;

/// What a store has seen so far, over all its parts: a copy, taken at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Objects held.
    pub objects: u64,
    /// Parts, with or without a stream.
    pub parts: u64,
    /// Streams that feed it.
    pub streams: u64,
    /// Events taken in, refused ones among them.
    pub events: u64,
    /// Objects added, outside of and by snapshots.
    pub added: u64,
    /// Objects updated.
    pub updated: u64,
    /// Objects deleted.
    pub deleted: u64,
    /// Objects that came again without a change.
    pub unchanged: u64,
    /// Snapshots completed.
    pub snapshots: u64,
    /// Snapshots that were void before they were complete.
    pub voided: u64,
    /// Errors that made it stale.
    pub failures: u64,
    /// Objects that did not decode.
    pub unreadable: u64,
    /// Events that were not taken: out of place, without a name, of a key that another part holds.
    pub refused: u64,
    /// When anything came last.
    pub last_heard: Option<Instant>,
}

macro_rules! meters {
    ($($name:ident),*) => {
        /// Counters, written by the folds and read by anyone.
        #[derive(Debug)]
        pub(super) struct Meters {
            born: Instant,
            heard: AtomicU64,
            $(pub(super) $name: Meter,)*
        }

        impl Meters {
            pub(super) fn new() -> Self {
                Meters { born: Instant::now(), heard: AtomicU64::new(0), $($name: Meter::default(),)* }
            }

            pub(super) fn stats(&self) -> Stats {
                Stats { last_heard: self.last_heard(), $($name: self.$name.0.load(Relaxed),)* ..Stats::default() }
            }
        }
    };
}
meters!(events, added, updated, deleted, unchanged, snapshots, voided, failures, unreadable, refused);

#[derive(Debug, Default)]
pub(super) struct Meter(AtomicU64);

impl Meter {
    pub(super) fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Relaxed);
    }
}

impl Meters {
    /// An event came, to a part whose own time is `part`.
    pub(super) fn heard(&self, part: &AtomicU64) {
        // One more than the time since the store was made, as 0 means never.
        let now = u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX - 1) + 1;
        self.heard.store(now, Relaxed);
        part.store(now, Relaxed);
    }

    pub(super) fn last_heard(&self) -> Option<Instant> {
        self.instant(self.heard.load(Relaxed))
    }

    pub(super) fn instant(&self, heard: u64) -> Option<Instant> {
        let since = std::time::Duration::from_nanos(heard.checked_sub(1)?);
        Some(self.born + since)
    }
}
