//! Plays the plan's requests against a source, one item at a time.

mod listing;
mod watching;

use self::{
    listing::{Ask, Listing},
    watching::Watching,
};
use super::{
    AnySource, Class, ListWatch, RelistHandle, StatsHandle, Strategy, classify,
    internal_errors::InternalErrors,
    pace::Pace,
    plan::{Mode, Outcome, Pause, Plan, Request, Verdict},
    reading::Alarm,
    settings::Settings,
};
use crate::{Error, Event, Object, Recovery, ResourceVersion};
use tokio::time::Instant;

type Item<K> = Result<Event<K>, Error>;

pub(crate) struct Driver<K> {
    source: AnySource<K>,
    settings: Settings,
    stats: StatsHandle,
    mode: Mode,
    plan: Plan,
    pace: Pace,
    alarm: Alarm,
    phase: Phase<K>,
    snapshot: Snapshot,
    /// The next page, asked for while the one before it was read.
    page_ahead: Option<Ask<K>>,
    /// Comes right after the item that was given last.
    held: Option<Item<K>>,
    /// The next watch that stands is to be told.
    owes_watching: bool,
    /// The last watch fell silent.
    new_connection: bool,
    /// The server has sent a bookmark of its own accord: from then on silence means something.
    sends_bookmarks: bool,
    internal: Option<InternalErrors>,
    relist: RelistHandle,
    over: bool,
}

enum Phase<K> {
    Asking,
    Listing(Listing<K>),
    Watching(Watching<K>),
}

/// The snapshot in progress, over all its pages.
#[derive(Default)]
struct Snapshot {
    started: Option<Instant>,
    pages: u64,
    objects: u64,
    /// The first page's version.
    version: ResourceVersion,
    announced: bool,
}

impl<K: Object> Driver<K> {
    pub(crate) fn new(
        source: AnySource<K>,
        mode: Mode,
        at: Option<ResourceVersion>,
        mut settings: Settings,
        stats: StatsHandle,
        relist: RelistHandle,
    ) -> Self {
        if settings.strategy == Strategy::WatchListFirst && !source.supports_watch_list() {
            settings.strategy = Strategy::List;
        }
        Driver {
            plan: Plan::new(mode, settings.strategy, settings.page_size, at, Instant::now())
                .absent_is_empty(settings.absent_is_empty),
            pace: Pace::new(settings.floor),
            internal: settings.internal_error_window.map(InternalErrors::new),
            source,
            mode,
            settings,
            stats,
            alarm: Alarm::default(),
            phase: Phase::Asking,
            snapshot: Snapshot::default(),
            page_ahead: None,
            held: None,
            owes_watching: true,
            new_connection: false,
            sends_bookmarks: false,
            relist,
            over: false,
        }
    }

    /// The next item; `None` once the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Item<K>> {
        loop {
            if let Some(item) = self.held.take() {
                return Some(item);
            }
            if self.over {
                return None;
            }
            let item = match self.phase {
                Phase::Asking => self.ask().await,
                Phase::Listing(_) => self.read_list().await,
                Phase::Watching(_) => self.read_watch().await,
            };
            if item.is_some() {
                return item;
            }
            tokio::task::consume_budget().await;
        }
    }

    async fn ask(&mut self) -> Option<Item<K>> {
        let now = Instant::now();
        let watches = matches!(self.plan.request(), Request::Watch { .. });
        let start = self.pace.next(self.plan.pause(), &self.settings, now);
        if start > now {
            let listens = watches || matches!(self.plan.pause(), Pause::Absent(_));
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(start) => {}
                () = self.relist.asked(), if listens => self.relist(),
            }
        }
        // A relist may have been asked for meanwhile; a page waits for its turn by itself.
        if matches!(self.plan.request(), Request::List { .. } | Request::WatchList { .. }) {
            self.source.before_list().await;
        }
        self.pace.opened(Instant::now());
        match self.plan.request().clone() {
            Request::List { rv, limit, version_match } => self.ask_list(rv, limit, version_match).await,
            Request::Page { token, limit } => self.ask_page(token, limit).await,
            Request::WatchList { rv } => self.ask_watch(rv, true).await,
            Request::Watch { rv } => self.ask_watch(rv, false).await,
        }
    }

    /// Someone asked for a new snapshot.
    fn relist(&mut self) {
        tracing::debug!("relist asked for");
        self.close(&"a relist was asked for");
        self.plan.take_snapshot(Instant::now());
    }

    /// A request, a body or an `ERROR` event failed.
    fn failed(&mut self, error: Error, unpaged: bool) -> Option<Item<K>> {
        let (mut class, now) = (classify(&error), Instant::now());
        if class == Class::Absent && !matches!(self.phase, Phase::Asking) {
            class = Class::Hidden; // what has begun to answer is there
        }
        let watches = matches!(self.plan.request(), Request::Watch { .. });
        let verdict = match &mut self.internal {
            Some(internal) if watches && class == Class::Internal => {
                if internal.retries(now) {
                    self.plan.resume()
                } else {
                    self.plan.relist(now)
                }
            }
            _ => self.plan.decide(Outcome::Failed { class, unpaged }, now),
        };
        self.carry_out(verdict, error)
    }

    fn carry_out(&mut self, verdict: Verdict, error: Error) -> Option<Item<K>> {
        let recovery = match verdict {
            Verdict::ReadOn | Verdict::SnapshotEnd { .. } => return None,
            Verdict::Next(recovery) => recovery,
            Verdict::Over(recovery) => {
                self.over = true;
                Some(recovery)
            }
            Verdict::Absent { tell, over } => {
                self.over = over;
                return self.absent(tell, &error);
            }
        };
        self.close(&error);
        recovery.map(|recovery| Err(self.told(error, recovery)))
    }

    /// The resource is not there, which its user takes for empty.
    fn absent(&mut self, tell: bool, error: &Error) -> Option<Item<K>> {
        tracing::debug!(%error, "there is no such resource, which is taken for an empty one");
        let now = Instant::now();
        self.pace.failed(false, error.retry_after(), now);
        self.stats.edit(|stats| stats.last_heard = Some(now));
        if !tell {
            return None;
        }
        self.held = Some(self.snapshot_ends(ResourceVersion::default()));
        Some(Ok(Event::SnapshotStart))
    }

    /// The error as an item, noted wherever errors are.
    fn told(&mut self, error: Error, recovery: Recovery) -> Error {
        let error = error.with_recovery(recovery);
        let waits = matches!(recovery, Recovery::Resume | Recovery::Relist);
        if recovery != Recovery::Skip {
            self.pace.failed(waits, error.retry_after(), Instant::now());
        }
        self.owes_watching |= waits;
        self.stats.edit(|stats| {
            stats.errors += 1;
            stats.skipped += u64::from(error.is_unreadable());
            stats.last_version = self.plan.position();
        });
        let cause = std::error::Error::source(&error).map(tracing::field::display);
        if error.is_expired() {
            tracing::debug!(%error, ?recovery, cause, "version expired");
        } else {
            tracing::warn!(%error, ?recovery, cause, "failed");
        }
        error
    }

    fn close(&mut self, why: &dyn std::fmt::Display) {
        if let Phase::Watching(watching) = std::mem::replace(&mut self.phase, Phase::Asking) {
            let stood = watching.opened.elapsed();
            self.stats.edit(|stats| {
                stats.watches_done += 1;
                stats.watch_time += stood;
                stats.last_watch_events = watching.events;
            });
            tracing::trace!(events = watching.events, ?stood, %why, "watch closed");
        }
    }

    fn snapshot_begins(&mut self, now: Instant) {
        self.snapshot = Snapshot { started: Some(now), ..Snapshot::default() };
        self.stats.edit(|stats| {
            stats.lists += 1;
            (stats.listed, stats.remaining) = (0, None);
        });
    }

    fn snapshot_ends(&mut self, version: ResourceVersion) -> Item<K> {
        let Snapshot { started, pages, objects, .. } = std::mem::take(&mut self.snapshot);
        let took = started.map(|started| started.elapsed()).unwrap_or_default();
        self.stats.edit(|stats| {
            stats.lists_done += 1;
            (stats.last_list_time, stats.last_list_objects) = (took, objects);
            (stats.listed, stats.remaining) = (0, None);
            stats.last_version = version.clone();
        });
        if took > SLOW_LIST {
            tracing::warn!(objects, pages, %version, ?took, "list took long");
        } else {
            tracing::debug!(objects, pages, %version, ?took, "list done");
        }
        Ok(Event::SnapshotEnd(version))
    }

    /// One object of a snapshot, or that it does not decode.
    fn listed(&mut self, item: Item<K>) -> Option<Item<K>> {
        self.snapshot.objects += u64::from(item.is_ok());
        let objects = self.snapshot.objects;
        self.stats.edit(|stats| {
            stats.listed = objects;
            stats.last_heard = Some(Instant::now());
        });
        Some(item)
    }

    /// The server has said something that no other figure tells.
    fn heard(&self) {
        self.stats.edit(|stats| stats.last_heard = Some(Instant::now()));
    }
}

/// Lists that take longer are warned of, as client-go does.
const SLOW_LIST: std::time::Duration = std::time::Duration::from_secs(10);
