//! One subscriber of a mirror's store, which replays what it is told at its own pace.

use super::{
    checks::Verdict,
    mirror::Mirror,
    replay::{Notes, Replay},
    script::Follow,
    thing::Thing,
};
use futures::{Stream, StreamExt};
use listwatch::Store;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{task::JoinHandle, time::sleep};

pub struct Subscriber {
    pub mirror: usize,
    pub kind: Follow,
    pub pace: Duration,
    told: Arc<Mutex<Told>>,
    task: JoinHandle<()>,
}

enum Told {
    Changes(Replay),
    Notes(Notes),
}

impl Subscriber {
    pub fn start(mirror: usize, of: &Mirror, kind: Follow, pace: Duration, verdict: &Verdict) -> Self {
        let changes = match kind {
            Follow::All | Follow::Filtered | Follow::Resync(_) => Told::Changes(Replay::default()),
            Follow::WithoutOld => Told::Notes(Notes::default()),
        };
        let told = Arc::new(Mutex::new(changes));
        let replay = follow(&of.store, kind, Arc::clone(&told));
        let verdict = verdict.clone();
        let task = tokio::spawn(async move {
            let mut replay = Box::pin(replay);
            while let Some(judged) = replay.next().await {
                verdict.note(judged.map_err(|why| format!("to a subscriber ({kind:?}): {why}")));
                if !pace.is_zero() {
                    sleep(pace).await;
                }
            }
        });
        Subscriber { mirror, kind, pace, told, task }
    }

    /// Whether what it was told gives the store.
    pub fn is_current(&self, store: &Store<Thing>) -> Result<(), String> {
        let judged = match (&*self.told.lock().unwrap(), self.kind) {
            (Told::Changes(replay), Follow::Filtered) => replay.equals(&store.snapshot(), matches),
            (Told::Changes(replay), _) => replay.equals(&store.snapshot(), |_| true),
            (Told::Notes(notes), _) => notes.equals(&store.snapshot()),
        };
        judged.map_err(|why| format!("a subscriber ({:?}) {why}", self.kind))
    }

    /// Waits until it ends, as it must once its store has closed.
    pub async fn ended(self) -> Result<(), String> {
        match self.task.await {
            Ok(()) => Ok(()),
            Err(error) => Err(format!("a subscriber {error}")),
        }
    }
}

fn matches(thing: &Thing) -> bool {
    !Thing::filtered_out(&thing.data.value)
}

fn follow(
    store: &Store<Thing>,
    kind: Follow,
    told: Arc<Mutex<Told>>,
) -> impl Stream<Item = Result<(), String>> + Send + use<> {
    let changes = match kind {
        Follow::WithoutOld => {
            let noted = store.subscribe().without_old();
            return noted
                .map(move |noted| match &mut *told.lock().unwrap() {
                    Told::Notes(notes) => notes.take(&noted),
                    Told::Changes(_) => Ok(()),
                })
                .boxed();
        }
        Follow::Filtered => store.subscribe_filtered(matches),
        Follow::All => store.subscribe(),
        Follow::Resync(period) => store.subscribe().resync(period),
    };
    changes
        .map(move |change| match &mut *told.lock().unwrap() {
            Told::Changes(replay) => replay.take(&change),
            Told::Notes(_) => Ok(()),
        })
        .boxed()
}
