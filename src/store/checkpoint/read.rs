use super::{
    EndLine, MAGIC, PartLine, UnreadableLine,
    restore_error::{RestoreError, Why},
};
use crate::{
    Key, Object,
    store::{
        Part, State, Store, part,
        parts::PartState,
        root::{Root, has_key},
    },
};
use flate2::write::GzDecoder;
use serde::de::DeserializeOwned;
use std::{io::Write, pin::Pin, sync::Arc};
use tokio::{
    io::{AsyncRead, ReadBuf},
    time::Instant,
};

impl<K: Object> Part<K> {
    /// Says what the objects of this part come from, such as a cluster and a selector, in any words: a checkpoint keeps
    /// it, and [`restore`](Store::restore) refuses one whose label is another than the one set before.
    pub fn set_source(&self, label: &str) {
        self.store().shared().update(|present| {
            let mut next = Root::clone(present);
            let mut part = match present.parts.named(self.name()) {
                Some(part) => PartState::clone(part),
                None => PartState::new(part::next_id(&mut next), self.name().into()),
            };
            part.source = Some(label.into());
            next.parts.put(part);
            (Some(next), ())
        });
    }
}

impl<K: Object + DeserializeOwned> Store<K> {
    /// Takes the content of a checkpoint, before any stream feeds the store: its parts are then
    /// [`Stale`](State::Stale) and complete, readable at once, and the streams of the same names take them over.
    ///
    /// `events().resume_from(store.resource_version())` goes on where the checkpoint stopped, without a list; where that
    /// version has expired, a relist follows, and only its differences are told.
    ///
    /// # Errors
    ///
    /// Where the bytes are no checkpoint, or one of another format; where they are truncated, corrupt, or of another
    /// type; where a part's source label is another than the one [set](Part::set_source) before; where the store is
    /// already in use. The store is then as it was: a cold start.
    ///
    /// # Memory
    ///
    /// Holds the objects, and of their text one at a time.
    pub fn restore(&self, bytes: &[u8]) -> Result<(), RestoreError> {
        let mut reader = Reader::new();
        for chunk in bytes.chunks(CHUNK) {
            reader.feed(chunk)?;
        }
        self.take_over(reader.finish()?)
    }

    /// [`restore`](Store::restore) from any asynchronous reader, piece by piece.
    ///
    /// # Errors
    ///
    /// As [`restore`](Store::restore), and where reading fails.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the store changes only at the end.
    pub async fn restore_from(&self, mut from: impl AsyncRead + Unpin) -> Result<(), RestoreError> {
        let (mut reader, mut chunk) = (Reader::new(), vec![0; CHUNK]);
        loop {
            let mut read = ReadBuf::new(&mut chunk);
            let polled = std::future::poll_fn(|cx| Pin::new(&mut from).poll_read(cx, &mut read)).await;
            polled.map_err(|error| RestoreError(Why::Io(Arc::new(error))))?;
            if read.filled().is_empty() {
                return self.take_over(reader.finish()?);
            }
            reader.feed(read.filled())?;
            tokio::task::yield_now().await;
        }
    }

    fn take_over(&self, parts: Vec<PartContent<K>>) -> Result<(), RestoreError> {
        let (since, why): (_, Arc<str>) = (Instant::now(), "restored from a checkpoint".into());
        self.shared().update(|present| {
            if present.parts.in_use() || !present.objects.is_empty() {
                return (None, Err(RestoreError(Why::InUse)));
            }
            let mut next = Root::clone(present);
            for (line, objects) in &parts {
                let mut part = match present.parts.named(&line.part) {
                    Some(part) => PartState::clone(part),
                    None => PartState::new(part::next_id(&mut next), (&*line.part).into()),
                };
                if let Some(expected) = part.source.as_deref().filter(|own| Some(*own) != line.source.as_deref()) {
                    return (None, Err(RestoreError::source(line, expected)));
                }
                part.source = line.source.as_deref().map(Into::into);
                part.state = State::Stale { since, why: Arc::clone(&why) };
                part.complete = true;
                part.version = (&*line.version).into();
                for object in objects {
                    let key = Key::of(&**object);
                    let hash = next.hash(key);
                    if next.objects.get(hash, |held| has_key(&**held, key)).is_some() {
                        return (None, Err(RestoreError(Why::Twice(key.to_owned()))));
                    }
                    next.claim(part.fixed.id);
                    next.put(&mut part, hash, object);
                }
                for object in line.unreadable.iter().map(UnreadableLine::object) {
                    part.mark_unreadable(next.hash(object.key()), &object);
                }
                next.parts.put(part);
            }
            next.tell(None, true);
            (Some(next), Ok(()))
        })
    }
}

/// Compressed bytes that are read in one go.
const CHUNK: usize = 16 * 1024;

/// A part and the objects that follow it.
type PartContent<K> = (PartLine, Vec<Arc<K>>);

/// Decodes what it is fed, and holds of it the objects and one unfinished line.
struct Reader<K> {
    /// What came of the first bytes.
    head: Vec<u8>,
    lines: GzDecoder<Vec<u8>>,
    parts: Vec<PartContent<K>>,
    end: Option<u64>,
}

impl<K: Object + DeserializeOwned> Reader<K> {
    fn new() -> Self {
        Reader { head: Vec::new(), lines: GzDecoder::new(Vec::new()), parts: Vec::new(), end: None }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let (head, mut bytes) = bytes.split_at(bytes.len().min(MAGIC.len() - self.head.len()));
        self.head.extend(head);
        let (name, format) = self.head.split_at(self.head.len().min(MAGIC.len() - 1));
        if !MAGIC.starts_with(name) {
            return Err(RestoreError(Why::Foreign));
        }
        if let [format] = format
            && *format != MAGIC[MAGIC.len() - 1]
        {
            return Err(RestoreError(Why::Format(*format)));
        }
        while !bytes.is_empty() {
            match self.lines.write(bytes) {
                Ok(0) => return Err(RestoreError::corrupt("bytes after its end")),
                Ok(n) => bytes = &bytes[n..],
                Err(_) => return Err(RestoreError::corrupt("it does not unpack")),
            }
            self.take_lines()?;
        }
        Ok(())
    }

    fn take_lines(&mut self) -> Result<(), RestoreError> {
        let text = std::mem::take(self.lines.get_mut());
        let mut rest = &*text;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line(&rest[..end])?;
            rest = &rest[end + 1..];
        }
        *self.lines.get_mut() = rest.to_vec();
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), RestoreError> {
        if self.end.is_some() {
            return Err(RestoreError::corrupt("lines after its end"));
        }
        match self.parts.last_mut() {
            Some((part, objects)) if (objects.len() as u64) < part.objects => {
                let object: K =
                    serde_json::from_slice(line).map_err(|error| RestoreError(Why::Object(error.into())))?;
                if object.identity().name.is_empty() {
                    return Err(RestoreError::corrupt("an object without a name"));
                }
                objects.push(Arc::new(object));
            }
            _ => match (serde_json::from_slice(line), serde_json::from_slice::<EndLine>(line)) {
                (Ok(part), _) => self.parts.push((part, Vec::new())),
                (_, Ok(end)) => self.end = Some(end.end),
                _ => return Err(RestoreError::corrupt("a line that is neither a part nor the end")),
            },
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<PartContent<K>>, RestoreError> {
        if self.head.len() < MAGIC.len() {
            return Err(RestoreError(Why::Foreign));
        }
        self.lines.try_finish().map_err(|_| RestoreError::corrupt("it is cut off, or its checksum is wrong"))?;
        self.take_lines()?;
        let objects: usize = self.parts.iter().map(|(_, objects)| objects.len()).sum();
        match self.end {
            Some(end) if end == objects as u64 && self.lines.get_ref().is_empty() => Ok(self.parts),
            _ => Err(RestoreError::corrupt("it is cut off")),
        }
    }
}
