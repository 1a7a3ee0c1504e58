use crate::Status;

/// The status that a body or the object of an `ERROR` event is; `None` where it is something else.
///
/// Proxies and aggregated servers leave out `kind`: then something else must show what it is.
pub(in crate::client) fn status_in(json: &[u8]) -> Option<Status> {
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, default)]
        kind: Option<std::borrow::Cow<'a, str>>,
    }
    let kind = serde_json::from_slice::<Kind<'_>>(json).ok()?.kind;
    let status: Status = serde_json::from_slice(json).ok()?;
    let says_something = status.code != 0 || !status.reason.is_empty();
    match kind.as_deref() {
        Some("Status") => Some(status),
        None if says_something => Some(status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_so_or_looks_like_one() {
        for json in [r#"{"kind":"Status"}"#, r#"{"code":410}"#, r#"{"status":"Failure","reason":"InternalError"}"#] {
            assert!(status_in(json.as_bytes()).is_some(), "{json}");
        }
        for json in ["", "[]", "{}", "7", r#"{"kind":"Pod","code":1}"#, r#"{"message":"a"}"#, r#"{"kind":1}"#] {
            assert!(status_in(json.as_bytes()).is_none(), "{json}");
        }
    }
}
