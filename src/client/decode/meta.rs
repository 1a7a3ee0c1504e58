use crate::{Error, source::ListMeta};
use std::borrow::Cow;

/// A list's `metadata`.
pub(super) fn list_meta(json: &[u8]) -> Result<ListMeta, Error> {
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire<'a> {
        #[serde(borrow, default)]
        resource_version: Option<Cow<'a, str>>,
        #[serde(borrow, default, rename = "continue")]
        continue_token: Option<Cow<'a, str>>,
        #[serde(default)]
        remaining_item_count: Option<i64>,
        #[serde(borrow, default)]
        shard_info: Option<ShardInfo<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct ShardInfo<'a> {
        #[serde(borrow, default)]
        selector: Cow<'a, str>,
    }
    let other_shape = || Error::not_a_list("its metadata is not that of a list");
    if json.first() == Some(&b'[') {
        return Err(other_shape()); // serde would take its elements for the fields
    }
    let wire: Option<Wire<'_>> = serde_json::from_slice(json).map_err(|_| other_shape())?;
    let wire = wire.unwrap_or_default();
    Ok(ListMeta {
        resource_version: wire.resource_version.unwrap_or_default().as_ref().into(),
        continue_token: wire.continue_token.map(Into::into),
        remaining_items: wire.remaining_item_count.and_then(|count| count.try_into().ok()),
        shard: wire.shard_info.map(|info| info.selector.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_may_be_absent() {
        assert_eq!(list_meta(b"null").unwrap(), ListMeta::default());
        assert_eq!(list_meta(b"{}").unwrap(), ListMeta::default());
        let json = br#"{"resourceVersion":"7","continue":"abc","remainingItemCount":753,"selfLink":""}"#;
        assert_eq!(list_meta(json).unwrap(), ListMeta::new("7").with_continue("abc").with_remaining(753));
        let sharded = list_meta(br#"{"shardInfo":{"selector":"s"}}"#).unwrap();
        assert_eq!(sharded.shard.as_deref(), Some("s"));
        assert_eq!(list_meta(br#"{"remainingItemCount":-1}"#).unwrap(), ListMeta::default());
    }

    #[test]
    fn another_shape_is_no_list() {
        for json in ["[]", "7", r#"{"resourceVersion":7}"#] {
            assert!(list_meta(json.as_bytes()).unwrap_err().is_garbage(), "{json}");
        }
    }
}
