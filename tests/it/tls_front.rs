//! TLS in front of a server that speaks plain HTTP: how the in-process API server is reached over HTTPS and HTTP/2.

use crate::certificates::{Authority, Pair};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

pub struct Front {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    target: SocketAddr,
    shown: Mutex<Arc<ServerConfig>>,
    connections: Mutex<Vec<Seen>>,
    sent: AtomicU64,
    /// So many connections, the first ones, carry nothing any more.
    frozen: AtomicUsize,
}

/// What a connection showed.
#[derive(Clone, Debug)]
pub struct Seen {
    pub server_name: Option<String>,
    pub client: Option<CertificateDer<'static>>,
    pub http2: bool,
}

impl Front {
    pub async fn start(target: SocketAddr, pair: &Pair) -> Self {
        Self::listen("127.0.0.1:0", target, pair).await.unwrap()
    }

    /// # Errors
    ///
    /// There is no such address here.
    pub async fn listen(address: &str, target: SocketAddr, pair: &Pair) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shown = Mutex::new(config(pair, None));
        let shared = Arc::new(Shared {
            target,
            shown,
            connections: Mutex::default(),
            sent: AtomicU64::default(),
            frozen: AtomicUsize::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared))).abort_handle();
        Ok(Front { address, shared, task })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The certificate for new connections. With an authority, clients are asked for one of its.
    pub fn show(&self, pair: &Pair, clients: Option<&Authority>) {
        *self.shared.shown.lock().unwrap() = config(pair, clients);
    }

    /// All connections so far that were let in.
    pub fn connections(&self) -> Vec<Seen> {
        self.shared.connections.lock().unwrap().clone()
    }

    /// How many bytes the server has sent on all of them, as they are under TLS.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Relaxed)
    }

    /// From now on nothing comes on the connections so far, though they stay open.
    pub fn freeze(&self) {
        self.shared.frozen.store(self.connections().len(), Relaxed);
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn config(pair: &Pair, clients: Option<&Authority>) -> Arc<ServerConfig> {
    let provider = Arc::new(default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
    let mut config = builder.with_single_cert(vec![pair.der.clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(connection(socket, Arc::clone(&shared)));
    }
}

async fn connection(socket: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let config = Arc::clone(&shared.shown.lock().unwrap());
    let mut tls = TlsAcceptor::from(config).accept(socket).await?;
    let session = tls.get_ref().1;
    let seen = Seen {
        server_name: session.server_name().map(str::to_owned),
        client: session.peer_certificates().map(|chain| chain[0].clone().into_owned()),
        http2: session.alpn_protocol() == Some(b"h2"),
    };
    let number = {
        let mut connections = shared.connections.lock().unwrap();
        connections.push(seen);
        connections.len()
    };
    let plain = TcpStream::connect(shared.target).await?;
    plain.set_nodelay(true)?;
    copy_bidirectional(&mut tls, &mut Noted { plain, number, shared }).await?;
    Ok(())
}

/// The server's end, whose bytes are counted until they are held back.
struct Noted {
    plain: TcpStream,
    /// From 1.
    number: usize,
    shared: Arc<Shared>,
}

impl AsyncRead for Noted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.plain).poll_read(cx, buf))?;
        if self.number <= self.shared.frozen.load(Relaxed) {
            buf.set_filled(before);
            return Poll::Pending; // for ever: nobody wakes it
        }
        self.shared.sent.fetch_add((buf.filled().len() - before) as u64, Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Noted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.plain).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.plain).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.plain).poll_shutdown(cx)
    }
}
