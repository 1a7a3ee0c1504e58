use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep};

/// One of tokio's timers, boxed at its first use and reset in place, so that operators are `Unpin`.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

/// As good as never, and within what a timer can hold.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl Timer {
    /// Due after `wait` from now on.
    pub(crate) fn arm(&mut self, wait: Duration) {
        let due = Instant::now() + wait.min(FAR);
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().reset(due),
            None => self.0 = Some(Box::pin(tokio::time::sleep_until(due))),
        }
    }

    /// Whether it was armed at all.
    pub(crate) fn is_armed(&self) -> bool {
        self.0.is_some()
    }

    /// Ready from the time on that it was armed for; pending where it never was.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(cx))
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timer").field(&self.0.as_ref().map(|sleep| sleep.deadline())).finish()
    }
}
