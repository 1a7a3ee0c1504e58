use super::decoding::{Frame, Queue};
use crate::Error;
use std::{
    collections::VecDeque,
    panic::resume_unwind,
    pin::Pin,
    sync::LazyLock,
    task::{Context, Poll, ready},
    thread::available_parallelism,
};
use tokio::{runtime::Handle, task::JoinHandle};

/// More than these gain nothing: the objects are folded one by one in the end.
const MOST: usize = 4;
/// Bytes of frames for one worker at a time, at most; so many a worker are read ahead.
const BATCH: usize = 128 << 10;
/// At least: what is less is not worth handing over.
const LEAST: usize = 32 << 10;

/// One per core, at most four.
pub(super) fn default_workers() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, |cores| cores.get().min(MOST)));
    *CORES
}

type Decoded<F> = Vec<Result<<F as Frame>::Part, Error>>;

/// Batches of frames that are decoded by other threads, in order.
pub(super) struct Workers<F: Frame> {
    limit: usize,
    at_work: VecDeque<JoinHandle<Decoded<F>>>,
}

impl<F: Frame> Workers<F> {
    /// A single worker is the task that reads, and so it is where there is no runtime that has threads.
    pub(super) fn new(limit: usize) -> Self {
        let limit = if Handle::try_current().is_ok() { limit } else { 1 };
        Workers { limit, at_work: VecDeque::new() }
    }

    /// How many bytes may be read ahead; one frame where it is decoded in place.
    pub(super) fn room(&self) -> usize {
        if self.limit > 1 { BATCH * self.limit } else { 1 }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.at_work.is_empty()
    }

    /// Hands over what is worth it, evenly.
    pub(super) fn hand_over(&mut self, frames: &mut Queue<F>) {
        if self.limit < 2 || self.is_idle() && frames.bytes < 2 * LEAST {
            return;
        }
        let size = (frames.bytes / self.limit).clamp(LEAST, BATCH);
        while self.at_work.len() < self.limit && frames.bytes >= LEAST {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < size
                && let Some(frame) = frames.pop()
            {
                bytes += frame.len();
                batch.push(frame);
            }
            let decode = || batch.into_iter().map(F::decode).collect();
            self.at_work.push_back(tokio::task::spawn_blocking(decode));
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
