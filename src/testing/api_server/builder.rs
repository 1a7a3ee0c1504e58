//! Starting a server with other settings.

use super::{ApiServer, built_in::built_in, resource::Resource, settings::Settings, state::State};
use std::{io, time::Duration};

/// Starts an [`ApiServer`] that differs from the usual one. Made by [`ApiServer::builder`].
///
/// # Defaults
///
/// Those of kube-apiserver 1.36, measured: watch cache and WatchList on, a bookmark every 60 s and 1.2 s before a watch
/// ends, watches of 30 to 60 minutes where the client sets no `timeoutSeconds`, 3 s of patience with a version ahead of
/// the server, gzip from 128 KiB.
///
/// # Examples
///
/// ```
/// use listwatch::testing::ApiServer;
/// use std::time::Duration;
///
/// # tokio_test::block_on(async {
/// let server = ApiServer::builder().watch_cache(false).bookmark_period(Duration::from_millis(50)).start().await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until started"]
pub struct ApiServerBuilder {
    settings: Settings,
    resources: Vec<Resource>,
}

impl ApiServerBuilder {
    pub(super) fn new() -> Self {
        Self { settings: Settings::default(), resources: built_in() }
    }

    /// Whether lists and watches are served from a watch cache (default) or from storage.
    pub fn watch_cache(mut self, on: bool) -> Self {
        self.settings.watch_cache = on;
        self
    }

    /// Whether the gate WatchList is on (default). Off: `sendInitialEvents` is refused with 422.
    pub fn watch_list(mut self, on: bool) -> Self {
        self.settings.watch_list = on;
        self
    }

    /// Whether the gate ShardedListAndWatch is on (default: off, as in Kubernetes 1.36). Off: `shardSelector` is not
    /// looked at. Lists of built-in resources say what was applied; those of custom ones and of metadata do not.
    pub fn sharding(mut self, on: bool) -> Self {
        self.settings.sharding = on;
        self
    }

    /// Whether watches get periodic bookmarks where they ask for them (default). The bookmark at the end of initial
    /// events comes in any case.
    pub fn bookmarks(mut self, on: bool) -> Self {
        self.settings.bookmarks = on;
        self
    }

    /// The time between bookmarks.
    pub fn bookmark_period(mut self, period: Duration) -> Self {
        self.settings.bookmark_period = period;
        self
    }

    /// How long before its end a watch gets its last bookmark.
    pub fn bookmark_before_end(mut self, time: Duration) -> Self {
        self.settings.bookmark_before_end = time;
        self
    }

    /// The shortest length of watches that set no `timeoutSeconds`; the longest is twice that.
    pub fn min_request_timeout(mut self, timeout: Duration) -> Self {
        self.settings.min_request_timeout = timeout;
        self
    }

    /// How long a request for a version ahead of the server waits for it before 504.
    pub fn freshness_timeout(mut self, timeout: Duration) -> Self {
        self.settings.freshness_timeout = timeout;
        self
    }

    /// The most items on a page, whatever limit the client asks for; a list without a limit is not paged.
    pub fn max_page(mut self, items: usize) -> Self {
        self.settings.max_page = Some(items);
        self
    }

    /// From how many bytes on an answer is compressed if the client takes gzip; `None`: never. Watches never are.
    pub fn gzip_from(mut self, bytes: Option<usize>) -> Self {
        self.settings.gzip_from = bytes;
        self
    }

    /// How many changes a watch may be behind before the server ends it without a word (default: no bound).
    pub fn slow_watch(mut self, changes: usize) -> Self {
        self.settings.slow_watch = changes;
        self
    }

    /// Adds a resource, in place of one of the same name.
    pub fn register(mut self, resource: Resource) -> Self {
        self.resources.retain(|r| r.qualified() != resource.qualified());
        self.resources.push(resource);
        self
    }

    /// Starts the server on a free port of the loopback address.
    ///
    /// # Errors
    ///
    /// No port could be bound.
    #[allow(clippy::unused_async, reason = "a runtime must be there, which an async function says")]
    pub async fn start(self) -> io::Result<ApiServer> {
        ApiServer::open(State::new(self.resources), self.settings)
    }
}
