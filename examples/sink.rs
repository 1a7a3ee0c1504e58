//! Piping events into a sink of one's own: an audit log, one line per event.
//!
//! ```sh
//! cargo run --example sink
//! ```
//!
//! `send_to` waits while the sink is busy and goes on after errors, which go to its second argument; futures' own
//! `forward` would end at the first of them. A server in this process stands for the cluster, and fails once.

use futures::Sink;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Event, EventStreamExt, Key,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::{ApiServer, Fault},
};
use serde_json::json;
use std::{
    error::Error,
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll},
};
use tokio_util::sync::CancellationToken;

/// Writes what was deleted, added or changed, and a mark where a snapshot is complete.
struct AuditLog<W> {
    out: W,
    /// Ends the program: here, when the deletion was written.
    done: CancellationToken,
}

impl<W: Write + Unpin> Sink<Event<ConfigMap>> for AuditLog<W> {
    type Error = io::Error;

    /// Always; a sink that is not ready slows the stream down, and in the end the server.
    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, event: Event<ConfigMap>) -> io::Result<()> {
        let Self { out, done } = self.get_mut();
        match &event {
            Event::Listed(map) | Event::Added(map) | Event::Modified(map) => {
                writeln!(out, "{} {}", event.name(), Key::of(&**map))
            }
            Event::Deleted(map) => {
                done.cancel();
                writeln!(out, "{} {}", event.name(), Key::of(&**map))
            }
            Event::SnapshotEnd(version) => writeln!(out, "complete at {version}"),
            _ => Ok(()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().out.flush())
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    audit(io::stdout(), |error| eprintln!("{error}")).await
}

/// Logs what happens to two ConfigMaps until one is deleted.
async fn audit(out: impl Write + Unpin, on_error: impl FnMut(listwatch::Error)) -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"name": "cart"}}));
    server.fail_next(Fault::status(503));

    let done = CancellationToken::new();
    let log = AuditLog { out, done: done.clone() };
    let events = Collection::<ConfigMap>::all(Client::new(&server.url())?)
        .events()
        .backoff(ExponentialBackoff::default())
        .until(done);
    let changing = async {
        server.until(|requests| requests.iter().filter(|request| request.is_watch()).count() > 1).await;
        server.create("configmaps", json!({"metadata": {"name": "search"}}));
        server.delete("configmaps", "cart");
    };
    let (logged, ()) = futures::join!(events.send_to(log, on_error), changing);
    Ok(logged?)
}

#[tokio::test]
async fn the_log_tells_what_happened() {
    let (mut out, mut errors) = (Vec::new(), 0);
    audit(&mut out, |_| errors += 1).await.expect("no error of the sink");
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("complete")).collect();
    assert_eq!(lines, ["listed default/cart", "added default/search", "deleted default/cart"]);
    assert_eq!(errors, 1);
}
