use super::{
    stage::{Stage, operator},
    timer::Timer,
};
use crate::{Recover, Recovery, policy};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::Instant;

/// Stream for the [`backoff`](crate::EventStreamExt::backoff) and [`backoff_by`](crate::EventStreamExt::backoff_by)
/// methods; `P` is the policy, `C` says what an error asks for.
///
#[doc = include_str!("figures/backoff.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Backoff<S, P, C = ByRecover> {
    #[pin]
    stage: Stage<S, Waits<P, C>>,
}

/// An error says itself what it asks for, as [`Recover`] does.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ByRecover;

struct Waits<P, C> {
    policy: P,
    classify: C,
    timer: Timer,
    /// The item before was a failure: the stream is not polled before the timer is due.
    waiting: bool,
    /// When the stream was polled first after the last wait. From then on it is healthy, or fails again.
    tried: Option<Instant>,
    /// Failures in a row.
    resumes: u32,
    relists: u32,
}

impl<S, P, C> Backoff<S, P, C> {
    pub(super) fn new(stream: S, policy: P, classify: C) -> Self {
        let timer = Timer::default();
        let waits = Waits { policy, classify, timer, waiting: false, tried: None, resumes: 0, relists: 0 };
        Backoff { stage: Stage::new(stream, waits) }
    }
}

operator!(Backoff<S, P, C>);

impl<S, P, C, T, E> Stream for Backoff<S, P, C>
where
    S: Stream<Item = Result<T, E>>,
    P: policy::Backoff,
    C: Classify<E>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stage = self.project().stage;
        if let Some(waited) = stage.as_mut().with(|waits| waits.poll(cx)) {
            ready!(waited);
        }
        stage.poll(cx, |waits, item| {
            if let Err(error) = &item {
                let (recovery, retry_after) = waits.classify.classify(error);
                waits.failed(recovery, retry_after.unwrap_or_default());
            }
            item
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint()
    }
}

impl<P: policy::Backoff, C> Waits<P, C> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.waiting {
            ready!(self.timer.poll(cx));
            self.waiting = false;
            self.tried = Some(Instant::now());
        }
        Poll::Ready(())
    }

    fn failed(&mut self, recovery: Recovery, retry_after: Duration) {
        if recovery == Recovery::Skip {
            return;
        }
        if self.tried.is_some_and(|tried| tried.elapsed() >= self.policy.reset_after()) {
            (self.resumes, self.relists) = (0, 0);
        }
        let attempts = match recovery {
            Recovery::Resume => Some(&mut self.resumes),
            Recovery::Relist => Some(&mut self.relists),
            _ => None,
        };
        let wait = match attempts {
            Some(attempts) => {
                let attempt = *attempts;
                *attempts = attempt.saturating_add(1);
                self.policy.delay(recovery, attempt).max(retry_after)
            }
            None => retry_after,
        };
        if wait.is_zero() {
            self.tried = Some(Instant::now());
        } else {
            tracing::debug!(?recovery, ?wait, resumes = self.resumes, relists = self.relists, "backing off");
            self.timer.arm(wait);
            self.waiting = true;
        }
    }
}

/// How [`Backoff`] learns what an error asks for: [`ByRecover`], or a closure of the user's.
pub trait Classify<E>: sealed::Sealed<E> {
    /// What the stream does next, and how long the server wants to be left alone.
    fn classify(&mut self, error: &E) -> (Recovery, Option<Duration>);
}

impl<E: Recover> Classify<E> for ByRecover {
    fn classify(&mut self, error: &E) -> (Recovery, Option<Duration>) {
        (error.recovery(), error.retry_after())
    }
}

impl<E, C: FnMut(&E) -> (Recovery, Option<Duration>)> Classify<E> for C {
    fn classify(&mut self, error: &E) -> (Recovery, Option<Duration>) {
        self(error)
    }
}

mod sealed {
    use super::{ByRecover, Duration, Recover, Recovery};

    pub trait Sealed<E> {}
    impl<E: Recover> Sealed<E> for ByRecover {}
    impl<E, C: FnMut(&E) -> (Recovery, Option<Duration>)> Sealed<E> for C {}
}
