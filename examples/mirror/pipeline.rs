//! The standard pipeline, from a collection to a store and what happened to it.

use crate::{cluster::Target, failure::Failure, waits::Waits};
use futures::{Stream, StreamExt};
use kube::core::DynamicObject;
use listwatch::{
    Change, Error, EventStreamExt, Recovery, Store,
    policy::ExponentialBackoff,
    source::{ListWatch, RelistHandle, StatsHandle, Strategy},
};
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// A mirror that runs while its changes are read.
pub struct Mirror {
    pub store: Store<DynamicObject>,
    /// Of the source: how far a snapshot is, how many events came.
    pub stats: StatsHandle,
    /// Of the backoff: until when.
    pub waits: Waits,
    /// Asks for a new snapshot.
    pub relist: RelistHandle,
    pub changes: Pin<Box<dyn Stream<Item = Result<Change<DynamicObject>, Error>> + Send>>,
}

impl Mirror {
    /// Mirrors the target until the token is cancelled.
    pub fn of(target: Target, stop: CancellationToken) -> Self {
        let store = Store::new();
        let kind = target.resource;
        // Paged and consistent, as kubectl lists: only a page says how many objects are still to come.
        let events = target.collection.events().name("mirror").strategy(Strategy::ListConsistent);
        let events = match target.page_size {
            Some(items) => events.page_size(items),
            None => events,
        };
        let (stats, relist, waits) = (events.stats(), events.relist_handle(), Waits::default());
        let changes = events
            .expect_kind(&kind.api_version, &kind.kind)
            .strip_managed_fields()
            .backoff(waits.watch(ExponentialBackoff::default()))
            .reflect(&store)
            .until(stop)
            .boxed();
        Mirror { store, stats, waits, relist, changes }
    }
}

/// An error that waiting does not heal: the same question will get the same answer.
pub fn is_final(error: &Error) -> bool {
    let refused = |code| matches!(code, 400..500) && !matches!(code, 408..=410 | 429);
    error.is_config()
        || error.is_no_resource()
        || error.recovery() == Recovery::Relist && error.status().is_some_and(|status| refused(status.code))
}

/// The end of a mirror that never became complete.
pub fn failed(what: &str, error: &dyn std::error::Error) -> Failure {
    Failure::of(format_args!("mirroring {what}"), error)
}
