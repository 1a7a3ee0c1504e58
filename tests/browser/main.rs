//! The example `dashboard` in a headless Chromium. `cargo test --test browser` runs it: plain `cargo test` does not, as
//! it needs the browser. Pictures go to `target/dashboard`.

mod chromium;
mod dashboard;

use chromium::Chromium;
use dashboard::{Dashboard, target};
use listwatch::testing::{ApiServer, Ending};
use serde_json::{Value, json};
use std::{path::PathBuf, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const LONG: Duration = Duration::from_secs(30);

/// A kubeconfig whose current context is this server. Goes with this.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn of(server: &ApiServer, test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("listwatch-dashboard-{}-{test}", std::process::id()));
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": server.url()}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        });
        std::fs::write(&path, config.to_string()).expect("a file in the temporary folder");
        Kubeconfig(path)
    }

    async fn dashboard(&self, listen: &str, resources: &[&str]) -> Dashboard {
        let file = self.0.to_str().expect("text");
        let mut arguments = vec!["--kubeconfig", file, "-A", "--listen", listen];
        arguments.extend(resources);
        Dashboard::start(&arguments).await
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn pod(name: &str, phase: &str) -> Value {
    json!({"metadata": {"namespace": "shop", "name": name}, "spec": {"nodeName": "node-1"}, "status": {"phase": phase}})
}

fn tile(text: &str) -> String {
    format!("[...document.querySelectorAll('.tile:not(.gone)')].some((tile) => tile.title === '{text}')")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_appear_and_a_restart_is_survived() {
    let server = ApiServer::start().await;
    server.create("pods", pod("cart", "Running"));
    server.create("pods", pod("till", "Pending"));
    server.create("secrets", json!({"metadata": {"namespace": "shop", "name": "key"}, "data": {"a": "aHVudGVyMg=="}}));
    let config = Kubeconfig::of(&server, "changes");
    let dashboard = config.dashboard("127.0.0.1:0", &["pods", "secrets"]).await;
    let mut browser = Chromium::open(&dashboard.url, 1200, 700).await;
    browser.until(&tile("Pod shop/cart, Running"), LONG).await;
    browser.until(&tile("Secret shop/key"), LONG).await;
    browser.until("document.querySelector('#state').textContent === 'live'", LONG).await;

    // A change on the server is on the page within a second, and flashes.
    server.create("pods", pod("search", "Pending"));
    let added = browser.until(&tile("Pod shop/search, Pending"), LONG).await;
    server.update("pods", pod("search", "Running"));
    let updated = browser.until(&tile("Pod shop/search, Running"), LONG).await;
    let flashes = "document.getAnimations().some(({ animationName }) => animationName?.startsWith('news-'))";
    assert_eq!(browser.eval(flashes).await, true);
    server.delete("pods", "shop/till");
    let deleted = browser.until(&format!("!({})", tile("Pod shop/till, Pending")), LONG).await;
    println!("on the page after: added {added:?}, updated {updated:?}, deleted {deleted:?}");
    assert!([added, updated, deleted].iter().all(|took| *took < Duration::from_secs(1)));

    // Search as one types, by any words.
    let visible =
        "[...document.querySelectorAll('li:not([hidden]) .tile:not(.gone)')].map((tile) => tile.title).join()";
    browser.eval("document.querySelector('#search').focus()").await;
    browser.send("Input.insertText", json!({"text": "node-1 sear"})).await;
    browser.until(&format!("{visible} === 'Pod shop/search, Running'"), LONG).await;
    browser.eval("document.querySelector('#search').select()").await;
    browser.send("Input.insertText", json!({"text": " "})).await;

    // The API server is away for a moment: the page says so and goes on.
    let away = Ending::Reset;
    server.end_connections(away);
    server.create("pods", pod("late", "Running"));
    browser.until(&tile("Pod shop/late, Running"), LONG).await;

    // The program ends and starts again. What happened meanwhile is told, and what is gone goes.
    let address = dashboard.address();
    dashboard.kill().await;
    browser.until("document.querySelector('#state').textContent === 'reconnecting'", LONG).await;
    assert_eq!(browser.eval(&tile("Pod shop/cart, Running")).await, true, "what was known stays to be read");
    server.delete("pods", "shop/cart");
    server.create("pods", pod("meanwhile", "Running"));
    let dashboard = config.dashboard(&address, &["pods", "secrets"]).await;
    let back = browser.until(&tile("Pod shop/meanwhile, Running"), LONG).await;
    println!("back after the restart: {back:?}");
    browser.until(&format!("!({})", tile("Pod shop/cart, Running")), LONG).await;
    browser.until("document.querySelector('#state').textContent === 'live'", LONG).await;
    browser.until("document.querySelectorAll('.tile:not(.gone)').length === 4", LONG).await;
    browser.close().await;
    dashboard.kill().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_by_itself() {
    let dashboard = Dashboard::start(&["--listen", "127.0.0.1:0", "pods", "nodes", "widgets"]).await;
    let mut browser = Chromium::open(&dashboard.url, 1440, 900).await;
    browser.until("document.querySelectorAll('.tile').length > 380", LONG).await;
    browser.until("document.querySelector('#state').textContent === 'live'", LONG).await;
    let pictures = target().parent().expect("target").join("dashboard");
    for scheme in ["light", "dark"] {
        browser.prefer("prefers-color-scheme", scheme).await;
        // Something is to flash in it.
        browser.until("document.querySelector('.news-a, .news-b') !== null", LONG).await;
        browser.screenshot(&pictures.join(format!("{scheme}.png"))).await;
    }

    // Every control says what it is, and the arrows lead from tile to tile.
    let tree = browser.send("Accessibility.getFullAXTree", json!({})).await;
    let controls: Vec<_> = tree["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| {
            node["ignored"] != true
                && ["button", "searchbox", "checkbox", "link"].iter().any(|role| node["role"]["value"] == *role)
        })
        .collect();
    assert!(controls.len() > 380, "{} controls", controls.len());
    for node in controls {
        assert!(node["name"]["value"].as_str().is_some_and(|name| !name.is_empty()), "{node}");
    }
    browser.eval("document.querySelector('.tile[tabindex=\"0\"]').focus()").await;
    let focused = "document.activeElement.title";
    let first = browser.eval(focused).await;
    for kind in ["keyDown", "keyUp"] {
        let key = json!({"type": kind, "key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39});
        browser.send("Input.dispatchKeyEvent", key).await;
    }
    let second = browser.eval(focused).await;
    assert!(second != first && second != "", "{first} {second}");
    browser.eval("document.activeElement.click()").await;
    assert_eq!(browser.eval("document.querySelector('#details').innerText.includes('Node')").await, true);

    // One who wants no motion gets none, and still sees what is new.
    browser.prefer("prefers-reduced-motion", "reduce").await;
    browser.until("document.querySelector('.news-a, .news-b') !== null", LONG).await;
    let still = "getComputedStyle(document.querySelector('.news-a, .news-b')).animationTimingFunction === 'steps(1)'";
    browser.until(still, LONG).await;
    browser.close().await;
    dashboard.kill().await;
}

/// A browser that does not read is told the present content when it reads again, not each step to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_queued_for_who_does_not_read() {
    const ROUNDS: usize = 40_000;
    let server = ApiServer::start().await;
    server.create("pods", pod("cart", "Running"));
    let config = Kubeconfig::of(&server, "slow");
    let dashboard = config.dashboard("127.0.0.1:0", &["pods"]).await;
    let mut slow = TcpStream::connect(dashboard.address()).await.expect("it listens");
    let request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    slow.write_all(request.as_bytes()).await.expect("it reads");
    read_until(&mut slow, "\"complete\"").await;
    for round in 0..ROUNDS {
        server.update("pods", pod("cart", &format!("Round{round}")));
        // The mirror is to follow, so that it is the browser that is slow.
        if round % 1000 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    server.create("pods", pod("last", "Running"));
    let mut prompt = TcpStream::connect(dashboard.address()).await.expect("it listens");
    prompt.write_all(request.as_bytes()).await.expect("it reads");
    read_until(&mut prompt, "\"last\"").await;
    let text = read_until(&mut slow, "\"last\"").await;
    let told = text.matches("\"updated\"").count();
    println!("{told} of {ROUNDS} updates told to a browser that did not read");
    assert!(told < ROUNDS / 2, "{told}");
    assert!(text.contains(&format!("Round{}", ROUNDS - 1)), "it ends with the present");
    dashboard.kill().await;
}

async fn read_until(stream: &mut TcpStream, part: &str) -> String {
    let mut text = String::new();
    let mut bytes = vec![0; 1 << 16];
    let found = async {
        while !text.contains(part) {
            let length = stream.read(&mut bytes).await.expect("bytes");
            assert!(length > 0, "the stream has ended");
            text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    };
    tokio::time::timeout(LONG, found).await.unwrap_or_else(|_| panic!("no {part}"));
    text
}
