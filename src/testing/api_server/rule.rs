//! Which requests fail, and how often.

use super::{fault::Fault, request::Request};
use std::{fmt, sync::Arc};

/// Which requests a rule is about.
///
/// # Examples
///
/// ```
/// use listwatch::testing::Match;
///
/// // The second page of a list of configmaps.
/// let second_page = Match::lists().of("configmaps").with(|request| request.query("continue").is_some());
/// ```
#[derive(Clone)]
pub struct Match {
    verb: Option<Verb>,
    resource: Option<String>,
    skip: usize,
    predicate: Option<Predicate>,
}

type Predicate = Arc<dyn Fn(&Request) -> bool + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    List,
    Watch,
}

/// How many requests a rule fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Times {
    /// The next one.
    Once,
    /// The next so many.
    Next(usize),
    /// All of them, until the rules are cleared.
    Always,
}

impl Match {
    /// Every request, discovery included.
    #[must_use]
    pub fn any() -> Self {
        Self { verb: None, resource: None, skip: 0, predicate: None }
    }

    /// Lists.
    #[must_use]
    pub fn lists() -> Self {
        Self { verb: Some(Verb::List), ..Self::any() }
    }

    /// Watches.
    #[must_use]
    pub fn watches() -> Self {
        Self { verb: Some(Verb::Watch), ..Self::any() }
    }

    /// Only those of the resource with this plural.
    #[must_use]
    pub fn of(mut self, plural: &str) -> Self {
        self.resource = Some(plural.to_owned());
        self
    }

    /// Only those for which this is true.
    #[must_use]
    pub fn with(mut self, predicate: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        self.predicate = Some(Arc::new(predicate));
        self
    }

    /// Lets the first so many pass.
    #[must_use]
    pub fn skip(mut self, requests: usize) -> Self {
        self.skip = requests;
        self
    }

    fn matches(&self, request: &Request) -> bool {
        let verb = match self.verb {
            None => true,
            Some(Verb::List) => request.is_list(),
            Some(Verb::Watch) => request.is_watch(),
        };
        verb && self.resource.as_deref().is_none_or(|plural| request.resource() == Some(plural))
            && self.predicate.as_ref().is_none_or(|predicate| predicate(request))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Match")
            .field("verb", &self.verb)
            .field("resource", &self.resource)
            .field("skip", &self.skip)
            .finish_non_exhaustive()
    }
}

/// The rules in force, in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: Vec<(Match, Fault, Times)>,
}

impl Rules {
    pub(super) fn add(&mut self, requests: Match, fault: Fault, times: Times) {
        self.rules.push((requests, fault, times));
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The faults of the first rule that matches; a rule that is used up goes.
    pub(super) fn take(&mut self, request: &Request) -> Vec<Fault> {
        for at in 0..self.rules.len() {
            let (requests, fault, times) = &mut self.rules[at];
            if !requests.matches(request) {
                continue;
            }
            if requests.skip > 0 {
                requests.skip -= 1;
                continue;
            }
            let fault = fault.clone();
            match times {
                Times::Next(left) if *left > 1 => *left -= 1,
                Times::Always => {}
                Times::Once | Times::Next(_) => drop(self.rules.remove(at)),
            }
            return fault.flat();
        }
        Vec::new()
    }
}
