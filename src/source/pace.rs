//! When the next request may start: floors and the server's `Retry-After`. Time spent elsewhere counts.

use super::{plan::Pause, settings::Settings};
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Pace {
    floor: Duration,
    opened: Option<Instant>,
    /// The server wants to be left alone until then.
    not_before: Option<Instant>,
    failed: bool,
}

impl Pace {
    pub(crate) fn new(floor: Duration) -> Self {
        Pace { floor, opened: None, not_before: None, failed: false }
    }

    pub(crate) fn opened(&mut self, now: Instant) {
        self.opened = Some(now);
    }

    /// An `Err` item goes out. `waits`: it is not a Fallback, which goes on at once.
    pub(crate) fn failed(&mut self, waits: bool, retry_after: Option<Duration>, now: Instant) {
        self.failed |= waits;
        self.not_before = self.not_before.max(retry_after.map(|wait| now + wait));
    }

    /// When the next request may start, and forgets why.
    pub(crate) fn next(&mut self, pause: Pause, settings: &Settings, now: Instant) -> Instant {
        let floor = match pause {
            _ if std::mem::take(&mut self.failed) => self.floor / 10,
            Pause::Reopen => self.floor,
            _ => Duration::ZERO,
        };
        let floor = self.opened.map_or(now, |opened| opened + floor);
        let wanted = match pause {
            // One request each 5 to 10 minutes, and not all streams at once.
            Pause::Parked => now + Duration::from_secs(300).mul_f64(1.0 + fastrand::f64()),
            Pause::Poll => now + settings.poll_period,
            Pause::Absent(looks) => {
                let grown = Duration::from_secs(1).saturating_mul(1 << looks.min(20));
                now + grown.min(settings.look_again).mul_f64(1.0 + fastrand::f64())
            }
            Pause::None | Pause::Reopen => now,
        };
        floor.max(wanted).max(self.not_before.take().unwrap_or(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn floors_count_from_the_previous_opening_and_overlap_with_retry_after() {
        let start = Instant::now();
        let settings = Settings { poll_period: S * 5, ..Settings::new(String::new()) };
        let mut pace = Pace::new(S);
        assert_eq!(pace.next(Pause::None, &settings, start), start, "the first waits for nothing");
        pace.opened(start);
        let later = start + S / 4;
        assert_eq!(pace.next(Pause::None, &settings, later), later, "a page or a Fallback");
        assert_eq!(pace.next(Pause::Reopen, &settings, later), start + S);
        pace.failed(true, None, later);
        assert_eq!(pace.next(Pause::Reopen, &settings, start), start + S / 10, "after an error");
        pace.failed(false, Some(S * 7), later);
        assert_eq!(pace.next(Pause::None, &settings, later), later + S * 7);
        assert_eq!(pace.next(Pause::Reopen, &settings, start + S * 60), start + S * 60, "long past its floor");
        assert_eq!(pace.next(Pause::Poll, &settings, later), later + S * 5);
        let parked = pace.next(Pause::Parked, &settings, later) - later;
        assert!(parked >= S * 300 && parked < S * 600, "{parked:?}");
    }
    #[tokio::test(start_paused = true)]
    async fn what_is_not_there_is_looked_for_ever_more_rarely() {
        let (now, mut pace) = (Instant::now(), Pace::new(S));
        let settings = Settings { look_again: S * 10, ..Settings::new(String::new()) };
        for (looks, shortest) in [(0, S), (1, S * 2), (2, S * 4), (3, S * 8), (4, S * 10), (u32::MAX, S * 10)] {
            let wait = pace.next(Pause::Absent(looks), &settings, now) - now;
            assert!(wait >= shortest && wait < shortest * 2, "{looks}: {wait:?}");
        }
    }
}
