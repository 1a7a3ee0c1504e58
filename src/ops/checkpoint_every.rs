use crate::{Object, Store, store::Mark};
use futures::{Stream, ready, stream::FusedStream};
use pin_project::pin_project;
use serde::Serialize;
use std::{
    ffi::OsString,
    fmt, fs,
    future::Future,
    io::{self, BufWriter},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{Instant, Sleep, sleep},
};

/// Stream for the [`checkpoint_every`](crate::EventStreamExt::checkpoint_every) method.
///
#[doc = include_str!("figures/checkpoint_every.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct CheckpointEvery<S, K> {
    #[pin]
    stream: S,
    over: bool,
    /// What the stream left at its end is written, or being written.
    last: bool,
    writer: Writer<K>,
}

struct Writer<K> {
    store: Store<K>,
    path: Arc<PathBuf>,
    period: Duration,
    /// Boxed once, reset in place.
    timer: Option<Pin<Box<Sleep>>>,
    writing: Option<JoinHandle<io::Result<()>>>,
    /// What was written last.
    written: Option<Mark>,
    failures: u64,
}

impl<K: Object + Serialize> Writer<K> {
    /// Begins to write, where there is something new and nothing is being written.
    fn begin(&mut self) {
        let Some(mark) = self.store.mark() else { return };
        if self.writing.is_some() || self.written.as_ref() == Some(&mark) {
            return;
        }
        self.written = Some(mark);
        let (checkpoint, path) = (self.store.checkpoint(), Arc::clone(&self.path));
        self.writing = Some(spawn_blocking(move || replace(&path, |file| checkpoint.write_sync(file))));
    }

    /// Ready where nothing is being written.
    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(writing) = &mut self.writing else { return Poll::Ready(()) };
        let written = ready!(Pin::new(writing).poll(cx)).unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
        self.writing = None;
        match written {
            Ok(()) => tracing::debug!(path = %self.path.display(), "checkpoint written"),
            Err(error) => {
                self.written = None;
                self.failures += 1;
                tracing::warn!(path = %self.path.display(), %error, "checkpoint not written");
            }
        }
        Poll::Ready(())
    }

    fn poll_period(&mut self, cx: &mut Context<'_>) {
        let period = self.period;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(period)));
        if timer.as_mut().poll(cx).is_ready() {
            timer.as_mut().reset(Instant::now() + period);
            if timer.as_mut().poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
            self.begin();
            let _wakes_when_written = self.poll_written(cx);
        }
    }
}

/// Writes a file beside another one and renames it over that.
fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>) -> io::Result<()> {
    let mut beside = OsString::from(path);
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = BufWriter::new(fs::File::create(&beside)?);
    write(&mut file)?;
    file.into_inner()?.sync_all()?;
    fs::rename(&beside, path)?;
    // so that the rename itself outlives a power cut, where directories can be synced
    if let Some(Ok(folder)) = path.parent().map(fs::File::open) {
        folder.sync_all().ok();
    }
    Ok(())
}

impl<S, K> CheckpointEvery<S, K> {
    pub(super) fn new(stream: S, store: Store<K>, path: PathBuf, period: Duration) -> Self {
        let path = Arc::new(path);
        let writer = Writer { store, path, period, timer: None, writing: None, written: None, failures: 0 };
        CheckpointEvery { stream, over: false, last: false, writer }
    }

    /// How many checkpoints could not be written.
    pub fn failures(&self) -> u64 {
        self.writer.failures
    }

    /// The stream that is passed on.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The stream that is passed on.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The stream that is passed on, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().stream
    }

    /// The stream that is passed on; nothing more is written.
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: Stream, K: Object + Serialize> Stream for CheckpointEvery<S, K> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        let writer = this.writer;
        let written = writer.poll_written(cx);
        if !*this.over {
            writer.poll_period(cx);
            match ready!(this.stream.poll_next(cx)) {
                Some(item) => return Poll::Ready(Some(item)),
                None => *this.over = true,
            }
        }
        ready!(written);
        if !std::mem::replace(this.last, true) {
            writer.begin();
        }
        writer.poll_written(cx).map(|()| None)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<S: Stream, K: Object + Serialize> FusedStream for CheckpointEvery<S, K> {
    fn is_terminated(&self) -> bool {
        self.last && self.writer.writing.is_none()
    }
}

impl<S: fmt::Debug, K> fmt::Debug for CheckpointEvery<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("CheckpointEvery");
        out.field("stream", &self.stream).field("path", &self.writer.path).finish_non_exhaustive()
    }
}
