//! Whether a consumer ends where it should when what it sees is late, old or full of gaps, or when it crashes.
//!
//! Sun et al. (Sieve, OSDI 2022) broke ten Kubernetes controllers out of ten in four ways, none of which needs a bug in
//! anything but the controller. Here each is a [`Perturbation`], and one call tries all of them on a consumer of one's
//! own: an async closure that reads through [`Access::client`] and writes through [`Access`].
//!
//! * [`Crash`](Perturbation::Crash): it stops between two of its writes and starts anew, without memory.
//! * [`Stale`](Perturbation::Stale): its server lags behind for some steps, then catches up.
//! * [`Unobserved`](Perturbation::Unobserved): it is cut off for some steps, and what was in between is compacted: it
//!   sees only the state after them.
//! * [`TimeTravel`](Perturbation::TimeTravel): it is reconnected to a server that is still at an earlier step.
//!
//! The trial is a state to begin with and some steps, which change the cluster as users and other controllers do. It is
//! played once undisturbed, then once for each perturbation, the shortest first, and then for as many
//! [pairs](Trial::pairs) of them as were asked for; after each run all objects of the server are compared with those of
//! the undisturbed run. What differs from run to run by nature (uids, versions, times) is left out.
//!
//! # Time
//!
//! It runs in tokio's time, and wants it paused: after each step comes a [wait](Trial::settle) of two minutes.
//!
//! # Examples
//!
//! A consumer that marks each ConfigMap and counts how many it has marked. After a crash it counts from 0 again:
//!
//! ```
//! use futures::StreamExt;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use listwatch::{Change, Reflector, client::Collection, testing::perturb::{self, Access, Perturbation}};
//! use serde_json::json;
//!
//! async fn count(access: Access) {
//!     let mut changes = Reflector::new(Collection::<ConfigMap>::all(access.client()));
//!     let mut count = 0;
//!     while let Some(change) = changes.next().await {
//!         let Change::Added { object, .. } = change else { continue };
//!         if object.data.is_none() {
//!             count += 1;
//!             let patch = json!({"metadata": {"name": object.metadata.name}, "data": {"number": count.to_string()}});
//!             access.patch("configmaps", patch).await.ok();
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
//! let report = perturb::of(count)
//!     .step("a comes", |server| drop(server.create("configmaps", json!({"metadata": {"name": "a"}}))))
//!     .step("b comes", |server| drop(server.create("configmaps", json!({"metadata": {"name": "b"}}))))
//!     .explore()
//!     .await;
//! let found = report.found().expect("a difference");
//! assert_eq!(found.perturbations(), [Perturbation::Crash { after_write: 1 }]);
//! assert_eq!(found.differences(), ["configmaps default/b: /data/number differs"]);
//! # });
//! ```

mod access;
mod end_state;
mod perturbation;
mod report;
mod run;
mod trial;
mod view;

pub use self::access::Access;
pub use self::end_state::EndState;
pub use self::perturbation::Perturbation;
pub use self::report::{Found, Report};
pub use self::trial::{Trial, of};
