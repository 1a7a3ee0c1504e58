//! The server without its socket: for clients of this crate, in paused time.

use super::{
    ApiServer,
    body::{Broken, Pieces},
    fault::Ending,
    request::{self, Request},
};
use crate::{
    Error,
    client::{self, Response, Transport},
};
use bytes::Bytes;
use futures::{StreamExt, future};
use tokio::{sync::watch, time::Instant};

/// The server answers without a socket, so that a whole pipeline runs in paused time.
///
/// Requests and faults are the same as over HTTP, but for those of the connection itself: GOAWAY does nothing, and a
/// body compressed by [`Fault::GzipEachEvent`](super::Fault::GzipEachEvent) stays so.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use listwatch::{Reflector, client::{Client, Collection}, testing::{ApiServer, Ending}};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let server = ApiServer::start().await;
/// server.create("configmaps", json!({"metadata": {"name": "a"}}));
/// let client = Client::with_transport(server.clone());
/// let mut changes = Reflector::new(Collection::<ConfigMap>::all(client));
/// let store = changes.store();
/// while !store.contains(("default", "a")) {
///     changes.next().await;
/// }
/// // What was missed while the connection was down arrives.
/// server.end_connections(Ending::Reset);
/// server.create("configmaps", json!({"metadata": {"name": "b"}}));
/// while !store.contains(("default", "b")) {
///     changes.next().await;
/// }
/// # });
/// ```
impl Transport for ApiServer {
    async fn send(&self, request: client::Request) -> Result<Response, Error> {
        if !self.is_running() {
            return Err(Error::unreachable(Broken));
        }
        let target = request.path_and_query();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let headers = request.headers().iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let seen = Request {
            connection: 0,
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: request::parse_query(query),
            headers,
            body: Bytes::new(),
            at: Instant::now(),
            http2: false,
        };
        let mut ends = self.shared().ends.subscribe();
        let shared = self.shared();
        let reply = tokio::select! {
            biased;
            () = broken(&mut ends) => return Err(Error::unreachable(Broken)),
            reply = shared.respond(seen, None) => reply.map_err(Error::unreachable)?,
        };
        let body = breakable(reply.body, ends).map(|piece| piece.map_err(Error::interrupted));
        let response = Response::new(reply.code, body);
        Ok(reply.headers.into_iter().fold(response, |response, (name, value)| response.with_header(name, value)))
    }
}

/// Waits until all connections are closed or reset; for ever, if they fall silent instead.
async fn broken(ends: &mut watch::Receiver<Option<Ending>>) {
    if ends.changed().await.is_ok() && *ends.borrow_and_update() == Some(Ending::HalfOpen) {
        future::pending::<()>().await;
    }
}

/// A body that ends with the connections.
fn breakable(mut body: Pieces, mut ends: watch::Receiver<Option<Ending>>) -> Pieces {
    async_stream::stream! {
        loop {
            let piece = tokio::select! {
                biased;
                () = broken(&mut ends) => Some(Err(Broken)),
                piece = body.next() => piece,
            };
            let Some(piece) = piece else { return };
            let over = piece.is_err();
            yield piece;
            if over {
                return;
            }
        }
    }
    .boxed()
}
