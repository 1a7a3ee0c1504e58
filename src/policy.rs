//! How long to wait after failures.
//!
//! [`Backoff`] is what [`.backoff(policy)`](crate::EventStreamExt::backoff) asks. The operator counts the failures and
//! keeps the time; a policy only says how long to wait.
//!
//! ```
//! use listwatch::{ExponentialBackoff, Recovery, policy::Backoff};
//!
//! let mut policy = ExponentialBackoff::builder().jitter(0.0).build()?;
//! let delays: Vec<_> = (0..7).map(|attempt| policy.delay(Recovery::Resume, attempt).as_millis()).collect();
//! assert_eq!(delays, [800, 1600, 3200, 6400, 12800, 25600, 30000]);
//! # Ok::<(), listwatch::policy::InvalidBackoff>(())
//! ```

mod backoff;
mod exponential;
mod fixed;
mod random;

pub use self::backoff::Backoff;
pub use self::exponential::{ExponentialBackoff, ExponentialBackoffBuilder, InvalidBackoff};
pub use self::fixed::FixedBackoff;
