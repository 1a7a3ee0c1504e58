//! The operators, one file each, behind [`EventStreamExt`].
//!
//! ```text
//! source -> backoff -> resync -> filter_objects -> reflect(&store) -> on_error -> until -> consumer
//!           |                    |                 |                  |
//!           waits after failures |                 changes            errors out, plain items on
//!                                events, objects as the user wants them
//! ```
//!
//! Nobody need name these types, except to hold a pipeline in a field. Each is an ordinary stream over a stream, `Unpin`
//! where that one is, and keeps the laws of the testing room.

mod backoff;
pub mod changed;
mod checkpoint_every;
mod deletions;
mod expect_kind;
mod ext;
mod filter_objects;
mod fold;
#[cfg(feature = "kube-runtime")]
mod into_kube;
mod map_objects;
mod modify_objects;
mod objects;
mod on_error;
mod only_changed_by;
mod project;
mod reflect;
mod resync;
mod send_to;
mod stage;
#[cfg(feature = "kube")]
mod strip_managed_fields;
mod tee;
mod timer;
mod until;
mod validate;
mod verify_with;

pub use self::backoff::{Backoff, ByRecover, Classify};
pub use self::checkpoint_every::CheckpointEvery;
pub use self::deletions::Deletions;
pub use self::expect_kind::ExpectKind;
pub use self::ext::EventStreamExt;
pub use self::filter_objects::FilterObjects;
pub(crate) use self::fold::sealed;
pub use self::fold::{Fold, IntoFold, Itself};
#[cfg(feature = "kube-runtime")]
pub use self::into_kube::IntoKube;
pub use self::map_objects::MapObjects;
pub use self::modify_objects::ModifyObjects;
pub use self::objects::Objects;
pub use self::on_error::OnError;
pub use self::only_changed_by::OnlyChangedBy;
pub use self::project::Project;
pub use self::reflect::{Reflect, ReflectInto};
pub use self::resync::Resync;
pub use self::send_to::SendTo;
#[cfg(feature = "kube")]
pub use self::strip_managed_fields::StripManagedFields;
pub use self::tee::Tee;
#[cfg(feature = "testing")]
pub(crate) use self::timer::Timer;
pub use self::until::Until;
pub use self::validate::Validate;
pub use self::verify_with::VerifyWith;
