//! The mirror of a case while it runs, whatever its objects are.

use super::{
    errors,
    format::{Case, ClientSetup, Consumer},
    record::{Consumed, Content, Held, Log, Record, Reported, Told, What},
};
use futures::{Stream, StreamExt, stream::BoxStream};
use listwatch::{
    Change, Error, Event, EventStreamExt, ExponentialBackoff, Identity, Object, Store, source::RelistHandle,
};
use serde::Serialize;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

pub struct Mirror {
    tasks: JoinSet<Option<()>>,
    token: CancellationToken,
    relist: RelistHandle,
    content: Box<dyn Fn(bool) -> Content + Send + Sync>,
}

impl Mirror {
    /// Starts the pipeline with the case's consumer.
    pub fn start<K: Object + Serialize>(
        events: BoxStream<'static, Result<Event<K>, Error>>,
        relist: RelistHandle,
        case: &Case,
        record: &Arc<Record>,
    ) -> Result<Self, String> {
        let setup = &case.setup;
        let store = Store::<K>::new();
        let token = CancellationToken::new();
        let policy = policy(&setup.client)?;
        let resync = setup.client.resync_ms.unwrap_or(Duration::ZERO);
        let changes = events.backoff(policy).resync(resync).reflect(&store).until(token.clone());
        let mut tasks = JoinSet::new();
        // A consumer that takes time subscribes; any other is the one that drives the pipeline.
        let mut in_pace = setup.consumer.clone();
        let fast = subscribed(store.subscribe(), Consumer::default(), |log| &mut log.fast, Arc::clone(record));
        tasks.spawn(token.clone().run_until_cancelled_owned(fast));
        if setup.consumer.is_slow() {
            let consumer = std::mem::take(&mut in_pace);
            let slow = subscribed(store.subscribe(), consumer, |log| &mut log.slow, Arc::clone(record));
            tasks.spawn(token.clone().run_until_cancelled_owned(slow));
        }
        let piped = piped(changes, in_pace, Arc::clone(record));
        tasks.spawn(async {
            piped.await;
            Some(())
        });
        let content = Box::new(move |with_json| content(&store, with_json));
        Ok(Mirror { tasks, token, relist, content })
    }

    /// What the store holds, without the objects themselves.
    pub fn keys(&self) -> Content {
        (self.content)(false)
    }

    /// What the store holds.
    pub fn content(&self) -> Content {
        (self.content)(true)
    }

    pub fn relist(&self) {
        self.relist.relist();
    }

    /// Stops everything, and waits until it has.
    pub async fn stop(&mut self) {
        self.token.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

fn policy(setup: &ClientSetup) -> Result<ExponentialBackoff, String> {
    let mut policy = ExponentialBackoff::builder();
    if let Some(initial) = setup.backoff_initial_ms {
        policy = policy.initial(initial);
    }
    if let Some(max) = setup.backoff_max_ms {
        policy = policy.max(max);
    }
    if let Some(factor) = setup.backoff_factor {
        policy = policy.factor(factor);
    }
    if let Some(jitter) = setup.jitter {
        policy = policy.jitter(jitter);
    }
    if let Some(health) = setup.backoff_reset_after_ms {
        policy = policy.reset_after(health);
    }
    policy.build().map_err(|error| format!("backoff: {error}"))
}

/// Which of the record's consumers something is for.
type Place = fn(&mut Log) -> &mut Consumed;

/// Drives the pipeline, and hands what it yields to a consumer in pace.
async fn piped<K: Object>(
    mut changes: impl Stream<Item = Result<Change<K>, Error>> + Unpin,
    consumer: Consumer,
    record: Arc<Record>,
) {
    while let Some(item) = changes.next().await {
        match item {
            Ok(change) => handle(&consumer, Told::of(&change), |log| &mut log.pipeline, &record),
            Err(error) => {
                let text = format!("{error} | {error:?}");
                record.log().errors.push(Reported { at: Instant::now(), names: errors::names(&error), text });
            }
        }
    }
}

async fn subscribed<K: Object>(
    mut changes: impl Stream<Item = Change<K>> + Unpin,
    consumer: Consumer,
    place: Place,
    record: Arc<Record>,
) {
    let mut delays = if consumer.only_first_event { 1 } else { u64::MAX };
    while let Some(change) = changes.next().await {
        let is_event = change.object().is_some();
        handle(&consumer, Told::of(&change), place, &record);
        // What a slow consumer holds meanwhile is its own affair; the change is not kept for it.
        drop(change);
        if is_event && delays > 0 && consumer.is_slow() {
            delays -= 1;
            sleep(consumer.handler_delay_ms).await;
        }
    }
}

/// The handler, which panics where the case says so, catches that, and goes on.
fn handle(consumer: &Consumer, told: Told, place: Place, record: &Record) {
    let name = told.name().to_owned();
    place(&mut record.log()).push(told);
    let handler = || {
        if consumer.throws_on.contains(&name) {
            // Without the message that a panic prints: this one is meant.
            resume_unwind(Box::new("the handler throws"));
        }
    };
    if catch_unwind(AssertUnwindSafe(handler)).is_err() {
        let names = ["Handler", "Panic", "HandlerPanic"].map(|kind| format!("{kind}({name})")).to_vec();
        let text = format!("the handler panicked at {name}");
        record.log().errors.push(Reported { at: Instant::now(), names, text });
    }
}

fn content<K: Object + Serialize>(store: &Store<K>, with_json: bool) -> Content {
    let entry = |object: &Arc<K>| {
        let identity = object.identity();
        let json =
            if with_json { serde_json::to_value(&**object).unwrap_or_default() } else { serde_json::Value::Null };
        (key(&identity), Held { uid: identity.uid.into(), version: identity.resource_version.into(), json })
    };
    store.snapshot().iter().map(entry).collect()
}

fn key(identity: &Identity<'_>) -> String {
    format!("{}/{}", identity.namespace, identity.name)
}

impl Told {
    fn of<K: Object>(change: &Change<K>) -> Self {
        let what = match change {
            Change::Added { initial, .. } => What::Added { initial: *initial },
            Change::Updated { old, .. } => {
                let old = old.identity();
                What::Updated { old: (old.uid.into(), old.resource_version.into()) }
            }
            Change::Deleted { .. } => What::Deleted,
            Change::Resynced(_) => What::Resynced,
            Change::Synced { .. } => What::Synced,
            Change::Bookmark(_) => What::Bookmark,
            Change::Watching(_) => What::Watching,
        };
        let identity = change.object().map(|object| object.identity()).unwrap_or_default();
        let key = if change.object().is_some() { key(&identity) } else { String::new() };
        Told {
            at: Instant::now(),
            what,
            key: key.into(),
            uid: identity.uid.into(),
            version: identity.resource_version.into(),
        }
    }
}
