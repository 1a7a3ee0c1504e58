use super::Backoff;
use crate::Recovery;
use std::time::Duration;

/// The same wait after each failure. For tests, and where something else already spreads the load.
///
/// ```
/// use listwatch::{Recovery, policy::{Backoff, FixedBackoff}};
/// use std::time::Duration;
///
/// assert_eq!(FixedBackoff::new(Duration::from_secs(5)).delay(Recovery::Relist, 9), Duration::from_secs(5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedBackoff(Duration);

impl FixedBackoff {
    /// Waits this long each time; zero means not at all.
    pub const fn new(delay: Duration) -> Self {
        FixedBackoff(delay)
    }
}

impl Backoff for FixedBackoff {
    fn delay(&mut self, _: Recovery, _: u32) -> Duration {
        self.0
    }
}
