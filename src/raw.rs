use crate::{DecodeError, Identity, Kinded, Object};
use bytes::Bytes;
use std::{fmt, ops::Range};

/// An object that keeps its JSON and decodes it when asked, for kinds that are looked at rarely.
///
/// # Memory
///
/// One allocation of the length of the JSON, and ranges into it. `Debug` shows namespace and name, never content.
///
/// ```
/// use listwatch::{Object, Raw};
///
/// let raw = Raw::decode(br#"{"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"data":{"k":"v"}}"#)?;
/// assert_eq!(raw.identity().name, "a");
/// let value: serde_json::Value = raw.parse()?;
/// assert_eq!(value["data"]["k"], "v");
/// # Ok::<(), listwatch::DecodeError>(())
/// ```
#[derive(Clone)]
pub struct Raw {
    json: Bytes,
    fields: [Field; 6],
}

/// Where a field stands in the JSON, or its text where the JSON escapes it.
#[derive(Clone)]
enum Field {
    At(Range<u32>),
    Escaped(Box<str>),
}

const NAMESPACE: usize = 0;
const NAME: usize = 1;
const UID: usize = 2;
const VERSION: usize = 3;
const API_VERSION: usize = 4;
const KIND: usize = 5;

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, default)]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default)]
    uid: Text<'a>,
    #[serde(borrow, default)]
    resource_version: Text<'a>,
}

/// `Cow` alone would not borrow inside of a struct that derives.
#[derive(Default, serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

impl Raw {
    /// The object's JSON as the server sent it, without the space around it.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// The object as any type.
    ///
    /// # Errors
    ///
    /// Where the JSON does not fit the type.
    pub fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, DecodeError> {
        Ok(serde_json::from_slice(&self.json)?)
    }

    fn field(&self, which: usize) -> &str {
        match &self.fields[which] {
            Field::At(range) => {
                let bytes = &self.json[range.start as usize..range.end as usize];
                str::from_utf8(bytes).unwrap_or_default() // it was a `str` when its place was noted
            }
            Field::Escaped(text) => text,
        }
    }
}

impl Object for Raw {
    fn identity(&self) -> Identity<'_> {
        Identity {
            namespace: self.field(NAMESPACE),
            name: self.field(NAME),
            uid: self.field(UID),
            resource_version: self.field(VERSION),
        }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let head: Head<'_> = crate::decode_json(json)?;
        let place = |text: Text<'_>| {
            let start = (text.0.as_ptr() as usize).wrapping_sub(json.as_ptr() as usize);
            let end = start.wrapping_add(text.0.len());
            match (text.0, u32::try_from(start), u32::try_from(end)) {
                (std::borrow::Cow::Borrowed(_), Ok(start), Ok(end)) if end as usize <= json.len() => {
                    Field::At(start..end)
                }
                (text, ..) => Field::Escaped(text.into()),
            }
        };
        let meta = head.metadata;
        let fields = [meta.namespace, meta.name, meta.uid, meta.resource_version, head.api_version, head.kind];
        Ok(Raw { fields: fields.map(place), json: Bytes::copy_from_slice(json) })
    }

    fn carries_kind() -> bool {
        true
    }
}

impl Kinded for Raw {
    fn api_version_kind(&self) -> Option<(&str, &str)> {
        let kind = self.field(KIND);
        (!kind.is_empty()).then(|| (self.field(API_VERSION), kind))
    }
}

/// Equal JSON, byte for byte.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { namespace, name, .. } = self.identity();
        f.debug_struct("Raw").field("namespace", &namespace).field("name", &name).finish_non_exhaustive()
    }
}

impl serde::Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &serde_json::value::RawValue =
            serde_json::from_slice(&self.json).map_err(serde::ser::Error::custom)?;
        serde::Serialize::serialize(json, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json: Box<serde_json::value::RawValue> = serde::Deserialize::deserialize(deserializer)?;
        Raw::decode(json.get().as_bytes()).map_err(serde::de::Error::custom)
    }
}
