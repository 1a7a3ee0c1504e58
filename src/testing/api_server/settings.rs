//! How a server behaves.

use super::resource::Resource;
use std::time::Duration;

/// The settings of a server; see its builder.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) watch_cache: bool,
    pub(super) watch_list: bool,
    pub(super) sharding: bool,
    pub(super) bookmarks: bool,
    pub(super) bookmark_period: Duration,
    pub(super) bookmark_before_end: Duration,
    pub(super) min_request_timeout: Duration,
    pub(super) freshness_timeout: Duration,
    pub(super) max_page: Option<usize>,
    pub(super) gzip_from: Option<usize>,
    pub(super) slow_watch: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            watch_cache: true,
            watch_list: true,
            sharding: false,
            bookmarks: true,
            bookmark_period: Duration::from_secs(60),
            bookmark_before_end: Duration::from_millis(1200),
            min_request_timeout: Duration::from_secs(1800),
            freshness_timeout: Duration::from_secs(3),
            max_page: None,
            gzip_from: Some(128 * 1024),
            slow_watch: usize::MAX,
        }
    }
}

impl Settings {
    /// Whether this resource is served from the watch cache.
    pub(super) fn cached(&self, resource: &Resource) -> bool {
        self.watch_cache && resource.cached
    }
}
