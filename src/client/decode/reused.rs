use crate::{Identity, Object, Store};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use std::{fmt, sync::Arc};

/// The object of this JSON, if the store has it in the same state.
pub(super) fn reused<K: Object>(json: &[u8], store: Option<&Store<K>>) -> Option<Arc<K>> {
    let store = store.filter(|store| !store.is_empty())?;
    let Metadata { namespace, name, uid, resource_version } = metadata(json)?;
    let object = store.get((namespace, name))?;
    let came = Identity { namespace, name, uid, resource_version };
    object.identity().is_unchanged_from(&came).then_some(object)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(default)]
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    resource_version: &'a str,
}

/// What stands in the metadata, which is read no further than to their end: they come first or nearly so. Names with
/// escapes are not read.
fn metadata(json: &[u8]) -> Option<Metadata<'_>> {
    struct UpToMetadata<'a, 'de>(&'a mut Option<Metadata<'de>>);
    impl<'de> Visitor<'de> for UpToMetadata<'_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<&str>()? {
                if key == "metadata" {
                    *self.0 = Some(map.next_value()?);
                    return Ok(());
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut metadata = None;
    // That there is more is an error, which means nothing here.
    let _ = serde_json::Deserializer::from_slice(json).deserialize_map(UpToMetadata(&mut metadata));
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<[&str; 4]> {
        metadata(json.as_bytes()).map(|m| [m.namespace, m.name, m.uid, m.resource_version])
    }

    #[test]
    fn metadata_are_read_wherever_they_stand_and_nothing_after_them() {
        let metadata = r#""metadata":{"labels":{"a":"b"},"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}"#;
        for json in [
            format!("{{{metadata}}}"),
            format!(r#"{{"kind":"Pod","spec":{{"metadata":{{}}}},{metadata}}}"#),
            format!(r#"{{{metadata},"spec":nonsense"#),
        ] {
            assert_eq!(read(&json), Some(["n", "a", "u", "7"]), "{json}");
        }
        assert_eq!(read(r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#), Some(["", "a", "u", "7"]));
    }

    #[test]
    fn what_says_too_little_is_not_reused() {
        for json in [
            "",
            "[]",
            "{}",
            r#"{"metadata":null}"#,
            r#"{"metadata":{"name":"a","uid":"u"}}"#,
            r#"{"metadata":{"name":"\u0061","uid":"u","resourceVersion":"7"}}"#,
            r#"{"metadata":{"name":"a","uid":null,"resourceVersion":"7"}}"#,
        ] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
