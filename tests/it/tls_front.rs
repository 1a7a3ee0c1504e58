//! TLS in front of a server that speaks plain HTTP: how the in-process API server is reached over HTTPS and HTTP/2.

use crate::certificates::{Authority, Pair};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::copy_bidirectional,
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
    pub async fn listen(address: &str, target: SocketAddr, pair: &Pair) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shown = Mutex::new(config(pair, None));
        let shared = Arc::new(Shared { target, shown, connections: Mutex::default() });
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

async fn connection(socket: TcpStream, shared: Arc<Shared>) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let config = Arc::clone(&shared.shown.lock().unwrap());
    let mut tls = TlsAcceptor::from(config).accept(socket).await?;
    let session = tls.get_ref().1;
    let seen = Seen {
        server_name: session.server_name().map(str::to_owned),
        client: session.peer_certificates().map(|chain| chain[0].clone().into_owned()),
        http2: session.alpn_protocol() == Some(b"h2"),
    };
    shared.connections.lock().unwrap().push(seen);
    let mut plain = TcpStream::connect(shared.target).await?;
    plain.set_nodelay(true)?;
    copy_bidirectional(&mut tls, &mut plain).await?;
    Ok(())
}
