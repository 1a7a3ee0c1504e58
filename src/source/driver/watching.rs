use super::{Driver, Item, Phase};
use crate::{
    Error, Event, Object, Recovery, ResourceVersion, UnreadableAs,
    source::{
        Class, ListWatch, WatchBody, WatchParams, WireEvent, classify,
        plan::{Ending, Outcome, Verdict},
        reading::Read,
    },
};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// A watch that has stood for this long is told as `Watching`, and is not short.
const STANDS: Duration = Duration::from_secs(1);
/// A watch-list may take so many of its deadlines in all.
const DEADLINES_IN_ALL: u32 = 10;

/// One watch that is being read.
pub(super) struct Watching<K> {
    body: WatchBody<K>,
    pub(super) opened: Instant,
    answered: Instant,
    timeout: Duration,
    /// The client ends it then, whatever arrives.
    life: Instant,
    pub(super) events: u64,
    /// A watch-list before its closing bookmark.
    initial: Option<Initial>,
}

struct Initial {
    last_added: Instant,
    last_event: Option<Instant>,
    next_notice: Instant,
}

impl<K> Watching<K> {
    fn heard(&mut self, now: Instant) {
        self.events += 1;
        if let Some(initial) = &mut self.initial {
            initial.last_event = Some(now);
        }
    }

    fn ending(&self, now: Instant) -> Ending {
        let short = STANDS.min(self.timeout / 2);
        if self.events == 0 && now < self.opened + short { Ending::Short } else { Ending::Clean }
    }
}

impl<K: Object> Driver<K> {
    pub(super) async fn ask_watch(&mut self, rv: ResourceVersion, send_initial_events: bool) -> Option<Item<K>> {
        let opened = Instant::now();
        let timeout = self.settings.watch_timeout.mul_f64(1.0 + fastrand::f64());
        let on_wire = timeout.max(STANDS);
        let life = opened + on_wire + (on_wire / 10).clamp(Duration::from_secs(1), Duration::from_secs(30));
        let params = WatchParams {
            resource_version: rv.clone(),
            send_initial_events,
            timeout,
            new_connection: std::mem::take(&mut self.new_connection),
            max_event_size: self.settings.max_event_size,
        };
        self.stats.edit(|stats| stats.watches += 1);
        let headers = if send_initial_events {
            self.snapshot_begins(opened);
            if !self.source.supports_watch_list() {
                return self.failed(Error::unsupported("the source offers none"), false);
            }
            life.min(opened + self.settings.bookmark_deadline)
        } else {
            life
        };
        let answer = match timeout_at(headers, self.source.open_watch(params)).await {
            Ok(answer) => answer,
            Err(_) if send_initial_events => return self.snapshot_overdue("its answer did not come in time"),
            Err(_) => Err(Error::unreachable("no answer within the life of the watch")),
        };
        let body = match answer {
            Ok(body) => body,
            Err(error) => return self.failed(error, false),
        };
        let answered = Instant::now();
        self.plan.decide(Outcome::Answered, answered);
        self.heard();
        tracing::debug!(version = %rv, send_initial_events, "watch opened");
        let initial = send_initial_events.then(|| Initial {
            last_added: opened,
            last_event: None,
            next_notice: opened + self.settings.bookmark_notice,
        });
        self.phase = Phase::Watching(Watching { body, opened, answered, timeout: on_wire, life, events: 0, initial });
        send_initial_events.then_some(Ok(Event::SnapshotStart))
    }

    pub(super) async fn read_watch(&mut self) -> Option<Item<K>> {
        let now = Instant::now();
        let deadline = self.deadline(now);
        let Phase::Watching(watching) = &mut self.phase else { return None };
        if now >= watching.life {
            return self.ended(Ending::Deadline, None);
        }
        let read = tokio::select! {
            biased;
            read = self.alarm.read(&mut watching.body, deadline) => read,
            () = self.relist.asked(), if watching.initial.is_none() => {
                self.relist();
                return None;
            }
        };
        match read {
            Read::Item(Ok(event)) => self.event(event),
            Read::Item(Err(error)) if error.recovery() == Recovery::Skip => self.unreadable(error),
            Read::Item(Err(error)) if matches!(classify(&error), Class::Interrupted | Class::Silent) => {
                let ending = watching.ending(Instant::now());
                self.ended(ending, Some(error))
            }
            Read::Item(Err(error)) => self.failed(error, false),
            Read::End => {
                let ending = watching.ending(Instant::now());
                self.ended(ending, None)
            }
            Read::Deadline => self.overdue(),
        }
    }

    /// When something is to be done though nothing came.
    fn deadline(&self, now: Instant) -> Instant {
        let Phase::Watching(watching) = &self.phase else { return now };
        let mut deadline = watching.life;
        if let Some(initial) = &watching.initial {
            deadline = deadline.min(self.snapshot_deadline().unwrap_or(deadline)).min(initial.next_notice);
        } else if self.owes_watching {
            deadline = deadline.min(watching.answered + STANDS);
        }
        if watching.initial.is_none() && self.sends_bookmarks {
            deadline = deadline.min(now + self.settings.idle_timeout);
        }
        deadline
    }

    /// When the closing bookmark of a watch-list is overdue.
    fn snapshot_deadline(&self) -> Option<Instant> {
        let Phase::Watching(Watching { opened, initial: Some(initial), .. }) = &self.phase else { return None };
        let wait = self.settings.bookmark_deadline;
        Some((initial.last_added + wait).min(*opened + wait * DEADLINES_IN_ALL))
    }

    /// Nothing came until the deadline.
    fn overdue(&mut self) -> Option<Item<K>> {
        let now = Instant::now();
        let period = self.settings.bookmark_notice;
        let snapshot_deadline = self.snapshot_deadline();
        let Phase::Watching(watching) = &mut self.phase else { return None };
        if now >= watching.life {
            return self.ended(Ending::Deadline, None);
        }
        if let Some(initial) = &mut watching.initial {
            if snapshot_deadline.is_some_and(|deadline| now >= deadline) {
                return self.snapshot_overdue("its closing bookmark did not come in time");
            }
            initial.next_notice = now + period;
            let (waited, events) = (now - watching.opened, watching.events);
            match initial.last_event.map(|last| now - last) {
                None => tracing::warn!(
                    "waiting for the closing bookmark of the watch-list, no events received for {waited:?}"
                ),
                Some(silent) if silent >= period => {
                    tracing::warn!(
                        events,
                        "waiting for the closing bookmark of the watch-list, received last event {silent:?} ago"
                    );
                }
                Some(_) => {}
            }
            return None;
        }
        if self.owes_watching && now >= watching.answered + STANDS {
            return self.stands();
        }
        self.ended(Ending::Deadline, None)
    }

    fn stands(&mut self) -> Option<Item<K>> {
        std::mem::take(&mut self.owes_watching).then(|| Ok(Event::Watching(self.plan.position())))
    }

    fn snapshot_overdue(&mut self, what: &str) -> Option<Item<K>> {
        let verdict = self.plan.decide(Outcome::SnapshotDeadline, Instant::now());
        self.carry_out(verdict, Error::unsupported(what))
    }

    fn ended(&mut self, ending: Ending, cause: Option<Error>) -> Option<Item<K>> {
        self.new_connection = ending == Ending::Deadline;
        let error = match (ending, cause) {
            (Ending::Short, cause) => {
                self.stats.edit(|stats| stats.short_watches += 1);
                match cause {
                    Some(cause) => Error::short_watch(cause),
                    None => Error::short_watch("closed by the server"),
                }
            }
            (_, Some(cause)) => cause,
            (Ending::Deadline, None) => Error::silent("its time was over, or it brought nothing for too long"),
            (Ending::Clean, None) => Error::interrupted("the server ended it"),
        };
        let verdict = self.plan.decide(Outcome::Ended(ending), Instant::now());
        self.carry_out(verdict, error)
    }

    fn event(&mut self, event: WireEvent<K>) -> Option<Item<K>> {
        let now = Instant::now();
        let Phase::Watching(watching) = &mut self.phase else { return None };
        let event = match event {
            WireEvent::Error(error) => {
                self.heard();
                return self.failed(error, false);
            }
            WireEvent::Unknown(_) => {
                self.heard();
                return self.failed(Error::garbage("an unknown type of event"), false);
            }
            WireEvent::Bookmark { resource_version, initial_events_end } => {
                watching.heard(now);
                return self.bookmark(resource_version, initial_events_end.as_deref());
            }
            WireEvent::Elsewhere(version) => return self.elsewhere(version),
            WireEvent::Added(object) => Event::Added(object),
            WireEvent::Modified(object) => Event::Modified(object),
            WireEvent::Deleted(object) => Event::Deleted(object),
        };
        watching.heard(now);
        if let Some(initial) = &mut watching.initial {
            let event = match event {
                Event::Added(object) => {
                    initial.last_added = now;
                    Event::Listed(object)
                }
                Event::Modified(object) => Event::Listed(object),
                event => {
                    self.heard();
                    return Some(Ok(event));
                }
            };
            return self.listed(Ok(event));
        }
        let version = event.resource_version().unwrap_or_default();
        let deleted = matches!(event, Event::Deleted(_));
        self.moved(version, deleted, Ok(event))
    }

    /// Something happened, but to an object that the source leaves out.
    fn elsewhere(&mut self, version: ResourceVersion) -> Option<Item<K>> {
        let now = Instant::now();
        let Phase::Watching(watching) = &mut self.phase else { return None };
        watching.heard(now);
        if let Some(initial) = &mut watching.initial {
            initial.last_added = now;
            return None;
        }
        // As with a deletion, one that is below the position moves nothing.
        self.plan.decide(Outcome::Event { version, deleted: true }, now);
        self.stats.edit(|stats| {
            stats.last_heard = Some(now);
            stats.last_version = self.plan.position();
        });
        self.stands()
    }

    /// An event outside of a snapshot: the position moves, and the first one shows that the watch stands.
    fn moved(&mut self, version: ResourceVersion, deleted: bool, item: Item<K>) -> Option<Item<K>> {
        let stands = self.stands();
        let now = Instant::now();
        self.plan.decide(Outcome::Event { version, deleted }, now);
        self.stats.edit(|stats| {
            stats.events += 1;
            stats.last_heard = Some(now);
            stats.last_version = self.plan.position();
        });
        match stands {
            Some(stands) => {
                self.held = Some(item);
                Some(stands)
            }
            None => Some(item),
        }
    }

    fn bookmark(&mut self, version: ResourceVersion, initial_events_end: Option<&str>) -> Option<Item<K>> {
        self.heard();
        let Phase::Watching(watching) = &mut self.phase else { return None };
        if watching.initial.is_none() {
            self.sends_bookmarks |= initial_events_end.is_none();
            if version.is_unset() {
                return None;
            }
            return self.moved(version.clone(), false, Ok(Event::Bookmark(version)));
        }
        let (outcome, error) = match initial_events_end {
            Some("true") => {
                (Outcome::ClosingBookmark { version: version.clone() }, "its closing bookmark has no version")
            }
            Some(_) => return None,
            None => (Outcome::PlainBookmark, "the server sends bookmarks, but not the one that closes a watch-list"),
        };
        match self.plan.decide(outcome, Instant::now()) {
            Verdict::SnapshotEnd { .. } => {
                watching.initial = None;
                let end = self.snapshot_ends(version);
                self.held = self.stands();
                Some(end)
            }
            verdict => self.carry_out(verdict, Error::unsupported(error)),
        }
    }

    fn unreadable(&mut self, error: Error) -> Option<Item<K>> {
        self.heard();
        let now = Instant::now();
        let Phase::Watching(watching) = &mut self.phase else { return None };
        watching.heard(now);
        let Some(object) = error.object() else { return Some(Err(self.told(error, Recovery::Skip))) };
        if object.name.is_empty() {
            return self.failed(Error::garbage("an event without a readable name"), false);
        }
        let (version, came_as) = (object.resource_version.clone(), object.came_as);
        let error = match &mut watching.initial {
            Some(initial) => {
                if came_as == UnreadableAs::Added {
                    initial.last_added = now;
                }
                return Some(Err(self.told(error, Recovery::Skip)));
            }
            None => self.told(error, Recovery::Skip),
        };
        self.moved(version, came_as == UnreadableAs::Deleted, Err(error))
    }
}
