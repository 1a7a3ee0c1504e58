//! A connection that can be broken in the ways networks break them.

use super::fault::Ending;
use futures::task::AtomicWaker;
use std::{
    io,
    pin::Pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::Notify,
};
use tokio_util::sync::CancellationToken;

/// The switches of one connection.
#[derive(Debug)]
pub(super) struct Control {
    /// Cancelled: the connection is dropped.
    pub(super) closed: CancellationToken,
    /// The connection takes no further requests.
    pub(super) goaway: Notify,
    frozen: AtomicBool,
    reset: AtomicBool,
    unread: AtomicBool,
    after_flush: Mutex<Option<Ending>>,
    waker: AtomicWaker,
}

impl Control {
    pub(super) fn new(closed: CancellationToken) -> Self {
        Self {
            closed,
            goaway: Notify::new(),
            frozen: AtomicBool::new(false),
            reset: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            after_flush: Mutex::new(None),
            waker: AtomicWaker::new(),
        }
    }

    /// Ends the connection now.
    pub(super) fn end(&self, how: Ending) {
        match how {
            Ending::HalfOpen => self.frozen.store(true, Ordering::Release),
            Ending::Reset => {
                self.reset.store(true, Ordering::Release);
                self.closed.cancel();
            }
            Ending::Close => self.closed.cancel(),
            Ending::Eof | Ending::Stall => {}
        }
        self.waker.wake();
    }

    /// Ends the connection once everything written so far is on its way.
    pub(super) fn end_after_flush(&self, how: Ending) {
        *self.after_flush.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        self.waker.wake();
    }

    /// Stops or starts reading.
    pub(super) fn read(&self, reads: bool) {
        self.unread.store(!reads, Ordering::Release);
        self.waker.wake();
    }
}

/// A TCP connection under such a control.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    control: std::sync::Arc<Control>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, control: std::sync::Arc<Control>) -> Self {
        Self { stream, control }
    }

    fn frozen(&self, cx: &Context<'_>) -> bool {
        self.control.waker.register(cx.waker());
        self.control.frozen.load(Ordering::Acquire)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.control.reset.load(Ordering::Acquire) {
            reset(&self.stream);
        }
    }
}

/// Lets the coming drop of the stream reset the connection.
pub(super) fn reset(stream: &TcpStream) {
    // Where the option cannot be set, the connection closes instead, which is a fault too.
    drop(stream.set_zero_linger());
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.frozen(cx) || self.control.unread.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.frozen(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        let due = self.control.after_flush.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(how) = due {
            self.control.end(how);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.frozen(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
