use super::{
    DEFAULT_MAX,
    decoding::{Decoding, Frame, Split},
    kinds::Kinds,
    list_splitter::{ListSplitter, Token},
    meta::list_meta,
    object::object,
};
use crate::{
    Error, Object, Store, UnreadableAs,
    source::{ListBody, ListPart},
};
use bytes::Bytes;
use futures::Stream;
use std::sync::Arc;

/// Decodes a list's body item by item while its bytes arrive: for a [`ListWatch`](crate::source::ListWatch) of one's
/// own over HTTP.
///
/// `metadata` may stand before or after `items`; absent and null items are none. What is no list, a
/// `meta.k8s.io` Table, a Status, and a list that something follows, is an error, as is one that ends early.
///
/// # Memory
///
/// Holds one chunk, and of earlier ones only the unfinished item or metadata, at most
/// [`max_item_size`](ListDecoder::max_item_size). An item that lies in one chunk is not copied. With
/// [several workers](ListDecoder::decode_workers), up to 64 KiB more for each, as bytes or decoded.
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
    workers: Option<usize>,
    kinds: Option<Kinds>,
}

impl ListDecoder {
    /// With the default limit.
    pub fn new() -> Self {
        ListDecoder { max: DEFAULT_MAX, workers: None, kinds: None }
    }

    /// The most bytes of one item as it was sent; more is an error, not memory. Default, also for 0: 16 MiB.
    #[must_use]
    pub fn max_item_size(mut self, bytes: usize) -> Self {
        self.max = if bytes == 0 { DEFAULT_MAX } else { bytes };
        self
    }

    /// How many tasks decode at once, where a list comes faster than one decodes it; 1, and 0, is the task that polls
    /// the body, and no other. Default: one per thread of the runtime, at most four.
    ///
    /// They run on the runtime's threads, each for a fraction of a millisecond with ordinary objects. A list of less than 32 KiB
    /// is always decoded in place, and so is every list where there is no runtime.
    #[must_use]
    pub fn decode_workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
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
        self.decode_beside(chunks, None)
    }

    /// As `decode`; what the store has in the same state is taken from there.
    pub(in crate::client) fn decode_beside<K: Object>(
        self,
        chunks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
        store: Option<Store<K>>,
    ) -> ListBody<K> {
        let splitter = Splitter::<K> {
            list: ListSplitter::new(self.max),
            kinds: self.kinds.map(Arc::new),
            knows_list: false,
            store,
        };
        Decoding::body(chunks, splitter, self.workers)
    }
}

impl Default for ListDecoder {
    fn default() -> Self {
        Self::new()
    }
}

struct Splitter<K> {
    list: ListSplitter,
    kinds: Option<Arc<Kinds>>,
    /// The list has said its kind before this item.
    knows_list: bool,
    store: Option<Store<K>>,
}

/// A value of a list; for objects that carry their kind, with what that is if they do not say.
struct ListFrame<K> {
    token: Token,
    kinds: Option<Arc<Kinds>>,
    store: Option<Store<K>>,
}

impl<K: Object> Splitter<K> {
    fn kinds(&mut self) -> Option<Arc<Kinds>> {
        if !K::carries_kind() {
            return None;
        }
        if !self.knows_list
            && let (Some(api_version), Some(kind)) = (&self.list.api_version, &self.list.kind)
        {
            self.knows_list = true;
            self.kinds = Kinds::of_list(api_version, kind).map(Arc::new).or(self.kinds.take());
        }
        self.kinds.clone()
    }
}

impl<K: Object> Split for Splitter<K> {
    type Frame = ListFrame<K>;

    fn push(&mut self, chunk: Bytes) {
        self.list.push(chunk);
    }

    fn next(&mut self) -> Result<Option<ListFrame<K>>, Error> {
        let token = self.list.next()?;
        Ok(token.map(|token| ListFrame { token, kinds: self.kinds(), store: self.store.clone() }))
    }

    fn finish(&mut self) -> Result<Option<ListFrame<K>>, Error> {
        self.list.finish().map(|()| None)
    }

    fn progress() -> Option<ListPart<K>> {
        Some(ListPart::Progress)
    }
}

impl<K: Object> Frame for ListFrame<K> {
    type Part = ListPart<K>;

    fn len(&self) -> usize {
        let (Token::Item(json) | Token::Metadata(json)) = &self.token;
        json.len()
    }

    fn decode(self) -> Result<ListPart<K>, Error> {
        let json = match (self.token, self.kinds) {
            (Token::Metadata(json), _) => return list_meta(&json).map(ListPart::Meta),
            (Token::Item(json), None) => json,
            (Token::Item(json), Some(kinds)) => kinds.stamp(json),
        };
        object(&json, UnreadableAs::Listed, self.store.as_ref()).map(ListPart::Item)
    }
}
