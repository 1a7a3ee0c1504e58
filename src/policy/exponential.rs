use super::{Backoff, backoff::RESET_AFTER, random::Random};
use crate::Recovery;
use std::{fmt, sync::Arc, time::Duration};

/// Waits that grow by a factor, with jitter, up to a maximum.
///
/// After the failure number `n` (from 0) in a row the delay is `min(initial * factor^n, max)`, and then a random time in
/// `[delay, delay * (1 + jitter))`. So **the maximum bounds the delay before jitter**: with the defaults the longest
/// wait is just under a minute.
///
/// # Defaults
///
/// client-go's reflector (`NewReflectorWithOptions`): 800 ms, factor 2, jitter 1.0, at most 30 s before jitter, reset
/// after 2 minutes. They are not stable.
///
/// ```
/// use listwatch::{ExponentialBackoff, Recovery, policy::Backoff};
/// use std::time::Duration;
///
/// let mut policy = ExponentialBackoff::builder().initial(Duration::from_secs(1)).random(|| 0.5).build()?;
/// assert_eq!(policy.delay(Recovery::Resume, 0), Duration::from_millis(1500));
/// assert_eq!(policy.delay(Recovery::Resume, 1000), Duration::from_secs(45));
/// assert!(ExponentialBackoff::builder().factor(0.5).build().is_err(), "waits do not shrink");
/// # Ok::<(), listwatch::policy::InvalidBackoff>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExponentialBackoff {
    initial: Duration,
    factor: f64,
    jitter: f64,
    max: Duration,
    reset_after: Duration,
    random: Random,
}

impl Default for ExponentialBackoff {
    fn default() -> Self {
        ExponentialBackoff {
            initial: Duration::from_millis(800),
            factor: 2.0,
            jitter: 1.0,
            max: Duration::from_secs(30),
            reset_after: RESET_AFTER,
            random: Random::Thread,
        }
    }
}

impl ExponentialBackoff {
    /// The defaults, to be changed.
    pub fn builder() -> ExponentialBackoffBuilder {
        ExponentialBackoffBuilder(Self::default())
    }
}

impl Backoff for ExponentialBackoff {
    fn delay(&mut self, _: Recovery, attempt: u32) -> Duration {
        let grown = self.initial.as_secs_f64() * self.factor.powi(attempt.try_into().unwrap_or(i32::MAX));
        let delay = grown.min(self.max.as_secs_f64());
        let jittered = delay * self.jitter.mul_add(self.random.draw(), 1.0);
        Duration::try_from_secs_f64(jittered).unwrap_or(Duration::MAX)
    }

    fn reset_after(&self) -> Duration {
        self.reset_after
    }
}

/// Builds an [`ExponentialBackoff`]; see there for the defaults.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct ExponentialBackoffBuilder(ExponentialBackoff);

impl ExponentialBackoffBuilder {
    /// The delay after the first failure, before jitter.
    pub fn initial(mut self, delay: Duration) -> Self {
        self.0.initial = delay;
        self
    }

    /// By how much each delay is longer than the one before; at least 1.
    pub fn factor(mut self, factor: f64) -> Self {
        self.0.factor = factor;
        self
    }

    /// How much random time comes on top, as a share of the delay; 0 for none.
    pub fn jitter(mut self, share: f64) -> Self {
        self.0.jitter = share;
        self
    }

    /// The longest delay before jitter.
    pub fn max(mut self, delay: Duration) -> Self {
        self.0.max = delay;
        self
    }

    /// How long a stream is healthy before failures count anew; see [`Backoff::reset_after`].
    pub fn reset_after(mut self, health: Duration) -> Self {
        self.0.reset_after = health;
        self
    }

    /// Draws jitter from this seed, so that a test sees the same delays each time.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.random = Random::Seeded(fastrand::Rng::with_seed(seed));
        self
    }

    /// Draws jitter from a closure that gives numbers in `[0, 1)`; others are cut to that.
    pub fn random(mut self, draw: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.0.random = Random::Closure(Arc::new(draw));
        self
    }

    /// The policy.
    ///
    /// # Errors
    ///
    /// Where the first delay is zero or longer than the maximum, the factor is below 1, the jitter below 0, or one of
    /// these not finite.
    pub fn build(self) -> Result<ExponentialBackoff, InvalidBackoff> {
        let policy = self.0;
        let wrong = if policy.initial.is_zero() {
            "the first delay is zero"
        } else if policy.initial > policy.max {
            "the first delay is longer than the maximum"
        } else if !(policy.factor.is_finite() && policy.factor >= 1.0) {
            "the factor is not a number of at least 1"
        } else if !(policy.jitter.is_finite() && policy.jitter >= 0.0) {
            "the jitter is not a number of at least 0"
        } else {
            return Ok(policy);
        };
        Err(InvalidBackoff { wrong })
    }
}

/// An [`ExponentialBackoff`] cannot be built of these numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidBackoff {
    wrong: &'static str,
}

impl fmt::Display for InvalidBackoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such backoff: {}", self.wrong)
    }
}

impl std::error::Error for InvalidBackoff {}
