use super::{
    DEFAULT_MAX,
    kinds::Kinds,
    list_splitter::{ListSplitter, Token},
    meta::list_meta,
    object::object,
};
use crate::{
    Error, Object, UnreadableAs,
    source::{Body, ListBody, ListPart},
};
use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{BoxStream, FusedStream},
};
use std::{
    fmt,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Decodes a list's body item by item while its bytes arrive: for a [`ListWatch`](crate::source::ListWatch) of one's
/// own over HTTP.
///
/// `metadata` may stand before or after `items`; absent and null items are none. What is no list, a
/// `meta.k8s.io` Table, a Status, and a list that something follows, is an error, as is one that ends early.
///
/// # Memory
///
/// Holds one chunk, and of earlier ones only the unfinished item or metadata, at most
/// [`max_item_size`](ListDecoder::max_item_size). An item that lies in one chunk is not copied.
///
/// ```
/// use futures::{StreamExt, stream};
/// use listwatch::{Raw, client::ListDecoder, source::ListPart};
///
/// # futures::executor::block_on(async {
/// let chunks = [r#"{"kind":"PodList","items":[{"metadata":{"na"#, r#"me":"a"}}],"metadata":{"resourceVersion":"7"}}"#];
/// let mut body = ListDecoder::new().decode::<Raw>(stream::iter(chunks).map(|chunk| Ok(chunk.into())));
/// assert!(matches!(body.next().await, Some(Ok(ListPart::Progress))), "the first chunk holds no whole item");
/// assert!(matches!(body.next().await, Some(Ok(ListPart::Item(_)))));
/// assert!(matches!(body.next().await, Some(Ok(ListPart::Meta(meta))) if meta.resource_version.as_str() == "7"));
/// assert!(body.next().await.is_none());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ListDecoder {
    max: usize,
    kinds: Option<Kinds>,
}

impl ListDecoder {
    /// With the default limit.
    pub fn new() -> Self {
        ListDecoder { max: DEFAULT_MAX, kinds: None }
    }

    /// The most bytes of one item; more is an error, not memory. Default, also for 0: 16 MiB.
    #[must_use]
    pub fn max_item_size(mut self, bytes: usize) -> Self {
        self.max = if bytes == 0 { DEFAULT_MAX } else { bytes };
        self
    }

    /// What items that say no `kind` are, where the list itself says it after them or never. Only types that
    /// [carry their kind](Object::carries_kind) get to see it.
    #[must_use]
    pub fn kind_of_items(mut self, api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        self.kinds = Some(Kinds::new(api_version, kind));
        self
    }

    /// The parts of the body that these chunks are. An error of the chunks is passed on and ends it.
    pub fn decode<K: Object>(self, chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> ListBody<K> {
        Body::new(Decoding {
            chunks: Some(chunks.boxed()),
            splitter: ListSplitter::new(self.max),
            kinds: self.kinds,
            knows_list: false,
            idle: false,
            _object: PhantomData,
        })
    }
}

impl Default for ListDecoder {
    fn default() -> Self {
        Self::new()
    }
}

struct Decoding<K> {
    /// `None` once the body is over.
    chunks: Option<BoxStream<'static, Result<Bytes, Error>>>,
    splitter: ListSplitter,
    kinds: Option<Kinds>,
    /// The list has said its kind before this item.
    knows_list: bool,
    /// The last chunk has completed nothing yet.
    idle: bool,
    _object: PhantomData<fn() -> K>,
}

impl<K: Object> Decoding<K> {
    fn part(&mut self, token: Token) -> Result<ListPart<K>, Error> {
        match token {
            Token::Metadata(json) => list_meta(&json).map(ListPart::Meta),
            Token::Item(json) => object(&self.stamped(json), UnreadableAs::Listed).map(ListPart::Item),
        }
    }

    fn stamped(&mut self, item: Bytes) -> Bytes {
        if !K::carries_kind() {
            return item;
        }
        if !self.knows_list
            && let (Some(api_version), Some(kind)) = (&self.splitter.api_version, &self.splitter.kind)
        {
            self.knows_list = true;
            self.kinds = Kinds::of_list(api_version, kind).or(self.kinds.take());
        }
        match &self.kinds {
            Some(kinds) => kinds.stamp(item),
            None => item,
        }
    }
}

impl<K: Object> Stream for Decoding<K> {
    type Item = Result<ListPart<K>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
        let part = loop {
            match this.splitter.next() {
                Ok(Some(token)) => {
                    this.idle = false;
                    break this.part(token);
                }
                Ok(None) if std::mem::take(&mut this.idle) => return Poll::Ready(Some(Ok(ListPart::Progress))),
                Ok(None) => {}
                Err(error) => break Err(error),
            }
            match ready!(chunks.poll_next_unpin(cx)) {
                Some(Ok(chunk)) => {
                    this.splitter.push(chunk);
                    this.idle = true;
                }
                Some(Err(error)) => break Err(error),
                None => match this.splitter.finish() {
                    Ok(()) => {
                        this.chunks = None;
                        return Poll::Ready(None);
                    }
                    Err(error) => break Err(error),
                },
            }
        };
        if part.as_ref().is_err_and(|error| !error.is_unreadable()) {
            this.chunks = None;
        }
        Poll::Ready(Some(part))
    }
}

impl<K: Object> FusedStream for Decoding<K> {
    fn is_terminated(&self) -> bool {
        self.chunks.is_none()
    }
}

impl<K> fmt::Debug for Decoding<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoding").finish_non_exhaustive()
    }
}
