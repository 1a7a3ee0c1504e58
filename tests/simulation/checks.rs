//! What must hold at every step of one mirror: the store is a state that the server had and never goes back, the
//! changes that were told give the store, and the events are in the order of the grammar.

use super::{
    replay::Replay,
    script::{Mirror, Operator},
    thing::{Thing, key},
    timeline::{State, Timeline},
    wire::Noted,
};
use listwatch::{Change, Error, Object, Recovery, Snapshot, Store};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};

/// The first thing that was wrong.
#[derive(Clone, Debug, Default)]
pub struct Verdict(Arc<Mutex<Option<String>>>);

impl Verdict {
    pub fn wrong(&self, what: String) {
        self.0.lock().unwrap().get_or_insert(what);
    }

    pub fn note(&self, judged: Result<(), String>) {
        if let Err(what) = judged {
            self.wrong(what);
        }
    }

    pub fn get(&self) -> Option<String> {
        self.0.lock().unwrap().clone()
    }
}

/// What happened to a mirror, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub changes: u64,
    pub snapshots: u64,
    pub skips: u64,
    pub resumes: u64,
    pub relists: u64,
    pub fallbacks: u64,
}

/// Judges one mirror, whoever runs it.
pub struct Judge {
    pub verdict: Verdict,
    pub figures: Figures,
    store: Store<Thing>,
    second: Option<Store<Thing>>,
    timeline: Arc<Mutex<Timeline>>,
    noted: Arc<Noted>,
    filters: bool,
    modifies: bool,
    replay: Replay,
    /// The version that the store had last.
    at: u64,
    /// How often the server had gone back when the present content was asked for.
    rewinds: u64,
    /// An object has become unreadable, which the store notes without a version of its own.
    skipped: bool,
}

impl Judge {
    pub fn new(
        setup: &Mirror,
        store: &Store<Thing>,
        second: &Store<Thing>,
        timeline: &Arc<Mutex<Timeline>>,
        noted: &Arc<Noted>,
        verdict: &Verdict,
    ) -> Self {
        let has = |operator| setup.operators.contains(&operator);
        Judge {
            verdict: verdict.clone(),
            figures: Figures::default(),
            store: store.clone(),
            second: has(Operator::Tee).then(|| second.clone()),
            timeline: Arc::clone(timeline),
            noted: Arc::clone(noted),
            filters: has(Operator::Filter),
            modifies: has(Operator::Modify),
            replay: Replay::default(),
            at: 0,
            rewinds: 0,
            skipped: false,
        }
    }

    /// Another stream takes the store over; one without a version may begin at an older state.
    pub fn reopened(&mut self, resumes: bool) {
        self.replay = Replay::of(&self.store.snapshot());
        if !resumes {
            self.at = 0;
        }
    }

    /// Whether what is held may be of a past that never happened.
    pub fn is_rewound(&self) -> bool {
        self.rewinds != self.timeline.lock().unwrap().rewinds
    }

    pub fn change(&mut self, change: &Change<Thing>) {
        self.figures.changes += 1;
        self.verdict.note(self.replay.take(change));
        if matches!(change, Change::Synced { .. }) {
            self.figures.snapshots += 1;
            let rewinds = self.noted.rewinds.load(Relaxed);
            if rewinds != self.rewinds {
                (self.rewinds, self.at) = (rewinds, 0);
            }
        }
        if !matches!(change, Change::Resynced(_)) {
            self.state();
        }
    }

    pub fn error(&mut self, error: &Error) {
        match error.recovery() {
            Recovery::Skip => self.figures.skips += 1,
            Recovery::Resume => self.figures.resumes += 1,
            Recovery::Relist => self.figures.relists += 1,
            _ => self.figures.fallbacks += 1,
        }
        self.skipped |= error.object().is_some();
        if error.is_grammar() || error.is_refused() {
            self.verdict.wrong(format!("a stream of the library's own broke the rules: {error:?}"));
        }
    }

    /// Everything that the store has was told.
    pub fn settled(&mut self) {
        self.verdict.note(self.replay.equals(&self.store.snapshot(), |_| true));
        self.state();
    }

    /// And all stages are at the same event.
    pub fn idle(&mut self) {
        self.settled();
        if let Some(second) = &self.second {
            let judged = Replay::of(&second.snapshot()).equals(&self.store.snapshot(), |_| true);
            self.verdict.note(judged.map_err(|why| format!("in the second store: {why}")));
        }
    }

    fn state(&mut self) {
        let judged = self.judge_state();
        self.verdict.note(judged);
    }

    fn judge_state(&mut self) -> Result<(), String> {
        let timeline = self.timeline.lock().unwrap();
        if timeline.rewinds != self.rewinds {
            return Ok(());
        }
        let held = self.store.snapshot();
        let Some(version) = held.resource_version() else {
            return if held.is_empty() { Ok(()) } else { Err("objects without a version".into()) };
        };
        let version: u64 = version.as_str().parse().map_err(|_| format!("no version: {version}"))?;
        if version < self.at {
            return Err(format!("the store went back from version {} to {version}", self.at));
        }
        if version > self.at {
            (self.at, self.skipped) = (version, false);
        }
        let mut states = timeline.from(version);
        let exact = states.next().map_or(Ok(()), |state| self.equals(&held, state, timeline.rewinds > 0));
        if exact.is_err() && self.skipped && states.any(|state| self.equals(&held, state, timeline.rewinds > 0).is_ok())
        {
            return Ok(());
        }
        exact.map_err(|why| format!("the store is no state of version {version}: {why}"))
    }

    /// Whether the store is what the server has now.
    pub fn is_current(&self) -> Result<(), String> {
        let timeline = self.timeline.lock().unwrap();
        self.equals(&self.store.snapshot(), timeline.newest(), timeline.rewinds > 0)
    }

    /// Once the server went back, a version may stand for two states of an object, which nobody can tell apart.
    fn equals(&self, held: &Snapshot<Thing>, state: &State, rewound: bool) -> Result<(), String> {
        let wrong = |what: &str, key: &str| Err(format!("{key} {what}; the server has {state:?}"));
        for (name, entry) in state {
            let key = name.split_once('/').expect("namespace/name");
            let thing = held.get(key);
            let same = thing.is_some_and(|thing| thing.identity().uid == entry.uid);
            let version = thing.and_then(|thing| thing.identity().resource_version.parse().ok()).unwrap_or(0);
            match (&entry.value, thing) {
                (None, None) => {}
                (None, Some(_)) if !same => return wrong("is another object than the unreadable one", name),
                (None, Some(_)) if !rewound && version >= entry.version => return wrong("is from later", name),
                (None, Some(_)) => {}
                (Some(value), Some(_)) if self.filters && Thing::filtered_out(value) => {
                    return wrong("is held, but does not match the filter", name);
                }
                (Some(value), None) if self.filters && Thing::filtered_out(value) => {}
                (Some(_), None) => return wrong("is missing", name),
                (Some(value), Some(thing)) => {
                    if !same || version != entry.version {
                        return wrong(&format!("is at version {version}"), name);
                    }
                    let suffix = if self.modifies { MODIFIED } else { "" };
                    if !rewound && thing.data.value.strip_suffix(suffix) != Some(value) {
                        return wrong(&format!("has the value {:?}", thing.data.value), name);
                    }
                }
            }
        }
        if let Some(more) = held.iter().find(|thing| !state.contains_key(&thing.key())) {
            return wrong("does not exist", &more.key());
        }
        let told: BTreeSet<_> = self.store.unreadable().iter().map(|object| key(object.key())).collect();
        let unreadable: BTreeSet<_> =
            state.iter().filter(|(_, e)| e.value.is_none()).map(|(key, _)| key.clone()).collect();
        if told == unreadable { Ok(()) } else { wrong("are what the store says is unreadable", &format!("{told:?}")) }
    }
}

/// What `modify_objects` puts after each value.
pub const MODIFIED: &str = " modified";
