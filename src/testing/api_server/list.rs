//! LIST: the table of version, match, limit and token.

use super::{
    answer::{Answer, Refused},
    encode::{self, Shape},
    options::Options,
    refusal::Refusal,
    resource::Resource,
    settings::Settings,
    state::State,
    token::Token,
};
use crate::source::Shard;
use serde_json::Value;
use std::sync::Arc;

/// A collection: a resource, in one namespace (`"shop/"`) or all (`""`).
#[derive(Clone, Debug)]
pub(super) struct Collection {
    pub(super) resource: Resource,
    pub(super) prefix: String,
}

/// What is listed: the state at a version, from a key on, at most so many.
struct Plan {
    version: u64,
    start: String,
    limit: usize,
}

/// Answers a list.
///
/// # Errors
///
/// The refusal, with the code and text of a real server.
pub(super) async fn list(
    state: &State,
    settings: &Settings,
    collection: &Collection,
    options: &Options,
    shape: Shape,
) -> Result<Answer, Refused> {
    let Collection { resource, prefix } = collection;
    let plan = plan(state, settings, collection, options).await?;
    let cached = settings.cached(resource);
    let limit = if plan.limit == 0 { usize::MAX } else { plan.limit.min(settings.max_page.unwrap_or(usize::MAX)) };
    let found = state.lock().at(resource, prefix, &plan.start, plan.version);
    let mut page: Vec<(&str, &Value)> = Vec::new();
    let mut left = 0;
    for (at, (key, object)) in found.iter().enumerate() {
        if page.len() == limit {
            left = found.len() - at;
            break;
        }
        if options.selects(object) {
            page.push((key, object));
        }
    }
    let token = match page.last() {
        Some((key, _)) if left > 0 => {
            Token::after(plan.version, key.strip_prefix(prefix.as_str()).unwrap_or(key), cached)
        }
        _ => String::new(),
    };
    let remaining = (left > 0 && !options.selective()).then_some(left);
    let items: Vec<_> = page.into_iter().map(|(_, object)| object).collect();
    let answer = Answer::json(
        200,
        encode_list(resource, &items, plan.version, &token, remaining, shape, options.shard.as_ref()),
    );
    let streamed = plan.limit == 0 && !options.selective();
    Ok(Answer { length: answer.length.filter(|_| !streamed), ..answer })
}

async fn plan(state: &State, settings: &Settings, collection: &Collection, options: &Options) -> Result<Plan, Refused> {
    let Collection { resource, prefix } = collection;
    let cached = settings.cached(resource);
    let whole = |version| Plan { version, start: String::new(), limit: options.limit };
    if !options.token.is_empty() {
        let token = Token::read(&options.token)?;
        if !matches!(options.version.as_str(), "" | "0") {
            return Err(Refusal::bad_request("specifying resource version is not allowed when using continue").into());
        }
        let data = state.lock();
        let version = u64::try_from(token.revision).unwrap_or_else(|_| data.history.revision());
        if version < data.history.compacted() {
            return Err(Refusal::continue_expired(token.inconsistent()).into());
        }
        let limit = if cached && options.version == "0" { 0 } else { options.limit };
        return Ok(Plan { version, start: format!("{prefix}{}", token.key()), limit });
    }
    let version =
        options.parsed_version().map_err(|why| Refusal::bad_request(format!("invalid resource version: {why}")))?;
    if options.version.is_empty() {
        let newest = state.lock().history.revision();
        state.fresh(resource, newest, settings).await?;
        return Ok(whole(state.lock().current(resource, settings)));
    }
    if version == 0 {
        let version = state.lock().current(resource, settings);
        return Ok(if cached { Plan { limit: 0, ..whole(version) } } else { whole(version) });
    }
    state.fresh(resource, version, settings).await?;
    let data = state.lock();
    let exact = options.version_match == "Exact" || options.version_match.is_empty() && options.limit > 0;
    if !exact {
        return Ok(whole(data.current(resource, settings)));
    }
    if version < data.history.compacted() {
        return Err(Refusal::list_expired().into());
    }
    Ok(whole(version))
}

fn encode_list(
    resource: &Resource,
    items: &[&Value],
    version: u64,
    token: &str,
    remaining: Option<usize>,
    shape: Shape,
    shard: Option<&Shard>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 * items.len() + 256);
    let kind = format!("{}List", resource.kind);
    let sorted = resource.custom && shape == Shape::Whole;
    if sorted {
        out.extend_from_slice(br#"{"apiVersion":"#);
        encode::string(&mut out, &resource.api_version());
        out.push(b',');
    } else {
        out.push(b'{');
        match shape {
            Shape::Whole => encode::type_meta(&mut out, &kind, &resource.api_version()),
            Shape::Metadata => encode::type_meta(&mut out, "PartialObjectMetadataList", "meta.k8s.io/v1"),
        }
        let token = if token.is_empty() { String::new() } else { format!(r#","continue":"{token}""#) };
        let remaining = remaining.map(|n| format!(r#","remainingItemCount":{n}"#)).unwrap_or_default();
        let shard = shard.filter(|_| shape == Shape::Whole && !resource.custom);
        let shard = shard.map(|shard| format!(r#","shardInfo":{{"selector":"{shard}"}}"#)).unwrap_or_default();
        append(&mut out, &format!(r#","metadata":{{"resourceVersion":"{version}"{token}{remaining}{shard}}},"#));
    }
    out.extend_from_slice(br#""items":["#);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        encode::object(&mut out, resource, item, shape, true);
    }
    out.push(b']');
    if sorted {
        let remaining = remaining.map(|n| format!(r#""remainingItemCount":{n},"#)).unwrap_or_default();
        append(
            &mut out,
            &format!(
                r#","kind":"{kind}","metadata":{{"continue":"{token}",{remaining}"resourceVersion":"{version}"}}"#
            ),
        );
    }
    out.push(b'}');
    out
}

fn append(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// What a deletion of a collection answers: the list of what was deleted.
pub(super) fn deleted(resource: &Resource, items: &[Arc<Value>], version: u64) -> Answer {
    let items: Vec<_> = items.iter().map(|item| &**item).collect();
    Answer::json(200, encode_list(resource, &items, version, "", None, Shape::Whole, None))
}
