use super::{
    play::Play,
    probe::{Probe, Step, Watch},
};
use futures::Stream;
use std::fmt;

/// How long an input must be to show that the work of a poll is bounded.
const LONG: usize = 4096;

/// The suite for one operator: see [`of`].
pub struct Laws<I, F> {
    input: I,
    make: F,
    waits: bool,
}

/// The laws of an operator: `input` gives the items of the stream below, `make` puts the operator onto it.
///
/// The input should have what makes the operator do all that it can do. It may be of any type, and is repeated for
/// long runs.
///
/// # Panics
///
/// The methods of [`Laws`] panic where a law is broken, and say which and how.
pub fn of<I, F>(input: I, make: F) -> Laws<I, F> {
    Laws { input, make, waits: false }
}

impl<I, F> Laws<I, F> {
    /// The operator waits for something of its own too, such as a timer: it may be pending while the stream below is
    /// not. Run the suite in paused time then.
    #[must_use]
    pub fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// A stream below that plays the input without a pending poll, for checks of one's own.
    pub fn probe<T>(&self) -> Probe<T::Item>
    where
        I: Fn() -> T,
        T: IntoIterator,
    {
        Probe::new((self.input)().into_iter().map(Step::Item)).0
    }

    /// Checks laws 1 to 6.
    pub async fn hold<T, S>(&self)
    where
        I: Fn() -> T,
        T: IntoIterator,
        F: Fn(Probe<T::Item>) -> S,
        S: Stream,
        S::Item: fmt::Debug,
    {
        let told = |item: S::Item| format!("{item:?}");
        let (expected, _) = self.play("with nothing pending", |_| 0).until_the_end(told).await;
        let len = (self.input)().into_iter().count();
        for place in 0..=len {
            let how = format!("pending before item {place} of the stream below");
            let (items, _) = self.play(&how, |at| usize::from(at == place)).until_the_end(told).await;
            assert_eq!(items, expected, "law Same items, {how}");
        }
        let mut polls = 0;
        for times in 1..=2 {
            let how = format!("pending {times} times before each item of the stream below");
            let (items, n) = self.play(&how, |_| times).until_the_end(told).await;
            assert_eq!(items, expected, "law Same items, {how}");
            polls = n;
        }
        for after in 0..=polls {
            self.play("pending twice before each item", |_| 2).drop_after(after).await;
        }
        let long = (0..LONG).flat_map(|_| (self.input)()).take(LONG).map(Step::Item);
        self.over(long, "over a long stream with nothing pending").until_the_end(drop).await;
    }

    /// Checks law 7, for operators that yield results. Errors of the operator's own may stand between.
    pub async fn errors_pass<T, A, B, E, S>(&self)
    where
        I: Fn() -> T,
        T: IntoIterator<Item = Result<A, E>>,
        F: Fn(Probe<Result<A, E>>) -> S,
        S: Stream<Item = Result<B, E>>,
        E: fmt::Debug,
    {
        let (out, _) = self
            .play("pending before each item of the stream below", |_| 1)
            .until_the_end(|item| item.err().map(|error| format!("{error:?}")))
            .await;
        let mut out = out.into_iter().flatten();
        for error in (self.input)().into_iter().filter_map(Result::err) {
            let error = format!("{error:?}");
            assert!(out.any(|other| other == error), "law Errors pass: {error} did not come out where it should");
        }
    }

    /// A run with so many pendings before the item at each place.
    fn play<T, S>(&self, how: &str, pendings: impl Fn(usize) -> usize) -> Play<S>
    where
        I: Fn() -> T,
        T: IntoIterator,
        F: Fn(Probe<T::Item>) -> S,
        S: Stream,
    {
        let gates = |at| std::iter::repeat_with(|| Step::Gate).take(pendings(at));
        let items: Vec<_> = (self.input)().into_iter().collect();
        let len = items.len();
        let steps = items.into_iter().enumerate().flat_map(|(at, item)| gates(at).chain([Step::Item(item)]));
        self.over(steps.chain(gates(len)), how)
    }

    fn over<T, S>(&self, steps: impl IntoIterator<Item = Step<T>>, how: &str) -> Play<S>
    where
        F: Fn(Probe<T>) -> S,
        S: Stream,
    {
        let (probe, watch): (_, Watch) = Probe::new(steps);
        Play::new((self.make)(probe), watch, self.waits, how)
    }
}

impl<I, F> fmt::Debug for Laws<I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Laws").field("waits", &self.waits).finish_non_exhaustive()
    }
}
