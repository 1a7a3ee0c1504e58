use super::stage::{Stage, operator};
use crate::{Error, Event, Kinded, Recover};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Stream for the [`expect_kind`](crate::EventStreamExt::expect_kind) method.
///
#[doc = include_str!("figures/expect_kind.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct ExpectKind<S> {
    #[pin]
    stage: Stage<S, Expected>,
}

struct Expected {
    api_version: Box<str>,
    kind: Box<str>,
}

/// What any resource is where only its metadata is asked for.
const METADATA_ONLY: (&str, &str) = ("meta.k8s.io/v1", "PartialObjectMetadata");

impl<S> ExpectKind<S> {
    pub(super) fn new(stream: S, api_version: &str, kind: &str) -> Self {
        ExpectKind { stage: Stage::new(stream, Expected { api_version: api_version.into(), kind: kind.into() }) }
    }
}

operator!(ExpectKind<S>);

impl<S, K, E> Stream for ExpectKind<S>
where
    S: Stream<Item = Result<Event<K>, E>>,
    K: Kinded,
    E: Recover + From<Error>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.project().stage.poll(cx, |expected, item| {
            let event = item?;
            match event.object().and_then(|object| expected.mismatch(&**object)) {
                Some(error) => Err(error.into()),
                None => Ok(event),
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint()
    }
}

impl Expected {
    fn mismatch<K: Kinded>(&self, object: &K) -> Option<Error> {
        let got @ (api_version, kind) = object.api_version_kind()?;
        let Expected { api_version: wanted_version, kind: wanted } = self;
        if got == (wanted_version, wanted) || got == METADATA_ONLY {
            return None;
        }
        let key = crate::Key::of(object);
        Some(Error::wrong_kind(format!("{key} is {api_version} {kind}, not {wanted_version} {wanted}")))
    }
}
