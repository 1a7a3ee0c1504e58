use super::Headers;
use crate::Error;
use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use std::fmt;

/// An answer that has begun.
pub struct Response {
    status: u16,
    headers: Headers,
    body: BoxStream<'static, Result<Bytes, Error>>,
}

impl Response {
    /// A status and a body.
    pub fn new(status: u16, body: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> Self {
        Response { status, headers: Headers::default(), body: body.boxed() }
    }

    /// A status and a whole JSON document.
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Response::new(status, stream::once(async { Ok(body) })).with_header("Content-Type", "application/json")
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<Box<str>>) -> Self {
        self.headers.add(name, value);
        self
    }

    pub(super) fn with_headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The body's chunks.
    pub fn into_body(self) -> BoxStream<'static, Result<Bytes, Error>> {
        self.body
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).field("headers", &self.headers).finish_non_exhaustive()
    }
}
