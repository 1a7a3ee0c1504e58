//! What can go wrong with one answer.

use super::refusal::Refusal;
use bytes::Bytes;
use std::time::Duration;

/// Something that goes wrong with the answer to one request. See [`ApiServer::fail_next`](super::ApiServer::fail_next)
/// and [`ApiServer::rule`](super::ApiServer::rule).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Another answer instead of the right one.
    Answer {
        /// The HTTP code.
        code: u16,
        /// The header `Content-Type`.
        content_type: &'static str,
        /// The header `Retry-After`, in whole seconds.
        retry_after: Option<Duration>,
        /// The body, sent as it is.
        body: Bytes,
    },
    /// The connection ends in this way before any byte of the answer; [`Ending::Stall`] never answers.
    Before(Ending),
    /// The headers come this much later.
    Delay(Duration),
    /// The body ends early, in this way.
    End(At, Ending),
    /// These bytes are put into the body.
    Insert(At, Bytes),
    /// Bookmarks are left out: the periodic ones, and the one at the end of the initial events.
    SwallowBookmarks,
    /// Each piece of the body is a gzip member of its own, as servers from 1.37 on compress a watch, whether the client
    /// asked for gzip or not.
    GzipEachEvent,
    /// The connection takes no further requests: GOAWAY on HTTP/2, `Connection: close` on HTTP/1.1. This one is
    /// answered.
    GoAway,
    /// The body is written this many bytes at a time, with a pause between.
    SlowWrite(usize, Duration),
    /// The server stops reading from the connection for this long, then answers.
    SlowRead(Duration),
    /// The server restarts, before it answers.
    Restart,
    /// Storage goes back to the state at this version, before the server answers.
    Rewind(u64),
    /// All of these.
    All(Vec<Fault>),
}

/// A place in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum At {
    /// After this many bytes.
    Byte(usize),
    /// After this many events; a list counts as one.
    Event(usize),
    /// After this many events and half of the next one.
    InsideEvent(usize),
    /// Within the first character of more than one byte.
    InsideCharacter,
}

/// How a connection or body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The body ends as if it were complete.
    Eof,
    /// The connection is closed in the middle of the body.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more comes on this answer, on a healthy connection: pings are answered.
    Stall,
    /// The connection stays open, but nothing more is read, written or answered on it.
    HalfOpen,
}

impl Fault {
    /// A refusal with this code, and the usual reason and message.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::answer(&Refusal::new(code))
    }

    /// A refusal with this status as the body, and its `Retry-After`.
    #[must_use]
    pub fn answer(refusal: &Refusal) -> Self {
        Self::Answer {
            code: refusal.code(),
            content_type: "application/json",
            retry_after: refusal.retry_after().map(Duration::from_secs),
            body: (refusal.to_json() + "\n").into(),
        }
    }

    /// 429 as priority and fairness sends it: plain text, and the header `Retry-After`.
    #[must_use]
    pub fn too_many_requests(retry_after: Duration) -> Self {
        Self::Answer {
            code: 429,
            content_type: "text/plain; charset=utf-8",
            retry_after: Some(retry_after),
            body: Bytes::from_static(b"Too many requests, please try again later.\n"),
        }
    }

    /// A page of HTML with 200, as a login proxy sends it.
    #[must_use]
    pub fn html() -> Self {
        Self::Answer {
            code: 200,
            content_type: "text/html",
            retry_after: None,
            body: Bytes::from_static(b"<!DOCTYPE html><html><body>Please sign in</body></html>\n"),
        }
    }

    /// An ERROR event with this status after so many events; the watch ends with it.
    #[must_use]
    pub fn error_event(after: usize, refusal: &Refusal) -> Self {
        // The event put in counts as one itself.
        let end = Self::End(At::Event(after + 1), Ending::Eof);
        Self::Insert(At::Event(after), super::watch::error_event(refusal)).and(end)
    }

    /// A line that is not JSON after so many events.
    #[must_use]
    pub fn wrong_json(after: usize) -> Self {
        Self::Insert(At::Event(after), Bytes::from_static(b"{\"type\":\"ADDED\",\"object\":{\"metadata\":}\n"))
    }

    /// An event of a type that does not exist after so many events.
    #[must_use]
    pub fn unknown_event_type(after: usize) -> Self {
        Self::Insert(At::Event(after), Bytes::from_static(b"{\"type\":\"RENAMED\",\"object\":{\"metadata\":{}}}\n"))
    }

    /// Both faults, on the same request.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut all = self.flat();
        all.extend(other.flat());
        Self::All(all)
    }

    /// The single faults, in order.
    pub(super) fn flat(self) -> Vec<Self> {
        match self {
            Self::All(faults) => faults.into_iter().flat_map(Self::flat).collect(),
            fault => vec![fault],
        }
    }
}
