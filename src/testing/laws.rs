//! The laws that every operator keeps, as a suite that runs on any: ours, and users' own.
//!
//! 1. *Same items.* However the stream below is interleaved with `Pending`, the same items come out.
//! 2. *Wakes.* An operator returns `Pending` only after the stream below did, and then the waker of that very poll is
//!    woken when the stream below has something; or it was woken already, because the operator lets go of its task.
//! 3. *Ends once.* After `None` comes `None`, and a stream below that has ended is not polled again.
//! 4. *Drops.* Dropped at any point, it drops the stream below.
//! 5. *Bounded.* One poll takes a bounded number of items from the stream below.
//! 6. *Honest.* `size_hint` is true at every point.
//! 7. *Errors pass.* The errors of the stream below come out unchanged and in order.
//!
//! An operator that waits for something else as well, such as a timer, says so with [`Laws::waits`].
//!
//! # Examples
//!
//! An operator of one's own keeps them; one that takes a shortcut does not:
//!
//! ```
//! use futures::{FutureExt, Stream, StreamExt};
//! use listwatch::testing::laws;
//! use std::{pin::Pin, task::{Context, Poll}};
//!
//! /// Leaves odd numbers out.
//! struct Even<S>(S);
//!
//! impl<S: Stream<Item = Result<u32, String>> + Unpin> Stream for Even<S> {
//!     type Item = S::Item;
//!     fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
//!         match self.0.poll_next_unpin(cx) {
//!             Poll::Ready(Some(Ok(odd))) if odd % 2 == 1 => Poll::Pending, // who wakes the task?
//!             other => other,
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
//! let input = || [Ok(2), Ok(3), Err("cut".to_owned()), Ok(4)];
//! let right = |below: laws::Probe<_>| below.filter(|item| std::future::ready(!matches!(item, Ok(3)))).fuse();
//! laws::of(input, right).hold().await;
//! laws::of(input, right).errors_pass().await;
//!
//! let wrong = laws::of(input, Even);
//! # std::panic::set_hook(Box::new(|_| {}));
//! let broken = std::panic::AssertUnwindSafe(wrong.hold()).catch_unwind().await;
//! assert!(broken.unwrap_err().downcast_ref::<String>().unwrap().contains("Wakes"));
//! # });
//! ```

mod flag;
mod play;
mod probe;
mod suite;

pub use self::probe::Probe;
pub use self::suite::{Laws, of};
