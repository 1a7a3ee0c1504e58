//! The transport over real sockets.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Event,
    client::{Client, Collection, Credential, TokenFile},
    source::{ListParams, ListPart, ListWatch, Strategy, WatchParams},
    testing::ApiServer,
};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};

const EMPTY: &str = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}"#;

/// What a server saw: on which connection, and the request's head.
type Heads = Arc<Mutex<Vec<(usize, String)>>>;

/// A server that answers the n-th request with the n-th of these texts, and the last one from then on.
async fn server(answers: &'static [&'static str]) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Heads::default();
    let log = Arc::clone(&heads);
    tokio::spawn(async move {
        for connection in 0.. {
            let Ok((mut socket, _)) = listener.accept().await else { return };
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                while let Some(head) = head(&mut socket).await {
                    let n = {
                        let mut log = log.lock().unwrap();
                        log.push((connection, head));
                        log.len() - 1
                    };
                    let answer = answers[n.min(answers.len() - 1)];
                    let (answer, closes) = match answer.strip_suffix("<close>") {
                        Some(answer) => (answer, true),
                        None => (answer, false),
                    };
                    if socket.write_all(answer.as_bytes()).await.is_err() || closes {
                        return;
                    }
                }
            });
        }
    });
    (address, heads)
}

async fn head(socket: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

macro_rules! json {
    ($body:expr) => {
        concat!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ", 92, "\r\n\r\n", $body)
    };
}
const LIST: &str =
    json!(r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}    "#);
const SILENT_WATCH: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

fn collection(address: SocketAddr) -> Collection<ConfigMap> {
    Collection::all(Client::new(&format!("http://{address}")).unwrap())
}

async fn list(address: SocketAddr) -> Result<Vec<Result<ListPart<ConfigMap>, Error>>, Error> {
    Ok(collection(address).list_page(ListParams::default()).await?.collect().await)
}

#[test]
fn the_test_server_counts_right() {
    assert_eq!(LIST.split_once("\r\n\r\n").unwrap().1.len(), 92);
    assert!(LIST.contains(EMPTY));
}

#[tokio::test]
async fn lists_may_be_compressed_and_watches_not() {
    let (address, heads) = server(&[LIST]).await;
    list(address).await.unwrap();
    collection(address).open_watch(WatchParams::default()).await.unwrap();
    let plain =
        Client::builder().compress_lists(false).user_agent("mirror/1").url(&format!("http://{address}")).unwrap();
    Collection::<ConfigMap>::all(plain).list_page(ListParams::default()).await.unwrap();
    let heads: Vec<_> = heads.lock().unwrap().iter().map(|(_, head)| head.to_lowercase()).collect();
    assert!(heads[0].starts_with("get /api/v1/configmaps http/1.1\r\n"), "{}", heads[0]);
    assert!(heads[0].contains("\r\naccept: application/json\r\n"), "{}", heads[0]);
    assert!(heads[0].contains("\r\naccept-encoding: gzip\r\n"), "{}", heads[0]);
    assert!(heads[0].contains(concat!("\r\nuser-agent: listwatch/", env!("CARGO_PKG_VERSION"), "\r\n")));
    assert!(heads[1].contains("\r\naccept-encoding: identity\r\n"), "{}", heads[1]);
    assert!(heads[2].contains("\r\naccept-encoding: identity\r\n") && heads[2].contains("mirror/1"), "{}", heads[2]);
}

/// Whoever changes requests, and whatever way a stream takes.
#[tokio::test]
async fn no_watch_ever_asks_for_compression() {
    let server = ApiServer::start().await;
    let client = Client::builder().compress_lists(true).header("Accept-Encoding", "gzip").url(&server.url()).unwrap();
    let maps = Collection::<ConfigMap>::all(client)
        .modify(|request| request.headers_mut().set("Accept-Encoding", "gzip, br"))
        .metadata_only();
    for strategy in [Strategy::WatchListFirst, Strategy::List] {
        let mut events = maps.clone().events().strategy(strategy);
        while !matches!(events.next().await.unwrap().unwrap(), Event::Watching(_)) {}
    }
    let encodings = |watches: bool| {
        let requests = server.requests().into_iter().filter(|request| request.is_watch() == watches);
        requests.map(|request| request.header("accept-encoding").unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(encodings(true), ["identity", "identity"], "a watch-list and a watch");
    assert!(encodings(false)[0].contains("gzip"), "a list may");
}

#[tokio::test]
async fn a_path_in_the_servers_url_comes_first() {
    let (address, heads) = server(&[LIST]).await;
    let client = Client::new(&format!("http://{address}/k8s/clusters/c-1/")).unwrap();
    Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap();
    assert!(heads.lock().unwrap()[0].1.starts_with("GET /k8s/clusters/c-1/api/v1/configmaps HTTP"));
}

#[tokio::test]
async fn a_name_that_would_lead_elsewhere_is_refused() {
    let (address, heads) = server(&[LIST]).await;
    let client = Client::new(&format!("http://{address}")).unwrap();
    let error = Collection::<ConfigMap>::namespaced(client, "..").list_page(ListParams::default()).await.unwrap_err();
    assert!(error.is_config(), "{error}");
    assert!(heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn no_answer_is_unreachable() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = list(unused).await.unwrap_err();
    assert!(error.is_unreachable(), "{error:?}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.to_lowercase().contains("refused") && !cause.contains("configmaps"), "{cause}");
    let (address, _) = server(&["<close>"]).await;
    assert!(list(address).await.unwrap_err().is_unreachable());
    let (address, _) = server(&["HTTP/1.1 200 OK\r\nContent-<close>"]).await;
    assert!(list(address).await.unwrap_err().is_unreachable());
}

#[tokio::test]
async fn a_connect_that_takes_too_long_is_unreachable() {
    // A listener whose queue is never taken from still connects; TLS to it never ends.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let client = Client::builder().connect_timeout(Duration::from_millis(50)).url(&url).unwrap();
    let start = Instant::now();
    let error = Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap_err();
    assert!(error.is_unreachable() && start.elapsed() < Duration::from_secs(10), "{error:?}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_interrupted() {
    for answer in [
        &["HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 92\r\n\r\n{\"kind\":<close>"] as &[_],
        &["HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"kin<close>"],
        &[
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"kind\":\r\n0\r\n\r\n",
        ],
    ] {
        let (address, _) = server(answer).await;
        let parts = list(address).await.unwrap();
        let Some(Err(error)) = parts.last() else { panic!("{parts:?}") };
        assert!(error.is_interrupted(), "{error:?}");
    }
}

#[tokio::test]
async fn a_broken_encoding_is_garbage() {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n";
    let answer: &'static str = Box::leak(format!("{head}no gzip at").into_boxed_str());
    let (address, _) = server(Box::leak(Box::new([answer]))).await;
    let parts = list(address).await.unwrap();
    assert!(matches!(parts.last(), Some(Err(error)) if error.is_garbage()), "{parts:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (elsewhere, seen) = server(&[LIST]).await;
    let answer = format!("HTTP/1.1 307 T\r\nLocation: http://{elsewhere}/x?token=hunter2\r\nContent-Length: 0\r\n\r\n");
    let (address, _) = server(Box::leak(Box::new([&*Box::leak(answer.into_boxed_str())]))).await;
    let error = list(address).await.unwrap_err();
    let said = format!("{error:?}");
    assert!(said.contains(&elsewhere.to_string()) && !said.contains("hunter2"), "{said}");
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn connections_that_carry_nothing_are_kept_as_long_and_as_many_as_is_said() {
    let short = Duration::from_millis(10);
    for (builder, connections) in [
        (Client::builder(), [0, 0]),
        (Client::builder().idle_timeout(short), [0, 1]),
        (Client::builder().idle_connections(0), [0, 1]),
    ] {
        let (address, heads) = server(&[LIST]).await;
        let collection = Collection::<ConfigMap>::all(builder.url(&format!("http://{address}")).unwrap());
        for _ in 0..2 {
            collection.list_page(ListParams::default()).await.unwrap().map(Result::unwrap).collect::<Vec<_>>().await;
            tokio::time::sleep(short * 10).await;
        }
        assert_eq!(heads.lock().unwrap().iter().map(|(connection, _)| *connection).collect::<Vec<_>>(), connections);
    }
}

#[tokio::test]
async fn dropping_a_body_ends_its_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watch = collection(listener.local_addr().unwrap());
    let opening = tokio::spawn(async move { watch.open_watch(WatchParams::default()).await });
    let (mut socket, _) = listener.accept().await.unwrap();
    head(&mut socket).await.unwrap();
    socket.write_all(SILENT_WATCH.as_bytes()).await.unwrap();
    drop(opening.await.unwrap().unwrap());
    assert_eq!(socket.read(&mut [0; 10]).await.unwrap(), 0, "the connection is closed");
}

#[tokio::test]
async fn credentials_go_over_plain_http_to_this_host_only() {
    let builder = || Client::builder().credentials(async || Ok::<_, Error>(Credential::bearer("hunter2")));
    for (url, fine) in [
        ("http://127.0.0.1:1", true),
        ("http://[::1]:1", true),
        ("http://localhost:1", true),
        ("https://cluster.example", true),
        ("http://cluster.example", false),
        ("http://10.0.0.1", false),
        ("http://localhost.example", false),
    ] {
        assert_eq!(builder().url(url).is_ok(), fine, "{url}");
    }
    assert!(builder().credentials_over_plain_http(true).url("http://cluster.example").is_ok());
    assert!(Client::new("http://cluster.example").is_ok(), "without credentials");
    let error = Client::new("https://admin:hunter2@cluster.example").unwrap_err();
    assert!(error.is_config() && !format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn a_token_file_is_read_again_when_its_token_is_refused() {
    const REFUSED: &str = "HTTP/1.1 401 U\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let (address, heads) = server(&[LIST, REFUSED, LIST, REFUSED]).await;
    let path = std::env::temp_dir().join(format!("listwatch-token-{}", std::process::id()));
    std::fs::write(&path, "T1\n").unwrap();
    let client = Client::builder().credentials(TokenFile::new(&path)).url(&format!("http://{address}")).unwrap();
    let collection = Collection::<ConfigMap>::all(client);
    collection.list_page(ListParams::default()).await.unwrap();
    std::fs::write(&path, "T2\n").unwrap();
    collection.list_page(ListParams::default()).await.unwrap();
    assert!(collection.list_page(ListParams::default()).await.unwrap_err().is_unauthorized(), "T2 again");
    std::fs::remove_file(&path).unwrap();
    let heads = heads.lock().unwrap();
    let tokens: Vec<_> = heads.iter().filter_map(|(_, head)| head.split("Bearer ").nth(1)?.lines().next()).collect();
    assert_eq!(tokens, ["T1", "T1", "T2", "T2"]);
}
