use super::{DEFAULT_MAX, event::event, frame_splitter::FrameSplitter};
use crate::{
    Error, Object,
    source::{Body, WatchBody, WireEvent},
};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream::BoxStream};
use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Decodes a watch's body line by line: for a [`ListWatch`](crate::source::ListWatch) of one's own over HTTP.
///
/// Blank lines are nothing. At a clean end an unterminated last line that is a whole event counts. A line that is no
/// event ends the body with [`Error::garbage`].
///
/// # Memory
///
/// Holds one chunk, and of earlier ones only the unfinished line, at most
/// [`max_event_size`](WatchDecoder::max_event_size). A line that lies in one chunk is not copied.
///
/// ```
/// use futures::{StreamExt, stream};
/// use listwatch::{Raw, client::WatchDecoder, source::WireEvent};
///
/// # futures::executor::block_on(async {
/// let chunks = ["{\"type\":\"ADDED\",\"object\":{\"meta", "data\":{\"name\":\"a\"}}}\n"];
/// let mut body = WatchDecoder::new().decode::<Raw>(stream::iter(chunks).map(|chunk| Ok(chunk.into())));
/// assert!(matches!(body.next().await, Some(Ok(WireEvent::Added(_)))));
/// assert!(body.next().await.is_none());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct WatchDecoder {
    max: usize,
}

impl WatchDecoder {
    /// With the default limit.
    pub fn new() -> Self {
        WatchDecoder { max: DEFAULT_MAX }
    }

    /// The most bytes of one event; more is an error, not memory. Default, also for 0: 16 MiB (client-go's).
    #[must_use]
    pub fn max_event_size(mut self, bytes: usize) -> Self {
        self.max = if bytes == 0 { DEFAULT_MAX } else { bytes };
        self
    }

    /// The events of the body that these chunks are. An error of the chunks is passed on and ends it.
    pub fn decode<K: Object>(self, chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> WatchBody<K> {
        Body::new(Decoding {
            chunks: Some(chunks.boxed()),
            splitter: FrameSplitter::new(self.max),
            _object: PhantomData,
        })
    }
}

impl Default for WatchDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Chunks that are taken before the task is let go.
const CHUNKS: usize = 64;

struct Decoding<K> {
    /// `None` once the body is over.
    chunks: Option<BoxStream<'static, Result<Bytes, Error>>>,
    splitter: FrameSplitter,
    _object: PhantomData<fn() -> K>,
}

impl<K: Object> Decoding<K> {
    /// The body has ended, perhaps inside of a line.
    fn last(&mut self) -> Option<Result<WireEvent<K>, Error>> {
        let line = self.splitter.finish()?;
        Some(event(&line).map_err(|error| {
            if error.is_unreadable() { error } else { Error::interrupted("the watch ended inside of an event") }
        }))
    }
}

impl<K: Object> Stream for Decoding<K> {
    type Item = Result<WireEvent<K>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
        let mut item = None;
        for _ in 0..CHUNKS {
            match this.splitter.next() {
                Ok(Some(line)) => item = Some(event(&line)),
                Ok(None) => {}
                Err(error) => item = Some(Err(error)),
            }
            if item.is_some() {
                break;
            }
            match ready!(chunks.poll_next_unpin(cx)) {
                Some(Ok(chunk)) => this.splitter.push(chunk),
                Some(Err(error)) => item = Some(Err(error)),
                None => {
                    this.chunks = None;
                    return Poll::Ready(this.last());
                }
            }
        }
        // Blank lines, or a long one in small pieces, from a source that always has more.
        let Some(item) = item else {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        if item.as_ref().is_err_and(|error| !error.is_unreadable()) {
            this.chunks = None;
        }
        Poll::Ready(Some(item))
    }
}
