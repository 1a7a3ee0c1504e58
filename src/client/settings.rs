use std::time::Duration;

/// How a client carries its requests; see [`ClientBuilder`](super::ClientBuilder) for what each means.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) connect_timeout: Duration,
    pub(super) ping_interval: Duration,
    pub(super) ping_timeout: Duration,
    pub(super) tcp_keepalive: Duration,
    pub(super) http2: bool,
    pub(super) compress_lists: bool,
    pub(super) streams_per_connection: usize,
    pub(super) user_agent: String,
    pub(super) plain_http_credentials: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect_timeout: Duration::from_secs(30),
            ping_interval: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(15),
            tcp_keepalive: Duration::from_secs(30),
            http2: true,
            compress_lists: true,
            streams_per_connection: 80,
            user_agent: concat!("listwatch/", env!("CARGO_PKG_VERSION")).to_owned(),
            plain_http_credentials: false,
        }
    }
}
