mod content;
mod list;

use self::{content::Content, list::list_at};
use super::stage::{Stage, operator};
use crate::{
    Error, Event, Object, Recover, Recovery, ResourceVersion,
    source::{AnySource, ListWatch},
};
use futures::{Stream, future::BoxFuture};
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

/// Stream for the [`verify_with`](crate::EventStreamExt::verify_with) method; `K` is what the list brings, `L` what the
/// stream does, `M` makes the one of the other.
///
#[doc = include_str!("figures/verify_with.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct VerifyWith<S, K, L, M> {
    #[pin]
    stage: Stage<S, Verifying<K, L, M>>,
}

struct Verifying<K, L, M> {
    source: AnySource<K>,
    map: M,
    /// The snapshot in progress.
    snapshot: Option<Content<L>>,
    check: Option<Check<K, L>>,
}

/// A complete snapshot, and the list that it should be.
struct Check<K, L> {
    version: ResourceVersion,
    content: Content<L>,
    list: BoxFuture<'static, Result<Content<K>, Error>>,
}

impl<S, K: Object, L, M> VerifyWith<S, K, L, M> {
    pub(super) fn new(stream: S, source: impl ListWatch<Object = K>, map: M) -> Self {
        let verifying = Verifying { source: source.erase(), map, snapshot: None, check: None };
        VerifyWith { stage: Stage::new(stream, verifying) }
    }
}

operator!(VerifyWith<S, K, L, M>);

impl<S, K, L, E, M> Stream for VerifyWith<S, K, L, M>
where
    S: Stream<Item = Result<Event<L>, E>>,
    E: Recover + From<Error>,
    K: Object,
    L: Object + PartialEq,
    M: FnMut(&K) -> L,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stage = self.project().stage;
        if let Some(checked) = stage.as_mut().with(|verifying| verifying.check(cx))
            && let Some(error) = ready!(checked)
        {
            return Poll::Ready(Some(Err(error.into())));
        }
        stage.poll(cx, |verifying, item| {
            match &item {
                Ok(event) => verifying.event(event),
                Err(error) => verifying.error(error),
            }
            item
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.stage.size_hint().0, None)
    }
}

impl<K: Object, L: Object + PartialEq, M: FnMut(&K) -> L> Verifying<K, L, M> {
    fn event(&mut self, event: &Event<L>) {
        match (event, &mut self.snapshot) {
            (Event::SnapshotStart, snapshot) => *snapshot = Some(Content::default()),
            (Event::Listed(object), Some(snapshot)) => snapshot.insert(Arc::clone(object)),
            (Event::Deleted(object), Some(snapshot)) => snapshot.remove(&**object),
            (Event::SnapshotEnd(version), snapshot) => {
                if let Some(content) = snapshot.take()
                    && version.is_exact()
                {
                    let list = Box::pin(list_at(self.source.clone(), version.clone()));
                    self.check = Some(Check { version: version.clone(), content, list });
                }
            }
            _ => {}
        }
    }

    fn error(&mut self, error: &impl Recover) {
        match (&mut self.snapshot, error.recovery(), error.object()) {
            (Some(snapshot), Recovery::Skip, Some(object)) => snapshot.skip(object),
            (_, Recovery::Skip, _) => {}
            _ => self.snapshot = None,
        }
    }

    /// Ready with what a check found, if one is under way.
    fn check(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        let Some(check) = &mut self.check else { return Poll::Ready(None) };
        let listed = ready!(check.list.as_mut().poll(cx));
        let Some(Check { version, content, .. }) = self.check.take() else { return Poll::Ready(None) };
        Poll::Ready(match listed {
            Ok(listed) => content.differs_from(listed, &mut self.map).map(|what| {
                Error::inconsistent(format!(
                    "the snapshot at version {version} is not the list at that version: {what}"
                ))
            }),
            Err(error) => Some(
                error
                    .with_recovery(Recovery::Skip)
                    .with_request(format!("list at exactly {version}, to verify a snapshot")),
            ),
        })
    }
}
