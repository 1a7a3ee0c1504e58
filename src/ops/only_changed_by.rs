use super::stage::{Stage, operator};
use crate::Change;
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Stream for the [`only_changed_by`](crate::EventStreamExt::only_changed_by) method.
///
#[doc = include_str!("figures/only_changed_by.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct OnlyChangedBy<S, F> {
    #[pin]
    stage: Stage<S, F>,
}

impl<S, F> OnlyChangedBy<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        OnlyChangedBy { stage: Stage::new(stream, f) }
    }
}

operator!(OnlyChangedBy<S, F>);

impl<S, F, K, E> Stream for OnlyChangedBy<S, F>
where
    S: Stream<Item = Result<Change<K>, E>>,
    F: FnMut(&K, &K) -> bool,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.project().stage.poll_some(cx, |f, item| match &item {
            Ok(Change::Updated { old, new }) if !f(old, new) => None,
            _ => Some(item),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint_at_most()
    }
}
