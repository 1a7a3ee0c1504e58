use super::http::MAX_WINDOW;
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
    pub(super) unread_bytes: u32,
    pub(super) idle_connections: usize,
    pub(super) idle_timeout: Duration,
    pub(super) user_agent: String,
    pub(super) plain_http_credentials: bool,
}

impl Settings {
    /// Whether consumers that read nothing may hold up others on their connection.
    pub(super) fn can_stall(&self) -> bool {
        (self.unread_bytes as usize).saturating_mul(self.streams_per_connection) > MAX_WINDOW as usize
    }
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
            unread_bytes: 1 << 20,
            idle_connections: 25,
            idle_timeout: Duration::from_secs(90),
            user_agent: concat!("listwatch/", env!("CARGO_PKG_VERSION")).to_owned(),
            plain_http_credentials: false,
        }
    }
}
