use std::time::Duration;

/// How `events()` takes a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Watch-list first; LIST where that is refused or does not come.
    #[default]
    WatchListFirst,
    /// LIST, first at version `"0"`: any state, from the server's watch cache.
    List,
    /// LIST, first at `""` and paged: the most recent state.
    ListConsistent,
}

/// What a source stream goes by. Fixed at the first poll.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) page_size: Option<u32>,
    pub(crate) strategy: Strategy,
    pub(crate) watch_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) bookmark_deadline: Duration,
    pub(crate) bookmark_notice: Duration,
    pub(crate) max_event_size: usize,
    pub(crate) floor: Duration,
    pub(crate) internal_error_window: Option<Duration>,
    pub(crate) poll_period: Duration,
    pub(crate) absent_is_empty: bool,
    pub(crate) look_again: Duration,
}

impl Settings {
    pub(crate) fn new(name: String) -> Self {
        Settings {
            name,
            page_size: None,
            strategy: Strategy::default(),
            watch_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(150),
            bookmark_deadline: Duration::from_secs(30),
            bookmark_notice: Duration::from_secs(10),
            max_event_size: 16 << 20,
            floor: Duration::from_secs(1),
            internal_error_window: None,
            poll_period: Duration::ZERO,
            absent_is_empty: false,
            look_again: Duration::from_secs(30),
        }
    }
}

/// The setters that source streams share, stamped onto those that heed them.
macro_rules! setters {
    ($stream:ident: $($setter:ident),*) => {
        impl<K: crate::Object> $stream<K> {
            $($crate::source::settings::setter!($setter);)*
        }
    };
}

macro_rules! setter {
    (name) => {
        /// The name in traces and statistics. Default: the caller's `file:line`.
        pub fn name(mut self, name: impl Into<String>) -> Self {
            self.0.settings_mut().name = name.into();
            self
        }
    };
    (page_size) => {
        /// Items per page of a LIST, always; 0 is the default again.
        ///
        /// # Defaults
        ///
        /// 500 at versions `""` and `"0"` (client-go's pager), and where pages came back for `"0"` before; else the
        /// whole list in one answer.
        #[doc(alias = "WatchListPageSize")]
        pub fn page_size(mut self, items: u32) -> Self {
            self.0.settings_mut().page_size = (items > 0).then_some(items);
            self
        }
    };
    (strategy) => {
        /// How a snapshot is taken. Default: [`Strategy::WatchListFirst`](crate::source::Strategy), as client-go since 1.35.
        #[doc(alias = "WatchListClient")]
        pub fn strategy(mut self, strategy: crate::source::Strategy) -> Self {
            self.0.settings_mut().strategy = strategy;
            self
        }
    };
    (watch_timeout) => {
        /// The shortest life `m` of a watch: each asks the server for a random life in `[m, 2m)`, and ends itself a
        /// tenth after it (1 to 30 s). Default: 5 minutes (client-go's `MinWatchTimeout`).
        #[doc(alias = "MinWatchTimeout")]
        pub fn watch_timeout(mut self, shortest: std::time::Duration) -> Self {
            self.0.settings_mut().watch_timeout = shortest;
            self
        }
    };
    (idle_timeout) => {
        /// How long a watch may be silent, once the server has shown that it sends bookmarks (each minute, for cached
        /// resources); then it is opened again at the same version. Default: 150 s.
        pub fn idle_timeout(mut self, silence: std::time::Duration) -> Self {
            self.0.settings_mut().idle_timeout = silence;
            self
        }
    };
    (bookmark_deadline) => {
        /// How long a watch-list may bring no `ADDED` before its closing bookmark, and a tenth of how long it may take
        /// in all; then a LIST is tried. Default: 30 s.
        pub fn bookmark_deadline(mut self, wait: std::time::Duration) -> Self {
            self.0.settings_mut().bookmark_deadline = wait;
            self
        }
    };
    (bookmark_notice) => {
        /// How often a watch-list that waits for its closing bookmark says so in the trace. Default: 10 s (client-go).
        pub fn bookmark_notice(mut self, period: std::time::Duration) -> Self {
            self.0.settings_mut().bookmark_notice = period;
            self
        }
    };
    (max_event_size) => {
        /// The most bytes of one event or list item; more is an error, not memory. Default: 16 MiB (client-go's).
        pub fn max_event_size(mut self, bytes: usize) -> Self {
            self.0.settings_mut().max_event_size = bytes;
            self
        }
    };
    (floor) => {
        /// The shortest time between the opening of two watches where the first ended by itself; after an error a
        /// tenth of it. Time spent waiting elsewhere counts. Default: 1 s, so 100 ms after an error.
        pub fn floor(mut self, shortest: std::time::Duration) -> Self {
            self.0.settings_mut().floor = shortest;
            self
        }
    };
    (internal_error_window) => {
        /// For how long internal errors of a watch only reopen it; then it relists. Default: not set, and internal
        /// errors count towards the ten watches without progress that relist.
        #[doc(alias = "MaxInternalErrorRetryDuration")]
        pub fn internal_error_window(mut self, window: std::time::Duration) -> Self {
            self.0.settings_mut().internal_error_window = Some(window);
            self
        }
    };
    (absent_is_empty) => {
        /// Takes a resource that the server does not have (404) for an empty one, rather than for a failure: the
        /// snapshot is empty, without a version, and told once. The resource is looked for again after 1 s, then after
        /// twice as long each time, up to [`look_again`](Self::look_again), and up to as much time again; once it is
        /// there, its snapshot follows.
        ///
        /// A resource that goes is told as the server tells it: its objects are deleted, then the watch is answered
        /// 404, which is an `Err` with Relist, and the snapshot after it is empty. Default: 404 is a failure.
        pub fn absent_is_empty(mut self) -> Self {
            self.0.settings_mut().absent_is_empty = true;
            self
        }

        /// The longest time after which a resource that is [not there](Self::absent_is_empty) is looked for again,
        /// before the random part. Default: 30 s.
        pub fn look_again(mut self, longest: std::time::Duration) -> Self {
            self.0.settings_mut().look_again = longest;
            self
        }
    };
}

pub(crate) use {setter, setters};
