use super::{
    object::{is_json, object},
    status::status_in,
};
use crate::{Error, Object, Store, UnreadableAs, source::WireEvent};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One line of a watch. What was ADDED is taken from the store where it has the same, as when a watch begins with all
/// that there is.
pub(super) fn event<K: Object>(line: &[u8], store: Option<&Store<K>>) -> Result<WireEvent<K>, Error> {
    if let Some((kind, json)) = as_servers_write_it(line)
        && let Some(event) = of_object(kind, json, store)
        && (event.is_ok() || is_json(json))
    {
        return event;
    }
    let Envelope { kind, object } = serde_json::from_slice(line).map_err(|_| Error::garbage("a line is no event"))?;
    if str::from_utf8(line).is_err() {
        return Err(Error::garbage("a line is no UTF-8"));
    }
    let json = object.get().as_bytes();
    match &*kind {
        "BOOKMARK" => bookmark(json),
        "ERROR" => Ok(WireEvent::Error(match status_in(json) {
            Some(status) => Error::from_event(status),
            None => Error::other("an ERROR event without a Status"),
        })),
        kind => of_object(kind, json, store).unwrap_or_else(|| Ok(WireEvent::Unknown(shortened(kind).into()))),
    }
}

fn of_object<K: Object>(kind: &str, json: &[u8], store: Option<&Store<K>>) -> Option<Result<WireEvent<K>, Error>> {
    let (came_as, make): (_, fn(_) -> _) = match kind {
        "ADDED" => (UnreadableAs::Added, WireEvent::Added),
        "MODIFIED" => (UnreadableAs::Modified, WireEvent::Modified),
        "DELETED" => (UnreadableAs::Deleted, WireEvent::Deleted),
        _ => return None,
    };
    let store = store.filter(|_| came_as == UnreadableAs::Added);
    Some(object(json, came_as, store).map(make))
}

/// Type and object of a line of the shape that API servers write, so that the object is read once, by its own type.
/// If the line has another shape after all, the object will not decode, and the line is looked at in full.
fn as_servers_write_it(line: &[u8]) -> Option<(&str, &[u8])> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let end = memchr::memchr(b'"', rest)?;
    let json = rest[end..].strip_prefix(br#"","object":"#)?.strip_suffix(b"}")?;
    Some((str::from_utf8(&rest[..end]).ok()?, json))
}

#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

fn bookmark<K>(json: &[u8]) -> Result<WireEvent<K>, Error> {
    #[derive(serde::Deserialize)]
    struct Bookmark<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata<'a> {
        #[serde(borrow, default)]
        resource_version: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        annotations: Option<Annotations<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct Annotations<'a> {
        #[serde(rename = "k8s.io/initial-events-end", borrow, default)]
        initial_events_end: Option<Cow<'a, str>>,
    }
    let Bookmark { metadata } =
        serde_json::from_slice(json).map_err(|_| Error::garbage("a BOOKMARK without metadata"))?;
    Ok(WireEvent::Bookmark {
        resource_version: metadata.resource_version.unwrap_or_default().as_ref().into(),
        initial_events_end: metadata.annotations.and_then(|a| a.initial_events_end).map(|value| value.into()),
    })
}

/// Enough of an unknown type to recognise it.
fn shortened(kind: &str) -> &str {
    &kind[..kind.char_indices().nth(40).map_or(kind.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Raw;

    fn decoded(line: &str) -> Result<WireEvent<Raw>, Error> {
        event(line.as_bytes(), None)
    }

    #[test]
    fn objects_come_from_the_usual_shape_and_any_other() {
        for line in [
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#,
            r#"{"type":"ADDED", "object":{"metadata":{"name":"a"}}}"#,
            r#"{"object":{"metadata":{"name":"a"}},"type":"ADDED"}"#,
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}},"more":1}"#,
            r#"{"type":"\u0041DDED","object":{"metadata":{"name":"a"}}}"#,
        ] {
            let WireEvent::Added(raw) = decoded(line).expect(line) else { panic!("{line}") };
            assert_eq!(raw.json(), br#"{"metadata":{"name":"a"}}"#, "{line}");
        }
        assert!(matches!(
            decoded(r#"{"type":"MODIFIED","object":{"metadata":{"name":"a"}}}"#),
            Ok(WireEvent::Modified(_))
        ));
        assert!(matches!(
            decoded(r#"{"type":"DELETED","object":{"metadata":{"name":"a"}}}"#),
            Ok(WireEvent::Deleted(_))
        ));
    }

    #[test]
    fn bookmarks_are_read_without_the_object() {
        let line = r#"{"type":"BOOKMARK","object":{"kind":1,"metadata":{"resourceVersion":"7","annotations":{"a":1,"k8s.io/initial-events-end":"true"}},"spec":{"containers":null}}}"#;
        let Ok(WireEvent::Bookmark { resource_version, initial_events_end }) = decoded(line) else { panic!() };
        assert_eq!((resource_version.as_str(), initial_events_end.as_deref()), ("7", Some("true")));
        for annotations in ["", r#","annotations":null"#, r#","annotations":{}"#] {
            let line =
                format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"7"{annotations}}}}}}}"#);
            let Ok(WireEvent::Bookmark { initial_events_end: None, .. }) = decoded(&line) else { panic!("{line}") };
        }
        assert!(decoded(r#"{"type":"BOOKMARK","object":{}}"#).unwrap_err().is_garbage());
    }

    #[test]
    fn an_error_event_is_its_status_or_something_else() {
        let line = r#"{"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410}}"#;
        let Ok(WireEvent::Error(error)) = decoded(line) else { panic!() };
        assert!(error.is_expired());
        let line = r#"{"type":"ERROR","object":{"kind":"Pod","metadata":{"name":"secret"}}}"#;
        let Ok(WireEvent::Error(error)) = decoded(line) else { panic!() };
        assert!(error.status().is_none() && !format!("{error:?}").contains("secret"));
    }

    #[test]
    fn an_unknown_type_is_unknown_and_short() {
        let Ok(WireEvent::Unknown(kind)) = decoded(r#"{"type":"RENAMED","object":{}}"#) else { panic!() };
        assert_eq!(&*kind, "RENAMED");
        let long = format!(r#"{{"type":"{}","object":{{}}}}"#, "é".repeat(1000));
        let Ok(WireEvent::Unknown(kind)) = decoded(&long) else { panic!() };
        assert_eq!(kind.chars().count(), 40);
    }

    #[test]
    fn lines_that_are_no_events_are_garbage() {
        for line in [
            "x",
            "{",
            "[]",
            "{}",
            r#"{"type":"ADDED"}"#,
            r#"{"type":1,"object":{}}"#,
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}"#,
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}{"#,
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}},"type":"DELETED"}"#,
            r#"{"type":"ADDED","object":}"#,
        ] {
            let error = decoded(line).expect_err(line);
            assert!(error.is_garbage(), "{line}: {error}");
        }
        let invalid = [br#"{"type":"ADDED","object":{"metadata":{"name":""#.as_slice(), &[0xff], br#""}}}"#].concat();
        assert!(event::<Raw>(&invalid, None).unwrap_err().is_garbage());
    }

    #[test]
    fn an_object_that_does_not_decode_is_unreadable_with_what_is_known() {
        let line = r#"{"type":"DELETED","object":{"kind":{"a":1},"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"7"}}}"#;
        let error = decoded(line).unwrap_err();
        let object = error.object().expect("unreadable");
        assert_eq!((object.came_as, &*object.namespace, &*object.name), (UnreadableAs::Deleted, "n", "a"));
        assert_eq!((&*object.uid, object.resource_version.as_str()), ("u", "7"));
        for object in ["null", "[]", "7", "{}"] {
            let error = decoded(&format!(r#"{{"type":"ADDED","object":{object}}}"#)).unwrap_err();
            assert_eq!(error.object().map(|object| &*object.name), Some(""), "{object}");
        }
    }
}
