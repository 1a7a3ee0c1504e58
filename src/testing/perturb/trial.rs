use super::{Access, Found, Perturbation, Report, run::run};
use crate::testing::ApiServer;
use serde_json::Value;
use std::{fmt, time::Duration};

/// A trial of this consumer: see [the module](super).
///
/// The consumer is started anew for each run, and after a crash. It is dropped where it waits; what it spawned must end
/// with it, as the tasks of a [`ReflectorHandle`](crate::ReflectorHandle) do. It may end by itself.
pub fn of<C: AsyncFn(Access)>(consumer: C) -> Trial<C> {
    Trial {
        consumer,
        given: Box::new(|_| {}),
        steps: Vec::new(),
        settle: Duration::from_secs(120),
        ignoring: Box::new(|_| {}),
        pairs: 0,
    }
}

/// What others do to the cluster.
type Step = Box<dyn Fn(&ApiServer)>;

/// A consumer and what happens around it, step by step. Made by [`of`].
#[must_use = "a trial does nothing until explored"]
pub struct Trial<C> {
    pub(super) consumer: C,
    pub(super) given: Step,
    pub(super) steps: Vec<(String, Step)>,
    pub(super) settle: Duration,
    pub(super) ignoring: Box<dyn Fn(&mut Value)>,
    pairs: usize,
}

impl<C: AsyncFn(Access)> Trial<C> {
    /// What the server is before the consumer starts: resources, objects. Default: empty.
    pub fn given(mut self, given: impl Fn(&ApiServer) + 'static) -> Self {
        self.given = Box::new(given);
        self
    }

    /// What happens next, by others than the consumer. Must do the same each time.
    pub fn step(mut self, name: impl Into<String>, step: impl Fn(&ApiServer) + 'static) -> Self {
        self.steps.push((name.into(), Box::new(step)));
        self
    }

    /// How long the consumer has to finish after each step, longer than its slowest retry. Default: 2 minutes, as the
    /// default backoff waits up to one.
    pub fn settle(mut self, time: Duration) -> Self {
        self.settle = time;
        self
    }

    /// Takes out of each object what may differ at the end, such as times that the consumer writes.
    pub fn ignoring(mut self, ignoring: impl Fn(&mut Value) + 'static) -> Self {
        self.ignoring = Box::new(ignoring);
        self
    }

    /// Where no single perturbation ends differently, tries pairs of them, the shortest first, in at most so many runs;
    /// there may be thousands, and the report says how many were left out. Default: none.
    pub fn pairs(mut self, most: usize) -> Self {
        self.pairs = most;
        self
    }

    /// Runs it undisturbed, then in every perturbation until one ends differently.
    ///
    /// # Panics
    ///
    /// The consumer or a step does, or no port could be bound.
    pub async fn explore(self) -> Report {
        let plain = run(&self, &[]).await;
        let all = Perturbation::all(self.steps.len(), plain.writes.len());
        let pairs = if self.pairs == 0 { Vec::new() } else { Perturbation::pairs(&all) };
        let untried = pairs.len().saturating_sub(self.pairs);
        let singles = [Perturbation::Nothing].into_iter().chain(all).map(|single| vec![single]);
        let mut runs = 1;
        let mut found = None;
        for perturbations in singles.chain(pairs.into_iter().take(self.pairs).map(Vec::from)) {
            let disturbed = run(&self, &perturbations).await;
            runs += 1;
            let differences = plain.end.differences(&disturbed.end);
            if !differences.is_empty() {
                found = Some(Found::new(perturbations, differences, disturbed));
                break;
            }
        }
        let steps = self.steps.into_iter().map(|(name, _)| name).collect();
        Report::new(plain, steps, runs, untried, found)
    }

    /// Runs it undisturbed and in every perturbation, and in the [pairs](Self::pairs) asked for: all must end alike.
    ///
    /// # Panics
    ///
    /// One ends differently. The message is the [`Report`]: the shortest such perturbation, and what differs.
    pub async fn hold(self) {
        let report = self.explore().await;
        assert!(report.found().is_none(), "{report}");
    }
}

impl<C> fmt::Debug for Trial<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<_> = self.steps.iter().map(|(name, _)| name).collect();
        f.debug_struct("Trial").field("steps", &steps).field("settle", &self.settle).finish_non_exhaustive()
    }
}
