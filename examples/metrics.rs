//! A metrics endpoint: what the streams do, for Prometheus.
//!
//! ```sh
//! cargo run --example metrics --features metrics
//! ```
//!
//! The feature `metrics` tells the `metrics` facade; which exporter listens to it is the program's choice. Here the text
//! is served over HTTP on the loopback address and asked for once. A server in this process stands for the cluster.

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Reflector,
    client::{Client, Collection},
    testing::ApiServer,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use serde_json::json;
use std::{error::Error, io};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Answers every request with the present figures.
async fn serve(listener: TcpListener, figures: PrometheusHandle) -> io::Result<()> {
    loop {
        let (mut connection, _) = listener.accept().await?;
        let mut request = [0; 4096];
        let _read = connection.read(&mut request).await?; // a request of a scraper comes in one piece
        let text = figures.render();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n",
            text.len()
        );
        connection.write_all((head + &text).as_bytes()).await?;
        connection.shutdown().await?;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let figures = PrometheusBuilder::new().install_recorder()?; // before the streams start
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener, figures));

    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"name": "cart"}}));
    let maps = Collection::<ConfigMap>::all(Client::new(&server.url())?);
    let reflector = Reflector::new(maps).name("settings").spawn(); // the name is a label
    reflector.store().ready().await?;
    server.delete("configmaps", "cart");
    reflector.store().wait_until(|maps| maps.is_empty()).await?;

    let mut scrape = TcpStream::connect(address).await?;
    scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
    let mut text = String::new();
    scrape.read_to_string(&mut text).await?;
    println!("{text}");
    for figure in ["reflector_lists_total", "reflector_watches_total", "reflector_events_total"] {
        let line = text.lines().find(|line| line.starts_with(figure)).ok_or(figure)?;
        assert!(line.contains(r#"name="settings""#) && line.contains(r#"resource="configmaps""#), "{line}");
    }
    reflector.stop().await;
    Ok(())
}
