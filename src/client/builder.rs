use super::{
    Client, CredentialSource, Headers, Transport,
    access::Inner,
    credentials::{AnySource, Cache, of_config},
    http::{Http, is_loopback},
    kubeconfig::{Loaded, Source},
    list_rate::{Limiter, ListRate},
    settings::Settings,
};
use crate::{BoxError, Error};
use futures::FutureExt;
use kube_client::{
    Config,
    client::{Body, ConfigExt},
};
use std::{fmt, path::Path, time::Duration};
use tower::{Layer, ServiceExt};

/// Settings of a [`Client`], then where it gets its configuration.
///
/// ```
/// use listwatch::client::{Client, TokenFile};
/// use std::time::Duration;
///
/// let client = Client::builder()
///     .connect_timeout(Duration::from_secs(5))
///     .credentials(TokenFile::new("/run/token"))
///     .url("https://cluster.example:6443")?;
/// let refused = Client::builder().credentials(TokenFile::new("/run/token")).url("http://cluster.example");
/// assert!(refused.unwrap_err().is_config(), "a token over plain HTTP");
/// assert_eq!(client.default_namespace(), "default");
/// # Ok::<_, listwatch::Error>(())
/// ```
pub struct ClientBuilder {
    settings: Settings,
    credentials: Option<Box<dyn AnySource>>,
    headers: Headers,
    lists: Option<ListRate>,
    context: Option<String>,
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        let (settings, headers) = (Settings::default(), Headers::default());
        ClientBuilder { settings, credentials: None, headers, lists: None, context: None }
    }

    /// Where credentials come from, instead of what the configuration says of them.
    #[must_use]
    pub fn credentials(mut self, source: impl CredentialSource) -> Self {
        self.credentials = Some(Box::new(source));
        self
    }

    /// Lets credentials go over plain HTTP to hosts that are not this one. Default: refused.
    #[must_use]
    pub fn credentials_over_plain_http(mut self, allowed: bool) -> Self {
        self.settings.plain_http_credentials = allowed;
        self
    }

    /// A header for each request.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Box<str>>) -> Self {
        self.headers.add(name, value);
        self
    }

    /// What the client calls itself. Default: `listwatch/` and its version.
    #[must_use]
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.settings.user_agent = name.into();
        self
    }

    /// How long connecting may take, with TLS. Default: 30 s (client-go's).
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.settings.connect_timeout = time;
        self
    }

    /// HTTP/2 pings: after so much silence, and how long the answer may take. Default: 30 s and 15 s (client-go's).
    #[must_use]
    #[doc(alias("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"))]
    pub fn ping(mut self, interval: Duration, timeout: Duration) -> Self {
        (self.settings.ping_interval, self.settings.ping_timeout) = (interval, timeout);
        self
    }

    /// How long a connection is silent before TCP probes it. Default: 30 s (client-go's).
    #[must_use]
    pub fn tcp_keepalive(mut self, time: Duration) -> Self {
        self.settings.tcp_keepalive = time;
        self
    }

    /// Whether HTTP/2 is offered over TLS. Default: yes.
    #[must_use]
    pub fn http2(mut self, offered: bool) -> Self {
        self.settings.http2 = offered;
        self
    }

    /// Whether lists may be compressed; watches never are. Default: yes (client-go's).
    #[must_use]
    pub fn compress_lists(mut self, allowed: bool) -> Self {
        self.settings.compress_lists = allowed;
        self
    }

    /// How many answers may be read over one HTTP/2 connection before another is opened; servers let more requests
    /// wait than they announce streams. At least 1. Default: 80, as API servers announce 100 and more.
    ///
    /// Together with [`unread_bytes`](Self::unread_bytes) it is bounded by what one connection may have on the way,
    /// 2 GiB: so a consumer that is stuck never holds up the others on its connection.
    #[must_use]
    pub fn streams_per_connection(mut self, streams: usize) -> Self {
        self.settings.streams_per_connection = streams.max(1);
        self
    }

    /// How many bytes of an HTTP/2 answer the server may send ahead of its reader: what one stuck consumer costs in
    /// memory. At least 64 KiB - 1, which HTTP/2 begins with. Default: 1 MiB.
    #[must_use]
    #[doc(alias("SETTINGS_INITIAL_WINDOW_SIZE", "window"))]
    pub fn unread_bytes(mut self, bytes: u32) -> Self {
        self.settings.unread_bytes = bytes.max((1 << 16) - 1);
        self
    }

    /// How many connections that carry no request are kept open. Default: 25 (client-go's).
    #[must_use]
    #[doc(alias("MaxIdleConnsPerHost"))]
    pub fn idle_connections(mut self, most: usize) -> Self {
        self.settings.idle_connections = most;
        self
    }

    /// And for how long. Default: 90 s (client-go's).
    #[must_use]
    #[doc(alias("IdleConnTimeout"))]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.settings.idle_timeout = time;
        self
    }

    /// How many lists the streams of all collections of this client, its clones included, may ask for together. Each
    /// page counts, and each watch-list, which the server answers with a snapshot as well; a watch does not, nor does
    /// discovery, nor what is [sent](Client::send) by hand. Whoever came first goes first, and the wait counts towards
    /// no deadline. Default: no limit; servers have their own (429), which streams heed.
    #[must_use]
    #[doc(alias("QPS", "Burst", "RateLimiter"))]
    pub fn list_rate(mut self, rate: ListRate) -> Self {
        self.lists = Some(rate);
        self
    }

    /// The context for [`infer`](Self::infer), as kubectl's `--context`. Default: the current one of the kubeconfig.
    #[must_use]
    pub fn context(mut self, name: impl Into<String>) -> Self {
        self.context = Some(name.into());
        self
    }

    /// See [`Client::infer`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn infer(mut self) -> Result<Client, Error> {
        let context = self.context.take();
        self.source(Source::infer(context)?)
    }

    /// See [`Client::from_kubeconfig`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn from_kubeconfig(self, path: impl AsRef<Path>, context: Option<&str>) -> Result<Client, Error> {
        let paths = vec![path.as_ref().to_owned()];
        self.source(Source::Files { paths, context: context.map(str::to_owned) })
    }

    /// By a configuration of kube-client's.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`]: it cannot be used.
    pub fn config(self, config: Config) -> Result<Client, Error> {
        self.source(Source::Fixed(Box::new(config)))
    }

    /// See [`Client::new`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn url(self, url: &str) -> Result<Client, Error> {
        let url = url.parse().map_err(|_| Error::config("the server is no URL"))?;
        self.config(Config::new(url))
    }

    /// By whatever carries requests. Of the settings only credentials, headers and the rate of lists matter then.
    pub fn transport(self, transport: impl Transport) -> Client {
        Client::from_inner(Inner {
            transport: Box::new(transport),
            credentials: self.credentials.map(Cache::new),
            headers: self.headers,
            default_namespace: "default".to_owned(),
            server: String::new(),
            lists: self.lists.map(Limiter::new),
        })
    }

    fn source(mut self, source: Source) -> Result<Client, Error> {
        if self.settings.can_stall() {
            return Err(Error::config(
                "unread_bytes times streams_per_connection is more than a connection carries, 2 GiB",
            ));
        }
        let loaded = source.load()?;
        let credentials = match self.credentials.take() {
            Some(source) => Some(source),
            None => of_config(&loaded)?,
        };
        impersonate(&loaded, &mut self.headers)?;
        let Loaded { config, .. } = &loaded;
        let default_namespace = config.default_namespace.clone();
        if config.disable_compression {
            self.settings.compress_lists = false;
        }
        let allowed = self.settings.plain_http_credentials;
        let plain = loaded.error("credentials over plain HTTP to another host; see credentials_over_plain_http");
        let http = Http::new(source, loaded, self.settings)?;
        let base = http.base();
        if credentials.is_some() && base.scheme() == "http" && !allowed && !is_loopback(base) {
            return Err(plain);
        }
        Ok(Client::from_inner(Inner {
            server: base.to_string(),
            transport: Box::new(http),
            credentials: credentials.map(Cache::new),
            headers: self.headers,
            default_namespace,
            lists: self.lists.map(Limiter::new),
        }))
    }
}

/// The headers that make the server take the user for another one, and any others of the configuration.
fn impersonate(loaded: &Loaded, headers: &mut Headers) -> Result<(), Error> {
    let cannot = || loaded.error("as: the user to be impersonated cannot be written as headers");
    let layer = loaded.config.extra_headers_layer().map_err(|_| cannot())?;
    let only_headers =
        tower::service_fn(async |request: http::Request<Body>| Ok::<_, BoxError>(request.headers().clone()));
    let found = layer.layer(only_headers).oneshot(http::Request::new(Body::empty())).now_or_never();
    for (name, value) in &found.and_then(Result::ok).ok_or_else(cannot)? {
        headers.add(name.as_str(), value.to_str().map_err(|_| cannot())?);
    }
    Ok(())
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ClientBuilder");
        out.field("settings", &self.settings).field("credentials", &self.credentials.is_some());
        out.field("headers", &self.headers).field("lists", &self.lists).finish()
    }
}
