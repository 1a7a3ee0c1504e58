//! A small controller: a queue of keys, workers that compare what should be with what is, and a retry that waits.
//!
//! ```sh
//! cargo run --example controller
//! ```
//!
//! Each ConfigMap is a claim and gets a pod of its name. Changes only put keys into the queue, each once; a worker takes
//! one, looks at the stores, and does what is missing. So it does not matter which change came, nor how many. A server in
//! this process stands for the cluster, and refuses the first write.

use futures::{StreamExt, future, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use listwatch::{
    OwnedKey, Reflector, Store,
    client::{Client, Collection},
    testing::ApiServer,
};
use serde_json::json;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// Keys to be looked at. One that is in the queue is not put there twice; one that a worker has comes again after it.
#[derive(Clone, Default)]
struct Queue(Arc<(Mutex<Keys>, Notify)>);

#[derive(Default)]
struct Keys {
    waiting: VecDeque<OwnedKey>,
    /// In `waiting`, or to be put there once its worker is done.
    due: HashSet<OwnedKey>,
    taken: HashSet<OwnedKey>,
    failures: HashMap<OwnedKey, u32>,
}

impl Queue {
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, key: OwnedKey) {
        let mut keys = self.keys();
        if keys.due.insert(key.clone()) && !keys.taken.contains(&key) {
            keys.waiting.push_back(key);
            self.0.1.notify_one();
        }
    }

    async fn take(&self) -> OwnedKey {
        loop {
            let woken = self.0.1.notified();
            let next = {
                let mut keys = self.keys();
                let next = keys.waiting.pop_front();
                if let Some(key) = &next {
                    keys.due.remove(key);
                    keys.taken.insert(key.clone());
                }
                next
            };
            match next {
                Some(key) => return key,
                None => woken.await,
            }
        }
    }

    /// A worker is done with it; after a failure it comes again, later each time.
    fn done(&self, key: OwnedKey, failed: bool) {
        let mut keys = self.keys();
        keys.taken.remove(&key);
        if keys.due.remove(&key) {
            drop(keys);
            return self.put(key);
        }
        if !failed {
            keys.failures.remove(&key);
            return;
        }
        let failures = keys.failures.entry(key.clone()).or_default();
        let wait = Duration::from_millis(10 << (*failures).min(10));
        *failures += 1;
        let queue = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            queue.put(key);
        });
    }
}

/// Makes what is as it should be. It knows the key alone, so that a late or repeated call does no harm.
async fn reconcile(
    key: &OwnedKey,
    claims: &Store<ConfigMap>,
    pods: &Store<Pod>,
    cluster: &Cluster,
) -> Result<(), String> {
    match (claims.contains(key), pods.contains(key)) {
        (true, false) => cluster.create_pod(&key.name),
        (false, true) => cluster.delete_pod(&key.name),
        _ => Ok(()),
    }
}

/// Writes: a `kube::Client` in a real program.
struct Cluster {
    server: ApiServer,
    refusals: Mutex<u32>,
}

impl Cluster {
    fn create_pod(&self, name: &str) -> Result<(), String> {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if *refusals > 0 {
            *refusals -= 1;
            return Err("429: try again later".to_owned());
        }
        self.server.apply("pods", json!({"metadata": {"name": name}}));
        Ok(())
    }
    fn delete_pod(&self, name: &str) -> Result<(), String> {
        self.server.delete("pods", name);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let cluster = Cluster { server: ApiServer::start().await, refusals: Mutex::new(1) };
    let server = cluster.server.clone();
    for name in ["cart", "till"] {
        server.create("configmaps", json!({"metadata": {"name": name}}));
    }
    server.create("pods", json!({"metadata": {"name": "left-over"}}));

    let client = Client::new(&server.url())?;
    let claims = Reflector::new(Collection::<ConfigMap>::all(client.clone())).spawn();
    let pods = Reflector::new(Collection::<Pod>::all(client)).spawn();
    let (claims, pods) = (claims.store(), pods.store());
    future::try_join(claims.ready(), pods.ready()).await?; // what is not there yet is not what is gone

    // Claims and pods put the same keys: a pod that goes is missed at once.
    let queue = Queue::default();
    let claim_keys = claims.subscribe().filter_map(|change| future::ready(change.key()));
    let pod_keys = pods.subscribe().filter_map(|change| future::ready(change.key()));
    let watching = stream::select(claim_keys, pod_keys).for_each(async |key| queue.put(key));
    let working = async {
        loop {
            let key = queue.take().await;
            let result = reconcile(&key, claims, pods, &cluster).await;
            println!("{key}: {result:?}");
            queue.done(key, result.is_err());
        }
    };
    let using = async {
        let names = |wanted: &'static [&str]| {
            pods.wait_until(move |pods| {
                pods.len() == wanted.len() && wanted.iter().all(|name| pods.contains(("default", *name)))
            })
        };
        names(&["cart", "till"]).await?;
        server.delete("pods", "cart"); // somebody does
        pods.wait_until(|pods| !pods.contains(("default", "cart"))).await?;
        names(&["cart", "till"]).await?;
        server.delete("configmaps", "till");
        names(&["cart"]).await
    };
    tokio::select! {
        () = watching => {}
        () = working => {}
        pods = using => println!("{:?}", pods?.keys().map(|key| key.to_string()).collect::<Vec<_>>()),
    }
    Ok(())
}
