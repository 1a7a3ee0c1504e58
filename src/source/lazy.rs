use super::{AnySource, RelistHandle, StatsHandle, driver::Driver, plan::Mode, settings::Settings};
use crate::{Error, Event, Object, ResourceVersion};
use futures::{StreamExt, stream::BoxStream};
use std::{
    fmt,
    panic::Location,
    task::{Context, Poll, ready},
};

/// What every source stream is inside: a source and its settings, then, from the first poll on, one boxed generator.
pub(super) struct Lazy<K> {
    source: Option<AnySource<K>>,
    mode: Mode,
    at: Option<ResourceVersion>,
    settings: Settings,
    stats: StatsHandle,
    relist: RelistHandle,
    span: tracing::Span,
    running: Option<BoxStream<'static, Result<Event<K>, Error>>>,
}

impl<K: Object> Lazy<K> {
    pub(super) fn new(
        source: AnySource<K>,
        mode: Mode,
        at: Option<ResourceVersion>,
        caller: &'static Location<'static>,
    ) -> Self {
        let settings = Settings::new(format!("{}:{}", caller.file(), caller.line()));
        let span = tracing::Span::none();
        Lazy {
            source: Some(source),
            mode,
            at,
            settings,
            stats: StatsHandle::default(),
            relist: RelistHandle::default(),
            span,
            running: None,
        }
    }

    pub(super) fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    pub(super) fn resume_from(&mut self, at: Option<ResourceVersion>) {
        self.at = at;
    }

    pub(super) fn stats(&self) -> StatsHandle {
        self.stats.clone()
    }

    pub(super) fn relist_handle(&self) -> RelistHandle {
        self.relist.clone()
    }

    pub(super) fn is_done(&self) -> bool {
        self.source.is_none() && self.running.is_none()
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event<K>, Error>>> {
        if let Some(source) = self.source.take() {
            self.start(source);
        }
        // Taken out while it is polled: after a panic of user code in there, the stream is over.
        let Some(mut running) = self.running.take() else { return Poll::Ready(None) };
        let _entered = self.span.enter();
        let polled = running.poll_next_unpin(cx);
        if polled.is_pending() {
            self.running = Some(running);
            return Poll::Pending;
        }
        let item = ready!(polled);
        if item.is_some() {
            self.running = Some(running);
        } else {
            tracing::debug!("stream ended");
        }
        Poll::Ready(item)
    }

    fn start(&mut self, source: AnySource<K>) {
        use super::ListWatch;
        self.span = tracing::info_span!(
            "listwatch",
            name = %self.settings.name,
            resource = source.resource(),
            namespace = source.namespace(),
        );
        self.span.in_scope(|| tracing::debug!("stream started"));
        #[cfg(feature = "metrics")]
        self.stats.label(&self.settings.name, source.resource());
        let driver = Driver::new(
            source,
            self.mode,
            self.at.clone(),
            self.settings.clone(),
            self.stats.clone(),
            self.relist.clone(),
        );
        self.running = Some(
            async_stream::stream! {
                let mut driver = driver;
                while let Some(item) = driver.next().await {
                    yield item;
                }
            }
            .boxed(),
        );
    }
}

impl<K> fmt::Debug for Lazy<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(match self.mode {
            Mode::Events => "Events",
            Mode::List => "List",
            Mode::WatchList => "WatchList",
            Mode::WatchFrom => "WatchFrom",
            Mode::Poll => "PollEvery",
        });
        out.field("name", &self.settings.name);
        out.field("started", &self.source.is_none()).field("done", &(self.source.is_none() && self.running.is_none()));
        out.finish_non_exhaustive()
    }
}
