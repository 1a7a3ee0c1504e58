//! The sockets: HTTP/1.1 and HTTP/2 with prior knowledge.

use super::{
    body::Broken,
    fault::Ending,
    request::{self, Connection, Request},
    shared::{BODY_DEADLINE, BODY_LIMIT, Piece, Reply, Shared},
    socket::{self, Control, Socket},
};
use futures::StreamExt;
use http_body_util::{BodyExt, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::{body::Frame, body::Incoming, service::service_fn};
use hyper_util::{rt::TokioIo, server::conn::auto::Builder};
use std::{
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A listening socket with its connections; all end when it is dropped.
#[derive(Debug)]
pub(super) struct Listening {
    tasks: Tasks,
}

/// The tasks of a listener: they end together.
#[derive(Clone, Debug)]
struct Tasks {
    stop: CancellationToken,
    tracker: TaskTracker,
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move { stop.run_until_cancelled(task).await.map(drop) });
    }
}

/// Binds an address, also one that was in use a moment ago.
///
/// # Errors
///
/// The address is taken.
pub(super) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

impl Listening {
    pub(super) fn start(listener: TcpListener, shared: Arc<Shared>) -> Self {
        let tasks = Tasks { stop: CancellationToken::new(), tracker: TaskTracker::new() };
        let accept = accept(listener, shared, tasks.clone());
        let stop = tasks.stop.clone();
        tasks.tracker.spawn(async move { stop.run_until_cancelled(accept).await });
        tasks.tracker.close();
        Self { tasks }
    }

    /// Closes everything and waits until it is closed.
    ///
    /// # Cancel safety
    ///
    /// Everything is closing from the first poll on.
    pub(super) async fn stop(self) {
        self.tasks.stop.cancel();
        self.tasks.tracker.wait().await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.tasks.stop.cancel();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, tasks: Tasks) {
    let mut id = shared.connections().len() as u64;
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        let refused = shared.refusals.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if refused.is_ok() {
            socket::reset(&stream);
            continue;
        }
        id += 1;
        let control = Arc::new(Control::new(tasks.stop.child_token()));
        let entry = Connection { id, peer, open: true };
        shared.connections().push((entry, Arc::downgrade(&control)));
        tasks.tracker.spawn(connection(stream, id, control, shared.clone(), tasks.clone()));
    }
}

async fn connection(stream: TcpStream, id: u64, control: Arc<Control>, shared: Arc<Shared>, tasks: Tasks) {
    let open = Open { shared: shared.clone(), id };
    // Small writes are the rule here. Where the option cannot be set, they only come later.
    drop(stream.set_nodelay(true));
    let socket = TokioIo::new(Socket::new(stream, control.clone()));
    let service = service_fn(|request| {
        let (shared, control) = (shared.clone(), control.clone());
        async move { handle(request, id, &shared, &control).await }
    });
    let tasks = Tasks { stop: control.closed.clone(), ..tasks };
    let builder = Builder::new(tasks);
    let serving = builder.serve_connection(socket, service);
    tokio::pin!(serving);
    loop {
        tokio::select! {
            biased;
            () = control.closed.cancelled() => break,
            () = control.goaway.notified() => serving.as_mut().graceful_shutdown(),
            // Whatever ends a connection is the client's affair.
            _ = serving.as_mut() => break,
        }
    }
    drop(open);
}

/// Marks the connection as closed when it is.
struct Open {
    shared: Arc<Shared>,
    id: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut connections = self.shared.connections();
        if let Some((entry, _)) = connections.iter_mut().find(|(entry, _)| entry.id == self.id) {
            entry.open = false;
        }
    }
}

type Response = hyper::Response<UnsyncBoxBody<bytes::Bytes, Broken>>;

async fn handle(
    request: hyper::Request<Incoming>,
    id: u64,
    shared: &Arc<Shared>,
    control: &Arc<Control>,
) -> Result<Response, Broken> {
    let (head, body) = request.into_parts();
    let body = timeout(BODY_DEADLINE, Limited::new(body, BODY_LIMIT).collect()).await;
    let body = body.ok().and_then(Result::ok).ok_or(Broken)?.to_bytes();
    let text = |value: &http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let request = Request {
        connection: id,
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: request::parse_query(head.uri.query().unwrap_or_default()),
        headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body,
        at: Instant::now(),
        http2: head.version == http::Version::HTTP_2,
    };
    match shared.respond(request, Some(control)).await {
        Ok(reply) => Ok(response(reply)),
        Err(Broken) => {
            control.end(Ending::Close);
            Err(Broken)
        }
    }
}

pub(super) fn response(reply: Reply) -> Response {
    let frames = reply.body.map(|piece| -> Piece { piece.map(Frame::data) });
    let mut response = hyper::Response::new(StreamBody::new(frames).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(reply.code).unwrap_or(http::StatusCode::OK);
    for (name, value) in reply.headers {
        if let Ok(value) = http::HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
