use bytes::{BufMut, Bytes, BytesMut};

/// `apiVersion` and `kind` of the items of a list, which servers leave out of the items of built-in types.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kinds {
    api_version: String,
    kind: String,
}

impl Kinds {
    pub(super) fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        Kinds { api_version: api_version.into(), kind: kind.into() }
    }

    /// The list's own, less its `List`.
    pub(super) fn of_list(api_version: &str, kind: &str) -> Option<Self> {
        let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(Kinds::new(api_version, kind))
    }

    /// The item with these in front, unless it says its own.
    pub(super) fn stamp(&self, item: Bytes) -> Bytes {
        let Some(rest) = item.strip_prefix(b"{").filter(|_| !carries_kind(&item)) else { return item };
        let (Ok(api_version), Ok(kind)) = (serde_json::to_string(&self.api_version), serde_json::to_string(&self.kind))
        else {
            return item;
        };
        let head = format!(r#"{{"apiVersion":{api_version},"kind":{kind}"#);
        let mut stamped = BytesMut::with_capacity(head.len() + item.len());
        stamped.put_slice(head.as_bytes());
        if rest.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|b| *b != b'}') {
            stamped.put_u8(b',');
        }
        stamped.put_slice(rest);
        stamped.freeze()
    }
}

/// Whether the object says one of the two itself. Most do so at once or never.
fn carries_kind(json: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default, rename = "apiVersion")]
        api_version: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        kind: Option<serde::de::IgnoredAny>,
    }
    json.starts_with(br#"{"apiVersion":"#)
        || json.starts_with(br#"{"kind":"#)
        || serde_json::from_slice::<Head>(json).is_ok_and(|head| head.api_version.is_some() || head.kind.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(item: &'static str) -> String {
        let kinds = Kinds::of_list("apps/v1", "DeploymentList").expect("kinds");
        String::from_utf8_lossy(&kinds.stamp(Bytes::from_static(item.as_bytes()))).into_owned()
    }

    #[test]
    fn only_items_without_a_kind_are_stamped() {
        assert_eq!(stamped(r#"{"a":1}"#), r#"{"apiVersion":"apps/v1","kind":"Deployment","a":1}"#);
        assert_eq!(stamped("{ }"), r#"{"apiVersion":"apps/v1","kind":"Deployment" }"#);
        for item in
            [r#"{"kind":"A"}"#, r#"{"apiVersion":"v1"}"#, r#"{"a":1,"kind":"A"}"#, r#"{"a":1, "apiVersion":"v1"}"#, "7"]
        {
            assert_eq!(stamped(item), item);
        }
    }

    #[test]
    fn the_kind_of_items_is_the_lists_less_its_ending() {
        assert_eq!(Kinds::of_list("v1", "PodList"), Some(Kinds::new("v1", "Pod")));
        assert_eq!(Kinds::of_list("v1", "List"), None);
        assert_eq!(Kinds::of_list("v1", "Pod"), None);
    }
}
