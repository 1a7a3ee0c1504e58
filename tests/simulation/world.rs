//! Plays a script: a server, its mirrors, and what happens to them, in virtual time.

use super::{
    checks::{Figures, Verdict},
    mirror::{Mirror, Shared},
    quiet,
    script::{On, Script, Step},
    subscriber::Subscriber,
    timeline::Timeline,
};
use listwatch::testing::{ApiServer, Ending, Match, Times};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};
use tokio::{
    runtime::{Builder, Handle},
    time::{Instant, sleep},
};

/// How a run ended. The same script always gives the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was wrong, if anything was.
    pub failure: Option<String>,
    /// Every request: when, whose, and what.
    pub requests: Vec<String>,
    pub figures: Vec<Figures>,
}

pub struct World {
    pub shared: Shared,
    pub crew: Crew,
    pub subscribers: Vec<Subscriber>,
    /// Those whose store has closed.
    pub retired: Vec<Subscriber>,
    /// How often someone asked for a snapshot or began anew.
    pub asked: usize,
    /// Tasks that are no mirror's: the server's own.
    pub tasks: usize,
}

pub fn play(script: &Script) -> Outcome {
    fastrand::seed(script.seed);
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(together(script))));
    played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let failure = Some(format!("panicked: {}", text.unwrap_or_default()));
        Outcome { failure, requests: Vec::new(), figures: Vec::new() }
    })
}

/// The mirrors are polled in their order and then the script goes on, all in one task: the order in which the runtime
/// wakes tasks is random, and nothing must depend on it. Subscribers, which touch nothing, are tasks of their own.
async fn together(script: &Script) -> Outcome {
    let crew = Crew::default();
    let mut playing = pin!(World::play(script, crew.clone()));
    poll_fn(|cx| {
        let before = crew.lock().unwrap().poll(cx);
        let played = playing.as_mut().poll(cx);
        if crew.lock().unwrap().began != before {
            cx.waker().wake_by_ref();
        }
        played
    })
    .await
}

impl World {
    async fn play(script: &Script, crew: Crew) -> Outcome {
        let start = Instant::now();
        let mut world = World::start(script, crew).await;
        for (at, step) in script.steps.iter().enumerate() {
            world.step(step).await;
            if let Some(wrong) = world.shared.verdict.get() {
                return world.outcome(start, Some(format!("by step {at}: {wrong}")));
            }
        }
        let failure = world.end().await.err();
        world.outcome(start, failure)
    }

    async fn start(script: &Script) -> Self {
        let settings = &script.server;
        let mut builder = ApiServer::builder().watch_cache(settings.watch_cache).watch_list(settings.watch_list);
        builder = builder.bookmarks(settings.bookmarks.is_some());
        if let Some(period) = settings.bookmarks {
            builder = builder.bookmark_period(period);
        }
        if let Some(changes) = settings.slow_watch {
            builder = builder.slow_watch(changes);
        }
        let server = builder.start().await.expect("a free port");
        let tasks = Handle::current().metrics().num_alive_tasks();
        let timeline = Arc::new(Mutex::new(Timeline::new(&server)));
        let shared = Shared { server, timeline, down: Arc::default(), verdict: Verdict::default() };
        let mirrors: Vec<_> = script.mirrors.iter().map(|setup| Mirror::start(setup, &shared)).collect();
        let asked = mirrors.len();
        World { shared, mirrors, subscribers: Vec::new(), retired: Vec::new(), asked, tasks }
    }

    async fn step(&mut self, step: &Step) {
        let Shared { server, timeline, down, verdict } = &self.shared;
        match step {
            Step::Write { name, value, .. } => timeline.lock().unwrap().write(server, name, *value),
            Step::Delete { name, .. } => timeline.lock().unwrap().delete(server, name),
            Step::OtherWrite => drop(server.next_version()),
            Step::Wait(time) => sleep(*time).await,
            Step::Fault { on, skip, times, fault } => {
                server.rule(requests(*on).skip(*skip), fault.clone(), Times::Next(*times));
            }
            Step::EndConnections(how) => server.end_connections(*how),
            Step::Compact { storage_only: true } => server.compact_storage_to(server.resource_version()),
            Step::Compact { storage_only: false } => server.compact(),
            Step::Restart => server.restart(),
            Step::Rewind(by) => {
                timeline.lock().unwrap().rewind(server, *by);
                self.relist_all();
            }
            Step::Down(yes) => {
                down.store(*yes, Relaxed);
                if *yes {
                    server.end_connections(Ending::Reset);
                } else {
                    server.restart();
                }
            }
            Step::HoldCache(true) => server.hold_cache(),
            Step::HoldCache(false) => server.resume_cache(),
            Step::Relist(mirror) => {
                self.asked += 1;
                self.mirrors.get(*mirror).into_iter().for_each(Mirror::relist);
            }
            Step::Reopen { mirror, resume } => self.reopen(*mirror, *resume).await,
            Step::Subscribe { mirror, kind, pace } => {
                let of = self.mirrors.get(*mirror);
                self.subscribers.extend(of.map(|of| Subscriber::start(*mirror, of, *kind, *pace, verdict)));
            }
        }
    }

    pub fn relist_all(&mut self) {
        self.asked += self.mirrors.len();
        self.mirrors.iter().for_each(Mirror::relist);
    }

    /// A store closes with its stream, and so do its subscribers; others take their places.
    async fn reopen(&mut self, at: usize, resume: bool) {
        let Some(mirror) = self.mirrors.get_mut(at) else { return };
        self.asked += 1;
        mirror.reopen(resume).await;
        let closed: Vec<_> = self.subscribers.extract_if(.., |subscriber| subscriber.mirror == at).collect();
        for old in &closed {
            self.subscribers.push(Subscriber::start(at, mirror, old.kind, old.pace, &self.shared.verdict));
        }
        self.retired.extend(closed);
    }

    async fn end(&mut self) -> Result<(), String> {
        quiet::becomes_equal(self).await?;
        quiet::stays_quiet(self).await?;
        quiet::leaves_nothing(self).await
    }

    fn outcome(&self, start: Instant, failure: Option<String>) -> Outcome {
        let mut requests = Vec::new();
        for (of, mirror) in self.mirrors.iter().enumerate() {
            let noted = mirror.noted.requests.lock().unwrap();
            requests
                .extend(noted.iter().map(|(at, _, target)| format!("{:?} {of} {target}", at.duration_since(start))));
        }
        let figures = self.mirrors.iter().map(|mirror| mirror.judge.lock().unwrap().figures).collect();
        Outcome { failure, requests, figures }
    }
}

fn requests(on: On) -> Match {
    match on {
        On::Any => Match::any(),
        On::Lists => Match::lists(),
        On::Pages => Match::lists().with(|request| request.query("continue").is_some()),
        On::Watches => Match::watches(),
        On::WatchLists => Match::watches().with(|request| request.query("sendInitialEvents").is_some()),
    }
}
