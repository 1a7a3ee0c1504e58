//! Requests, as they come over the wire.

use reqwest::Url;
use std::fmt;
use tokio::time::Instant;

/// The longest head of a request that is read.
const MAX_HEAD: usize = 256 << 10;

#[derive(Clone, Debug)]
pub struct Request {
    /// 0 or 1: `${SERVER_A}` or `${SERVER_B}`.
    pub server: usize,
    /// Counts TCP connections from 0.
    pub connection: u64,
    pub at: Instant,
    pub method: String,
    /// Decoded.
    pub path: String,
    /// Decoded, in order.
    pub query: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// As it was sent.
    target: String,
}

impl Request {
    /// Takes one request off the front of what was read: None where more must be read first.
    pub fn take(buffer: &mut Vec<u8>, server: usize, connection: u64) -> Result<Option<Request>, String> {
        let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return if buffer.len() > MAX_HEAD { Err("the head of a request does not end".into()) } else { Ok(None) };
        };
        let head: Vec<u8> = buffer.drain(..end + 4).collect();
        let head = std::str::from_utf8(&head).map_err(|_| "the head of a request is not text")?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        // Decodes as servers written in Go do: `+` is a blank, too.
        let url =
            Url::parse("http://server").and_then(|base| base.join(target)).map_err(|e| format!("{target}: {e}"))?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let request = Request {
            server,
            connection,
            at: Instant::now(),
            method: method.into(),
            path: percent_decoded(url.path()),
            query: url.query_pairs().into_owned().collect(),
            headers: lines.filter_map(header).collect(),
            target: target.into(),
        };
        match request.header("content-length").unwrap_or("0") {
            "0" if request.header("transfer-encoding").is_none() => Ok(Some(request)),
            _ => Err(format!("{request} has a body")),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, value)| n == name && !value.is_empty()).map(|(_, value)| &**value)
    }

    pub fn is_watch(&self) -> bool {
        matches!(self.query("watch"), Some("true" | "1"))
    }

    /// The token or password that the request brings.
    pub fn credential(&self) -> Option<&str> {
        self.header("authorization")?.split_once(' ').map(|(_, credential)| credential)
    }

    pub fn allows_gzip(&self) -> bool {
        let refuses = |part: &str| part.split(';').skip(1).any(|q| matches!(q.trim(), "q=0" | "q=0.0" | "q=0.00"));
        let accepts = |part: &str| matches!(part.split(';').next().unwrap_or_default().trim(), "gzip" | "*");
        self.header("accept-encoding")
            .is_some_and(|accept| accept.split(',').any(|part| accepts(part) && !refuses(part)))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.target)
    }
}

fn percent_decoded(path: &str) -> String {
    // `form_urlencoded` decodes values only; a blank that is meant as `+` stays one in a path.
    let query = format!("http://server/?p={}", path.replace('+', "%2B"));
    Url::parse(&query).ok().and_then(|url| url.query_pairs().next().map(|(_, v)| v.into_owned())).unwrap_or_default()
}
