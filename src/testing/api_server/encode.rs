//! JSON as the server writes it: field order of Go structs for built-in types, sorted keys for custom resources, and
//! `<`, `>`, `&` escaped.

use super::resource::Resource;
use serde_json::{Map, Value};
use std::io::Write;

/// What of an object is encoded, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The whole object.
    Whole,
    /// `PartialObjectMetadata`: the metadata only.
    Metadata,
}

/// The order in which built-in types write their metadata; what is not named follows.
const METADATA: [&str; 13] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
];

/// The object on its own, or as an item of a list (where built-in types carry no kind).
pub(super) fn object(out: &mut Vec<u8>, resource: &Resource, object: &Value, shape: Shape, item: bool) {
    let empty = Map::new();
    let members = object.as_object().unwrap_or(&empty);
    if shape == Shape::Metadata {
        out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#);
        metadata(out, members.get("metadata"));
        out.push(b'}');
    } else if resource.custom {
        value(out, object);
    } else {
        out.push(b'{');
        if !item {
            type_meta(out, &resource.kind, &resource.api_version());
            out.push(b',');
        }
        out.extend_from_slice(br#""metadata":"#);
        metadata(out, members.get("metadata"));
        let mut rest: Vec<_> =
            members.iter().filter(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion" | "metadata")).collect();
        rest.sort_by_key(|(key, _)| key.as_str());
        for (key, member) in rest {
            out.push(b',');
            string(out, key);
            out.push(b':');
            value(out, member);
        }
        out.push(b'}');
    }
}

/// An empty object of the kind that carries a version, as bookmarks do.
pub(super) fn bookmark(out: &mut Vec<u8>, resource: &Resource, version: u64, initial_end: bool, shape: Shape) {
    let annotations = if initial_end { r#""annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
    let comma = if initial_end { "," } else { "" };
    let (kind, api_version) = (&resource.kind, resource.api_version());
    let written = if shape == Shape::Metadata {
        write!(
            out,
            r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{version}"{comma}{annotations}}}}}"#
        )
    } else if resource.custom {
        write!(
            out,
            r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{{annotations}{comma}"resourceVersion":"{version}"}}}}"#
        )
    } else {
        let rest = if resource.blank.is_empty() { String::new() } else { format!(",{}", resource.blank) };
        write!(
            out,
            r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{version}"{comma}{annotations}}}{rest}}}"#
        )
    };
    debug_assert!(written.is_ok(), "writing to memory does not fail");
}

/// The type members of a built-in object, in their order.
pub(super) fn type_meta(out: &mut Vec<u8>, kind: &str, api_version: &str) {
    out.extend_from_slice(br#""kind":"#);
    string(out, kind);
    out.extend_from_slice(br#","apiVersion":"#);
    string(out, api_version);
}

fn metadata(out: &mut Vec<u8>, metadata: Option<&Value>) {
    let Some(Value::Object(members)) = metadata else {
        out.extend_from_slice(b"{}");
        return;
    };
    let rank = |key: &str| METADATA.iter().position(|known| *known == key).unwrap_or(METADATA.len());
    let mut ordered: Vec<_> = members.iter().collect();
    ordered.sort_by_key(|(key, _)| (rank(key), key.as_str()));
    map(out, ordered);
}

fn map<'a>(out: &mut Vec<u8>, members: impl IntoIterator<Item = (&'a String, &'a Value)>) {
    out.push(b'{');
    for (i, (key, member)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        string(out, key);
        out.push(b':');
        value(out, member);
    }
    out.push(b'}');
}

/// A document that is no object of a resource: kind and version first.
pub(super) fn document(out: &mut Vec<u8>, document: &Value) {
    let empty = Map::new();
    let members = document.as_object().unwrap_or(&empty);
    let rank = |key: &str| ["kind", "apiVersion"].iter().position(|known| *known == key).unwrap_or(2);
    let mut ordered: Vec<_> = members.iter().collect();
    ordered.sort_by_key(|(key, _)| (rank(key), key.as_str()));
    map(out, ordered);
}

/// Any value, with sorted keys.
pub(super) fn value(out: &mut Vec<u8>, value_: &Value) {
    match value_ {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
        Value::Number(n) => out.extend_from_slice(n.to_string().as_bytes()),
        Value::String(s) => string(out, s),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                value(out, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut ordered: Vec<_> = members.iter().collect();
            ordered.sort_by_key(|(key, _)| key.as_str());
            map(out, ordered);
        }
    }
}

/// A string with the escapes of Go's encoder.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(br#"\""#),
            '\\' => out.extend_from_slice(br"\\"),
            '\n' => out.extend_from_slice(br"\n"),
            '\r' => out.extend_from_slice(br"\r"),
            '\t' => out.extend_from_slice(br"\t"),
            '\u{8}' => out.extend_from_slice(br"\b"),
            '\u{c}' => out.extend_from_slice(br"\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
