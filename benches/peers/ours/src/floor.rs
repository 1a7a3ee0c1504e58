//! The same bytes by reqwest, split and decoded, kept in a `Vec`.

use crate::{Failure, figures::report};
use bytes::BytesMut;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use tokio::time::Instant;

#[derive(serde::Deserialize)]
struct Event<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    object: &'a serde_json::value::RawValue,
}

#[derive(serde::Deserialize)]
struct Meta {
    r#continue: Option<String>,
}

pub(crate) async fn run(url: &str, watch_list: bool) -> Result<(), Failure> {
    // reqwest is built without one of its own, though nothing is encrypted here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (client, start) = (reqwest::Client::new(), Instant::now());
    let pods = if watch_list { by_watch_list(&client, url).await? } else { by_list(&client, url).await? };
    report("init_done", start, &format!("objects={}", pods.len()));
    report("watched", start, "events=0 watch_cpu_ms=0");
    Ok(())
}

async fn by_watch_list(client: &reqwest::Client, url: &str) -> Result<Vec<Pod>, Failure> {
    let query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let mut body = client.get(format!("{url}/api/v1/pods?{query}")).send().await?.error_for_status()?.bytes_stream();
    let (mut pods, mut buffer) = (Vec::new(), BytesMut::new());
    while let Some(chunk) = body.next().await {
        buffer.extend_from_slice(&chunk?);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line = buffer.split_to(end + 1);
            let event: Event<'_> = serde_json::from_slice(&line)?;
            if event.r#type == "BOOKMARK" {
                return Ok(pods);
            }
            pods.push(serde_json::from_slice(event.object.get().as_bytes())?);
        }
    }
    Err("no closing bookmark".into())
}

async fn by_list(client: &reqwest::Client, url: &str) -> Result<Vec<Pod>, Failure> {
    let (mut pods, mut token) = (Vec::new(), String::new());
    loop {
        let query = format!("{url}/api/v1/pods?limit=500&continue={token}");
        let mut body = client.get(query).send().await?.error_for_status()?.bytes_stream();
        let mut split = Splitter::default();
        while let Some(chunk) = body.next().await {
            split.push(&chunk?, &mut pods)?;
        }
        match split.meta.and_then(|meta| meta.r#continue).filter(|token| !token.is_empty()) {
            Some(next) => token = next,
            None => return Ok(pods),
        }
    }
}

/// Finds the items and the metadata of a list by depth; keeps only the value that is not finished.
#[derive(Default)]
struct Splitter {
    buffer: BytesMut,
    at: usize,
    start: usize,
    depth: u32,
    in_string: bool,
    escaped: bool,
    meta: Option<Meta>,
}

impl Splitter {
    fn push(&mut self, chunk: &[u8], pods: &mut Vec<Pod>) -> Result<(), Failure> {
        self.buffer.extend_from_slice(chunk);
        while let Some(&byte) = self.buffer.get(self.at) {
            self.at += 1;
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    if self.depth == 1 || (self.depth == 2 && byte == b'{') {
                        self.start = self.at - 1;
                    }
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if byte == b'}' && (self.depth == 1 || self.depth == 2) {
                        let value = self.buffer.split_to(self.at);
                        let json = &value[self.start..];
                        self.at = 0;
                        if self.depth == 1 {
                            self.meta = Some(serde_json::from_slice(json)?);
                        } else {
                            pods.push(serde_json::from_slice(json)?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
