//! Kubernetes list, watch-list and watch as composable streams of typed events, folded into a live, consistent store.
//!
//! ```
//! use futures::StreamExt;
//! use listwatch::{DecodeError, Event, EventStreamExt, Object, Raw, Store, testing};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), DecodeError> {
//!     let pod = Raw::decode(br#"{"metadata":{"namespace":"shop","name":"cart","uid":"u1","resourceVersion":"7"}}"#)?;
//!     let store = Store::<Raw>::new();
//!     // A synthetic stream; `Collection::all(client).events()` gives the same of a cluster.
//!     let events = testing::events([Event::SnapshotStart, Event::listed(pod), Event::SnapshotEnd("7".into())]);
//!     let mut changes = events.reflect(&store).on_error(|error| panic!("{error}"));
//!     while let Some(change) = changes.next().await {
//!         println!("{change:?}");
//!     }
//!     assert!(store.contains(("shop", "cart")));
//!     Ok(())
//! }
//! ```
//!
//! # The pipeline
//!
//! ```text
//!  API server
//!    | LIST, watch-list, WATCH
//!    v
//!  Collection::<Pod>::all(client)      what can be listed and watched: a collection, kube::Api, a source of yours
//!    .events()                         Result<Event>: a snapshot, then the watch; heals itself, never ends
//!    .backoff(policy)                  waits after failures
//!    .filter_objects(f)                any operators, yours among them
//!    .resync(period)                   asks for a replay of what is held
//!    .reflect(&store) ------------->   Store: get, snapshot, index, ready, wait_for, subscribe, changed, checkpoint
//!    .on_error(f)                      Change: what each event did to the store
//!    .until(token)
//!    |
//!    v
//!  your loop, or .send_to(sink)
//! ```
//!
//! Five names are enough for the first ten minutes: `Collection`, [`events`](source::ListWatch::events),
//! [`reflect`](EventStreamExt::reflect), [`Store`] and [`Error`]. Every stage is an ordinary stream: it may be left out,
//! replaced, or put between. Every failure is an item that says what comes next ([`Recovery`]), and a stream goes on after
//! it. [`Reflector`] is the chain above as a builder.
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
//! | `client` | `Client` and `Collection`: the API server over HTTP; `Mirrors` of many resources at once |
//! | `testing` | synthetic streams, scripted sources, an in-process API server |
//! | [guides](guides/index.html) | coming from client-go or kube-runtime, writing parts of your own, testing, operating, pitfalls |
//!
//! Why things are as they are is in [design](guides/design/index.html), and what other libraries do in
//! [compare](guides/compare/index.html).
//!
//! # Usage
//!
//! ```toml
//! [dependencies]
//! futures = "0.3"
//! k8s-openapi = { version = "0.29", features = ["latest"] } # needed even if all types are your own
//! listwatch = "0.1"
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//!
//! [dev-dependencies]
//! listwatch = { version = "0.1", features = ["testing"] }
//! tokio = { version = "1", features = ["test-util"] }
//! ```
//!
//! The example above is a program, so to run it `testing` has to be among the features of the dependency. The guide
//! [set up](guides/set_up/index.html) has all dependencies of the guides, and what to import for which method.
//!
//! # What it does not do
//!
//! * **Write.** It reads. `kube::Client` beside it creates, patches and deletes.
//! * **Run controllers.** No reconciler loop, leader election or finalizers; `into_kube()` feeds kube-runtime's
//!   `Controller`, and `examples/controller.rs` shows a small loop.
//! * **Speak anything but JSON.** No protobuf, no CBOR, no `Table`.
//! * **Run on anything but tokio.**
//! * **Keep a history.** A store holds the present state; a subscriber that is behind is told the difference.
//! * **Join.** A stream has objects of one type, a store likewise.
//!
//! # Features
//!
//! * `kube` (default): [`Object`] for every `kube_core::Resource` that deserializes. Not additive for one kind of type:
//!   with it, a type that is a `Resource` cannot have an `Object` implementation of its own. Leave it out where slim
//!   structs are all that is mirrored.
//! * `client` (default): `Client` and `Collection`, over reqwest and rustls with ring. Implies `kube`. Leave it out where
//!   the source is your own, or a `kube::Client`.
//! * `kube-client`: `kube::Api<K>` is a `ListWatch`. Implies `kube`. Not needed for `Collection`.
//! * `kube-runtime`: `into_kube()`, which turns events into kube-runtime's, and `wait_condition()`, which takes its
//!   conditions. Implies `kube`.
//! * `testing`: the testing room. Meant for dev-dependencies: it brings an HTTP server.
//! * `metrics`: feeds the `metrics` facade with what [`source::Stats`] counts, under client-go's names and ours:
//!   `source::metrics` has the table.
//!
//! Without default features the crate is events, operators, store and traits: no HTTP, no TLS.
//!
//! # Minimum Rust version
//!
//! 1.89, which is kube-core's. A rise is a minor release.
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, rustdoc::broken_intra_doc_links)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc(test(attr(deny(warnings))))]

mod change;
mod error;
mod event;
mod grammar;
mod json;
mod key;
mod object;
mod raw;
mod reflector;
mod resource_version;
mod status;

#[cfg(any(feature = "client", feature = "kube-client", fuzzing))]
pub mod client;
// Texts, which only rustdoc reads: the guides of the features that are on.
#[cfg(all(doc, feature = "client", feature = "testing"))]
pub mod guides;
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
pub use self::json::decode_json;
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
