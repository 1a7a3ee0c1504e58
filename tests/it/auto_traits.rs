//! Send, Sync and Unpin of every public type, stated. Pipelines of `Unpin` streams are `Unpin`, so that nobody needs
//! `pin!`; boxes of user code are as good as what they hold.

use listwatch::{
    Change, DecodeError, DeleteReason, Ended, Error, Event, ExponentialBackoff, Grammar, GrammarError, Identity,
    InvalidVersion, Key, OwnedKey, Raw, Recovery, Reflector, ReflectorHandle, ResourceVersion, Snapshot, State, Status,
    StatusCause, Store, Unreadable, UnreadableAs, ops, policy, source, store, testing,
};
use std::{cell::Cell, fs, marker::PhantomPinned, path::Path, rc::Rc};

/// Neither Send nor Sync.
type Local = Rc<()>;
/// Send, not Sync.
type SendOnly = Cell<()>;
/// Not Unpin.
type Pinned = PhantomPinned;
/// As streams are.
type Stream = source::Events<Raw>;

macro_rules! assert_traits {
    ($($type:ty: $($trait:ident)*;)*) => {
        $($(const _: fn() = || {
            fn check<T: ?Sized + $trait>() {}
            check::<$type>();
        };)*)*
    };
}

/// Fails to compile, for lack of a choice, where the type has the trait.
macro_rules! assert_not {
    ($($type:ty: $($trait:ident)*;)*) => {
        $($(const _: fn() = || {
            trait Ambiguous<A> {
                fn some() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            struct Has;
            impl<T: ?Sized + $trait> Ambiguous<Has> for T {}
            let _ = <$type as Ambiguous<_>>::some;
        };)*)*
    };
}

// The vocabulary.
assert_traits! {
    Event<Raw>: Send Sync Unpin;
    Event<Pinned>: Unpin;
    Change<Raw>: Send Sync Unpin;
    Change<Pinned>: Unpin;
    DeleteReason: Send Sync Unpin;
    Error: Send Sync Unpin;
    DecodeError: Send Sync Unpin;
    Recovery: Send Sync Unpin;
    Unreadable: Send Sync Unpin;
    UnreadableAs: Send Sync Unpin;
    Grammar: Send Sync Unpin;
    GrammarError: Send Sync Unpin;
    Identity<'_>: Send Sync Unpin;
    Key<'_>: Send Sync Unpin;
    OwnedKey: Send Sync Unpin;
    Raw: Send Sync Unpin;
    ResourceVersion: Send Sync Unpin;
    InvalidVersion: Send Sync Unpin;
    Status: Send Sync Unpin;
    StatusCause: Send Sync Unpin;
}
assert_not! {
    Event<Local>: Send Sync;
    Event<SendOnly>: Send Sync;
    Change<Local>: Send Sync;
}

// Sources. A stream holds a request that runs, which need not be shared: Send, not Sync.
assert_traits! {
    source::AnySource<Raw>: Send Sync Unpin;
    source::ListBody<Raw>: Send Unpin;
    source::WatchBody<Raw>: Send Unpin;
    source::ListPart<Raw>: Send Sync Unpin;
    source::ListMeta: Send Sync Unpin;
    source::WireEvent<Raw>: Send Sync Unpin;
    source::ListParams: Send Sync Unpin;
    source::WatchParams: Send Sync Unpin;
    source::VersionMatch: Send Sync Unpin;
    source::Strategy: Send Sync Unpin;
    source::Shard: Send Sync Unpin;
    source::ShardField: Send Sync Unpin;
    source::InvalidShard: Send Sync Unpin;
    source::Stats: Send Sync Unpin;
    source::StatsHandle: Send Sync Unpin;
    source::List<Raw>: Send Unpin;
    source::WatchFrom<Raw>: Send Unpin;
    source::WatchList<Raw>: Send Unpin;
    source::Events<Raw>: Send Unpin;
    source::PollEvery<Raw>: Send Unpin;
}
assert_not! {
    source::Events<Raw>: Sync;
    source::ListBody<Raw>: Sync;
}

// Operators: as good as the stream below and the code that they hold.
assert_traits! {
    ops::Backoff<Stream, ExponentialBackoff>: Send Unpin;
    ops::Backoff<(), ExponentialBackoff>: Sync;
    ops::ByRecover: Send Sync Unpin;
    ops::Deletions<Stream>: Send Unpin;
    ops::Deletions<()>: Sync;
    ops::ExpectKind<Stream>: Send Unpin;
    ops::ExpectKind<()>: Sync;
    ops::FilterObjects<Stream, Pinned>: Send Unpin;
    ops::FilterObjects<(), ()>: Sync;
    ops::Itself: Send Sync Unpin;
    ops::MapObjects<Stream, Pinned>: Send Unpin;
    ops::MapObjects<(), ()>: Sync;
    ops::ModifyObjects<Stream, Pinned>: Send Unpin;
    ops::ModifyObjects<(), ()>: Sync;
    ops::Objects<Stream>: Send Unpin;
    ops::Objects<()>: Sync;
    ops::OnError<Stream, Pinned>: Send Unpin;
    ops::OnError<(), ()>: Sync;
    ops::OnlyChangedBy<Stream, Pinned>: Send Unpin;
    ops::OnlyChangedBy<(), ()>: Sync;
    ops::Reflect<Stream, Pinned, Pinned>: Send Unpin;
    ops::Reflect<(), (), ()>: Sync;
    ops::Resync<Stream, Pinned>: Send Unpin;
    ops::Resync<(), ()>: Sync;
    ops::SendTo<Stream, (), Local, Pinned>: Send Unpin;
    ops::SendTo<(), (), Local, ()>: Sync;
    ops::StripManagedFields<Stream>: Send Unpin;
    ops::StripManagedFields<()>: Sync;
    ops::Tee<Stream, Pinned>: Send Unpin;
    ops::Tee<(), ()>: Sync;
    ops::Until<Stream>: Send Unpin;
    ops::Until<()>: Sync;
    ops::Validate<Stream>: Send Unpin;
    ops::Validate<()>: Sync;
    ops::VerifyWith<Stream, Raw, Raw, Pinned>: Send Unpin;
}
#[cfg(feature = "kube-runtime")]
assert_traits! {
    ops::IntoKube<Stream, Raw>: Send Unpin;
    ops::IntoKube<(), Raw>: Sync;
}
assert_not! {
    ops::MapObjects<(), Local>: Send Sync;
    ops::MapObjects<Pinned, ()>: Unpin;
    ops::Reflect<(), Local, ()>: Send Sync;
    ops::Reflect<Pinned, (), ()>: Unpin;
    ops::SendTo<(), Pinned, (), ()>: Unpin;
    ops::VerifyWith<(), Raw, Raw, ()>: Sync; // it holds a request
}

// Policies.
assert_traits! {
    ExponentialBackoff: Send Sync Unpin;
    policy::ExponentialBackoffBuilder: Send Sync Unpin;
    policy::FixedBackoff: Send Sync Unpin;
    policy::InvalidBackoff: Send Sync Unpin;
}

// The testing room.
assert_traits! {
    testing::Script<Raw>: Send Sync Unpin;
    testing::Script<Pinned>: Unpin;
    testing::laws::Probe<Raw>: Send Sync Unpin;
    testing::laws::Probe<Pinned>: Unpin;
    testing::laws::Laws<(), ()>: Send Sync Unpin;
}

// The store, and who reads it.
assert_traits! {
    Store<Raw>: Send Sync Unpin;
    Store<Pinned>: Unpin;
    Snapshot<Raw>: Send Sync Unpin;
    State: Send Sync Unpin;
    store::Changes<Raw>: Send Sync Unpin;
    store::StoreFold<Raw>: Send Sync Unpin;
    store::Index<Raw, String>: Send Sync Unpin;
    store::IndexView<'_, Raw, String>: Send Sync Unpin;
    store::Part<Raw>: Send Sync Unpin;
    store::OfPart: Send Sync Unpin;
    store::OfStore: Send Sync Unpin;
    store::Refused: Send Sync Unpin;
    store::Stats: Send Sync Unpin;
    store::Closed: Send Sync Unpin;
    store::NotReady: Send Sync Unpin;
    store::States<Raw>: Send Unpin;
    store::Subscription<Raw>: Send Unpin;
    store::Noting<Raw>: Send Unpin;
    store::Ledger<Raw>: Send Sync Unpin;
    store::Ledger<Local>: Send Sync;
    store::LedgerEntry: Send Sync Unpin;
    store::Noted<Raw>: Send Sync Unpin;
    store::Noted<Pinned>: Unpin;
    store::NotedChanges<Raw>: Send Sync Unpin;
    store::Changed: Send Unpin;
    store::Settle: Send Unpin;
    store::KeepOpen<Raw>: Send Sync Unpin;
    store::Checkpoint<Raw>: Send Sync Unpin;
    ops::CheckpointEvery<Stream, Raw>: Send Unpin;
    store::RestoreError: Send Sync Unpin;
    store::WaitError: Send Sync Unpin;
    store::Rewound: Send Sync Unpin;
    store::NotComparable: Send Sync Unpin;
}
assert_not! {
    Store<Local>: Send Sync;
    Snapshot<Local>: Send Sync;
}

// The standard composition: a stream, so Send and not Sync.
assert_traits! {
    Reflector<Raw>: Send Unpin;
    ReflectorHandle<Raw>: Send Sync Unpin;
    Ended: Send Sync Unpin;
    source::RelistHandle: Send Sync Unpin;
}

// The client.
#[cfg(any(feature = "client", feature = "kube-client"))]
assert_traits! {
    listwatch::client::ListDecoder: Send Sync Unpin;
    listwatch::client::WatchDecoder: Send Sync Unpin;
}
#[cfg(feature = "client")]
assert_traits! {
    listwatch::client::ClientBuilder: Send Sync Unpin;
    listwatch::client::Client: Send Sync Unpin;
    listwatch::client::Discovered: Send Sync Unpin;
    listwatch::client::ListRate: Send Sync Unpin;
    listwatch::client::Mirrors: Send Sync Unpin;
    listwatch::client::MirrorsBuilder: Send Unpin;
    listwatch::client::MirrorState: Send Sync Unpin;
    listwatch::client::MirrorStates: Send Sync Unpin;
    listwatch::client::NotAllReady: Send Sync Unpin;
    listwatch::client::Collection<Raw>: Send Sync Unpin;
    listwatch::client::Collection<Pinned>: Unpin;
    listwatch::client::ObjectStates<Raw>: Send Unpin;
    listwatch::client::Headers: Send Sync Unpin;
    listwatch::client::Request: Send Sync Unpin;
    listwatch::client::RequestKind: Send Sync Unpin;
    listwatch::client::Response: Send Unpin;
    listwatch::client::Credential: Send Sync Unpin;
    listwatch::client::TokenFile: Send Sync Unpin;
}

// Perturbed runs: what a trial is made of stays on its thread.
#[cfg(feature = "client")]
assert_traits! {
    testing::perturb::Access: Send Sync Unpin;
    testing::perturb::EndState: Send Sync Unpin;
    testing::perturb::Found: Send Sync Unpin;
    testing::perturb::Perturbation: Send Sync Unpin;
    testing::perturb::Report: Send Sync Unpin;
    testing::perturb::Trial<()>: Unpin;
}

// More of the testing room.
assert_traits! {
    testing::ScriptedApi<Raw>: Send Sync Unpin;
    testing::Step<Raw>: Send Sync Unpin;
    testing::Call: Send Sync Unpin;
    testing::ApiServer: Send Sync Unpin;
    testing::ApiServerBuilder: Send Sync Unpin;
    testing::At: Send Sync Unpin;
    testing::Connection: Send Sync Unpin;
    testing::Ending: Send Sync Unpin;
    testing::Fault: Send Sync Unpin;
    testing::Match: Send Sync Unpin;
    testing::Refusal: Send Sync Unpin;
    testing::Request: Send Sync Unpin;
    testing::Resource: Send Sync Unpin;
    testing::Times: Send Sync Unpin;
}

/// Public types are declared in lines that begin with `pub struct` or `pub enum`; each is named above.
#[test]
fn every_public_type_is_stated() {
    let stated = include_str!("auto_traits.rs");
    let mut missing = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue; // guides declare types of their own
            }
            for line in fs::read_to_string(&path).unwrap().lines() {
                let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) else {
                    continue;
                };
                let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                let of = |end: &str| stated.contains(&format!("{name}{end}"));
                if !of(":") && !of("<") {
                    missing.push(format!("{name} in {}", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "public types of which nothing is stated: {missing:#?}");
}
