//! client-go's retry window for internal errors of a watch.

use std::time::Duration;
use tokio::time::Instant;

/// An hour-old error does not shorten the window of a new one: after this long without one it starts anew.
const FORGOTTEN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct InternalErrors {
    window: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl InternalErrors {
    pub(crate) fn new(window: Duration) -> Self {
        InternalErrors { window, first: None, last: None }
    }

    /// Notes an internal error; whether the watch is to be opened again rather than relisted.
    pub(crate) fn retries(&mut self, now: Instant) -> bool {
        if self.last.is_none_or(|last| now.duration_since(last) >= FORGOTTEN) {
            self.first = None;
        }
        self.last = Some(now);
        let first = *self.first.get_or_insert(now);
        if self.window > Duration::ZERO && now.duration_since(first) <= self.window {
            return true;
        }
        (self.first, self.last) = (None, None);
        false
    }
}
