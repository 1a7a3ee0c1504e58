use super::{
    Fold,
    stage::{Stage, operator},
};
use crate::{BoxError, Error, Event, Recover};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Stream for the [`tee`](crate::EventStreamExt::tee) method; `F` is the fold.
///
#[doc = include_str!("figures/tee.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Tee<S, F> {
    #[pin]
    stage: Stage<S, Folding<F>>,
}

struct Folding<F> {
    fold: F,
    /// Why the fold did not take the event that was passed on last.
    refused: Option<BoxError>,
}

impl<S, F> Tee<S, F> {
    pub(super) fn new(stream: S, fold: F) -> Self {
        Tee { stage: Stage::new(stream, Folding { fold, refused: None }) }
    }
}

operator!(Tee<S, F>);

impl<S, F, K, E> Stream for Tee<S, F>
where
    S: Stream<Item = Result<Event<K>, E>>,
    E: Recover + From<Error>,
    F: Fold<K>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stage = self.project().stage;
        let refused = stage.as_mut().with(|Folding { fold, refused }| match refused.take() {
            None => fold.refused().map(Into::into),
            refused => refused,
        });
        if let Some(refused) = refused.flatten() {
            return Poll::Ready(Some(Err(Error::refused(refused).into())));
        }
        stage.poll(cx, |Folding { fold, refused }, item| {
            match &item {
                Ok(event) => *refused = fold.fold(event.clone()).err().map(Into::into),
                Err(error) => drop(fold.failed(error)),
            }
            item
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let refused = self.stage.user().is_some_and(|folding| folding.refused.is_some());
        // Any event may bring a refusal along.
        (self.stage.size_hint().0.saturating_add(refused.into()), if self.stage.is_done() { Some(0) } else { None })
    }
}
