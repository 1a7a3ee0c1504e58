//! What happened while a case was played: written by the server and the mirror, read by the judge.

use super::{http::Request, replay::Replay};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::time::Instant;

pub struct Record(Mutex<Log>);

pub struct Log {
    pub start: Instant,
    /// With the step that took each, counted from 0.
    pub requests: Vec<(Request, Option<usize>)>,
    pub sent: Vec<Sent>,
    /// Answers of which a part is still to be sent.
    pub unsent: usize,
    /// Connections that the client has not closed, but for half-open ones.
    pub connections: usize,
    /// What the conversation did not allow.
    pub unexpected: Vec<String>,
    /// What the pipeline yielded: what a consumer in pace is told.
    pub pipeline: Consumed,
    /// What the case's consumer was told, where it takes time: a subscription.
    pub slow: Consumed,
    /// What another subscription was told that takes none.
    pub fast: Consumed,
    pub errors: Vec<Reported>,
}

/// A part of an answer that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub step: usize,
    pub chunk: usize,
    pub begun: Instant,
    pub done: Instant,
}

/// What one consumer was told.
#[derive(Default)]
pub struct Consumed {
    pub told: Vec<Told>,
    /// How many of them changed anything.
    pub changed: usize,
    /// What whoever believes them knows.
    pub replay: Replay,
}

#[derive(Clone, Debug)]
pub struct Told {
    pub at: Instant,
    pub what: What,
    /// `namespace/name`; empty for markers.
    pub key: Box<str>,
    pub uid: Box<str>,
    pub version: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Added { initial: bool },
    Updated { old: (Box<str>, Box<str>) },
    Deleted,
    Resynced,
    Synced,
    Bookmark,
    Watching,
}

/// An error that the mirror reported.
#[derive(Clone, Debug)]
pub struct Reported {
    pub at: Instant,
    /// Every name it goes by in `expected.errors`.
    pub names: Vec<String>,
    /// As it displays and debugs.
    pub text: String,
}

/// What is held of an object at the end.
#[derive(Clone, Debug)]
pub struct Held {
    pub uid: String,
    pub version: String,
    pub json: serde_json::Value,
}

/// By `namespace/name`.
pub type Content = BTreeMap<String, Held>;

impl Record {
    pub fn new() -> Self {
        Record(Mutex::new(Log {
            start: Instant::now(),
            requests: Vec::new(),
            sent: Vec::new(),
            unsent: 0,
            connections: 0,
            unexpected: Vec::new(),
            pipeline: Consumed::default(),
            slow: Consumed::default(),
            fast: Consumed::default(),
            errors: Vec::new(),
        }))
    }

    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// How many changes all consumers were told.
    pub fn changed(&self) -> usize {
        self.pipeline.changed + self.slow.changed + self.fast.changed
    }
}

impl Consumed {
    pub fn push(&mut self, told: Told) {
        self.replay.tell(&told);
        self.changed += usize::from(told.is_change());
        self.told.push(told);
    }

    /// What changed anything; no markers and no resyncs.
    pub fn changes(&self) -> impl DoubleEndedIterator<Item = &Told> {
        self.told.iter().filter(|told| told.is_change())
    }

    pub fn synced(&self) -> impl Iterator<Item = &Told> {
        self.told.iter().filter(|told| told.what == What::Synced)
    }
}

impl Told {
    fn is_change(&self) -> bool {
        matches!(self.what, What::Added { .. } | What::Updated { .. } | What::Deleted)
    }

    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }
}
