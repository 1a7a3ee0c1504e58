//! The operators and what they stand on, in one binary: linking is the cost of tests.

mod backoff;
mod laws;
mod on_error;
mod policy;
mod reflect;
mod resync;
mod script;
mod tee;
mod until;
mod validate;
