use super::{AnySource, StatsHandle, lazy::Lazy, plan::Mode, settings::setters};
use crate::{Error, Event, InvalidVersion, Object, ResourceVersion};
use futures::{Stream, stream::FusedStream};
use std::{
    fmt,
    panic::Location,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

/// A snapshot by paged LIST: see [`ListWatch::list`](super::ListWatch::list).
#[must_use = "streams do nothing unless polled"]
pub struct List<K>(Lazy<K>);
setters!(List: name, page_size, strategy, max_event_size, floor, absent_is_empty);

/// Changes from a version on: see [`ListWatch::watch_from`](super::ListWatch::watch_from).
#[must_use = "streams do nothing unless polled"]
pub struct WatchFrom<K>(Lazy<K>);
setters!(WatchFrom: name, watch_timeout, idle_timeout, max_event_size, floor, internal_error_window);

/// A snapshot by `sendInitialEvents`, then the watch: see [`ListWatch::watch_list`](super::ListWatch::watch_list).
#[must_use = "streams do nothing unless polled"]
pub struct WatchList<K>(Lazy<K>);
setters!(WatchList: name, watch_timeout, idle_timeout, bookmark_deadline, bookmark_notice, max_event_size, floor, internal_error_window);

/// A snapshot, then the watch, for ever: see [`ListWatch::events`](super::ListWatch::events).
#[must_use = "streams do nothing unless polled"]
#[doc(alias("Reflector", "watcher"))]
pub struct Events<K>(Lazy<K>);
setters!(Events: name, page_size, strategy, watch_timeout, idle_timeout, bookmark_deadline, bookmark_notice, max_event_size, floor, internal_error_window, absent_is_empty);

/// A snapshot each period: see [`ListWatch::poll_every`](super::ListWatch::poll_every).
#[must_use = "streams do nothing unless polled"]
pub struct PollEvery<K>(Lazy<K>);
setters!(PollEvery: name, page_size, strategy, max_event_size, floor, absent_is_empty);

impl<K: Object> List<K> {
    pub(super) fn new(source: AnySource<K>, caller: &'static Location<'static>) -> Self {
        List(Lazy::new(source, Mode::List, None, caller))
    }

    /// Any state at least as new as this version, rather than at `"0"`; `""`: the most recent.
    pub fn at(mut self, version: impl Into<ResourceVersion>) -> Self {
        let version = version.into();
        if version.is_unset() {
            return self.strategy(super::Strategy::ListConsistent);
        }
        self.0.resume_from(Some(version));
        self
    }
}

impl<K: Object> WatchFrom<K> {
    pub(super) fn new(source: AnySource<K>, version: ResourceVersion, caller: &'static Location<'static>) -> Self {
        WatchFrom(Lazy::new(source, Mode::WatchFrom, Some(version), caller))
    }
}

impl<K: Object> WatchList<K> {
    pub(super) fn new(source: AnySource<K>, caller: &'static Location<'static>) -> Self {
        WatchList(Lazy::new(source, Mode::WatchList, None, caller))
    }
}

impl<K: Object> Events<K> {
    pub(super) fn new(source: AnySource<K>, caller: &'static Location<'static>) -> Self {
        Events(Lazy::new(source, Mode::Events, None, caller))
    }

    /// Asks this stream for a new snapshot later on, from anywhere.
    pub fn relist_handle(&self) -> super::RelistHandle {
        self.0.relist_handle()
    }

    /// Begins with the watch at this version rather than with a snapshot: for a restored store. `None` changes nothing.
    ///
    /// # Errors
    ///
    /// A watch cannot start at `""` or `"0"`.
    pub fn resume_from(mut self, version: Option<ResourceVersion>) -> Result<Self, InvalidVersion> {
        self.0.resume_from(version.map(ResourceVersion::exact).transpose()?);
        Ok(self)
    }
}

impl<K: Object> PollEvery<K> {
    pub(super) fn new(source: AnySource<K>, period: Duration, caller: &'static Location<'static>) -> Self {
        let mut lazy = Lazy::new(source, Mode::Poll, None, caller);
        lazy.settings_mut().poll_period = period;
        PollEvery(lazy)
    }
}

macro_rules! stream {
    ($($name:ident),*) => {$(
        impl<K: Object> $name<K> {
            /// Reads what this stream has done so far, at any time.
            pub fn stats(&self) -> StatsHandle {
                self.0.stats()
            }
        }

        impl<K: Object> Stream for $name<K> {
            type Item = Result<Event<K>, Error>;
            fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                self.get_mut().0.poll(cx)
            }
        }

        impl<K: Object> FusedStream for $name<K> {
            fn is_terminated(&self) -> bool {
                self.0.is_done()
            }
        }

        impl<K> fmt::Debug for $name<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
stream!(List, WatchFrom, WatchList, Events, PollEvery);
