//! WATCH: from a version, from now, or from the whole state on.

use super::{
    answer::{Answer, Refused},
    encode::{self, Shape},
    history::Change,
    list::Collection,
    options::Options,
    refusal::Refusal,
    settings::Settings,
    state::State,
};
use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until};

/// The changes a watch takes at a time.
const BATCH: usize = 256;

/// Everything a watch needs for as long as it is open.
struct Watch {
    state: Arc<State>,
    settings: Arc<Settings>,
    collection: Collection,
    options: Options,
    shape: Shape,
    era: u64,
}

/// What a watch takes from the history at a time.
struct Batch {
    changes: Vec<Change>,
    /// There is nothing more up to `current`.
    complete: bool,
    /// Changes that this watch has not sent are forgotten.
    expired: bool,
    /// The resource is no longer served.
    last: bool,
    /// How far the server is.
    current: u64,
}

/// Opens a watch.
///
/// # Errors
///
/// A version that is not a number: 500, as a real server. Other errors come as an event.
pub(super) fn watch(
    state: Arc<State>,
    settings: Arc<Settings>,
    collection: Collection,
    options: Options,
    shape: Shape,
) -> Result<Answer, Refused> {
    let version = options.parsed_version().map_err(Refusal::bare)?;
    let era = state.lock().era;
    let watch = Watch { state, settings, collection, options, shape, era };
    Ok(Answer::events(watch.events(version)))
}

impl Watch {
    fn cached(&self) -> bool {
        self.settings.cached(&self.collection.resource)
    }

    /// The random length a watch has when the client does not choose.
    fn deadline(&self) -> Instant {
        let length = match u64::try_from(self.options.timeout) {
            Ok(0) => self.settings.min_request_timeout.mul_f64(1.0 + fastrand::f64()),
            Ok(seconds) => Duration::from_secs(seconds),
            Err(_) => Duration::ZERO,
        };
        Instant::now() + length
    }

    fn events(self, version: u64) -> BoxStream<'static, Bytes> {
        let deadline = self.deadline();
        let mut changed = self.state.subscribe();
        async_stream::stream! {
            let newest = matches!(self.options.version.as_str(), "" | "0");
            let legacy = newest && self.options.send_initial_events.is_none();
            let initial = self.options.send_initial_events.unwrap_or(legacy);
            let mut position = version;
            if self.options.timeout < 0 {
                // A time that is over before the watch begins: with initial events a real server sends this error or
                // nothing, as its goroutines race; the worse of the two.
                if initial && self.cached() {
                    yield error_event(&Refusal::new(500).with_message("context deadline exceeded"));
                }
                return;
            }
            if initial {
                let wanted = if self.options.version.is_empty() { self.state.lock().history.revision() } else { version };
                let fresh = self.state.fresh(&self.collection.resource, wanted, &self.settings).await;
                if let Err(refused) = fresh {
                    yield not_fresh(&refused);
                    return;
                }
                let (events, current) = self.initial_events();
                position = current;
                for event in events {
                    yield event;
                }
                if self.options.bookmarks && !legacy {
                    yield self.bookmark(position, true);
                }
            } else if newest {
                position = self.state.lock().current(&self.collection.resource, &self.settings);
            } else if let Some(status) = self.too_old(version) {
                yield error_event(&status);
                return;
            }
            let start = position;
            let ahead = position > self.state.lock().current(&self.collection.resource, &self.settings);
            let periodic = self.options.bookmarks && self.settings.bookmarks && self.cached() && !ahead;
            let mut bookmark = Instant::now() + self.settings.bookmark_period;
            let mut last_bookmark = Some(deadline - self.settings.bookmark_before_end.min(deadline - Instant::now()));
            loop {
                changed.borrow_and_update();
                let Some(batch) = self.next(position) else { return };
                if batch.expired {
                    yield error_event(&self.expired(position));
                    return;
                }
                if batch.changes.len() > self.settings.slow_watch {
                    return;
                }
                for change in &batch.changes {
                    position = position.max(change.revision);
                    if let Some(event) = self.event(change) {
                        yield event;
                    }
                }
                if !batch.complete {
                    continue;
                }
                if batch.last {
                    return;
                }
                if !ahead {
                    position = position.max(batch.current);
                }
                let next_bookmark = match last_bookmark {
                    Some(last) if periodic => bookmark.min(last),
                    _ if periodic => bookmark,
                    _ => deadline,
                };
                tokio::select! {
                    biased;
                    () = sleep_until(deadline) => return,
                    result = changed.changed() => if result.is_err() { return },
                    () = sleep_until(next_bookmark), if periodic => {
                        if last_bookmark.is_some_and(|last| last <= Instant::now()) {
                            last_bookmark = None;
                        }
                        bookmark = Instant::now() + self.settings.bookmark_period;
                        // A bookmark at the version where the watch began would say nothing.
                        if position > start {
                            yield self.bookmark(position, false);
                        }
                    }
                }
            }
        }
        .boxed()
    }

    /// What happened since, or nothing if all watches were ended.
    fn next(&self, position: u64) -> Option<Batch> {
        let data = self.state.lock();
        let resource = &self.collection.resource;
        let most = BATCH.max(self.settings.slow_watch.saturating_add(1).min(1 << 16));
        let changes = data.changes(resource, position, &self.settings, most);
        (data.era == self.era).then(|| Batch {
            complete: changes.len() < most,
            expired: data.history.has_forgotten(&resource.qualified(), position),
            last: !data.serves(resource),
            current: data.current(resource, &self.settings),
            changes,
        })
    }

    fn too_old(&self, version: u64) -> Option<Refusal> {
        let data = self.state.lock();
        if self.cached() {
            (version < data.cache_start).then(|| Refusal::too_old(version, data.cache_start))
        } else {
            (version + 1 < data.history.compacted()).then(Refusal::watch_expired)
        }
    }

    fn expired(&self, position: u64) -> Refusal {
        if self.cached() { Refusal::too_old(position, self.state.lock().cache_start) } else { Refusal::watch_expired() }
    }

    fn initial_events(&self) -> (Vec<Bytes>, u64) {
        let data = self.state.lock();
        let Collection { resource, prefix } = &self.collection;
        let current = data.current(resource, &self.settings);
        let objects = data.at(resource, prefix, "", current);
        let chosen = objects.iter().filter(|(_, object)| self.options.selects(object));
        (chosen.map(|(_, object)| self.line("ADDED", object)).collect(), current)
    }

    /// The event for a change, seen through the selectors.
    fn event(&self, change: &Change) -> Option<Bytes> {
        if !change.key.starts_with(&self.collection.prefix) {
            return None;
        }
        let chosen = |object: &Option<Arc<Value>>| object.clone().filter(|object| self.options.selects(object));
        match (chosen(&change.before), chosen(&change.after)) {
            (None, None) => None,
            (None, Some(after)) => Some(self.line("ADDED", &after)),
            (Some(_), Some(after)) => Some(self.line("MODIFIED", &after)),
            (Some(before), None) => {
                let mut last = Value::clone(&before);
                last["metadata"]["resourceVersion"] = change.revision.to_string().into();
                Some(self.line("DELETED", &last))
            }
        }
    }

    fn line(&self, kind: &str, object: &Value) -> Bytes {
        let mut out = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
        encode::object(&mut out, &self.collection.resource, object, self.shape, false);
        out.extend_from_slice(b"}\n");
        out.into()
    }

    fn bookmark(&self, version: u64, initial_end: bool) -> Bytes {
        let mut out = br#"{"type":"BOOKMARK","object":"#.to_vec();
        encode::bookmark(&mut out, &self.collection.resource, version, initial_end, self.shape);
        out.extend_from_slice(b"}\n");
        out.into()
    }
}

/// The ERROR event for a version ahead of the server. Here storage, too, says how long to wait.
fn not_fresh(refused: &Refused) -> Bytes {
    match refused {
        Refused::Status(refusal) => error_event(&refusal.clone().with_retry_after(Duration::from_secs(1))),
        Refused::NoSuchPath => error_event(&Refusal::no_such_resource()),
    }
}

/// An ERROR event with this status.
pub(super) fn error_event(refusal: &Refusal) -> Bytes {
    format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", refusal.to_json()).into()
}
