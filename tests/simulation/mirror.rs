//! One mirror: a pipeline as its script says, and its consumer.

use super::{
    checks::{Judge, MODIFIED, Verdict},
    script::{self, Operator, Waits},
    thing::Thing,
    timeline::Timeline,
    wire::{Noted, Wire},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Error, Event, EventStreamExt, ExponentialBackoff, Reflector, Store,
    client::{Client, Collection},
    policy::FixedBackoff,
    source::{Events, ListWatch, RelistHandle},
    testing::ApiServer,
};
use std::{
    future::poll_fn,
    sync::{Arc, Mutex, atomic::AtomicBool},
    task::Context,
    time::Duration,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// What all mirrors of a world share.
#[derive(Clone)]
pub struct Shared {
    pub server: ApiServer,
    pub timeline: Arc<Mutex<Timeline>>,
    pub down: Arc<AtomicBool>,
    pub verdict: Verdict,
}

pub struct Mirror {
    pub setup: script::Mirror,
    pub store: Store<Thing>,
    pub noted: Arc<Noted>,
    pub judge: Arc<Mutex<Judge>>,
    shared: Shared,
    second: Store<Thing>,
    /// Polled by [`poll`](Mirror::poll).
    running: Option<BoxFuture<'static, ()>>,
    token: CancellationToken,
    relist: Option<RelistHandle>,
}

type Items = BoxStream<'static, Result<Event<Thing>, Error>>;

impl Mirror {
    pub fn start(setup: &script::Mirror, shared: &Shared) -> Self {
        let (store, second, noted) = (Store::new(), Store::new(), Arc::default());
        let judge = Judge::new(setup, &store, &second, &shared.timeline, &noted, &shared.verdict);
        let judge = Arc::new(Mutex::new(judge));
        let mut mirror = Mirror {
            setup: setup.clone(),
            store,
            noted,
            judge,
            shared: shared.clone(),
            second,
            running: None,
            token: CancellationToken::new(),
            relist: None,
        };
        mirror.run(false);
        mirror
    }

    /// Goes on as far as it can without waiting.
    pub fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(running) = &mut self.running
            && running.poll_unpin(cx).is_ready()
        {
            self.running = None;
        }
    }

    pub fn relist(&self) {
        self.relist.iter().for_each(RelistHandle::relist);
    }

    /// Asks it to end; it has when it [no longer runs](Mirror::runs).
    pub fn stop(&self) {
        self.token.cancel();
    }

    pub fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// Ends at once, in the middle of whatever it does, and begins anew.
    pub fn reopen(&mut self, resume: bool) {
        self.running = None;
        self.run(resume);
        if self.judge.lock().unwrap().is_rewound() {
            self.relist();
        }
    }

    fn run(&mut self, resume: bool) {
        let Shared { server, timeline, down, verdict } = self.shared.clone();
        let version = if resume { self.store.resource_version() } else { None };
        self.judge.lock().unwrap().reopened(version.is_some());
        let (noted, chunk, stands) = (Arc::clone(&self.noted), self.setup.chunk, AtomicBool::new(false));
        let wire = Wire { server, down, timeline, noted, verdict, chunk, stands };
        let source = Collection::<ConfigMap>::all(Client::with_transport(wire)).decode_as::<Thing>();
        let setup = self.setup.clone();
        let set = move |mut events: Events<Thing>| {
            if let Some(items) = setup.page_size {
                events = events.page_size(items);
            }
            if let Some(window) = setup.internal_error_window {
                events = events.internal_error_window(window);
            }
            let events = events.strategy(setup.strategy).watch_timeout(setup.watch_timeout);
            events.idle_timeout(setup.idle_timeout).resume_from(version).expect("a version that the store had")
        };
        let changes = if self.setup.standard {
            let mut relist = None;
            let reflector = Reflector::new(source).events(|events| {
                let events = set(events);
                relist = Some(events.relist_handle());
                events
            });
            self.relist = relist;
            self.standard(reflector)
        } else {
            let events = set(source.events());
            self.relist = Some(events.relist_handle());
            self.composed(events)
        };
        let changes = changes.until(self.token.clone()).boxed();
        self.running = Some(consume(changes, Arc::clone(&self.judge), self.setup.pace).boxed());
    }

    fn standard(&self, reflector: Reflector<Thing>) -> BoxStream<'static, Change<Thing>> {
        let reflector = match self.setup.waits {
            Waits::Default => reflector,
            Waits::Fixed(wait) => reflector.backoff(FixedBackoff::new(wait)),
            Waits::Floor => reflector.backoff(FixedBackoff::new(Duration::ZERO)),
        };
        let (judge, failed) = (Arc::clone(&self.judge), Arc::clone(&self.judge));
        let changes = reflector.into_store(&self.store).on_error(move |error| failed.lock().unwrap().error(&error));
        changes.inspect(move |change| judge.lock().unwrap().change(change)).boxed()
    }

    fn composed(&self, events: Events<Thing>) -> BoxStream<'static, Change<Thing>> {
        let items = events.validate();
        let mut items: Items = match self.setup.waits {
            Waits::Default => items.backoff(ExponentialBackoff::default()).boxed(),
            Waits::Fixed(wait) => items.backoff(FixedBackoff::new(wait)).boxed(),
            Waits::Floor => items.boxed(),
        };
        for operator in &self.setup.operators {
            items = match operator {
                Operator::Resync(period) => items.resync(*period).boxed(),
                Operator::Filter => items.filter_objects(|thing| !Thing::filtered_out(&thing.data.value)).boxed(),
                Operator::Modify => items.modify_objects(|thing| thing.data.value.push_str(MODIFIED)).boxed(),
                Operator::Map => items.map_objects(Thing::clone).boxed(),
                Operator::Tee | Operator::OnlyChangedBy => items,
            };
        }
        if self.setup.operators.contains(&Operator::Tee) {
            items = items.tee(&self.second).boxed();
        }
        // An event that comes shows that all of the one before was told.
        let judge = Arc::clone(&self.judge);
        let items = items.validate().inspect(move |_| judge.lock().unwrap().settled());
        let judge = Arc::clone(&self.judge);
        let changes = items.reflect(&self.store).inspect(move |change| {
            if let Ok(change) = change {
                judge.lock().unwrap().change(change);
            }
        });
        let judge = Arc::clone(&self.judge);
        let failed = move |error| judge.lock().unwrap().error(&error);
        if self.setup.operators.contains(&Operator::OnlyChangedBy) {
            return changes.only_changed_by(|old, new| old.data != new.data).on_error(failed).boxed();
        }
        changes.on_error(failed).boxed()
    }
}

/// A consumer that takes its time.
async fn consume(mut changes: BoxStream<'static, Change<Thing>>, judge: Arc<Mutex<Judge>>, pace: Duration) {
    loop {
        let next = poll_fn(|cx| {
            let polled = changes.poll_next_unpin(cx);
            if polled.is_pending() {
                judge.lock().unwrap().idle();
            }
            polled
        });
        if next.await.is_none() {
            return;
        }
        if !pace.is_zero() {
            sleep(pace).await;
        }
    }
}
