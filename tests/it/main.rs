//! The operators and what they stand on, in one binary: linking is the cost of tests.

mod auto_traits;
mod backoff;
mod filter_objects;
#[cfg(feature = "kube-runtime")]
mod into_kube;
mod laws;
mod objects;
mod on_error;
mod only_changed_by;
mod policy;
mod reflect;
mod resync;
mod script;
mod send_to;
mod tee;
mod until;
mod validate;
