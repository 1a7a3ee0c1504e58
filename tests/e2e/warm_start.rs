//! A mirror that is started from a checkpoint asks for no list, and is told what changed meanwhile and no more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::client::{Client, Collection};
use listwatch::policy::ExponentialBackoff;
use listwatch::source::ListWatch;
use listwatch::{Change, EventStreamExt, Object, State, Store};
use serde_json::Value;

use crate::account::content;
use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const PATH: &str = "/api/v1/namespaces/warm/configmaps";
const OBJECTS: usize = 5_000;
const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "Metadata", "verbs": ["list", "watch"], "resources": [{"group": "", "resources": ["configmaps"]}]},
    {"level": "None"}]}"#;

#[tokio::test]
async fn resumes_from_a_checkpoint_without_a_list() {
    let folder = Folder::new();
    let (policy, log, checkpoint) = (folder.path("policy"), folder.path("audit"), folder.path("checkpoint"));
    fs::write(&policy, POLICY).expect("write the audit policy");
    let flags = [format!("--audit-policy-file={}", policy.display()), format!("--audit-log-path={}", log.display())];
    let server = Server::start(&[&*flags[0], &*flags[1]]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "warm", "it").await;
    writer.create(0..OBJECTS).await;

    let mirror = Follower::start(config_maps(&server, "mirror-before").await, |events| events);
    let before = writer::list(&kube, PATH).await;
    assert_eq!(before.len(), OBJECTS);
    mirror.equals(&before).await;
    let (store, _) = mirror.stop().await;
    let file = tokio::fs::File::create(&checkpoint).await.expect("create the checkpoint");
    store.checkpoint().write_to(file).await.expect("write the checkpoint");
    drop(store);

    writer.create(OBJECTS..OBJECTS + 40).await;
    writer.update(0..30, 1).await;
    writer.delete(30..60).await;
    let after = writer::list(&kube, PATH).await;

    let store = Store::<ConfigMap>::new();
    let file = tokio::fs::File::open(&checkpoint).await.expect("open the checkpoint");
    store.restore_from(file).await.expect("a whole checkpoint");
    assert!(matches!(store.state(), State::Stale { .. }), "{:?}", store.state());
    store.ready().await.expect("readable at once");
    assert_eq!(content(&store), before);

    let events = config_maps(&server, "mirror-after").await.events();
    let events = events.resume_from(store.resource_version()).expect("a version that a watch can start at");
    let mut changes = events.backoff(ExponentialBackoff::default()).reflect(&store);
    let mut told = BTreeMap::<_, usize>::new();
    let mut names = BTreeMap::<String, usize>::new();
    let mut last_written = false;
    // The hundred, and behind them one that is written when they have come: there is nothing in between.
    loop {
        let change = changes.next().await.expect("never ends").expect("the server is well");
        let object = match &change {
            Change::Added { object, .. } => object,
            Change::Updated { new, .. } => new,
            Change::Deleted { last, .. } => last,
            Change::Watching(_) | Change::Bookmark(_) => continue,
            Change::Synced { .. } | Change::Resynced(_) => panic!("{} without a snapshot", change.name()),
        };
        let name = object.identity().name.to_owned();
        if last_written {
            assert_eq!((change.name(), &*name), ("added", "last-0"));
            break;
        }
        *told.entry(change.name()).or_default() += 1;
        *names.entry(name).or_default() += 1;
        if names.len() == 100 {
            assert_eq!(content(&store), after);
            assert!(matches!(store.state(), State::Live), "{:?}", store.state());
            Writer::new(&kube, "warm", "last").await.create(0..1).await;
            last_written = true;
        }
    }
    assert_eq!(told, BTreeMap::from([("added", 40), ("updated", 30), ("deleted", 30)]));
    assert!(names.values().all(|times| *times == 1), "{names:?}");
    assert_eq!(content(&store), writer::list(&kube, PATH).await);

    let first = requests(&log, "mirror-before");
    assert!(first.iter().any(|(_, uri)| uri.contains("sendInitialEvents=true")), "the log has snapshots: {first:?}");
    let resumed = requests(&log, "mirror-after");
    let is_snapshot = |(verb, uri): &(String, String)| verb != "watch" || uri.contains("sendInitialEvents");
    assert!(!resumed.is_empty() && !resumed.iter().any(is_snapshot), "{resumed:?}");
}

async fn config_maps(server: &Server, user_agent: &str) -> Collection<ConfigMap> {
    let client = Client::builder().user_agent(user_agent).from_kubeconfig(server.kubeconfig(), Some("token")).await;
    Collection::namespaced(client.expect("a client"), "warm")
}

/// Verb and URI of what somebody asked for, once per stage.
fn requests(log: &Path, user_agent: &str) -> Vec<(String, String)> {
    let log = fs::read_to_string(log).expect("read the audit log");
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let own = entries.filter(|entry| entry["userAgent"] == user_agent);
    own.map(|entry| (text(&entry, "verb"), text(&entry, "requestURI"))).collect()
}

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("warm-start-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("create a folder");
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
