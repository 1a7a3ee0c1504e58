//! The server of a conversation: raw HTTP/1.1, so that it can break every rule at every byte.

use super::{
    format::Case,
    http::Request,
    record::Record,
    responder::{self, After},
    script::{Script, Turn},
    tls,
    wire::Wire,
};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// Where the server listens: `${SERVER_A}`, which is also `${SERVER}`, and `${SERVER_B}`.
pub struct Listeners(Vec<std::net::TcpListener>);

pub struct Server {
    pub shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

/// What connections share.
pub struct Shared {
    pub case: Case,
    pub record: Arc<Record>,
    pub token_file: Option<std::path::PathBuf>,
    script: Mutex<Script>,
    /// Connections that are neither served nor closed any more.
    half_open: Mutex<Vec<Wire>>,
}

impl Listeners {
    pub fn open() -> std::io::Result<Self> {
        let listener = |_| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        Ok(Listeners((0..2).map(listener).collect::<std::io::Result<_>>()?))
    }

    pub fn address(&self, server: usize) -> SocketAddr {
        self.0[server].local_addr().expect("a listener has an address")
    }
}

impl Server {
    /// Starts to play the case's conversation.
    pub fn start(
        listeners: Listeners,
        case: Case,
        token_file: Option<std::path::PathBuf>,
        record: Arc<Record>,
    ) -> Self {
        let acceptor = case.setup.tls.then(tls::acceptor);
        let script = Mutex::new(Script::new(Arc::new(case.conversation.clone())));
        let shared = Arc::new(Shared { case, record, token_file, script, half_open: Mutex::default() });
        let mut tasks = JoinSet::new();
        for (server, listener) in listeners.0.into_iter().enumerate() {
            let listener = TcpListener::from_std(listener).expect("a listener is non-blocking");
            tasks.spawn(accept(server, listener, acceptor.clone(), Arc::clone(&shared)));
        }
        Server { shared, _tasks: tasks }
    }
}

impl Shared {
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn hold(&self, wire: Wire) {
        self.half_open.lock().unwrap_or_else(PoisonError::into_inner).push(wire);
    }
}

async fn accept(server: usize, listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    let mut count = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((tcp, _)) = accepted else { continue };
                let connection = count * 2 + server as u64;
                count += 1;
                connections.spawn(connect(server, connection, tcp, acceptor.clone(), Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connect(server: usize, connection: u64, tcp: TcpStream, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let _ = tcp.set_nodelay(true);
    let wire = match tls {
        None => Wire::plain(tcp),
        Some(acceptor) => match acceptor.accept(tcp).await {
            Ok(stream) => Wire::tls(stream),
            Err(_) => return,
        },
    };
    shared.record.log().connections += 1;
    serve(server, connection, wire, &shared).await;
    shared.record.log().connections -= 1;
}

async fn serve(server: usize, connection: u64, mut wire: Wire, shared: &Shared) {
    loop {
        let request = match Request::take(&mut wire.buffer, server, connection) {
            Ok(Some(request)) => request,
            Ok(None) if wire.read().await => continue,
            Ok(None) => return,
            Err(error) => return shared.record.log().unexpected.push(error),
        };
        let turn = shared.script().take(&request);
        shared.record.log().requests.push((request.clone(), step(&turn)));
        let answer = match turn {
            Ok(Turn::Step(index)) => responder::play(wire, &request, index, shared).await,
            Ok(Turn::Unauthorized) => responder::refuse(wire, 401, "Unauthorized").await,
            Err(why) => {
                shared.record.log().unexpected.push(format!("{request}\n      {}", why.replace("; ", "\n      ")));
                responder::refuse(wire, 500, "NotInTheScript").await
            }
        };
        match answer {
            After::KeepAlive(open) => wire = open,
            After::HalfOpen(open) => return shared.hold(open),
            After::Closed => return,
        }
    }
}

fn step(turn: &Result<Turn, String>) -> Option<usize> {
    match turn {
        Ok(Turn::Step(index)) => Some(*index),
        _ => None,
    }
}
