//! The store: a live, consistent copy of objects that anyone may read.
//!
//! ```text
//! stream --fold--> part \                        / get, snapshot, index
//! stream --fold--> part --> root, root, root --->  subscribe, changed
//! stream --fold--> part /   (one after another)  \ ready, wait_for
//! ```
//!
//! A root is one immutable state: the objects in a persistent trie, the indexes, and what is known of each part. Each
//! event makes a new root out of the present one, which shares all but a path with it, and publishes it by swapping one
//! pointer. So readers hold whatever state they like for as long as they like, and no code of the user's runs under a
//! lock.

mod backlog;
mod changed;
mod changes;
mod checkpoint;
mod draft;
mod fold;
mod follow;
mod index;
mod keep_open;
mod ledger;
mod noting;
mod part;
mod parts;
mod pending;
mod reader;
mod refused;
mod root;
#[cfg(feature = "kube")]
mod select;
mod shared;
mod snapshot;
mod state;
mod stats;
mod subscribe;
mod trie;
mod wait;
mod wait_for;

pub use self::changed::{Changed, Changing, Settle, changed};
pub use self::changes::Changes;
pub(crate) use self::checkpoint::Mark;
pub use self::checkpoint::{Checkpoint, RestoreError};
pub use self::fold::StoreFold;
pub use self::index::{Index, IndexValue, IndexView};
pub use self::keep_open::KeepOpen;
pub use self::ledger::{Ledger, LedgerEntry, Noted, NotedChanges, ledger};
pub use self::noting::Noting;
pub use self::part::{OfPart, Part};
pub use self::reader::{OfStore, Store};
pub use self::refused::Refused;
pub use self::snapshot::Snapshot;
pub use self::state::State;
pub use self::stats::Stats;
pub use self::subscribe::Subscription;
pub use self::wait::{Closed, NotReady, States};
pub use self::wait_for::{NotComparable, Rewound, WaitError};
