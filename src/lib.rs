//! Kubernetes list, watch-list and watch as composable streams of typed events, folded into a live, consistent store.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use futures::StreamExt;
//! use listwatch::{Event, EventStreamExt, Object, Raw, Store, testing};
//!
//! let pod = Raw::decode(br#"{"metadata":{"namespace":"shop","name":"cart","uid":"u1","resourceVersion":"7"}}"#)?;
//! let store = Store::<Raw>::new();
//! // A synthetic stream; `Collection::all(client).events()` gives the same of a cluster.
//! let events = testing::events([Event::SnapshotStart, Event::listed(pod), Event::SnapshotEnd("7".into())]);
//! let mut changes = events.reflect(&store).on_error(|error| panic!("{error}"));
//! while let Some(change) = changes.next().await {
//!     println!("{change:?}");
//! }
//! assert!(store.contains(("shop", "cart")));
//! # Ok::<_, listwatch::DecodeError>(()) }).unwrap();
//! ```
//!
//! # Rooms
//!
//! | room | what is in it |
//! |---|---|
//! | [`Event`], [`Change`], [`ResourceVersion`], [`Grammar`] | the vocabulary: what a stream says, what it did to a store |
//! | [`Object`], [`Raw`], [`Key`] | what can be mirrored, and how it is named |
//! | [`Error`], [`Recovery`], [`Recover`] | what failed, and what the stream does next |
//! | [`source`] | [`ListWatch`](source::ListWatch) and the streams `list()`, `watch_list()`, `watch_from()`, `events()`, `poll_every()` |
//! | [`ops`] | the operators, one file each, behind [`EventStreamExt`] |
//! | [`policy`] | how long to wait after failures |
//! | [`store`] | [`Store`]: the live copy, its snapshots and states |
//! | [`Reflector`] | the standard composition of all of these |
//! | `client` | [`Client`](client::Client) and [`Collection`](client::Collection): the API server over HTTP; [`Mirrors`](client::Mirrors) of many resources at once |
//! | `testing` | synthetic streams, scripted sources, an in-process API server |
//!
//! # Features
//!
//! * `kube` (default): [`Object`] for every `kube_core::Resource` that deserializes. Not additive for one kind of type:
//!   with it, a type that is a `Resource` cannot have an `Object` implementation of its own.
//! * `client` (default): `Client` and `Collection`, over reqwest and rustls with ring. Implies `kube`.
//! * `kube-client`: `kube::Api<K>` is a `ListWatch`. Implies `kube`.
//! * `kube-runtime`: `into_kube()`, which turns events into kube-runtime's. Implies `kube`.
//! * `testing`: the testing room. Meant for dev-dependencies.
//! * `metrics`: feeds the `metrics` facade with what [`source::Stats`] counts, under client-go's names
//!   (`reflector_lists_total`, `reflector_list_duration_seconds`, `reflector_items_per_list`, `reflector_watches_total`,
//!   `reflector_short_watches_total`, `reflector_watch_duration_seconds`, `reflector_last_resource_version`) and ours
//!   (`reflector_events_total`, `reflector_skipped_objects_total`, `reflector_errors_total`), labelled with the
//!   stream's `name` and `resource`.
//!
//! Without default features the crate is events, operators, store and traits: no HTTP, no TLS.
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, rustdoc::broken_intra_doc_links)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc(test(attr(deny(warnings))))]

mod change;
mod error;
mod event;
mod grammar;
mod key;
mod object;
mod raw;
mod reflector;
mod resource_version;
mod status;

#[cfg(any(feature = "client", feature = "kube-client", fuzzing))]
pub mod client;
pub mod ops;
pub mod policy;
pub mod source;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;

pub use self::change::{Change, DeleteReason};
pub use self::error::{DecodeError, Error, Recover, Recovery, Unreadable, UnreadableAs};
pub use self::event::Event;
pub use self::grammar::{Grammar, GrammarError};
pub use self::key::{Key, OwnedKey};
pub use self::object::{Identity, Kinded, Object};
pub use self::ops::{EventStreamExt, Fold, IntoFold};
pub use self::policy::ExponentialBackoff;
pub use self::raw::Raw;
pub use self::reflector::{Ended, Reflector, ReflectorHandle};
pub use self::resource_version::{InvalidVersion, ResourceVersion};
pub use self::status::{Status, StatusCause};
pub use self::store::{Snapshot, State, Store};

/// Any error, as the crate passes on those of users.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The README's examples are compiled by the tests.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
mod readme {}
