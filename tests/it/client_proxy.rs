//! Proxies: of the kubeconfig and of the environment, chosen as kubectl chooses them.

use crate::{certificates::Authority, child, folder::Folder, tls_front::Front};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error,
    client::{Client, Collection},
    source::{ListParams, ListWatch, WatchParams, WireEvent},
    testing::ApiServer,
};
use serde_json::json;
use std::{
    io,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// A proxy that leads to one server, whatever it is asked for, and notes what that was.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

#[derive(Clone, Copy)]
enum Speaks {
    Http,
    Socks,
}

/// What it wants to hear, if it wants to know who asks.
const PASSWORD: &str = "hunter2";

impl Proxy {
    async fn start(speaks: Speaks, wants_password: bool, target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let log = Arc::clone(&asked);
        let accept = async move {
            while let Ok((socket, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    match speaks {
                        Speaks::Http => http(socket, wants_password, target, &log).await,
                        Speaks::Socks => socks(socket, wants_password, target, &log).await,
                    }
                });
            }
        };
        Proxy { address, asked, task: tokio::spawn(accept).abort_handle() }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn http(
    mut socket: TcpStream,
    wants_password: bool,
    target: SocketAddr,
    log: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    log.lock().unwrap().push(head.lines().next().unwrap_or_default().to_owned());
    let password = format!("proxy-authorization: Basic {}", STANDARD.encode(format!("u:{PASSWORD}")));
    if wants_password && !head.to_lowercase().contains(&password.to_lowercase()) {
        return socket.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n").await;
    }
    let mut server = TcpStream::connect(target).await?;
    if head.starts_with("CONNECT ") {
        socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    } else {
        server.write_all(head.as_bytes()).await?; // servers take a whole URL, too
    }
    copy_bidirectional(&mut socket, &mut server).await.map(drop)
}

/// RFC 1928, and RFC 1929 for the password.
async fn socks(
    mut socket: TcpStream,
    wants_password: bool,
    target: SocketAddr,
    log: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let text = async |socket: &mut TcpStream| {
        let mut bytes = vec![0; usize::from(socket.read_u8().await?)];
        socket.read_exact(&mut bytes).await?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    assert_eq!(socket.read_u8().await?, 5);
    text(&mut socket).await?; // the ways to say who asks
    socket.write_all(&[5, if wants_password { 2 } else { 0 }]).await?;
    if wants_password {
        socket.read_u8().await?;
        let (user, password) = (text(&mut socket).await?, text(&mut socket).await?);
        let fine = (&*user, &*password) == ("u", PASSWORD);
        socket.write_all(&[1, u8::from(!fine)]).await?;
        if !fine {
            return Ok(());
        }
    }
    let mut head = [0; 4];
    socket.read_exact(&mut head).await?;
    let host = match head[3] {
        3 => text(&mut socket).await?,
        other => format!("an address of type {other}"),
    };
    let port = socket.read_u16().await?;
    log.lock().unwrap().push(format!("{host}:{port}"));
    socket.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    let mut server = TcpStream::connect(target).await?;
    copy_bidirectional(&mut socket, &mut server).await.map(drop)
}

/// A server that has a name which only a proxy knows.
struct Ground {
    server: ApiServer,
    front: Front,
    folder: Folder,
}

/// The name ends as names do that nobody has.
const SERVER: &str = "server: 'https://cluster.invalid:6443', certificate-authority: ca.pem";

impl Ground {
    async fn new(name: &str) -> Self {
        let server = ApiServer::start().await;
        let authority = Authority::new("ca");
        let front = Front::start(server.address(), &authority.server(&["cluster.invalid", "127.0.0.1"])).await;
        let folder = Folder::new(name);
        folder.write("ca.pem", &authority.pem);
        server.create("configmaps", json!({"metadata": {"name": "a"}}));
        Ground { server, front, folder }
    }

    async fn proxy(&self, speaks: Speaks, wants_password: bool) -> Proxy {
        Proxy::start(speaks, wants_password, self.front.address()).await
    }

    /// Lists and watches through what `proxy-url` says.
    async fn mirrored(&self, proxy: &str) -> Result<(), Error> {
        let path = self.folder.kubeconfig(&format!("{SERVER}, proxy-url: '{proxy}'"), "");
        let collection = Collection::<ConfigMap>::all(Client::from_kubeconfig(path, None).await?);
        collection.list_page(ListParams::default()).await?;
        let mut params = WatchParams::default();
        params.resource_version = "0".into();
        let mut watch = collection.open_watch(params).await?;
        assert!(matches!(watch.next().await, Some(Ok(WireEvent::Added(_)))));
        Ok(())
    }
}

#[tokio::test]
async fn a_proxy_url_leads_through_a_tunnel() {
    let ground = Ground::new("proxy-connect").await;
    let proxy = ground.proxy(Speaks::Http, false).await;
    ground.mirrored(&format!("http://{}", proxy.address)).await.unwrap();
    assert_eq!(proxy.asked(), ["CONNECT cluster.invalid:6443 HTTP/1.1"], "one connection, also for the watch");
    assert!(ground.server.requests().iter().all(|request| request.is_http2()));
    assert_eq!(ground.front.connections()[0].server_name.as_deref(), Some("cluster.invalid"));

    let strict = ground.proxy(Speaks::Http, true).await;
    ground.mirrored(&format!("http://u:{PASSWORD}@{}", strict.address)).await.unwrap();
    for who in ["", "u:wr0ng@"] {
        let error = ground.mirrored(&format!("http://{who}{}", strict.address)).await.unwrap_err();
        let said = format!("{error:?}");
        assert!(error.is_unreachable() && said.contains("proxy") && !said.contains("wr0ng"), "{said}");
    }
}

#[tokio::test]
async fn a_socks_proxy_is_told_the_servers_name() {
    let ground = Ground::new("proxy-socks").await;
    let (open, strict) = (ground.proxy(Speaks::Socks, false).await, ground.proxy(Speaks::Socks, true).await);
    for (scheme, proxy, who) in [
        ("socks5", &open, ""),
        ("socks5h", &open, ""),
        ("socks5", &strict, "u:hunter2@"),
        ("socks5h", &strict, "u:hunter2@"),
    ] {
        ground.mirrored(&format!("{scheme}://{who}{}", proxy.address)).await.unwrap();
        assert_eq!(proxy.asked(), ["cluster.invalid:6443"], "{scheme}");
    }
    let error = ground.mirrored(&format!("socks5://u:wr0ng@{}", strict.address)).await.unwrap_err();
    assert!(error.is_unreachable() && !format!("{error:?}").contains("wr0ng"), "{error:?}");
}

/// kube-client's own type brings its proxy as well.
#[tokio::test]
async fn a_given_configuration_has_a_proxy() {
    let server = ApiServer::start().await;
    let proxy = Proxy::start(Speaks::Http, false, server.address()).await;
    let here = server.url();
    for url in ["http://cluster.invalid", here.trim_end_matches('/')] {
        let mut config = kube::Config::new(url.parse().unwrap());
        config.proxy_url = Some(format!("http://{}", proxy.address).parse().unwrap());
        let client = Client::builder().config(config).unwrap();
        Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap();
        let get = format!("GET {url}/api/v1/configmaps HTTP/1.1");
        assert_eq!(proxy.asked(), [get], "no tunnel for plain HTTP, and also for a server on this host");
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_taken_as_kubectl_takes_it() {
    let ground = Ground::new("proxy-environment").await;
    let proxy = ground.proxy(Speaks::Http, true).await;
    let socks = ground.proxy(Speaks::Socks, false).await;
    let (http, socks5) = (format!("http://u:{PASSWORD}@{}", proxy.address), format!("socks5://{}", socks.address));
    let bare = socks.address.to_string();
    let path = ground.folder.kubeconfig(SERVER, "");
    let run = async |path: &Path, more: &[(&str, &str)]| {
        let path = path.display().to_string();
        let all: Vec<_> = [("KUBECONFIG", &*path)].into_iter().chain(more.iter().copied()).collect();
        let told = child::lists(1, &all).await;
        assert_eq!(told.len(), 1, "{told:?}");
        (told[0] == "listed", proxy.asked(), socks.asked(), told)
    };
    for name in ["HTTPS_PROXY", "https_proxy"] {
        let (listed, asked, ..) = run(&path, &[(name, &http)]).await;
        assert!(listed && asked == ["CONNECT cluster.invalid:6443 HTTP/1.1"], "{name}: {asked:?}");
    }
    let (listed, _, asked, _) = run(&path, &[("HTTPS_PROXY", &socks5), ("https_proxy", &http)]).await;
    assert!(listed && asked == ["cluster.invalid:6443"], "{asked:?}");

    let open = ground.proxy(Speaks::Http, false).await;
    let (listed, ..) = run(&path, &[("HTTPS_PROXY", &open.address.to_string())]).await;
    assert!(listed && open.asked().len() == 1, "without a scheme it is an HTTP proxy");
    let (listed, asked, ..) = run(&path, &[("HTTPS_PROXY", ""), ("https_proxy", &http)]).await;
    assert!(listed && asked.len() == 1, "an empty variable is none");

    // Not for this server, of another kind, or of a name that kubectl does not know: the name leads nowhere then.
    for more in [
        &[("HTTPS_PROXY", &*http), ("NO_PROXY", "other.example,.invalid")] as &[_],
        &[("HTTPS_PROXY", &*http), ("no_proxy", "cluster.invalid")],
        &[("HTTPS_PROXY", &*http), ("NO_PROXY", "*")],
        &[("HTTP_PROXY", &*http)],
        &[("ALL_PROXY", &*http)],
    ] {
        let (listed, asked, _, told) = run(&path, more).await;
        assert!(!listed && asked.is_empty() && !told[0].contains(PASSWORD), "{more:?}: {told:?}");
    }

    // The kubeconfig's own goes before, whatever NO_PROXY says.
    let own = ground.folder.write("own", &crate::folder::kubeconfig(&format!("{SERVER}, proxy-url: '{socks5}'"), ""));
    let (listed, asked, socks_asked, _) = run(&own, &[("HTTPS_PROXY", &http), ("NO_PROXY", "*")]).await;
    assert!(listed && asked.is_empty() && socks_asked.len() == 1, "{asked:?} {socks_asked:?}");

    // A server on this host needs none.
    let url = format!("server: '{}', certificate-authority: ca.pem", ground.front.url());
    let here = ground.folder.write("here", &crate::folder::kubeconfig(&url, ""));
    let (listed, _, asked, _) = run(&here, &[("HTTPS_PROXY", &bare)]).await;
    assert!(listed && asked.is_empty(), "{asked:?}");

    // Nor does one whose certificate has another name than its URL, which a proxy would be asked for.
    let named = ground
        .folder
        .write("named", &crate::folder::kubeconfig(&format!("{url}, tls-server-name: cluster.invalid"), ""));
    let (listed, _, asked, _) = run(&named, &[("HTTPS_PROXY", &socks5)]).await;
    assert!(listed && asked.is_empty(), "{asked:?}");

    // What cannot be used is named, and not shown.
    for (value, said) in [("ftp://hunter2@proxy.example", "cannot be used"), ("::hunter2::", "is no URL")] {
        let (_, _, _, told) = run(&path, &[("HTTPS_PROXY", value)]).await;
        assert!(told[0].contains("HTTPS_PROXY") && told[0].contains(said) && !told[0].contains(PASSWORD), "{told:?}");
    }
}

/// For servers that speak plain HTTP.
#[tokio::test]
async fn plain_http_has_variables_of_its_own() {
    let server = ApiServer::start().await;
    let proxy = Proxy::start(Speaks::Http, false, server.address()).await;
    let folder = Folder::new("proxy-plain");
    let path = folder.kubeconfig("server: 'http://cluster.invalid'", "").display().to_string();
    let through = &*format!("http://{}", proxy.address);
    const NOWHERE: &str = "http://127.0.0.1:1";
    for (more, fine) in [
        (&[("HTTP_PROXY", through)] as &[_], true),
        (&[("http_proxy", through)], true),
        (&[("HTTP_PROXY", through), ("http_proxy", NOWHERE)], true),
        (&[("HTTPS_PROXY", through)], false),
        // In a CGI program it is a header of whoever asks.
        (&[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", through)], false),
        (&[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", NOWHERE), ("http_proxy", through)], true),
    ] {
        let all: Vec<_> = [("KUBECONFIG", &*path)].into_iter().chain(more.iter().copied()).collect();
        let told = child::lists(1, &all).await;
        assert_eq!((&*told[0] == "listed", proxy.asked().len()), (fine, usize::from(fine)), "{more:?}: {told:?}");
    }
}
