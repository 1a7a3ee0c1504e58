//! Bodies, and the faults that touch them.

use super::{
    answer::Answer,
    fault::{At, Ending, Fault},
    socket::Control,
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::{StreamExt, future, stream::BoxStream};
use std::{fmt, io::Write, sync::Arc};

/// A body in pieces. The error stands for a connection that breaks, where there is no socket to break.
pub(super) type Pieces = BoxStream<'static, Result<Bytes, Broken>>;

/// The connection broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection broken by a fault")
    }
}

impl std::error::Error for Broken {}

/// The body of an answer, after the faults.
pub(super) fn spoil(answer: Answer, faults: &[Fault], control: Option<&Arc<Control>>) -> Pieces {
    let mut body = answer.body;
    for fault in faults {
        match fault {
            Fault::SwallowBookmarks => {
                let kept = |event: &Bytes| future::ready(!event.starts_with(b"{\"type\":\"BOOKMARK\""));
                body = body.filter(kept).boxed();
            }
            Fault::Insert(at, bytes) => body = insert(body, *at, bytes.clone()),
            Fault::GzipEachEvent => body = body.map(|event| gzip(&event)).boxed(),
            Fault::SlowWrite(bytes, pause) => {
                let (bytes, pause) = ((*bytes).max(1), *pause);
                body = async_stream::stream! {
                    while let Some(mut piece) = body.next().await {
                        while !piece.is_empty() {
                            yield piece.split_to(bytes.min(piece.len()));
                            tokio::time::sleep(pause).await;
                        }
                    }
                }
                .boxed();
            }
            _ => {}
        }
    }
    let end = faults.iter().find_map(|fault| match fault {
        Fault::End(at, how) => Some((*at, *how)),
        _ => None,
    });
    match end {
        Some((at, how)) => cut(body, at, how, control.cloned()),
        None => body.map(Ok).boxed(),
    }
}

/// One gzip member.
pub(super) fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map(Bytes::from).unwrap_or_default()
}

/// Finds a place while the pieces pass by.
struct Finder {
    at: At,
    bytes: usize,
    events: usize,
}

impl Finder {
    fn new(at: At) -> Self {
        Self { at, bytes: 0, events: 0 }
    }

    /// Whether the place is before the first piece.
    fn at_start(&self) -> bool {
        matches!(self.at, At::Byte(0) | At::Event(0))
    }

    /// How much of this piece is before the place, if the place is in it or at its end.
    fn find(&mut self, piece: &Bytes) -> Option<usize> {
        let found = match self.at {
            At::Byte(n) => n.checked_sub(self.bytes).filter(|&within| within <= piece.len()),
            At::Event(n) => (self.events + 1 == n).then_some(piece.len()),
            At::InsideEvent(n) => (self.events == n).then_some(piece.len() / 2),
            At::InsideCharacter => piece.iter().position(|byte| !byte.is_ascii()).map(|first| first + 1),
        };
        self.bytes += piece.len();
        self.events += 1;
        found
    }
}

fn insert(mut body: BoxStream<'static, Bytes>, at: At, bytes: Bytes) -> BoxStream<'static, Bytes> {
    let mut finder = Finder::new(at);
    async_stream::stream! {
        let mut bytes = Some(bytes);
        if finder.at_start() && let Some(bytes) = bytes.take() {
            yield bytes;
        }
        while let Some(mut piece) = body.next().await {
            if bytes.is_some() && let Some(within) = finder.find(&piece) {
                let first = piece.split_to(within);
                if !first.is_empty() {
                    yield first;
                }
                if let Some(bytes) = bytes.take() {
                    yield bytes;
                }
            }
            if !piece.is_empty() {
                yield piece;
            }
        }
    }
    .boxed()
}

fn cut(mut body: BoxStream<'static, Bytes>, at: At, how: Ending, control: Option<Arc<Control>>) -> Pieces {
    let mut finder = Finder::new(at);
    async_stream::stream! {
        if !finder.at_start() {
            loop {
                let Some(mut piece) = body.next().await else { return };
                match finder.find(&piece) {
                    None => yield Ok(piece),
                    Some(within) => {
                        yield Ok(piece.split_to(within));
                        break;
                    }
                }
            }
        }
        match (how, control) {
            (Ending::Eof, _) => {}
            (Ending::Close | Ending::Reset, None) => yield Err(Broken),
            (how, control) => {
                if let Some(control) = control {
                    control.end_after_flush(how);
                }
                future::pending::<()>().await;
            }
        }
    }
    .boxed()
}
