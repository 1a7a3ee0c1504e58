//! When compressed lists are faster. Measured by hand:
//! `cargo test --release --test e2e compression -- --ignored --nocapture`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use listwatch::client::{Client, Collection};
use listwatch::source::{ListParams, ListPart, ListWatch, Strategy};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until};

use crate::server::Server;
use crate::writer::Writer;

const PODS: usize = 2000;
const ROUNDS: usize = 5;

/// A way to the server that carries so many bits a second from it, and counts the bytes.
async fn path(server: SocketAddr, bits: f64) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (address, bytes) = (listener.local_addr().expect("an address"), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&bytes);
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.expect("a connection");
            let server = TcpStream::connect(server).await.expect("the server");
            let (client_reads, client_writes) = client.into_split();
            let (server_reads, server_writes) = server.into_split();
            tokio::spawn(carry(client_reads, server_writes, f64::INFINITY, Arc::default()));
            tokio::spawn(carry(server_reads, client_writes, bits, Arc::clone(&counter)));
        }
    });
    (address, bytes)
}

async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, bits: f64, bytes: Arc<AtomicU64>) {
    let mut buffer = vec![0; 16 << 10];
    let mut free = Instant::now();
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        bytes.fetch_add(read as u64, Ordering::Relaxed);
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
        free = free.max(Instant::now()) + Duration::from_secs_f64(read as f64 * 8.0 / bits);
        // Timers count milliseconds.
        if free > Instant::now() + Duration::from_millis(2) {
            sleep_until(free).await;
        }
    }
}

fn pod(number: usize) -> Pod {
    let variables: Vec<_> =
        (0..12).map(|n| json!({ "name": format!("SETTING_{n}"), "value": format!("value-{number}-{n}") })).collect();
    let container = |name: &str| -> Value {
        json!({
            "name": name, "image": format!("registry.example/team/{name}:v1.{}", number % 7), "env": variables,
            "resources": { "requests": { "cpu": "100m", "memory": "128Mi" } },
            "livenessProbe": { "httpGet": { "path": "/healthz", "port": 8080 }, "periodSeconds": 10 },
        })
    };
    let pod = json!({
        "metadata": {
            "name": format!("pod-{number}"),
            "labels": { "app": format!("app-{}", number % 50), "pod-template-hash": format!("{:x}", number * 7919) },
        },
        "spec": { "nodeName": format!("node-{}", number % 100), "containers": [container("main"), container("sidecar")] },
    });
    serde_json::from_value(pod).expect("a pod")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures, not a test"]
async fn figures() {
    let server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    Writer::new(&kube, "compression", "it").await;
    let api = Api::<Pod>::namespaced(kube, "compression");
    let create = |number| {
        let api = api.clone();
        async move { api.create(&PostParams::default(), &pod(number)).await.map(drop) }
    };
    stream::iter(0..PODS).map(create).buffer_unordered(16).try_collect::<()>().await.expect("pods");
    let address: SocketAddr = server.url().trim_start_matches("https://").parse().expect("an address");
    let text = std::fs::read_to_string(server.kubeconfig()).expect("the kubeconfig");
    for (way, bits) in
        [("loopback", f64::INFINITY), ("1 Gbit/s", 1e9), ("300 Mbit/s", 3e8), ("100 Mbit/s", 1e8), ("20 Mbit/s", 2e7)]
    {
        for (pages, limit) in [("whole", None), ("pages of 500", Some(500))] {
            for gzip in [false, true] {
                let (address, bytes) = path(address, bits).await;
                let config = server.kubeconfig().with_file_name("throttled");
                std::fs::write(&config, text.replace(server.url(), &format!("https://{address}")))
                    .expect("a kubeconfig");
                let client = Client::builder().compress_lists(gzip).from_kubeconfig(&config, Some("token")).await;
                let source = Collection::<Pod>::namespaced(client.expect("a client"), "compression");
                let mut times = Vec::new();
                for _ in 0..=ROUNDS {
                    let start = Instant::now();
                    let objects = match limit {
                        None => whole(&source).await,
                        Some(limit) => paged(&source, limit).await,
                    };
                    assert_eq!(objects, PODS);
                    times.push(start.elapsed());
                }
                times.remove(0); // with the connection
                times.sort();
                let wire = bytes.load(Ordering::Relaxed) as f64 / (ROUNDS + 1) as f64 / 1e6;
                println!(
                    "{way:>10} {pages:>12} {}: median {:>6.1?}, {wire:.2} MB",
                    if gzip { "gzip " } else { "plain" },
                    times[ROUNDS / 2]
                );
            }
        }
    }
}

async fn whole(source: &Collection<Pod>) -> usize {
    let mut params = ListParams::default();
    params.resource_version = "0".into();
    let body = source.list_page(params).await.expect("a list");
    body.try_fold(0, async |objects, part| Ok(objects + usize::from(matches!(part, ListPart::Item(_)))))
        .await
        .expect("a body")
}

async fn paged(source: &Collection<Pod>, limit: u32) -> usize {
    let events = source.clone().list().strategy(Strategy::ListConsistent).page_size(limit);
    events
        .try_fold(0, async |objects, event| Ok(objects + usize::from(event.object().is_some())))
        .await
        .expect("a list")
}
