//! One mirror behind a proxy of its own, in a task that may be ended and begun anew at any time.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client as Kube;
use listwatch::{Change, Error, Recovery, Store};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::account::{Account, content, differences};
use crate::proxy::Proxy;
use crate::recorded::Requests;
use crate::writer::{self, Version};

pub type Changes = BoxStream<'static, Result<Change<ConfigMap>, Error>>;

/// Begins a mirror's streams: from the store's versions on, or with a snapshot.
pub type Begin = Box<dyn Fn(&Store<ConfigMap>, bool) -> Changes + Send>;

/// What a mirror must hold in the end: that of these lists which passes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub lists: &'static [&'static str],
    pub keeps: fn(&Value) -> bool,
}

/// A running mirror; dropping it ends it.
#[derive(Debug)]
pub struct Mirror {
    pub name: &'static str,
    pub proxy: Proxy,
    requests: Requests,
    wanted: Wanted,
    store: Store<ConfigMap>,
    account: Arc<Mutex<Account>>,
    restart: UnboundedSender<bool>,
    task: JoinHandle<()>,
}

impl Mirror {
    pub fn start(name: &'static str, proxy: Proxy, requests: Requests, wanted: Wanted, begin: Begin) -> Self {
        let (store, account) = (Store::new(), Arc::default());
        let (restart, restarts) = unbounded_channel();
        let task = tokio::spawn(run(begin, store.clone(), Arc::clone(&account), restarts));
        Self { name, proxy, requests, wanted, store, account, restart, task }
    }

    /// Ends its streams where they are and begins them anew.
    pub fn restart(&self, resume: bool) {
        let _ = self.restart.send(resume);
    }

    /// How many changes of objects it was told.
    pub fn told(&self) -> usize {
        self.account().told
    }

    /// What keeps it from being what the server lists; nothing in the end. The number of objects, and words.
    pub async fn lost(&self, kube: &Kube) -> (usize, String) {
        let mut wanted = BTreeMap::new();
        for path in self.wanted.lists {
            let list = writer::get(kube, path).await;
            let items = list["items"].as_array().expect("a list has items");
            wanted.extend(
                items.iter().filter(|item| (self.wanted.keeps)(item)).map(|item| writer::entry(&item["metadata"])),
            );
        }
        let (store, account) = (content(&self.store), self.account());
        let mut why = String::new();
        for (what, held) in [("store", &store), ("log", &account.objects)] {
            if *held != wanted {
                let _ = write!(why, "{what}: {}; ", differences(held, &wanted));
            }
        }
        if !self.store.state().is_live() {
            let _ = write!(why, "{:?}; ", self.store.state());
        }
        (differing(&store, &wanted) + differing(&account.objects, &wanted), why)
    }

    /// What was wrong on the way, however it ended.
    pub fn wrong(&self) -> Vec<String> {
        let account = self.account();
        let skips = account.errors.iter().filter(|error| error.recovery() == Recovery::Skip);
        let left_out = skips.map(|error| format!("{}: left out: {error}", self.name));
        account.gaps.iter().map(|gap| format!("{}: {gap}", self.name)).chain(left_out).collect()
    }

    /// A line on what it went through.
    pub fn summary(&self) -> String {
        let account = self.account();
        let of = |recovery| account.errors.iter().filter(|error| error.recovery() == recovery).count();
        format!(
            "{}: {} objects, {} events, {} snapshots, {} deletions missed; {} watches resumed, {} relists, {} fallbacks; {} requests",
            self.name,
            self.store.len(),
            account.told,
            account.synced,
            account.missed,
            of(Recovery::Resume),
            of(Recovery::Relist),
            of(Recovery::Fallback),
            self.requests.all().len(),
        )
    }

    /// The last errors, the oldest first.
    pub fn last_errors(&self) -> Vec<String> {
        let account = self.account();
        let from = account.errors.len().saturating_sub(8);
        account.errors[from..].iter().map(|error| format!("{error:?}")).collect()
    }

    /// Ends it; its proxy stays, so that what is left open can be seen.
    pub async fn stop(&mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How often the store is compared with what was told of it.
const PERIOD: Duration = Duration::from_secs(1);

async fn run(
    begin: Begin,
    store: Store<ConfigMap>,
    account: Arc<Mutex<Account>>,
    mut restarts: UnboundedReceiver<bool>,
) {
    let account = || account.lock().unwrap_or_else(PoisonError::into_inner);
    let mut changes = begin(&store, false);
    let mut period = tokio::time::interval(PERIOD);
    loop {
        tokio::select! {
            biased;
            item = changes.next() => account().note(item.expect("events never end")),
            // From here on nothing is left to be told.
            Some(resume) = restarts.recv() => {
                account().equals(&store);
                // A store's part has one stream at a time.
                drop(std::mem::replace(&mut changes, futures::stream::pending().boxed()));
                if !resume {
                    account().begins_anew();
                }
                changes = begin(&store, resume);
            }
            _ = period.tick() => account().equals(&store),
        }
    }
}

/// How many objects are only in one of the two, or differ.
fn differing(held: &BTreeMap<String, Version>, wanted: &BTreeMap<String, Version>) -> usize {
    let absent_or_other = wanted.iter().filter(|(key, version)| held.get(*key) != Some(version)).count();
    absent_or_other + held.keys().filter(|key| !wanted.contains_key(*key)).count()
}
