use super::{
    DEFAULT_MAX,
    decoding::{Decoding, Frame, Split},
    event::event,
    frame_splitter::FrameSplitter,
};
use crate::{
    Error, Object, Store,
    source::{WatchBody, WireEvent},
};
use bytes::Bytes;
use futures::Stream;

/// Decodes a watch's body line by line: for a [`ListWatch`](crate::source::ListWatch) of one's own over HTTP.
///
/// Blank lines are nothing. At a clean end an unterminated last line that is a whole event counts. A line that is no
/// event ends the body with [`Error::garbage`].
///
/// # Memory
///
/// Holds one chunk, and of earlier ones only the unfinished line, at most
/// [`max_event_size`](WatchDecoder::max_event_size). A line that lies in one chunk is not copied. With
/// [several workers](WatchDecoder::decode_workers), up to 64 KiB more for each, as bytes or decoded.
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
    workers: Option<usize>,
}

impl WatchDecoder {
    /// With the default limit.
    pub fn new() -> Self {
        WatchDecoder { max: DEFAULT_MAX, workers: None }
    }

    /// The most bytes of one event; more is an error, not memory. Default, also for 0: 16 MiB (client-go's).
    #[must_use]
    pub fn max_event_size(mut self, bytes: usize) -> Self {
        self.max = if bytes == 0 { DEFAULT_MAX } else { bytes };
        self
    }

    /// How many tasks decode at once, where events come faster than one decodes them; 1, and 0, is the task that
    /// polls the body, and no other. Default: one per thread of the runtime, at most four. As
    /// [`ListDecoder::decode_workers`](super::ListDecoder::decode_workers).
    #[must_use]
    pub fn decode_workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// The events of the body that these chunks are. An error of the chunks is passed on and ends it.
    pub fn decode<K: Object>(self, chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> WatchBody<K> {
        self.decode_beside(chunks, None)
    }

    /// As `decode`; what the store has in the same state is taken from there.
    pub(in crate::client) fn decode_beside<K: Object>(
        self,
        chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
        store: Option<Store<K>>,
    ) -> WatchBody<K> {
        let splitter = Splitter { lines: FrameSplitter::new(self.max), store };
        Decoding::body(chunks, splitter, self.workers)
    }
}

impl Default for WatchDecoder {
    fn default() -> Self {
        Self::new()
    }
}

struct Splitter<K> {
    lines: FrameSplitter,
    store: Option<Store<K>>,
}

struct Line<K> {
    line: Bytes,
    /// The body ended instead of the line.
    unterminated: bool,
    store: Option<Store<K>>,
}

impl<K: Object> Split for Splitter<K> {
    type Frame = Line<K>;

    fn push(&mut self, chunk: Bytes) {
        self.lines.push(chunk);
    }

    fn next(&mut self) -> Result<Option<Line<K>>, Error> {
        let line = self.lines.next()?;
        Ok(line.map(|line| Line { line, unterminated: false, store: self.store.clone() }))
    }

    fn finish(&mut self) -> Result<Option<Line<K>>, Error> {
        Ok(self.lines.finish().map(|line| Line { line, unterminated: true, store: self.store.clone() }))
    }

    fn progress() -> Option<WireEvent<K>> {
        None
    }
}

impl<K: Object> Frame for Line<K> {
    type Part = WireEvent<K>;

    fn len(&self) -> usize {
        self.line.len()
    }

    fn decode(self) -> Result<WireEvent<K>, Error> {
        match event(&self.line, self.store.as_ref()) {
            Err(error) if self.unterminated && !error.is_unreadable() => {
                Err(Error::interrupted("the watch ended inside of an event"))
            }
            event => event,
        }
    }
}
