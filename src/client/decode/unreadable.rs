use crate::{Unreadable, UnreadableAs};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What can be read of an object that does not decode: its metadata's strings, whatever else is wrong with it.
pub(super) fn known_of(json: &[u8], came_as: UnreadableAs) -> Unreadable {
    let mut known = Known::default();
    // What was read before an error stays.
    let _ = Whole(&mut known).deserialize(&mut serde_json::Deserializer::from_slice(json));
    let Known { namespace, name, uid, resource_version } = known;
    Unreadable::new(came_as, namespace, name).with_identity(uid, resource_version)
}

#[derive(Default)]
struct Known {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

/// Reads the object, of which only `metadata` matters.
struct Whole<'a>(&'a mut Known);

/// Reads the metadata, of which only four strings matter.
struct Metadata<'a>(&'a mut Known);

/// A string; anything else is passed over.
struct Text<'a>(&'a mut String);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == "metadata" {
                map.next_value_seed(Metadata(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Metadata<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let field = match &*key {
                "namespace" => &mut self.0.namespace,
                "name" => &mut self.0.name,
                "uid" => &mut self.0.uid,
                "resourceVersion" => &mut self.0.resource_version,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Text(field))?;
        }
        Ok(())
    }
}

/// Anything but a string, passed over.
macro_rules! pass_over {
    () => {
        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
            IgnoredAny.visit_seq(seq).map(drop)
        }
    };
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        text.clone_into(self.0);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        IgnoredAny.visit_map(map).map(drop)
    }
    pass_over!();
}

macro_rules! seed {
    ($($seed:ident),*) => {$(
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = ();
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    )*};
}
seed!(Whole, Metadata, Text);

#[cfg(test)]
mod tests {
    use super::*;

    fn known(json: &str) -> (String, String, String, String) {
        let known = known_of(json.as_bytes(), UnreadableAs::Added);
        let version = known.resource_version.as_str().to_owned();
        (known.namespace.into(), known.name.into(), known.uid.into(), version)
    }

    fn strings(texts: [&str; 4]) -> (String, String, String, String) {
        let [namespace, name, uid, version] = texts.map(str::to_owned);
        (namespace, name, uid, version)
    }

    #[test]
    fn the_identity_is_read_beside_whatever_is_wrong() {
        let json = r#"{"spec":[{"x":1}],"metadata":{"labels":{"a":[1]},"namespace":"n","name":"a\u0062","uid":"u","resourceVersion":"7"}}"#;
        assert_eq!(known(json), strings(["n", "ab", "u", "7"]));
    }

    #[test]
    fn a_field_of_another_type_is_absent_and_the_others_stay() {
        let json = r#"{"metadata":{"namespace":null,"uid":{"a":[]},"resourceVersion":7,"name":"a","generation":1}}"#;
        assert_eq!(known(json), strings(["", "a", "", ""]));
        assert_eq!(known(r#"{"metadata":{"uid":true,"namespace":[1],"resourceVersion":1.5,"name":"a"}}"#).1, "a");
    }

    #[test]
    fn what_stands_before_an_error_is_kept() {
        assert_eq!(known(r#"{"metadata":{"name":"a","uid":"u","#), strings(["", "a", "u", ""]));
        for json in ["", "[]", "null", r#"{"metadata":[]}"#, r#"{"metadata":"a"}"#] {
            assert_eq!(known(json), strings(["", "", "", ""]), "{json}");
        }
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let deep = format!(r#"{{"a":{}{},"metadata":{{"name":"a"}}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(known(&deep).1, "a");
    }
}
