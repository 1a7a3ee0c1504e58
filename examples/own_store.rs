//! A store of one's own through `Fold`: objects in the order of their keys, and nothing told but what came and went.
//!
//! ```sh
//! cargo run --example own_store
//! ```
//!
//! `reflect` feeds any `Fold`. What it has to do beyond a map: keep a snapshot aside until it is complete, and drop it
//! where an error voids it. A server in this process stands for the cluster.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Event, EventStreamExt, Fold, Key, Object, OwnedKey, Recover, Recovery,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::{ApiServer, Fault},
};
use serde_json::json;
use std::{collections::BTreeMap, convert::Infallible, error::Error, sync::Arc};

/// Objects by key, in order.
struct Sorted<K> {
    held: BTreeMap<OwnedKey, Arc<K>>,
    /// A snapshot that is not complete.
    pending: Option<BTreeMap<OwnedKey, Arc<K>>>,
}

#[derive(Debug, PartialEq)]
enum Told {
    Came(OwnedKey),
    Went(OwnedKey),
    Complete,
}

impl<K: Object> Fold<K> for Sorted<K> {
    type Changes = Vec<Told>;
    type Error = Infallible;

    fn fold(&mut self, event: Event<K>) -> Result<Vec<Told>, Infallible> {
        let key = event.object().map(|object| Key::of(&**object).to_owned()).unwrap_or_default();
        Ok(match event {
            Event::SnapshotStart => {
                self.pending = Some(BTreeMap::new());
                Vec::new()
            }
            // Within a snapshot only `Listed` and `Deleted` come: the grammar says so.
            Event::Listed(object) => {
                self.pending.get_or_insert_default().insert(key, object);
                Vec::new()
            }
            Event::SnapshotEnd(_) => self.complete(),
            Event::Added(object) | Event::Modified(object) => match self.held.insert(key.clone(), object) {
                None => vec![Told::Came(key)],
                Some(_) => Vec::new(),
            },
            Event::Deleted(_) => match &mut self.pending {
                Some(pending) => {
                    pending.remove(&key);
                    Vec::new()
                }
                None => self.held.remove(&key).map(|_| Told::Went(key)).into_iter().collect(),
            },
            Event::Bookmark(_) | Event::Watching(_) | Event::Resync => Vec::new(),
        })
    }

    fn failed(&mut self, error: &dyn Recover) -> Option<Vec<Told>> {
        if error.recovery() != Recovery::Skip {
            self.pending = None;
        }
        None
    }
}

impl<K> Sorted<K> {
    /// What the snapshot changed: first what is gone, then what is new.
    fn complete(&mut self) -> Vec<Told> {
        let now = self.pending.take().unwrap_or_default();
        let before = std::mem::replace(&mut self.held, now);
        let went = before.keys().filter(|key| !self.held.contains_key(*key)).cloned().map(Told::Went);
        let came = self.held.keys().filter(|key| !before.contains_key(*key)).cloned().map(Told::Came);
        went.chain(came).chain([Told::Complete]).collect()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    for name in ["till", "cart"] {
        server.create("configmaps", json!({"metadata": {"name": name}}));
    }
    server.fail_next(Fault::status(500));

    let mut sorted = Sorted { held: BTreeMap::new(), pending: None };
    let mut told = Vec::new();
    let mut changes = Collection::<ConfigMap>::all(Client::new(&server.url())?)
        .events()
        .backoff(ExponentialBackoff::default())
        .reflect(&mut sorted) // by reference, so that it is still ours afterwards
        .on_error(|error| eprintln!("goes on after: {error}"));
    while told.last() != Some(&Told::Went("default/cart".into())) {
        let Some(change) = changes.next().await else { break };
        if change == Told::Complete {
            server.delete("configmaps", "cart");
        }
        println!("{change:?}");
        told.push(change);
    }
    drop(changes);
    let [cart, till] = ["default/cart", "default/till"].map(OwnedKey::from);
    assert_eq!(told, [Told::Came(cart.clone()), Told::Came(till.clone()), Told::Complete, Told::Went(cart)]);
    assert_eq!(sorted.held.keys().collect::<Vec<_>>(), [&till]);
    Ok(())
}
