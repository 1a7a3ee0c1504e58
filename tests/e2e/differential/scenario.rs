//! One conversation, told once and held with both servers.

use crate::{
    normal::{FAR, Versions},
    subject::{GADGETS, Subject, WIDGETS},
};
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, BodyStream};
use kube::client::Body;
use serde_json::{Value, json};
use std::time::Duration;

/// Steps in order, in a namespace of their own.
///
/// In targets `{maps}`, `{widgets}`, `{gadgets}` stand for the collections, `{ns}` for the namespace, `{far}` for a
/// version that does not exist yet, `{token}` for the last continue token, and `{NAME}` for the version that the write
/// of this name got.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Silently, for later.
    Prepare(Write),
    /// With the answer on record.
    Write(Write),
    Get {
        target: String,
        accept: Option<&'static str>,
    },
    /// Opens a watch, then writes, then reads to the end.
    Watch {
        target: String,
        accept: Option<&'static str>,
        bookmarks: bool,
        meanwhile: Vec<Write>,
    },
    Compact(&'static str),
    Restart,
    /// Opens a watch of gadgets, removes what defines them, then reads to the end.
    WatchRemoval(String),
}

/// A write, and the name of the version it gets.
#[derive(Clone, Debug)]
pub struct Write {
    name: &'static str,
    method: &'static str,
    target: String,
    body: Value,
}

/// The write of a configmap with a label `n`.
pub fn put(name: &'static str, object: &str, n: &str) -> Write {
    let body = json!({"metadata": {"name": object, "labels": {"n": n}}});
    Write { name, method: "PUT", target: format!("{{maps}}/{object}"), body }
}

pub fn delete(object: &str) -> Write {
    Write { name: "", method: "DELETE", target: format!("{{maps}}/{object}"), body: Value::Null }
}

pub fn write(name: &'static str, method: &'static str, target: &str, body: Value) -> Write {
    Write { name, method, target: target.to_owned(), body }
}

/// The creation of a configmap with a label `n`.
pub fn create(object: &'static str, n: &str) -> Write {
    write(object, "POST", "{maps}", json!({"metadata": {"name": object, "labels": {"n": n}}, "data": {"k": "<ä>"}}))
}

impl Scenario {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), steps: Vec::new() }
    }

    /// One with five configmaps, c1 to c5, labelled n=1 to n=5.
    pub fn five(name: &str) -> Self {
        let objects = [("c1", "1"), ("c2", "2"), ("c3", "3"), ("c4", "4"), ("c5", "5")];
        objects.into_iter().fold(Self::new(name), |scenario, (object, n)| scenario.prepare(create(object, n)))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub fn prepare(self, write: Write) -> Self {
        self.step(Step::Prepare(write))
    }

    pub fn write(self, write: Write) -> Self {
        self.step(Step::Write(write))
    }

    pub fn get(self, target: &str) -> Self {
        self.step(Step::Get { target: target.to_owned(), accept: None })
    }

    pub fn get_as(self, accept: &'static str, target: &str) -> Self {
        self.step(Step::Get { target: target.to_owned(), accept: Some(accept) })
    }

    pub fn watch(self, target: &str) -> Self {
        self.watch_while(target, [])
    }

    pub fn watch_while(self, target: &str, meanwhile: impl Into<Vec<Write>>) -> Self {
        let (target, meanwhile) = (target.to_owned(), meanwhile.into());
        self.step(Step::Watch { target, accept: None, bookmarks: false, meanwhile })
    }

    pub fn watch_as(self, accept: &'static str, target: &str) -> Self {
        let target = target.to_owned();
        self.step(Step::Watch { target, accept: Some(accept), bookmarks: false, meanwhile: Vec::new() })
    }

    /// With periodic bookmarks on record, which other scenarios leave out: when they come depends on what else the
    /// server does.
    pub fn watch_bookmarks(self, target: &str) -> Self {
        let target = target.to_owned();
        self.step(Step::Watch { target, accept: None, bookmarks: true, meanwhile: Vec::new() })
    }

    /// Until the version of this write can be listed no more.
    pub fn compact(self, name: &'static str) -> Self {
        self.step(Step::Compact(name))
    }

    pub fn restart(self) -> Self {
        self.step(Step::Restart)
    }

    pub fn watch_removal(self, target: &str) -> Self {
        self.step(Step::WatchRemoval(target.to_owned()))
    }

    /// Holds the conversation; what was said, line by line.
    pub async fn play(&self, subject: &Subject) -> Vec<String> {
        let played = tokio::time::timeout(Duration::from_secs(150), self.converse(subject)).await;
        played.unwrap_or_else(|_| vec!["the conversation did not end".to_owned()])
    }

    async fn converse(&self, subject: &Subject) -> Vec<String> {
        let namespace: String =
            self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let namespace = format!("s-{}", namespace.trim_matches('-'));
        let mut talk = Talk {
            subject,
            namespace,
            versions: Versions::default(),
            token: String::new(),
            wrote: false,
            lines: Vec::new(),
        };
        let body = json!({"metadata": {"name": talk.namespace}});
        talk.write(&write("", "POST", "/api/v1/namespaces", body), false).await;
        for step in &self.steps {
            match step {
                Step::Prepare(write) => talk.write(write, false).await,
                Step::Write(write) => talk.write(write, true).await,
                Step::Get { target, accept } => talk.get(target, *accept).await,
                Step::Watch { target, accept, bookmarks, meanwhile } => {
                    talk.watch(target, *accept, *bookmarks, meanwhile).await;
                }
                Step::Compact(name) => {
                    let version = talk.fill(&format!("{{{name}}}"));
                    subject.compact(&talk.fill("{maps}"), &version).await;
                }
                Step::Restart => subject.restart().await,
                Step::WatchRemoval(target) => {
                    let answer = talk.send("GET", target, None, &Value::Null).await;
                    futures::join!(talk.read(target, answer, false), subject.remove_gadgets());
                }
            }
        }
        talk.lines
    }
}

/// A conversation under way.
struct Talk<'a> {
    subject: &'a Subject,
    namespace: String,
    versions: Versions,
    token: String,
    /// Whether something was written since the last look.
    wrote: bool,
    lines: Vec<String>,
}

impl Talk<'_> {
    /// The target with everything filled in.
    fn fill(&self, template: &str) -> String {
        let collections = template
            .replace("{maps}", "/api/v1/namespaces/{ns}/configmaps")
            .replace("{widgets}", WIDGETS)
            .replace("{gadgets}", GADGETS)
            .replace("{ns}", &self.namespace)
            .replace("{far}", &FAR.to_string())
            .replace("{token}", &self.token);
        let mut out = String::new();
        let mut rest = collections.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("a closing brace");
            let version = self.versions.find(name).unwrap_or_else(|| panic!("no write is called {name}"));
            out = out + before + &version.to_string();
            rest = after;
        }
        out + rest
    }

    async fn send(&self, method: &str, target: &str, accept: Option<&str>, body: &Value) -> http::Response<Body> {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = http::Request::builder().method(method).uri(self.fill(target)).header("content-type", kind);
        let request = accept.into_iter().fold(request, |request, accept| request.header("accept", accept));
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string().into_bytes()) };
        let client = self.subject.client().await;
        client.send(request.body(body).expect("a request")).await.expect("an answer")
    }

    async fn write(&mut self, write: &Write, record: bool) {
        self.wrote = true;
        let answer = self.send(write.method, &write.target, None, &write.body).await;
        let head = head(&answer);
        let bytes = answer.into_body().collect().await.expect("a whole body").to_bytes();
        let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if let Some(version) = document["metadata"]["resourceVersion"].as_str().filter(|_| !write.name.is_empty()) {
            self.versions.learn(write.name, version);
        }
        if record {
            self.record(format!("{} {} -> {head}", write.method, write.target), &bytes);
        }
    }

    /// Lets the watch cache see what was written, which it does a moment later: a list of the newest state waits for it.
    async fn settle(&mut self, target: &str) {
        if std::mem::take(&mut self.wrote) {
            let collection = target.split('?').next().unwrap_or_default().replace("/watch/", "/");
            drop(self.send("GET", &collection, None, &Value::Null).await.into_body().collect().await);
        }
    }

    async fn get(&mut self, target: &str, accept: Option<&str>) {
        self.settle(target).await;
        let answer = self.send("GET", target, accept, &Value::Null).await;
        let head = head(&answer);
        let bytes = answer.into_body().collect().await.expect("a whole body").to_bytes();
        let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        document["metadata"]["continue"].as_str().unwrap_or_default().clone_into(&mut self.token);
        self.record(format!("GET {target} -> {head}"), &bytes);
    }

    async fn watch(&mut self, target: &str, accept: Option<&str>, bookmarks: bool, meanwhile: &[Write]) {
        self.settle(target).await;
        let answer = self.send("GET", target, accept, &Value::Null).await;
        for write in meanwhile {
            self.write(write, false).await;
        }
        self.read(target, answer, bookmarks).await;
    }

    /// Reads a watch to its end.
    async fn read(&mut self, target: &str, answer: http::Response<Body>, bookmarks: bool) {
        let line = format!("GET {target} -> {}", head(&answer));
        let frames = BodyStream::new(answer.into_body()).map_ok(|frame| frame.into_data().unwrap_or_default());
        let frames: Vec<_> = frames.collect().await;
        let whole = frames.iter().all(Result::is_ok);
        let bytes: Vec<u8> = frames.into_iter().flatten().flatten().collect();
        self.lines.push(format!("{line} whole: {whole}"));
        let mut last = String::new();
        for event in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = String::from_utf8_lossy(event);
            let periodic = text.starts_with("{\"type\":\"BOOKMARK\"") && !text.contains("initial-events-end");
            if periodic && !bookmarks {
                continue;
            }
            self.record("  ".to_owned(), event);
            // How many bookmarks come in a row is a matter of time.
            let line = self.lines.last().cloned().unwrap_or_default();
            if periodic && line == last {
                self.lines.pop();
            }
            last = line;
        }
    }

    /// Keeps a body in its normal form, and the member that comes first on the wire.
    fn record(&mut self, head: String, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let first: String = text.trim_start_matches(['{', '\n', ' ']).chars().take_while(|&c| c != ':').collect();
        let body = match serde_json::from_slice::<Value>(bytes) {
            Ok(mut document) => {
                self.versions.document(&mut document);
                format!("{first}.. {document}")
            }
            Err(_) => text.trim_end().to_owned(),
        };
        self.lines.push(format!("{head} {body}"));
    }
}

/// The code, and the headers that clients read.
fn head(answer: &http::Response<Body>) -> String {
    let header =
        |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("-").to_owned();
    let retry = if answer.headers().contains_key("retry-after") { "retry-after" } else { "" };
    format!("{} {} {retry}", answer.status().as_u16(), header("content-type"))
}
