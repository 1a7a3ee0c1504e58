//! A mirror in a task of its own, with a second account of the content that is made from the changes alone.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use futures::{Stream, StreamExt};
use listwatch::policy::ExponentialBackoff;
use listwatch::source::{Events, ListWatch};
use listwatch::{Change, DeleteReason, Error, EventStreamExt, Object, Store};
use tokio::task::JoinHandle;

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

/// What the changes said.
#[derive(Debug, Default)]
pub struct Account {
    /// The content that a consumer of the changes holds.
    pub objects: BTreeMap<String, Version>,
    /// Changes that do not follow from those before: something was lost or told twice.
    pub gaps: Vec<String>,
    pub errors: Vec<Error>,
    pub synced: usize,
    pub watching: usize,
    /// Deletions that only a snapshot showed.
    pub missed: usize,
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
        let mut account = account.lock().unwrap_or_else(PoisonError::into_inner);
        match item {
            Ok(change) => account.apply(change),
            Err(error) => account.errors.push(error),
        }
    }
}

impl Account {
    fn apply<K: Object>(&mut self, change: Change<K>) {
        let name = change.name();
        let fits = match change {
            Change::Added { object, .. } => {
                let (key, version) = entry(&*object);
                self.objects.insert(key, version).is_none()
            }
            Change::Updated { old, new } => {
                let (key, version) = entry(&*new);
                self.objects.insert(key, version) == Some(entry(&*old).1)
            }
            Change::Deleted { last, why } => {
                self.missed += usize::from(why == DeleteReason::Missed);
                let (key, (uid, _)) = entry(&*last);
                self.objects.remove(&key).is_some_and(|held| held.0 == uid)
            }
            Change::Resynced(object) => {
                let (key, version) = entry(&*object);
                self.objects.get(&key) == Some(&version)
            }
            Change::Synced { .. } => {
                self.synced += 1;
                true
            }
            Change::Watching(_) => {
                self.watching += 1;
                true
            }
            Change::Bookmark(_) => true,
        };
        if !fits {
            self.gaps.push(format!("{name} does not follow from {} objects", self.objects.len()));
        }
    }
}

/// The content of a store as [`writer::list`](crate::writer::list) gives that of the server.
pub fn content<K: Object>(store: &Store<K>) -> BTreeMap<String, Version> {
    store.snapshot().iter().map(|object| entry(&**object)).collect()
}

fn entry<K: Object>(object: &K) -> (String, Version) {
    let identity = object.identity();
    let key = match identity.namespace {
        "" => identity.name.to_owned(),
        namespace => format!("{namespace}/{}", identity.name),
    };
    (key, (identity.uid.to_owned(), identity.resource_version.to_owned()))
}

fn differences(held: &BTreeMap<String, Version>, wanted: &BTreeMap<String, Version>) -> String {
    let absent: Vec<_> = wanted.keys().filter(|key| !held.contains_key(*key)).take(5).collect();
    let extra: Vec<_> = held.keys().filter(|key| !wanted.contains_key(*key)).take(5).collect();
    let stale: Vec<_> =
        wanted.iter().filter(|(key, version)| held.get(*key).is_some_and(|held| held != *version)).take(5).collect();
    format!(
        "{} of {} objects, absent {absent:?}, too many {extra:?}, other versions {stale:?}",
        held.len(),
        wanted.len()
    )
}
