//! What the server saw.

use bytes::Bytes;
use std::{fmt, net::SocketAddr};
use tokio::time::Instant;

/// A request that the server received, in the order of arrival.
///
/// `Debug` shows neither headers nor body, which may carry credentials.
#[derive(Clone)]
pub struct Request {
    pub(super) connection: u64,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) at: Instant,
    pub(super) http2: bool,
}

impl Request {
    /// Which connection it came on, as [`Connection::id`] numbers them; 0 for one that used no socket.
    #[must_use]
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// The method, in upper case.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The path, as sent.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The first value of a query parameter, decoded.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All query parameters, decoded, in the order sent.
    #[must_use]
    pub fn queries(&self) -> &[(String, String)] {
        &self.query
    }

    /// The first value of a header; names are compared without case, values that are not text are empty.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The bytes of the body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// When it arrived.
    #[must_use]
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Whether it came over HTTP/2.
    #[must_use]
    pub fn is_http2(&self) -> bool {
        self.http2
    }

    /// Whether it asks for a watch.
    #[must_use]
    pub fn is_watch(&self) -> bool {
        self.method == "GET"
            && (self.query("watch").is_some_and(|value| !matches!(value, "0" | "false"))
                || self.path.contains("/v1/watch/"))
    }

    /// Whether it asks for a list: a GET of a collection that is no watch.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.method == "GET" && !self.is_watch() && self.resource().is_some() && self.name().is_none()
    }

    /// The plural of the resource in the path.
    #[must_use]
    pub fn resource(&self) -> Option<&str> {
        self.tail().first().copied()
    }

    /// The name of the one object that the path is about.
    pub(super) fn name(&self) -> Option<&str> {
        self.tail().get(1).copied()
    }

    /// Plural and name: what follows version and namespace.
    fn tail(&self) -> Vec<&str> {
        let mut parts: Vec<_> = self.path.split('/').filter(|part| !part.is_empty()).collect();
        let prefix = match parts.first() {
            Some(&"api") => 2,
            Some(&"apis") => 3,
            _ => parts.len(),
        };
        let mut rest = parts.split_off(prefix.min(parts.len()));
        if rest.first() == Some(&"watch") {
            rest.remove(0);
        }
        if rest.first() == Some(&"namespaces") && rest.len() > 2 {
            rest.drain(..2);
        }
        rest
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query: Vec<_> = self.query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        write!(f, "{} {}?{} (connection {})", self.method, self.path, query.join("&"), self.connection)
    }
}

/// A connection that the server accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub(super) id: u64,
    pub(super) peer: SocketAddr,
    pub(super) open: bool,
}

impl Connection {
    /// Its number, from 1, in the order of arrival.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The address of the client's end.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Whether it is open still.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }
}

/// The parameters of a query string, decoded.
pub(super) fn parse_query(query: &str) -> Vec<(String, String)> {
    let parameters = query.split('&').filter(|part| !part.is_empty());
    parameters
        .map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (unescape(key), unescape(value))
        })
        .collect()
}

fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = &tail[2..];
            }
            (first, _) => {
                out.push(if *first == b'+' { b' ' } else { *first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
