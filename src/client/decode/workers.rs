use super::decoding::{Frame, Queue};
use crate::Error;
use std::{
    collections::VecDeque,
    panic::resume_unwind,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{runtime::Handle, task::JoinHandle};

/// More than these gain nothing: the objects are folded one by one in the end.
const MOST: usize = 4;
/// Bytes of frames for one worker at a time. What is less while none is at work is decoded in place.
const BATCH: usize = 32 << 10;
/// At least, once others are at work.
const LEAST: usize = 16 << 10;

type Decoded<F> = Vec<Result<<F as Frame>::Part, Error>>;

/// Batches of frames that are decoded by tasks beside the one that reads, in order.
///
/// They run on the runtime's own threads, so that what they allocate lies where later events of the watch are decoded and
/// freed: an allocator gives back to a thread what that thread has freed.
pub(super) struct Workers<F: Frame> {
    limit: usize,
    at_work: VecDeque<JoinHandle<Decoded<F>>>,
}

impl<F: Frame> Workers<F> {
    /// One per thread of the runtime, at most four, where nothing else is asked for. A single worker is the task that
    /// reads, and so it is where there is no runtime.
    pub(super) fn new(limit: Option<usize>) -> Self {
        let threads = |runtime: Handle| runtime.metrics().num_workers();
        let limit = Handle::try_current().map_or(1, |runtime| limit.unwrap_or_else(|| threads(runtime).min(MOST)));
        Workers { limit, at_work: VecDeque::new() }
    }

    /// How many bytes may be read ahead; one frame where it is decoded in place.
    pub(super) fn room(&self) -> usize {
        if self.limit > 1 { BATCH * (self.limit + 1) } else { 1 }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.at_work.is_empty()
    }

    /// Hands over what is worth it.
    pub(super) fn hand_over(&mut self, frames: &mut Queue<F>) {
        if self.limit < 2 || self.is_idle() && frames.bytes < BATCH {
            return;
        }
        while self.at_work.len() < self.limit && frames.bytes >= LEAST {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH
                && let Some(frame) = frames.pop()
            {
                bytes += frame.len();
                batch.push(frame);
            }
            let many = !self.is_idle();
            self.at_work.push_back(tokio::spawn(async move { decode(batch, many) }));
        }
    }

    /// What the first batch has become.
    pub(super) fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<Batch<F>> {
        let Some(first) = self.at_work.front_mut() else { return Poll::Ready(Batch::default()) };
        let decoded = match ready!(Pin::new(first).poll(cx)) {
            Ok(decoded) => decoded,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => vec![Err(Error::interrupted("the runtime is shutting down"))],
            },
        };
        self.at_work.pop_front();
        Poll::Ready(Batch(decoded.into_iter()))
    }

    /// Nobody wants it any more. A batch that is being decoded goes on to its end.
    pub(super) fn dismiss(&mut self) {
        self.at_work.drain(..).for_each(|batch| batch.abort());
    }
}

impl<F: Frame> Drop for Workers<F> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// `many`: this is a snapshot rather than a burst of changes, whose objects replace others.
fn decode<F: Frame>(batch: Vec<F>, many: bool) -> Decoded<F> {
    let mut bytes = STRIDE;
    let decode = |frame: F| {
        bytes += frame.len();
        if many && bytes > STRIDE {
            bytes = 0;
            make_room();
        }
        frame.decode()
    };
    batch.into_iter().map(decode).collect()
}

/// Bytes of JSON whose objects fit into `ROOM`: Pods take six and a half times as much as their JSON. What outgrows it
/// does so by single pages.
const STRIDE: usize = 12 << 10;
/// Below what allocators map by itself.
const ROOM: usize = 100 << 10;

/// Lets the allocator grow in one step. The heap of a thread of glibc's grows by single pages otherwise, each with a
/// system call: a fifth of the time that a long list of Pods took.
fn make_room() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(ROOM)));
}

/// Decoded frames.
pub(super) struct Batch<F: Frame>(std::vec::IntoIter<Result<F::Part, Error>>);

impl<F: Frame> Default for Batch<F> {
    fn default() -> Self {
        Batch(Vec::new().into_iter())
    }
}

impl<F: Frame> Iterator for Batch<F> {
    type Item = Result<F::Part, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
