use crate::Recovery;
use std::time::Duration;

/// How long to wait after a failure.
///
/// # Contract
///
/// * `delay` is asked once for each failure with [`Recovery::Resume`] or [`Recovery::Relist`], never for others. The
///   server's `Retry-After` is not its business: the operator waits for the longer of both.
/// * `attempt` counts from 0, one count for each of the two recoveries.
/// * Zero means that there is no wait.
///
/// Any iterator of durations is a policy too, which heeds neither recovery nor attempt and waits no longer once it has
/// ended: for tests.
///
/// ```
/// use listwatch::{Recovery, policy::Backoff};
/// use std::time::Duration;
///
/// /// A new snapshot costs the server more than a watch.
/// struct Patient;
/// impl Backoff for Patient {
///     fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration {
///         let first = if recovery == Recovery::Relist { 30 } else { 1 };
///         Duration::from_secs(first) * (attempt + 1).min(4)
///     }
/// }
/// assert_eq!(Patient.delay(Recovery::Relist, 1), Duration::from_secs(60));
///
/// let mut scripted = [Duration::from_secs(1)].into_iter();
/// assert_eq!(scripted.delay(Recovery::Resume, 0), Duration::from_secs(1));
/// assert_eq!(scripted.delay(Recovery::Resume, 1), Duration::ZERO);
/// ```
#[doc(alias = "BackoffManager")]
pub trait Backoff {
    /// How long to wait after the failure number `attempt` (from 0) in a row with this recovery.
    fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration;

    /// Failures count anew where one comes this long after the stream was first polled following a wait.
    ///
    /// # Defaults
    ///
    /// 2 minutes: client-go's reset of its reflector's backoff. Waiting is not health, so it does not count.
    fn reset_after(&self) -> Duration {
        RESET_AFTER
    }
}

pub(super) const RESET_AFTER: Duration = Duration::from_secs(120);

impl<I: Iterator<Item = Duration>> Backoff for I {
    fn delay(&mut self, _: Recovery, _: u32) -> Duration {
        self.next().unwrap_or_default()
    }
}

impl Backoff for Box<dyn Backoff + Send + Sync> {
    fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration {
        (**self).delay(recovery, attempt)
    }
    fn reset_after(&self) -> Duration {
        (**self).reset_after()
    }
}

impl Backoff for Box<dyn Backoff + Send> {
    fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration {
        (**self).delay(recovery, attempt)
    }
    fn reset_after(&self) -> Duration {
        (**self).reset_after()
    }
}
