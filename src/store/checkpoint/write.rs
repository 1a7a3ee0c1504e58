use super::{EndLine, MAGIC, PartLine, UnreadableLine};
use crate::{
    Object, ResourceVersion,
    store::{Store, parts::PartState, root::Root, trie},
};
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use std::{
    fmt,
    io::{self, Write},
    pin::Pin,
    sync::Arc,
};
use tokio::io::AsyncWrite;

impl<K: Object + Serialize> Store<K> {
    /// The present state, ready to be written: each complete part with its name, version, source label and objects. A
    /// snapshot in progress is not in it. Taken in constant time; what it holds is not copied.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use listwatch::{Object, Store};
    ///
    /// let store = Store::of([ConfigMap::decode(br#"{"metadata":{"name":"a"}}"#)?]);
    /// let bytes = store.checkpoint().to_bytes()?;
    ///
    /// let warm = Store::<ConfigMap>::new();
    /// warm.restore(&bytes)?;
    /// assert!(warm.contains("a") && warm.state().is_stale());
    /// warm.ready().await?;
    /// # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn checkpoint(&self) -> Checkpoint<K> {
        let root = self.shared().load();
        let mut parts: Vec<_> = root.parts.iter().filter(|part| part.complete && !part.removed).cloned().collect();
        parts.reverse();
        Checkpoint {
            root,
            parts,
            part: None,
            out: GzEncoder::new(MAGIC.to_vec(), Compression::fast()),
            total: 0,
            over: false,
        }
    }

    /// What a checkpoint would hold; `None` as long as that is nothing to keep: before the store is ready.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let root = self.shared().load();
        root.is_ready().then(|| Mark { touched: root.counts.touched, version: root.version().cloned() })
    }
}

/// Tells one state of a store from another as far as a checkpoint shows it.
#[derive(PartialEq, Eq)]
pub(crate) struct Mark {
    touched: u64,
    version: Option<ResourceVersion>,
}

/// One state of a store on its way out: see [`Store::checkpoint`].
pub struct Checkpoint<K> {
    root: Arc<Root<K>>,
    /// Still to be written, the next one last.
    parts: Vec<Arc<PartState<K>>>,
    part: Option<trie::IntoIter<Arc<K>>>,
    out: GzEncoder<Vec<u8>>,
    total: u64,
    over: bool,
}

/// Objects that are encoded in one go: well under a millisecond.
const BATCH: usize = 64;

impl<K: Object + Serialize> Checkpoint<K> {
    /// As bytes.
    ///
    /// # Errors
    ///
    /// Where an object does not serialize.
    pub fn to_bytes(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk()? {
            bytes.extend(chunk);
        }
        Ok(bytes)
    }

    /// To any writer, piece by piece.
    ///
    /// # Errors
    ///
    /// Where an object does not serialize, or writing fails.
    pub fn write_sync(mut self, to: &mut impl Write) -> io::Result<()> {
        while let Some(chunk) = self.chunk()? {
            to.write_all(&chunk)?;
        }
        to.flush()
    }

    /// To any asynchronous writer, piece by piece, giving way to other tasks in between.
    ///
    /// # Errors
    ///
    /// Where an object does not serialize, or writing fails.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: what was written then is no checkpoint, and is not taken for one.
    pub async fn write_to(mut self, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some(chunk) = self.chunk()? {
            let mut left = &*chunk;
            while !left.is_empty() {
                match std::future::poll_fn(|cx| Pin::new(&mut to).poll_write(cx, left)).await? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    n => left = &left[n..],
                }
            }
            tokio::task::yield_now().await;
        }
        std::future::poll_fn(|cx| Pin::new(&mut to).poll_flush(cx)).await
    }

    /// The next piece; `None` after the last.
    fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.over {
            return Ok(None);
        }
        for _ in 0..BATCH {
            match self.part.as_mut().map(Iterator::next) {
                Some(Some(object)) => {
                    serde_json::to_writer(&mut self.out, &*object)?;
                    self.out.write_all(b"\n")?;
                }
                Some(None) | None => {
                    if !self.next_part()? {
                        break;
                    }
                }
            }
        }
        if self.over {
            self.out.try_finish()?;
        }
        Ok(Some(std::mem::take(self.out.get_mut())))
    }

    fn next_part(&mut self) -> io::Result<bool> {
        let Some(part) = self.parts.pop() else {
            self.line(&EndLine { end: self.total })?;
            self.over = true;
            return Ok(false);
        };
        let members = self.root.members(part.fixed.id);
        self.total += members.len() as u64;
        self.line(&PartLine {
            part: (&*part.fixed.name).into(),
            version: part.version.as_str().into(),
            source: part.source.as_deref().map(Into::into),
            objects: members.len() as u64,
            unreadable: part.unreadable.iter().map(|object| UnreadableLine::of(object)).collect(),
        })?;
        self.part = Some(members.into_iter());
        Ok(true)
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

impl<K: Object> fmt::Debug for Checkpoint<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Checkpoint");
        out.field("objects", &self.root.objects.len()).field("version", &self.root.version()).finish_non_exhaustive()
    }
}
