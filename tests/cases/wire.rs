//! One connection, plain or TLS, below HTTP.

use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use tokio_rustls::server::TlsStream;

pub struct Wire {
    io: Io,
    /// What was read and not yet taken.
    pub buffer: Vec<u8>,
}

enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

trait ReadWrite: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> ReadWrite for T {}

impl Wire {
    pub fn plain(tcp: TcpStream) -> Self {
        Wire { io: Io::Plain(tcp), buffer: Vec::new() }
    }

    pub fn tls(stream: TlsStream<TcpStream>) -> Self {
        Wire { io: Io::Tls(Box::new(stream)), buffer: Vec::new() }
    }

    fn io(&mut self) -> &mut dyn ReadWrite {
        match &mut self.io {
            Io::Plain(tcp) => tcp,
            Io::Tls(stream) => &mut **stream,
        }
    }

    /// Reads more into the buffer: false where the client has closed.
    pub async fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.io().read(&mut bytes).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&bytes[..count]);
                true
            }
        }
    }

    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.io().write_all(bytes).await?;
        self.io().flush().await
    }

    /// Waits this long: false, at once, where the client closes in the meantime.
    pub async fn stays_open_for(&mut self, wait: Duration) -> bool {
        let end = Instant::now() + wait;
        loop {
            tokio::select! {
                biased;
                open = self.read() => if !open { return false },
                () = tokio::time::sleep_until(end) => return true,
            }
        }
    }

    /// Waits until the client closes.
    pub async fn closed(&mut self) {
        while self.read().await {}
    }

    /// A TCP reset.
    pub fn reset(self) {
        let tcp = match &self.io {
            Io::Plain(tcp) => tcp,
            Io::Tls(stream) => stream.get_ref().0,
        };
        // Cannot fail on a socket that is open, and on another one there is nothing to reset.
        let _ = tcp.set_zero_linger();
    }

    /// A clean end: what was written arrives.
    pub async fn finish(mut self) {
        if self.io().shutdown().await.is_ok() {
            self.closed().await;
        }
    }
}
