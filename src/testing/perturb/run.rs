//! One run of a trial, disturbed in one way, in two, or not at all.

use super::{Access, EndState, Perturbation, access::Log, trial::Trial, view::View};
use crate::testing::ApiServer;
use std::{convert::Infallible, future, sync::Arc};
use tokio::time::sleep;

/// What came of it.
pub(super) struct Outcome {
    pub(super) end: EndState,
    /// The consumer's writes, in order.
    pub(super) writes: Vec<String>,
}

/// How often a state that still changes is waited for at the end.
const PATIENCE: usize = 10;

pub(super) async fn run<C: AsyncFn(Access)>(trial: &Trial<C>, perturbations: &[Perturbation]) -> Outcome {
    let server = ApiServer::start().await;
    let crashes = perturbations.iter().filter_map(|perturbation| match perturbation {
        Perturbation::Crash { after_write } => Some(*after_write),
        _ => None,
    });
    let log = Log::new(crashes.collect());
    let run = Run { trial, perturbations, view: View::default(), log, server };
    let end = tokio::select! {
        biased;
        end = run.play() => end,
        never = run.consume() => match never {},
    };
    Outcome { end, writes: run.log.writes() }
}

struct Run<'a, C> {
    trial: &'a Trial<C>,
    perturbations: &'a [Perturbation],
    view: View,
    log: Arc<Log>,
    server: ApiServer,
}

impl<C: AsyncFn(Access)> Run<'_, C> {
    /// Runs the consumer, and once more after a crash.
    async fn consume(&self) -> Infallible {
        loop {
            let consumer = async {
                (self.trial.consumer)(Access::new(&self.view, &self.server, &self.log)).await;
                future::pending::<Infallible>().await
            };
            tokio::select! {
                biased;
                () = self.log.crashed() => {}
                never = consumer => match never {},
            }
        }
    }

    /// Plays the steps, and waits until all is quiet.
    async fn play(&self) -> EndState {
        (self.trial.given)(&self.server);
        self.view.turn_to(Some(&self.server));
        self.settle().await;
        let mut versions = vec![self.server.resource_version()];
        for (n, (_, step)) in self.trial.steps.iter().enumerate() {
            self.before(n + 1);
            step(&self.server);
            self.settle().await;
            versions.push(self.server.resource_version());
            self.after(n + 1, &versions).await;
        }
        let mut end = self.end();
        for _ in 0..PATIENCE {
            self.settle().await;
            let now = self.end();
            if now == end {
                break;
            }
            end = now;
        }
        end
    }

    fn before(&self, step: usize) {
        for perturbation in self.perturbations {
            match *perturbation {
                Perturbation::Stale { from, .. } if from == step => self.server.hold_cache(),
                Perturbation::Unobserved { from, .. } if from == step => self.view.turn_to(None),
                _ => {}
            }
        }
    }

    async fn after(&self, step: usize, versions: &[u64]) {
        for perturbation in self.perturbations {
            match *perturbation {
                Perturbation::Stale { to, .. } if to == step => self.server.resume_cache(),
                Perturbation::Unobserved { to, .. } if to == step => {
                    self.server.compact();
                    self.view.turn_to(Some(&self.server));
                }
                Perturbation::TimeTravel { after, to } if after == step => {
                    let older = self.server.fork(versions[to]);
                    self.view.turn_to(Some(&older));
                    self.settle().await;
                    self.view.turn_to(Some(&self.server));
                }
                _ => continue,
            }
            self.settle().await;
        }
    }

    async fn settle(&self) {
        sleep(self.trial.settle).await;
    }

    fn end(&self) -> EndState {
        EndState::new(self.server.everything(), &*self.trial.ignoring)
    }
}
