//! What can be listed and watched, and the streams that come of it.
//!
//! [`ListWatch`] is the seam: two methods that make one request each. `Collection` implements it over HTTP, the
//! testing room has scripted ones, users write their own in twenty lines. From any of them come
//!
//! | stream | what it yields | it ends |
//! |---|---|---|
//! | [`list()`](ListWatch::list) | a snapshot by paged LIST | after its `SnapshotEnd` |
//! | [`watch_from(rv)`](ListWatch::watch_from) | changes from a version on, across reconnects | after an `Err` with Relist |
//! | [`watch_list()`](ListWatch::watch_list) | a snapshot by `sendInitialEvents`, then the watch on the same connection | where a LIST is next |
//! | [`events()`](ListWatch::events) | a snapshot, then the watch, and a new snapshot whenever continuity is lost | never |
//! | [`poll_every(period)`](ListWatch::poll_every) | a snapshot each period, for what cannot be watched | never |
//!
//! They are one driver over one pure decision with different starts. Each is a named type, `Send` and `Unpin`.
//! Errors are items: a stream goes on after one, as its [`recovery`](crate::Error::recovery) says.
//!
//! # Cancel safety
//!
//! Waiting for the next item may be dropped and begun again: nothing is lost. Dropping a stream drops its request,
//! which closes an HTTP/1.1 connection and resets an HTTP/2 stream.
//!
//! # Backpressure
//!
//! Nothing is read ahead: a consumer that waits leaves the bytes in the socket. The streams open nothing faster than
//! their floor allows, and nothing before a server's `Retry-After`, whatever the consumer does.
//!
#![doc = include_str!("rules.md")]

mod any;
mod body;
mod class;
mod driver;
mod internal_errors;
mod lazy;
mod list_watch;
#[cfg(feature = "metrics")]
pub mod metrics;
mod pace;
mod params;
mod plan;
mod reading;
mod relist;
mod settings;
mod shard;
mod stats;
mod streams;

pub use self::any::AnySource;
pub use self::body::{Body, ListBody, ListMeta, ListPart, WatchBody, WireEvent};
pub use self::list_watch::ListWatch;
pub use self::params::{ListParams, VersionMatch, WatchParams};
pub use self::relist::RelistHandle;
pub use self::settings::Strategy;
pub use self::shard::{InvalidShard, Shard, ShardField};
pub use self::stats::{Stats, StatsHandle};
pub use self::streams::{Events, List, PollEvery, WatchFrom, WatchList};

pub(crate) use self::class::{Class, classify, is_too_large};
