//! Send, Sync and Unpin of every public type, stated. Pipelines of `Unpin` streams are `Unpin`, so that nobody needs
//! `pin!`; boxes of user code are as good as what they hold.

use listwatch::{
    Change, DecodeError, DeleteReason, Error, Event, ExponentialBackoff, Grammar, GrammarError, Identity,
    InvalidVersion, Key, OwnedKey, Raw, Recovery, ResourceVersion, Status, StatusCause, Unreadable, UnreadableAs, ops,
    policy, source, testing,
};
use std::{cell::Cell, marker::PhantomPinned, rc::Rc};

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
