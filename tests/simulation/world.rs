//! Plays a script: a server, its mirrors, and what happens to them, in virtual time.

use super::{
    checks::{Figures, Verdict},
    crew::Crew,
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
    task::yield_now,
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
    pub mirrors: Crew,
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
    let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(World::play(script))));
    played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let failure = Some(format!("panicked: {}", text.unwrap_or_default()));
        Outcome { failure, requests: Vec::new(), figures: Vec::new() }
    })
}

impl World {
    async fn play(script: &Script) -> Outcome {
        let start = Instant::now();
        let mut world = World::start(script).await;
        let failure = world.mirrors.clone().run(world.steps(script)).await.err();
        world.outcome(start, failure)
    }

    async fn steps(&mut self, script: &Script) -> Result<(), String> {
        for (at, step) in script.steps.iter().enumerate() {
            self.step(step).await;
            if let Some(wrong) = self.shared.verdict.get() {
                return Err(format!("by step {at}: {wrong}"));
            }
        }
        quiet::becomes_equal(self).await?;
        quiet::stays_quiet(self).await?;
        quiet::leaves_nothing(self).await
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
        let asked = script.mirrors.len();
        let crew = Crew::default();
        *crew.all_mut() = mirrors;
        World { shared, mirrors: crew, subscribers: Vec::new(), retired: Vec::new(), asked, tasks }
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
                self.mirrors.all().get(*mirror).into_iter().for_each(Mirror::relist);
            }
            Step::Reopen { mirror, resume } => self.reopen(*mirror, *resume).await,
            Step::Subscribe { mirror, kind, pace } => {
                let mirrors = self.mirrors.all();
                self.subscribers
                    .extend(mirrors.get(*mirror).map(|of| Subscriber::start(*mirror, of, *kind, *pace, verdict)));
            }
        }
    }

    fn relist_all(&mut self) {
        let mirrors = self.mirrors.all();
        self.asked += mirrors.len();
        mirrors.iter().for_each(Mirror::relist);
    }

    /// A store closes with its stream, and so do its subscribers; others take their places.
    async fn reopen(&mut self, at: usize, resume: bool) {
        self.asked += 1;
        self.mirrors.all_mut().get_mut(at).into_iter().for_each(|mirror| mirror.reopen(resume));
        // The store is closed until its stream is polled.
        yield_now().await;
        let mirrors = self.mirrors.all();
        let Some(mirror) = mirrors.get(at) else { return };
        let closed: Vec<_> = self.subscribers.extract_if(.., |subscriber| subscriber.mirror == at).collect();
        for old in &closed {
            self.subscribers.push(Subscriber::start(at, mirror, old.kind, old.pace, &self.shared.verdict));
        }
        self.retired.extend(closed);
    }

    fn outcome(&self, start: Instant, failure: Option<String>) -> Outcome {
        let mut requests = Vec::new();
        for (of, mirror) in self.mirrors.all().iter().enumerate() {
            let noted = mirror.noted.requests.lock().unwrap();
            requests
                .extend(noted.iter().map(|(at, _, target)| format!("{:?} {of} {target}", at.duration_since(start))));
        }
        let figures = self.mirrors.all().iter().map(|mirror| mirror.judge.lock().unwrap().figures).collect();
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
