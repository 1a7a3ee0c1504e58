//! A bare HTTP client that shows what is on the wire.

use futures::StreamExt;
use http_body_util::BodyStream;
use kube::client::{Body, Client};
use listwatch::testing::ApiServer;
use serde_json::Value;

pub(super) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(super) struct Http(Client);

pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Vec<u8>,
    /// Whether the body came to its proper end.
    pub(super) whole: bool,
}

impl Answer {
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("one JSON document")
    }

    pub(super) fn names(&self) -> Vec<String> {
        let list = self.json();
        let items = list["items"].as_array().expect("a list");
        items.iter().map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(super) fn token(&self) -> String {
        self.json()["metadata"]["continue"].as_str().unwrap_or_default().to_owned()
    }

    /// One line per event: type and name, or the version and annotations of a bookmark.
    pub(super) fn events(&self) -> Vec<String> {
        self.text().lines().map(brief).collect()
    }
}

/// An event in short.
pub(super) fn brief(line: &str) -> String {
    let event: Value = serde_json::from_str(line).expect("an event");
    let (kind, object) = (event["type"].as_str().expect("a type"), &event["object"]);
    let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    match kind {
        "BOOKMARK" if object["metadata"]["annotations"].is_object() => format!("END {version}"),
        "BOOKMARK" => format!("BOOKMARK {version}"),
        "ERROR" => format!("ERROR {} {}", object["code"], object["message"].as_str().unwrap_or_default()),
        _ => format!("{kind} {}", object["metadata"]["name"].as_str().unwrap_or_default()),
    }
}

impl Http {
    pub(super) fn to(server: &ApiServer) -> Self {
        let mut config = kube::Config::new(server.url().parse().expect("a URL"));
        config.default_retry = false;
        Self(Client::try_from(config).expect("a client"))
    }

    /// Sends a request and waits for the headers.
    pub(super) async fn open(&self, request: http::Request<Vec<u8>>) -> Result<Open, kube::Error> {
        let response = self.0.send(request.map(Body::from)).await?;
        let (head, body) = response.into_parts();
        Ok(Open { code: head.status.as_u16(), headers: head.headers, body: BodyStream::new(body), rest: Vec::new() })
    }

    pub(super) async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Answer, kube::Error> {
        let Open { code, headers, mut body, .. } = self.open(request).await?;
        let (mut bytes, mut whole) = (Vec::new(), true);
        while let Some(frame) = body.next().await {
            match frame {
                Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Err(_) => whole = false,
            }
        }
        Ok(Answer { code, headers, body: bytes, whole })
    }

    pub(super) async fn get(&self, target: &str) -> Answer {
        self.send(get(target)).await.expect("an answer")
    }

    pub(super) async fn write(&self, method: &str, target: &str, body: Value) -> Answer {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = http::Request::builder().method(method).uri(target).header("content-type", kind);
        self.send(request.body(body.to_string().into_bytes()).expect("a request")).await.expect("an answer")
    }

    pub(super) async fn watch(&self, query: &str) -> Open {
        self.open(get(&format!("{MAPS}?watch=1&{query}"))).await.expect("an answer")
    }
}

pub(super) fn get(target: &str) -> http::Request<Vec<u8>> {
    http::Request::get(target).body(Vec::new()).expect("a request")
}

/// An answer whose body is still coming.
pub(super) struct Open {
    pub(super) code: u16,
    pub(super) headers: http::HeaderMap,
    body: BodyStream<Body>,
    rest: Vec<u8>,
}

impl Open {
    /// The next event in short, or how the body ended.
    pub(super) async fn next(&mut self) -> String {
        loop {
            if let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return brief(std::str::from_utf8(&line).expect("text"));
            }
            match self.body.next().await {
                Some(Ok(frame)) => self.rest.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Some(Err(_)) => return "broken".to_owned(),
                None => return "eof".to_owned(),
            }
        }
    }
}
