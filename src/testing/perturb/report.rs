use super::{EndState, Perturbation, run::Outcome};
use std::fmt;

/// What came of a trial. `Display` tells it for people, with names and places but no values.
#[derive(Clone, Debug)]
pub struct Report {
    expected: EndState,
    writes: Vec<String>,
    steps: Vec<String>,
    runs: usize,
    untried: usize,
    found: Option<Found>,
}

/// The shortest perturbation that ends differently, or pair of them where no single one does.
#[derive(Clone, Debug)]
pub struct Found {
    perturbations: Vec<Perturbation>,
    differences: Vec<String>,
    end: EndState,
    writes: Vec<String>,
}

impl Report {
    pub(super) fn new(plain: Outcome, steps: Vec<String>, runs: usize, untried: usize, found: Option<Found>) -> Self {
        Report { expected: plain.end, writes: plain.writes, steps, runs, untried, found }
    }

    /// What ends differently, if anything does.
    #[must_use]
    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// How the undisturbed run ended.
    #[must_use]
    pub fn expected(&self) -> &EndState {
        &self.expected
    }

    /// The consumer's writes in the undisturbed run: `"create pods default/a"` and such.
    #[must_use]
    pub fn writes(&self) -> &[String] {
        &self.writes
    }

    /// How many runs there were.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many [pairs](super::Trial::pairs) of perturbations the bound leaves out; 0 where none were asked for.
    #[must_use]
    pub fn untried(&self) -> usize {
        self.untried
    }
}

impl Found {
    pub(super) fn new(perturbations: Vec<Perturbation>, differences: Vec<String>, disturbed: Outcome) -> Self {
        Found { perturbations, differences, end: disturbed.end, writes: disturbed.writes }
    }

    /// Which it is: one, or the two of a pair.
    #[must_use]
    pub fn perturbations(&self) -> &[Perturbation] {
        &self.perturbations
    }

    /// A line for each difference: see [`EndState::differences`].
    #[must_use]
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    /// How the disturbed run ended.
    #[must_use]
    pub fn end(&self) -> &EndState {
        &self.end
    }

    /// The consumer's writes in the disturbed run.
    #[must_use]
    pub fn writes(&self) -> &[String] {
        &self.writes
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = &self.found else {
            write!(f, "{} runs end alike", self.runs)?;
            return if self.untried > 0 { write!(f, "; {} pairs were not tried", self.untried) } else { Ok(()) };
        };
        let with: Vec<_> = found.perturbations.iter().map(ToString::to_string).collect();
        writeln!(f, "run {} ends differently, with {}:", self.runs, with.join(" and "))?;
        for line in &found.differences {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "steps:")?;
        for (n, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {}. {step}", n + 1)?;
        }
        tell(f, "writes, undisturbed:", &self.writes)?;
        tell(f, "writes, disturbed:", &found.writes)
    }
}

fn tell(f: &mut fmt::Formatter<'_>, title: &str, writes: &[String]) -> fmt::Result {
    /// More would bury the rest.
    const MOST: usize = 50;
    writeln!(f, "{title}")?;
    for (n, write) in writes.iter().take(MOST).enumerate() {
        writeln!(f, "  {}. {write}", n + 1)?;
    }
    match writes.len() - writes.len().min(MOST) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more"),
    }
}
