//! A part of a collection by the hash of what names its objects.
mod hash;
mod parse;
mod selector;

pub use self::parse::InvalidShard;
pub use self::selector::{Shard, ShardField};
