use crate::{
    Object, State, Store,
    source::{RelistHandle, StatsHandle},
};
use std::fmt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A [`Reflector`](super::Reflector) that runs in a task of its own.
///
/// # Drop
///
/// Dropping it aborts the task; the store stays readable, and is then Stale.
#[must_use = "dropping it stops the reflector"]
pub struct ReflectorHandle<K: Object> {
    store: Store<K>,
    stats: StatsHandle,
    relist: RelistHandle,
    token: CancellationToken,
    task: JoinHandle<()>,
}

/// Why a spawned reflector ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It was asked to.
    Stopped,
    /// User code in it panicked, with this message.
    Panicked(String),
    /// Its runtime was shut down.
    RuntimeShutDown,
}

impl<K: Object> ReflectorHandle<K> {
    pub(super) fn new(
        store: Store<K>,
        stats: StatsHandle,
        relist: RelistHandle,
        token: CancellationToken,
        task: JoinHandle<()>,
    ) -> Self {
        ReflectorHandle { store, stats, relist, token, task }
    }

    /// The store that it feeds.
    pub fn store(&self) -> &Store<K> {
        &self.store
    }

    /// How the mirror stands: the store's state.
    pub fn state(&self) -> State {
        self.store.state()
    }

    /// Reads what the source stream has done so far.
    pub fn stats(&self) -> &StatsHandle {
        &self.stats
    }

    /// Asks for a new snapshot, told as its differences.
    pub fn relist(&self) {
        self.relist.relist();
    }

    /// Stops it, and says why it ended: it may have before.
    ///
    /// # Cancel safety
    ///
    /// Once called, the reflector is asked to stop; dropping the future aborts it.
    pub async fn stop(self) -> Ended {
        self.token.cancel();
        self.ended().await
    }

    /// Waits until it ends, which it does not by itself unless user code panics.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the reflector.
    pub async fn ended(mut self) -> Ended {
        match (&mut self.task).await {
            Ok(()) => Ended::Stopped,
            Err(error) if error.is_panic() => Ended::Panicked(message(&*error.into_panic())),
            Err(_) => Ended::RuntimeShutDown,
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

impl<K: Object> Drop for ReflectorHandle<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<K: Object> fmt::Debug for ReflectorHandle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReflectorHandle").field("store", &self.store).finish_non_exhaustive()
    }
}
