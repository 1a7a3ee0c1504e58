use super::Headers;
use crate::source::{ListParams, VersionMatch, WatchParams};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// One GET, as [`Transport`](super::Transport) sends it and [`Collection::modify`](super::Collection::modify) may
/// change it.
///
/// ```
/// use listwatch::client::{Request, RequestKind};
///
/// let mut request = Request::new(RequestKind::List, "/api/v1/pods");
/// request.set_query("labelSelector", "app in (a, b)");
/// request.set_query("continue", "");
/// assert_eq!(request.path_and_query(), "/api/v1/pods?labelSelector=app%20in%20%28a%2C%20b%29");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    kind: RequestKind,
    path: String,
    query: BTreeMap<Cow<'static, str>, String>,
    headers: Headers,
    new_connection: bool,
}

/// What the answer to a [`Request`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestKind {
    /// A document, such as a list, which may be compressed.
    List,
    /// A stream of events, which may be silent for minutes and must never be compressed.
    Watch,
}

impl Request {
    /// A request for this path, which begins with `/` and is percent-encoded where it has to be.
    pub fn new(kind: RequestKind, path: impl Into<String>) -> Self {
        let mut headers = Headers::default();
        headers.set("Accept", "application/json");
        if kind == RequestKind::Watch {
            headers.set("Accept-Encoding", "identity");
        }
        Request { kind, path: path.into(), query: BTreeMap::new(), headers, new_connection: false }
    }

    /// What the answer is.
    pub fn kind(&self) -> RequestKind {
        self.kind
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Path and query, percent-encoded, parameters in alphabetical order as client-go sends them.
    pub fn path_and_query(&self) -> String {
        let mut text = self.path.clone();
        for (n, (name, value)) in self.query.iter().enumerate() {
            text.push(if n == 0 { '?' } else { '&' });
            encode_into(&mut text, name);
            text.push('=');
            encode_into(&mut text, value);
        }
        text
    }

    /// The value of a parameter, not encoded.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Sets a parameter; `""` leaves it out.
    pub fn set_query(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        if value.is_empty() {
            self.query.remove(&name);
        } else {
            self.query.insert(name, value);
        }
    }

    /// The headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The headers, to change them.
    pub fn headers_mut(&mut self) -> &mut Headers {
        &mut self.headers
    }

    /// Whether the last connection fell silent, and another is to be taken if there is a choice.
    pub fn wants_new_connection(&self) -> bool {
        self.new_connection
    }

    /// The list that these parameters mean.
    pub(super) fn list(path: String, params: ListParams) -> Self {
        let mut request = Request::new(RequestKind::List, path);
        request.set_query("resourceVersion", params.resource_version.as_str());
        let version_match = match params.version_match {
            VersionMatch::Unset => "",
            VersionMatch::NotOlderThan => "NotOlderThan",
            VersionMatch::Exact => "Exact",
        };
        request.set_query("resourceVersionMatch", version_match);
        request.set_query("limit", params.limit.map(|limit| limit.to_string()).unwrap_or_default());
        request.set_query("continue", params.continue_token.unwrap_or_default());
        request
    }

    /// The watch that these parameters mean.
    pub(super) fn watch(path: String, params: WatchParams) -> Self {
        let mut request = Request::new(RequestKind::Watch, path);
        request.set_query("watch", "true");
        request.set_query("allowWatchBookmarks", "true");
        request.set_query("timeoutSeconds", params.timeout_seconds().to_string());
        request.set_query("resourceVersion", params.resource_version.as_str());
        if params.send_initial_events {
            request.set_query("sendInitialEvents", "true");
            request.set_query("resourceVersionMatch", "NotOlderThan");
        }
        request.new_connection = params.new_connection;
        request
    }

    /// The same for the objects' metadata alone.
    pub(super) fn metadata_only(mut self) -> Self {
        // The other way round a list is 406, and a watch answers 200 and ends at once without an event.
        let shape = match self.kind {
            RequestKind::List => "PartialObjectMetadataList",
            RequestKind::Watch => "PartialObjectMetadata",
        };
        self.headers.set("Accept", format!("application/json;as={shape};g=meta.k8s.io;v=v1"));
        self
    }
}

/// One segment of a path.
#[cfg(feature = "client")]
pub(super) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    encode_into(&mut encoded, text);
    encoded
}

/// Everything but the unreserved characters of RFC 3986.
fn encode_into(text: &mut String, plain: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in plain.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.extend(['%', char::from(HEX[usize::from(byte >> 4)]), char::from(HEX[usize::from(byte & 15)])]);
        }
    }
}

/// Names of parameters and headers, no values.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("kind", &self.kind)
            .field("path", &self.path)
            .field("query", &self.query.keys())
            .field("headers", &self.headers)
            .field("new_connection", &self.new_connection)
            .finish()
    }
}
