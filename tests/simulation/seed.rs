//! Which seeds are played, and how they draw.

use std::{env, ops::Range, time::Duration};

/// The seeds of a plain `cargo test`.
const USUAL: u64 = 300;

/// The seeds that the environment asks for.
pub fn asked_for() -> Range<u64> {
    if let Some(seed) = number("SIM_SEED") {
        return seed..seed + 1;
    }
    let from = number("SIM_FROM").unwrap_or(0);
    from..from + number("SIM_SEEDS").unwrap_or(USUAL)
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Draws from one seed.
pub struct Draw(pub fastrand::Rng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(fastrand::Rng::with_seed(seed))
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, share: u32) -> bool {
        self.0.u32(0..100) < share
    }

    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.usize(0..choices.len())].clone()
    }

    pub fn maybe<T>(&mut self, share: u32, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.percent(share).then(|| draw(self))
    }

    /// Milliseconds to minutes, all orders of magnitude alike.
    pub fn time(&mut self, longest: Duration) -> Duration {
        let most = longest.as_secs_f64().max(0.001) / 0.001;
        Duration::from_millis(most.powf(self.0.f64()) as u64)
    }
}
