//! Bodies that count the bytes they gave out, and those that somebody still holds.

use bytes::Bytes;
use futures::{Stream, stream};
use listwatch::Error;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The counts of all bodies made of it.
#[derive(Clone, Default)]
pub(super) struct Tap(Arc<Counts>);

#[derive(Default)]
struct Counts {
    given: AtomicUsize,
    held: AtomicUsize,
    most_held: AtomicUsize,
    open: AtomicUsize,
}

/// The bytes of one chunk; they are held until it is dropped.
struct Held(Tap, Vec<u8>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.1
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.held.fetch_sub(self.1.len(), Relaxed);
    }
}

/// A body that is open until it is dropped.
struct Open(Tap);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.open.fetch_sub(1, Relaxed);
    }
}

impl Tap {
    /// The bytes that were taken so far.
    pub(super) fn given(&self) -> usize {
        self.0.given.load(Relaxed)
    }

    /// The bytes of chunks that were not dropped.
    pub(super) fn held(&self) -> usize {
        self.0.held.load(Relaxed)
    }

    /// The most that were held at a time.
    pub(super) fn most_held(&self) -> usize {
        self.0.most_held.load(Relaxed)
    }

    /// Bodies that were not dropped.
    pub(super) fn open(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    fn chunk(&self, bytes: &[u8]) -> Bytes {
        self.0.given.fetch_add(bytes.len(), Relaxed);
        let held = self.0.held.fetch_add(bytes.len(), Relaxed) + bytes.len();
        self.0.most_held.fetch_max(held, Relaxed);
        Bytes::from_owner(Held(self.clone(), bytes.to_vec()))
    }

    /// These bytes first, then those again and again, without end. It is always ready.
    pub(super) fn endless(&self, head: &str, again: &str) -> impl Stream<Item = Result<Bytes, Error>> + Send + use<> {
        self.body(head, again, None)
    }

    /// These bytes, then those so often, then these; it ends there.
    pub(super) fn ending(
        &self,
        head: &str,
        again: &str,
        times: usize,
        tail: &'static str,
    ) -> impl Stream<Item = Result<Bytes, Error>> + Send + use<> {
        self.body(head, again, Some((times, tail)))
    }

    fn body(
        &self,
        head: &str,
        again: &str,
        end: Option<(usize, &'static str)>,
    ) -> impl Stream<Item = Result<Bytes, Error>> + Send + use<> {
        self.0.open.fetch_add(1, Relaxed);
        let (open, head, again) = (Open(self.clone()), head.to_owned(), again.to_owned());
        stream::unfold((open, 0), move |(open, n)| {
            let bytes = match (n, end) {
                (0, _) => Some(&*head),
                (n, Some((times, tail))) if n == times + 1 => Some(tail),
                (n, Some((times, _))) if n > times => None,
                _ => Some(&*again),
            };
            let item = bytes.map(|bytes| (Ok(open.0.chunk(bytes.as_bytes())), (open, n + 1)));
            async { item }
        })
    }
}
