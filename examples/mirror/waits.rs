//! The wait that a pipeline is in: a backoff policy that tells what it said.

use listwatch::{Recovery, policy::Backoff};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Reads when the last wait is over.
#[derive(Clone, Debug, Default)]
pub struct Waits(Arc<Mutex<Option<Wait>>>);

/// A wait after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub until: Instant,
    /// Failures in a row, this one among them.
    pub failures: u32,
}

impl Waits {
    /// The same policy, watched. A longer `Retry-After` of a server is not seen by it.
    pub fn watch<P>(&self, policy: P) -> Watched<P> {
        Watched { policy, waits: self.clone() }
    }

    /// The wait at this moment.
    pub fn at(&self, now: Instant) -> Option<Wait> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).filter(|wait| wait.until > now)
    }
}

/// A policy that notes its waits.
#[derive(Debug)]
pub struct Watched<P> {
    policy: P,
    waits: Waits,
}

impl<P: Backoff> Backoff for Watched<P> {
    fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration {
        let delay = self.policy.delay(recovery, attempt);
        let wait = Wait { until: Instant::now() + delay, failures: attempt.saturating_add(1) };
        *self.waits.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wait);
        delay
    }

    fn reset_after(&self) -> Duration {
        self.policy.reset_after()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use listwatch::policy::FixedBackoff;

    #[tokio::test(start_paused = true)]
    async fn the_present_wait() {
        let (waits, second) = (Waits::default(), Duration::from_secs(1));
        let mut policy = waits.watch(FixedBackoff::new(second));
        assert_eq!(waits.at(Instant::now()), None);
        assert_eq!(policy.delay(Recovery::Relist, 2), second);
        assert_eq!(waits.at(Instant::now()), Some(Wait { until: Instant::now() + second, failures: 3 }));
        tokio::time::advance(second).await;
        assert_eq!(waits.at(Instant::now()), None);
    }
}
