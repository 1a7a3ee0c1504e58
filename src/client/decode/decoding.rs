use super::workers::{Batch, Workers};
use crate::{Error, source::Body};
use bytes::Bytes;
use futures::{Stream, StreamExt, ready, stream::BoxStream};
use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

/// Cuts a body into frames, each of which is decoded by itself.
pub(super) trait Split: Send + Unpin + 'static {
    type Frame: Frame;

    /// The next bytes; only once `next` has said that it needs more.
    fn push(&mut self, chunk: Bytes);

    /// The next frame, or `None` where more bytes are needed.
    fn next(&mut self) -> Result<Option<Self::Frame>, Error>;

    /// The body has ended; maybe that completes a frame.
    fn finish(&mut self) -> Result<Option<Self::Frame>, Error>;

    /// What is said of a chunk that completed nothing.
    fn progress() -> Option<Part<Self>>;
}

/// Bytes that are known to be one object, event or metadata.
pub(super) trait Frame: Send + 'static {
    type Part: Send + 'static;

    fn len(&self) -> usize;

    fn decode(self) -> Result<Self::Part, Error>;
}

pub(super) type Part<S> = <<S as Split>::Frame as Frame>::Part;

/// The parts of a body, in its order. Frames that come one by one are decoded in place, and by the workers where more
/// of them have come than is worth handing over.
pub(super) struct Decoding<S: Split> {
    /// `None` once there is nothing more to read.
    chunks: Option<BoxStream<'static, Result<Bytes, Error>>>,
    splitter: S,
    /// The last chunk has completed nothing yet.
    fresh: bool,
    /// Cut out and not decoded.
    frames: Queue<S::Frame>,
    workers: Workers<S::Frame>,
    /// Decoded by a worker and not given yet.
    decoded: Batch<S::Frame>,
    /// Comes after everything that was read before it.
    failure: Option<Error>,
    over: bool,
}

/// Chunks in a row that complete nothing before the task is let go.
const CHUNKS: usize = 64;

impl<S: Split> Decoding<S> {
    pub(super) fn body(
        chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
        splitter: S,
        workers: Option<usize>,
    ) -> Body<Part<S>> {
        Body::new(Decoding {
            chunks: Some(chunks.boxed()),
            splitter,
            fresh: false,
            frames: Queue::default(),
            workers: Workers::new(workers),
            decoded: Batch::default(),
            failure: None,
            over: false,
        })
    }

    /// Reads and cuts as much as the workers have room for. `Some` to be given where a chunk completed nothing.
    fn read(&mut self, cx: &mut Context<'_>) -> Option<Part<S>> {
        let mut taken = 0;
        while self.frames.bytes < self.workers.room() {
            let chunks = self.chunks.as_mut()?;
            match self.splitter.next() {
                Ok(Some(frame)) => {
                    self.fresh = false;
                    taken = 0;
                    self.frames.push(frame);
                    continue;
                }
                Ok(None) if std::mem::take(&mut self.fresh) && self.frames.is_empty() && self.workers.is_idle() => {
                    if let Some(progress) = S::progress() {
                        return Some(progress);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    self.ends(Some(error));
                    return None;
                }
            }
            if taken == CHUNKS {
                // Blank lines, or a long one in small pieces, from a source that always has more.
                cx.waker().wake_by_ref();
                break;
            }
            taken += 1;
            match chunks.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(chunk))) => {
                    self.splitter.push(chunk);
                    self.fresh = true;
                }
                Poll::Ready(Some(Err(error))) => self.ends(Some(error)),
                Poll::Ready(None) => match self.splitter.finish() {
                    Ok(last) => {
                        last.into_iter().for_each(|frame| self.frames.push(frame));
                        self.ends(None);
                    }
                    Err(error) => self.ends(Some(error)),
                },
                Poll::Pending => break,
            }
        }
        None
    }

    fn ends(&mut self, failure: Option<Error>) {
        self.chunks = None;
        self.failure = failure;
    }

    /// One that is an error ends the body, unless it concerns a single object.
    fn given(&mut self, part: Result<Part<S>, Error>) -> Poll<Option<Result<Part<S>, Error>>> {
        if part.as_ref().is_err_and(|error| !error.is_unreadable()) {
            self.close();
        }
        Poll::Ready(Some(part))
    }

    fn close(&mut self) {
        self.over = true;
        self.chunks = None;
        self.frames = Queue::default();
        self.decoded = Batch::default();
        self.workers.dismiss();
    }
}

impl<S: Split> Stream for Decoding<S> {
    type Item = Result<Part<S>, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if this.over {
                return Poll::Ready(None);
            }
            if let Some(part) = this.decoded.next() {
                return this.given(part);
            }
            if (this.frames.is_empty() || !this.workers.is_idle())
                && let Some(progress) = this.read(cx)
            {
                return Poll::Ready(Some(Ok(progress)));
            }
            this.workers.hand_over(&mut this.frames);
            if !this.workers.is_idle() {
                this.decoded = ready!(this.workers.poll_first(cx));
            } else if let Some(frame) = this.frames.pop() {
                return this.given(frame.decode());
            } else if this.chunks.is_some() {
                return Poll::Pending;
            } else {
                this.close();
                return Poll::Ready(this.failure.take().map(Err));
            }
        }
    }
}

/// Nothing is pinned.
impl<S: Split> Unpin for Decoding<S> {}

/// Frames in order, and how many bytes they are.
pub(super) struct Queue<F> {
    frames: VecDeque<F>,
    pub(super) bytes: usize,
}

impl<F: Frame> Queue<F> {
    fn push(&mut self, frame: F) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
    }

    pub(super) fn pop(&mut self) -> Option<F> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

impl<F> Default for Queue<F> {
    fn default() -> Self {
        Queue { frames: VecDeque::new(), bytes: 0 }
    }
}
