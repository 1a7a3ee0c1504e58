use std::fmt;

/// One way to disturb a run. Steps are counted from 1; 0 is the state before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Perturbation {
    /// None. Found where two undisturbed runs end differently, so that comparing others would mean nothing.
    Nothing,
    /// The consumer stops right after its so-manieth write, from 1, and starts anew.
    Crash {
        /// The write that is its last.
        after_write: usize,
    },
    /// What the consumer watches stands still before the first of these steps, and catches up after the last.
    Stale {
        /// The first step that is not seen in time.
        from: usize,
        /// The last.
        to: usize,
    },
    /// The consumer is cut off before the first of these steps and connected again after the last, when the server has
    /// forgotten what came between.
    Unobserved {
        /// The first step that is not seen by itself.
        from: usize,
        /// The last.
        to: usize,
    },
    /// After one step the consumer is reconnected to a server that is at an earlier one; then back.
    TimeTravel {
        /// The step after which it happens.
        after: usize,
        /// The step whose end it sees once more.
        to: usize,
    },
}

impl Perturbation {
    /// All there are for so many steps of the trial and writes of the consumer, the shortest first.
    pub(super) fn all(steps: usize, writes: usize) -> Vec<Self> {
        let crashes = (1..=writes).map(|after_write| Self::Crash { after_write });
        let spans = || (1..=steps).flat_map(move |from| (from..=steps).map(move |to| (from, to)));
        let stale = spans().map(|(from, to)| Self::Stale { from, to });
        let unobserved = spans().map(|(from, to)| Self::Unobserved { from, to });
        let travels = spans().map(|(from, after)| Self::TimeTravel { after, to: from - 1 });
        let mut all: Vec<_> = crashes.chain(stale).chain(unobserved).chain(travels).collect();
        all.sort_by_key(|perturbation| perturbation.len());
        all
    }

    /// Every two of these that can happen in one run, the shortest first.
    pub(super) fn pairs(all: &[Self]) -> Vec<[Self; 2]> {
        let later = |n: usize| all[n + 1..].iter();
        let pairs = all.iter().enumerate().flat_map(|(n, one)| later(n).map(move |two| [*one, *two]));
        let mut pairs: Vec<_> = pairs.filter(|[one, two]| one.goes_with(*two)).collect();
        pairs.sort_by_key(|[one, two]| one.len() + two.len());
        pairs
    }

    /// Whether neither ends or hides what the other does.
    fn goes_with(self, other: Self) -> bool {
        let apart = |from: usize, to: usize, other_from: usize, other_to: usize| to < other_from || other_to < from;
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => false,
            (Self::Stale { from, to }, Self::Stale { from: other_from, to: other_to })
            | (Self::Unobserved { from, to }, Self::Unobserved { from: other_from, to: other_to }) => {
                apart(from, to, other_from, other_to)
            }
            (Self::Unobserved { from, to }, Self::TimeTravel { after, .. })
            | (Self::TimeTravel { after, .. }, Self::Unobserved { from, to }) => apart(from, to, after, after),
            (Self::TimeTravel { after, .. }, Self::TimeTravel { after: other, .. }) => after != other,
            _ => self != other,
        }
    }

    /// How many steps it spans.
    fn len(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Crash { .. } => 1,
            Self::Stale { from, to } | Self::Unobserved { from, to } => to - from + 1,
            Self::TimeTravel { after, to } => after - to,
        }
    }
}

impl fmt::Display for Perturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no perturbation at all"),
            Self::Crash { after_write } => write!(f, "a crash after write {after_write}"),
            Self::Stale { from, to } => write!(f, "a server that lags from step {from} to {to}"),
            Self::Unobserved { from, to } => write!(f, "a gap from step {from} to {to}"),
            Self::TimeTravel { after, to } => write!(f, "after step {after} a server that is at step {to} still"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_come_first_and_none_twice() {
        let all = Perturbation::all(3, 2);
        assert_eq!(all.len(), 2 + 3 * 6);
        assert!(all.is_sorted_by_key(|perturbation| perturbation.len()));
        assert!(all.contains(&Perturbation::TimeTravel { after: 3, to: 0 }));
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
        assert!(Perturbation::all(0, 0).is_empty());
    }

    #[test]
    fn pairs_are_of_two_that_leave_each_other_alone() {
        let pairs = Perturbation::pairs(&Perturbation::all(3, 2));
        assert!(pairs.is_sorted_by_key(|[one, two]| one.len() + two.len()));
        assert_eq!(pairs[0], [Perturbation::Crash { after_write: 1 }, Perturbation::Crash { after_write: 2 }]);
        let has = |one, two| pairs.contains(&[one, two]) || pairs.contains(&[two, one]);
        assert!(has(Perturbation::Stale { from: 1, to: 1 }, Perturbation::Stale { from: 2, to: 3 }));
        assert!(!has(Perturbation::Stale { from: 1, to: 2 }, Perturbation::Stale { from: 2, to: 3 }));
        assert!(has(Perturbation::Stale { from: 1, to: 2 }, Perturbation::Unobserved { from: 2, to: 3 }));
        let travel = Perturbation::TimeTravel { after: 2, to: 0 };
        assert!(!has(Perturbation::Unobserved { from: 1, to: 3 }, travel), "the gap would end at once");
        assert!(has(Perturbation::Unobserved { from: 3, to: 3 }, travel));
        assert!(Perturbation::pairs(&Perturbation::all(0, 1)).is_empty());
    }
}
