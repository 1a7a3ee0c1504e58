use super::stage::{Stage, operator};
use crate::Event;
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Stream for the [`modify_objects`](crate::EventStreamExt::modify_objects) method.
///
#[doc = include_str!("figures/modify_objects.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct ModifyObjects<S, F> {
    #[pin]
    stage: Stage<S, F>,
}

impl<S, F> ModifyObjects<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        ModifyObjects { stage: Stage::new(stream, f) }
    }
}

operator!(ModifyObjects<S, F>);

impl<S, F, K, E> Stream for ModifyObjects<S, F>
where
    S: Stream<Item = Result<Event<K>, E>>,
    K: Clone,
    F: FnMut(&mut K),
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.project().stage.poll(cx, |f, item| {
            let modify = |mut object: Arc<K>| {
                f(Arc::make_mut(&mut object));
                object
            };
            Ok(item?.map(modify))
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint()
    }
}
