//! What the server says to a request, before any fault touches it.

use super::refusal::Refusal;
use bytes::Bytes;
use futures::{StreamExt, stream, stream::BoxStream};

/// A status, a content type and a body in pieces: one per event for a watch.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) content_type: &'static str,
    pub(super) retry_after: Option<u64>,
    /// The bytes the body has, where they are known before it is sent.
    pub(super) length: Option<usize>,
    pub(super) watch: bool,
    pub(super) body: BoxStream<'static, Bytes>,
}

/// A refusal: a status, or the plain text for paths that do not exist.
#[derive(Debug)]
pub(super) enum Refused {
    Status(Refusal),
    NoSuchPath,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Status(refusal)
    }
}

impl Answer {
    pub(super) fn text(code: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let length = Some(body.len());
        let body = stream::iter([body]).boxed();
        Self { code, content_type, retry_after: None, length, watch: false, body }
    }

    pub(super) fn json(code: u16, mut body: Vec<u8>) -> Self {
        body.push(b'\n');
        Self::text(code, "application/json", body)
    }

    pub(super) fn events(events: BoxStream<'static, Bytes>) -> Self {
        let content_type = "application/json";
        Self { code: 200, content_type, retry_after: None, length: None, watch: true, body: events }
    }
}

impl From<Refused> for Answer {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NoSuchPath => Self::text(404, "text/plain; charset=utf-8", "404 page not found\n"),
            Refused::Status(refusal) => {
                let answer = Self::json(refusal.code(), refusal.to_json().into_bytes());
                Self { retry_after: refusal.retry_after(), ..answer }
            }
        }
    }
}
