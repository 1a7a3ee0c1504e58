//! Many resources mirrored at once.

mod builder;
mod handle;
mod ready;
mod states;

pub use self::builder::MirrorsBuilder;
pub use self::handle::Mirrors;
pub use self::ready::NotAllReady;
pub use self::states::{MirrorState, MirrorStates};
