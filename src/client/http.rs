use super::{
    Headers, Request, RequestKind, Response,
    chain::chain,
    credentials::Identity,
    kubeconfig::{Loaded, Source},
    proxy::{of_environment, through_proxy},
    settings::Settings,
    tls,
    transport::AnyTransport,
};
use crate::Error;
use futures::{StreamExt, TryStreamExt, future::BoxFuture};
use kube_client::Config;
use reqwest::{Url, header};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// Connections younger than this are not given up for having fallen silent: another watch has just opened them.
const YOUNG: Duration = Duration::from_secs(30);
/// The most that a window of HTTP/2 can be.
pub(super) const MAX_WINDOW: u32 = (1 << 31) - 1;
/// How often files of certificates are looked at.
const LOOK: Duration = Duration::from_secs(10);

/// Requests over reqwest.
pub(super) struct Http {
    base: Url,
    source: Source,
    settings: Settings,
    pool: Mutex<Pool>,
}

/// Each lane is a pool of reqwest's own, and over HTTP/2 one connection: several of them keep watches from waiting for
/// a free stream, and are how another connection can be had.
struct Pool {
    loaded: Loaded,
    looked: Instant,
    seen: Vec<Option<SystemTime>>,
    identity: Option<Identity>,
    lanes: Vec<Lane>,
}

#[derive(Clone)]
struct Lane {
    client: reqwest::Client,
    opened: Instant,
    /// Held by each answer that is being read.
    open: Arc<()>,
}

impl Http {
    pub(super) fn new(source: Source, loaded: Loaded, settings: Settings) -> Result<Self, Error> {
        let base = base_url(&loaded)?;
        let pool =
            Pool { looked: Instant::now(), seen: seen(&loaded.files), loaded, identity: None, lanes: Vec::new() };
        let http = Http { base, source, settings, pool: Mutex::new(pool) };
        // A configuration that cannot be used is told at once.
        let mut pool = http.pool();
        let lane = http.open(&pool.loaded, None)?;
        pool.lanes.push(lane);
        drop(pool);
        Ok(http)
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// A lane with room for the request.
    fn lane(&self, new_connection: bool, identity: Option<Identity>) -> Result<Lane, Error> {
        let mut pool = self.pool();
        let pool = &mut *pool;
        if pool.looked.elapsed() >= LOOK {
            self.look(pool);
        }
        if pool.identity != identity {
            pool.identity = identity;
            pool.lanes.clear();
        }
        if new_connection {
            pool.lanes.retain(|lane| lane.opened.elapsed() < YOUNG);
        }
        let most = self.settings.streams_per_connection;
        if let Some(lane) = pool.lanes.iter().find(|lane| Arc::strong_count(&lane.open) <= most) {
            return Ok(lane.clone());
        }
        let lane = self.open(&pool.loaded, pool.identity.as_ref())?;
        pool.lanes.push(lane.clone());
        Ok(lane)
    }

    /// Certificates that were replaced hold for new connections; open ones stay. Half of a new pair, as while it is
    /// being written, changes nothing yet. Says whether there are any.
    fn look(&self, pool: &mut Pool) -> bool {
        pool.looked = Instant::now();
        let now = seen(&pool.loaded.files);
        if now == pool.seen {
            return false;
        }
        let usable = self.source.load().and_then(|loaded| {
            let lane = self.open(&loaded, pool.identity.as_ref())?;
            Ok((loaded, lane))
        });
        match usable {
            Ok((loaded, lane)) => {
                tracing::info!("certificates were replaced");
                (pool.loaded, pool.seen, pool.lanes) = (loaded, now, vec![lane]);
                true
            }
            Err(error) => {
                tracing::warn!(%error, "replaced certificates cannot be used yet");
                false
            }
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, loaded: &Loaded, identity: Option<&Identity>) -> Result<Lane, Error> {
        let settings = &self.settings;
        let tls = tls::client_config(&self.base, loaded, identity, settings.http2)?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(&settings.user_agent)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(settings.connect_timeout)
            .tcp_keepalive(settings.tcp_keepalive)
            .http2_keep_alive_interval(settings.ping_interval)
            .http2_keep_alive_timeout(settings.ping_timeout)
            .http2_keep_alive_while_idle(true)
            .pool_idle_timeout(settings.idle_timeout)
            .pool_max_idle_per_host(settings.idle_connections)
            // A consumer that is stuck holds up its own stream. The connection's window has room for all streams that
            // may be open, so that it never holds up the others.
            .http2_initial_stream_window_size(settings.unread_bytes)
            .http2_initial_connection_window_size(MAX_WINDOW);
        if let Some(name) = server_name(&loaded.config) {
            if loaded.proxy.is_some() {
                return Err(loaded.error("tls-server-name and proxy-url do not go together"));
            }
            if name.parse::<std::net::IpAddr>().is_ok() {
                return Err(loaded.error("a tls-server-name that is an address is not supported"));
            }
            if let Some((variable, _)) = of_environment("https") {
                tracing::warn!(variable, "a proxy of the environment does not go together with tls-server-name");
            }
            builder = builder.no_proxy().dns_resolver(tls::Elsewhere::of(&loaded.config));
        } else {
            builder = through_proxy(builder, loaded, &self.base)?;
        }
        let client = builder.build().map_err(|error| Error::config(chain(&error.without_url())))?;
        Ok(Lane { client, opened: Instant::now(), open: Arc::new(()) })
    }

    fn url(&self, request: &Request) -> Result<Url, Error> {
        let prefix = self.base.path().trim_end_matches('/');
        let url = self.base.join(&format!("{prefix}{}", request.path_and_query())).ok();
        // Names such as `..` would lead elsewhere.
        url.filter(|url| url.path().strip_prefix(prefix) == Some(request.path()))
            .ok_or_else(|| Error::config("a name that cannot stand in a path"))
    }
}

impl AnyTransport for Http {
    fn send(&self, request: Request, identity: Option<Identity>) -> BoxFuture<'_, Result<Response, Error>> {
        Box::pin(async move {
            let lane = self.lane(request.wants_new_connection(), identity.clone())?;
            let answer = self.send_over(lane, request.clone()).await;
            // The server may show a certificate of another authority now, whose file was replaced as well.
            if answer.is_err() && self.has_changed() {
                let lane = self.lane(false, identity)?;
                return self.send_over(lane, request).await;
            }
            answer
        })
    }

    fn has_changed(&self) -> bool {
        self.look(&mut self.pool())
    }
}

impl Http {
    async fn send_over(&self, lane: Lane, request: Request) -> Result<Response, Error> {
        let mut outgoing = reqwest::Request::new(reqwest::Method::GET, self.url(&request)?);
        let headers = outgoing.headers_mut();
        for (name, value) in request.headers().iter() {
            let cannot = || Error::config(format!("the header {name} cannot be sent"));
            let key = header::HeaderName::from_bytes(name.as_bytes()).map_err(|_| cannot())?;
            let mut value = header::HeaderValue::from_str(value).map_err(|_| cannot())?;
            value.set_sensitive(key == header::AUTHORIZATION);
            headers.append(key, value);
        }
        if request.kind() == RequestKind::Watch || !self.settings.compress_lists {
            headers.insert(header::ACCEPT_ENCODING, header::HeaderValue::from_static("identity"));
        }
        let answer = lane.client.execute(outgoing).await.map_err(|error| Error::unreachable(told(error)))?;
        let (status, mut headers) = (answer.status().as_u16(), Headers::default());
        for (name, value) in answer.headers() {
            if let Ok(value) = value.to_str() {
                headers.add(name.as_str(), value);
            }
        }
        let open = lane.open;
        let body = answer.bytes_stream().map_err(broken).inspect(move |_| {
            let _ = &open;
        });
        Ok(Response::new(status, body.boxed()).with_headers(headers))
    }
}

/// Bytes that make no sense are garbage, anything else broke off.
fn broken(error: reqwest::Error) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(at) = cause {
        if let Some(io) = at.downcast_ref::<std::io::Error>() {
            use std::io::ErrorKind::{InvalidData, InvalidInput};
            if matches!(io.kind(), InvalidData | InvalidInput) {
                return Error::garbage("its encoding is broken");
            }
        }
        cause = at.source();
    }
    Error::interrupted(told(error))
}

/// reqwest's errors by their causes, without the URL: its own text says little more than that a request failed.
fn told(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

fn seen(files: &[PathBuf]) -> Vec<Option<SystemTime>> {
    files.iter().map(|file| file.metadata().and_then(|meta| meta.modified()).ok()).collect()
}

/// Where requests go. With a `tls-server-name` the URL has that name, and [`tls::Elsewhere`] finds the server.
fn base_url(loaded: &Loaded) -> Result<Url, Error> {
    let config = &loaded.config;
    let mut url = Url::parse(&config.cluster_url.to_string()).map_err(|_| loaded.error("the server is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(loaded.error("the server is no http or https URL"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(loaded.error("the server's URL holds credentials"));
    }
    if let Some(name) = server_name(config) {
        url.set_host(Some(name)).map_err(|_| loaded.error("tls-server-name is no host name"))?;
    }
    Ok(url)
}

/// The name that the server's certificate is for, where that is not the one in its URL.
fn server_name(config: &Config) -> Option<&String> {
    config.tls_server_name.as_ref().filter(|_| config.cluster_url.scheme_str() == Some("https"))
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or_else(|_| host == "localhost", |address| address.is_loopback())
}
