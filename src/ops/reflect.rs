use super::{
    Fold,
    stage::{BUDGET, Stage, operator},
};
use crate::{Error, Event, Recover};
use futures::Stream;
use pin_project::pin_project;
use std::{
    iter::Fuse,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Stream for the [`reflect`](crate::EventStreamExt::reflect) method; `F` is the fold, `I` the changes of one event.
///
#[doc = include_str!("figures/reflect.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Reflect<S, F, I> {
    #[pin]
    stage: Stage<S, Folding<F, I>>,
}

/// [`Reflect`] with a fold `F` of `K`: for naming one in a field.
pub type ReflectInto<S, F, K> = Reflect<S, F, <<F as Fold<K>>::Changes as IntoIterator>::IntoIter>;

struct Folding<F, I> {
    fold: F,
    /// What the last event did, as far as it is not told yet.
    changes: Option<Fuse<I>>,
}

impl<S, F, I> Reflect<S, F, I> {
    pub(super) fn new(stream: S, fold: F) -> Self {
        Reflect { stage: Stage::new(stream, Folding { fold, changes: None }) }
    }
}

operator!(Reflect<S, F, I>);

impl<S, F, K, E> Stream for ReflectInto<S, F, K>
where
    S: Stream<Item = Result<Event<K>, E>>,
    E: Recover + From<Error>,
    F: Fold<K>,
{
    type Item = Result<<F::Changes as IntoIterator>::Item, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut stage = self.project().stage;
        for _ in 0..BUDGET {
            let told = stage.as_mut().with(|Folding { fold, changes }| {
                let told = match changes.as_mut()?.next() {
                    Some(change) => Some(Ok(change)),
                    None => fold.refused().map(|refused| Err(Error::refused(refused).into())),
                };
                if told.is_none() {
                    *changes = None;
                }
                told
            });
            if let Some(Some(told)) = told {
                return Poll::Ready(Some(told));
            }
            let folded = stage.as_mut().poll(cx, |Folding { fold, changes }, item| match item {
                Ok(event) => {
                    *changes = Some(fold.fold(event).map_err(Error::refused)?.into_iter().fuse());
                    Ok(())
                }
                Err(error) => {
                    *changes = fold.failed(&error).map(|changes| changes.into_iter().fuse());
                    Err(error)
                }
            });
            match ready!(folded) {
                Some(Ok(())) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.stage.user() {
            Some(Folding { changes, .. }) => (changes.as_ref().map_or(0, |changes| changes.size_hint().0), None),
            None => (0, Some(0)),
        }
    }
}
