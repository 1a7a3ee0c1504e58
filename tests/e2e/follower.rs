//! A mirror in a task of its own, with a second account of the content that is made from the changes alone.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use futures::{Stream, StreamExt};
use listwatch::policy::ExponentialBackoff;
use listwatch::source::{Events, ListWatch};
use listwatch::{Change, Error, EventStreamExt, Object, Store};
use tokio::task::JoinHandle;

use crate::account::{Account, content, differences};
use crate::recorded::{Recorded, Requests};
use crate::writer::Version;

/// How long a mirror may take to equal the server; failing servers and backoff included.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running mirror; dropping it ends it.
pub struct Follower<K> {
    pub store: Store<K>,
    pub requests: Requests,
    account: Arc<Mutex<Account>>,
    task: JoinHandle<()>,
}

impl<K: Object + Debug> Follower<K> {
    /// Mirrors a source into a new store, with the default backoff.
    pub fn start<S: ListWatch<Object = K>>(source: S, configure: impl FnOnce(Events<K>) -> Events<K>) -> Self {
        Self::go_on(Store::new(), Account::default(), source, configure)
    }

    /// Mirrors a source into a store whose content was told before.
    pub fn go_on<S: ListWatch<Object = K>>(
        store: Store<K>,
        account: Account,
        source: S,
        configure: impl FnOnce(Events<K>) -> Events<K>,
    ) -> Self {
        let requests = Requests::default();
        let events = configure(Recorded::new(source, requests.clone()).events());
        let changes = events.backoff(ExponentialBackoff::default()).reflect(&store);
        let account = Arc::new(Mutex::new(account));
        let task = tokio::spawn(keep(account.clone(), changes));
        Self { store, requests, account, task }
    }

    pub fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the store and the account of its changes both equal what the server listed.
    pub async fn equals(&self, wanted: &BTreeMap<String, Version>) {
        let start = Instant::now();
        while content(&self.store) != *wanted || self.account().objects != *wanted {
            if start.elapsed() > PATIENCE {
                self.explain(wanted);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(self.account().gaps, Vec::<String>::new());
    }

    /// Waits until something holds of what the changes said.
    pub async fn until(&self, what: &str, holds: impl Fn(&Account) -> bool) {
        let start = Instant::now();
        while !holds(&self.account()) {
            assert!(start.elapsed() < PATIENCE, "not {what}: {:?}\n{:?}", self.account(), self.store.state());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the mirror; its store and account can go on with another stream.
    pub async fn stop(mut self) -> (Store<K>, Account) {
        self.task.abort();
        let _ = (&mut self.task).await;
        let account = std::mem::take(&mut *self.account());
        (self.store.clone(), account)
    }

    fn explain(&self, wanted: &BTreeMap<String, Version>) -> ! {
        let store = content(&self.store);
        let account = self.account();
        panic!(
            "after {PATIENCE:?} the store ({:?}) is not what the server lists\n\
             store: {}\naccount: {}\ngaps: {:?}\nerrors: {:?}\nrequests: {:?}",
            self.store.state(),
            differences(&store, wanted),
            differences(&account.objects, wanted),
            account.gaps,
            account.errors,
            self.requests.all(),
        );
    }
}

impl<K> Drop for Follower<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep<K: Object>(account: Arc<Mutex<Account>>, changes: impl Stream<Item = Result<Change<K>, Error>>) {
    let mut changes = std::pin::pin!(changes);
    while let Some(item) = changes.next().await {
        account.lock().unwrap_or_else(PoisonError::into_inner).note(item);
    }
}
