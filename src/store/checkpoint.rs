//! Content and version to bytes and back.
//!
//! ```text
//! file   := "listwatch" 0x00 0x01 gzip(lines)
//! lines  := (part object*)* end      one JSON value each
//! part   := {"part": name, "version": "…", "source": label or null, "objects": n, "unreadable": […]}
//! end    := {"end": n}               objects in all
//! ```
//!
//! gzip's own CRC-32 and length cover the content.

mod read;
mod restore_error;
mod write;
pub use self::restore_error::RestoreError;
pub use self::write::Checkpoint;
pub(crate) use self::write::Mark;

use crate::{Unreadable, UnreadableAs};
use serde::{Deserialize, Serialize};

/// What every checkpoint begins with; the last byte is the version of the format.
const MAGIC: &[u8; 11] = b"listwatch\x00\x01";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartLine {
    part: Box<str>,
    version: Box<str>,
    source: Option<Box<str>>,
    objects: u64,
    unreadable: Vec<UnreadableLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: u64,
}

#[derive(Serialize, Deserialize)]
struct UnreadableLine {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    version: Box<str>,
}

impl UnreadableLine {
    fn of(object: &Unreadable) -> Self {
        let Unreadable { namespace, name, uid, resource_version, .. } = object.clone();
        UnreadableLine { namespace, name, uid, version: resource_version.as_str().into() }
    }

    fn object(&self) -> Unreadable {
        let object = Unreadable::new(UnreadableAs::Listed, &*self.namespace, &*self.name);
        object.with_identity(&*self.uid, &*self.version)
    }
}
