//! What both targets share: a body in chunks, and what its decoder said of it.

use futures::{Stream, StreamExt, stream};
use listwatch::{Error, source::Body};
use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// An input of the fuzzer: two bytes that say how the rest, the body, is cut, and how large a part of it may be.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The body.
    pub body: &'a [u8],
    chunk: usize,
    limit: usize,
}

impl<'a> Input<'a> {
    /// `None` if it is too short to say anything.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let [chunk, limit, body @ ..] = bytes else { return None };
        Some(Input { body, chunk: 1 + usize::from(*chunk), limit: 1 + 2 * usize::from(*limit) })
    }

    /// A limit in the size of the inputs, so that it is met.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The body cut after every few bytes, and a count of the bytes that were taken.
    pub fn chunks(&self) -> (Chunks, Arc<AtomicUsize>) {
        cut(self.body, self.chunk)
    }

    /// The body as one chunk.
    pub fn whole(&self) -> Chunks {
        cut(self.body, self.body.len().max(1)).0
    }
}

/// The chunks of a body.
pub type Chunks = stream::BoxStream<'static, Result<Vec<u8>, Error>>;

fn cut(body: &[u8], size: usize) -> (Chunks, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    let chunks: Vec<_> = body.chunks(size).map(<[u8]>::to_vec).collect();
    let chunks = stream::iter(chunks).map(move |chunk| {
        count.fetch_add(chunk.len(), Ordering::Relaxed);
        Ok(chunk)
    });
    (chunks.boxed(), taken)
}

/// What a body's items say, each on a line; those that say nothing about content are left out.
pub fn said<T: Debug>(body: Body<T>, skip: impl Fn(&T) -> bool) -> Vec<String> {
    let lines = body.filter_map(|item| {
        std::future::ready(match item {
            Ok(part) if skip(&part) => None,
            Ok(part) => Some(format!("{part:?}")),
            Err(error) => Some(format!("{error} {:?}", error.object())),
        })
    });
    all(lines)
}

fn all<T>(stream: impl Stream<Item = T>) -> Vec<T> {
    // A decoder that has taken many chunks lets its task go once in a while.
    futures::executor::block_on(stream.collect())
}
