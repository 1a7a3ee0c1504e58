//! The page over HTTP, for browsers on this machine.

use crate::feed::{self, Feed};
use futures::{Stream, StreamExt, stream};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Frame, Incoming},
    header::{self, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    time::{Instant, interval_at},
};
use tokio_util::sync::CancellationToken;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What is served.
#[derive(Debug)]
pub struct Site {
    pub source: String,
    pub feeds: Vec<Feed>,
    /// What the page is served as; by it, whether only this machine is meant.
    pub address: SocketAddr,
}

/// Serves until the token is cancelled.
///
/// # Errors
///
/// Connections cannot be taken any more.
pub async fn serve(listener: TcpListener, site: Site, stop: CancellationToken) -> io::Result<()> {
    let site = Arc::new(site);
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let (connection, _) = accepted?;
        let site = Arc::clone(&site);
        let answer = service_fn(move |request: Request<Incoming>| {
            let site = Arc::clone(&site);
            async move { Ok::<_, Infallible>(site.answer(&request)) }
        });
        let serving = http1::Builder::new().serve_connection(TokioIo::new(connection), answer);
        let stop = stop.clone();
        tokio::spawn(async move {
            // Who goes away in the middle is no failure of ours.
            if let Some(Err(error)) = stop.run_until_cancelled(serving).await {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    Ok(())
}

impl Site {
    fn answer(&self, request: &Request<Incoming>) -> Response<Body> {
        if !is_meant(self.address, request.headers()) {
            return text(StatusCode::FORBIDDEN, "text/plain", "another name than this machine's");
        }
        if request.method() != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only to be read");
        }
        match request.uri().path() {
            "/" => text(StatusCode::OK, "text/html", include_str!("page/index.html")),
            "/page.js" => text(StatusCode::OK, "text/javascript", include_str!("page/page.js")),
            "/page.css" => text(StatusCode::OK, "text/css", include_str!("page/page.css")),
            "/events" => events(feed::events(&self.source, &self.feeds)),
            _ => text(StatusCode::NOT_FOUND, "text/plain", "nothing here"),
        }
    }
}

/// A page elsewhere may point a name of its own at this machine and would then read this one: where only this machine
/// is served, only its own names are heeded.
fn is_meant(address: SocketAddr, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    !address.ip().is_loopback() || matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// What the page may do: load what comes with it, and nothing else from anywhere.
const POLICY: &str = "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self'";

fn text(status: StatusCode, kind: &str, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(&format!("{kind}; charset=utf-8")) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// So often something is sent, at least, so that either side notices when the other is gone.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Server-sent events. They are asked for only when the connection takes more.
fn events(events: impl Stream<Item = String> + Send + 'static) -> Response<Body> {
    let signs = stream::unfold(interval_at(Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE), async |mut every| {
        every.tick().await;
        Some((":\n\n".to_owned(), every))
    });
    let frames = stream::select(events.boxed(), signs.boxed()).map(|text| Ok(Frame::data(Bytes::from(text))));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_not_heeded() {
        let meant = |address: &str, host: &str| {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(host).expect("a header"))]);
            is_meant(address.parse().expect("an address"), &headers)
        };
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "localhost", "[::1]"] {
            assert!(meant("127.0.0.1:8787", host), "{host}");
        }
        assert!(!meant("127.0.0.1:8787", "evil.example:8787"));
        assert!(!meant("[::1]:8787", ""));
        assert!(meant("0.0.0.0:8787", "box.lan:8787"), "served to others on purpose");
    }
}
