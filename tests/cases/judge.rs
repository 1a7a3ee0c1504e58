//! Whether what happened is what a case expects.

use super::{
    errors,
    format::{Case, Expected},
    laws, notes,
    play::End,
    record::{Content, Held, Log, Told, What},
};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// Everything that is not as it should be.
pub fn problems(case: &Case, log: &Log, end: &End) -> Vec<String> {
    let expected = &case.expected;
    let mut problems: Vec<String> =
        log.unexpected.iter().map(|why| format!("not in the conversation: {why}")).collect();
    problems.extend(end.waits_for.iter().map(|step| format!("in vain for {step}")));
    problems
        .extend([store(expected, &end.content), relists(expected, log), reported(expected, log)].into_iter().flatten());
    problems.extend(uids(expected, &end.content).chain(data(expected, &end.content)));
    problems.extend(events(expected, &log.pipeline.told));
    problems.extend(timing(expected, log, end));
    problems.extend(laws::broken(case, log, end));
    problems.extend(notes::broken(case, log, end));
    problems
}

/// Whether the store holds what it should in the end.
pub fn store(expected: &Expected, content: &Content) -> Option<String> {
    let mut wanted = expected.final_store.clone()?;
    let with_namespace = wanted.iter().any(|name| name.contains('/'));
    let mut held: Vec<&str> = content
        .keys()
        .map(|key| if with_namespace { &**key } else { key.rsplit('/').next().unwrap_or_default() })
        .collect();
    held.sort_unstable();
    wanted.sort_unstable();
    // A list without a version may be refused as a whole.
    let may_be_empty = expected.errors.iter().any(|name| errors::is_called(&["NoResourceVersion".into()], name));
    (held != wanted && !(may_be_empty && held.is_empty())).then(|| {
        let held = if held.len() > 20 { format!("{} objects", held.len()) } else { format!("{held:?}") };
        format!("the store holds {held}, expected is {wanted:?}")
    })
}

fn relists(expected: &Expected, log: &Log) -> Option<String> {
    let relists = log.pipeline.synced().count().saturating_sub(1) as u64;
    let wanted = &expected.relists.0;
    (!wanted.is_empty() && !wanted.contains(&relists))
        .then(|| format!("{relists} lists were completed after the first, expected is {wanted:?}"))
}

/// The errors wanted are a subsequence of those reported.
fn reported(expected: &Expected, log: &Log) -> Option<String> {
    let mut reported = log.errors.iter();
    let missing =
        expected.errors.iter().find(|wanted| !reported.any(|error| errors::is_called(&error.names, wanted)))?;
    Some(format!("the error {missing} was not reported, or not in this place: expected are {:?}", expected.errors))
}

fn uids<'a>(expected: &'a Expected, content: &'a Content) -> impl Iterator<Item = String> + 'a {
    expected.final_uids.iter().filter_map(|(name, wanted)| {
        let uid = find(content, name).map(|held| &*held.uid);
        (uid != Some(wanted)).then(|| format!("the uid of {name} is {uid:?}, expected is {wanted}"))
    })
}

/// The data wanted is part of the object's data, or of its spec, or of itself.
fn data<'a>(expected: &'a Expected, content: &'a Content) -> impl Iterator<Item = String> + 'a {
    expected.final_data.iter().filter_map(|(name, wanted)| {
        let json = find(content, name).map(|held| &held.json);
        let places = json.map(|json| [&json["data"], &json["spec"], json]);
        (!places.is_some_and(|places| places.iter().any(|place| contains(place, wanted))))
            .then(|| format!("{name} is not {wanted}"))
    })
}

fn contains(place: &Value, wanted: &Value) -> bool {
    match (place, wanted) {
        (Value::Object(place), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| place.get(key).is_some_and(|place| contains(place, wanted)))
        }
        (place, wanted) => place == wanted,
    }
}

fn find<'a>(content: &'a Content, name: &str) -> Option<&'a Held> {
    content.get(name).or_else(|| content.iter().find(|(key, _)| key.rsplit('/').next() == Some(name)).map(|(_, h)| h))
}

/// The events of each object, in order. What a resync tells again may be left out, or called a modification.
fn events(expected: &Expected, told: &[Told]) -> Option<String> {
    let wanted = expected.events.as_ref()?;
    let with_uid = |name: &str| wanted.iter().any(|event| event[1] == name && event.len() > 2);
    let as_told = |resynced: Option<&str>| {
        let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for told in told {
            let kind = match told.what {
                What::Added { .. } => "ADDED",
                What::Updated { .. } => "MODIFIED",
                What::Deleted => "DELETED",
                What::Resynced => match resynced {
                    Some(kind) => kind,
                    None => continue,
                },
                What::Synced | What::Bookmark | What::Watching => continue,
            };
            let uid = if with_uid(told.name()) { &*told.uid } else { "" };
            by_name.entry(told.name()).or_default().push(format!("{kind} {uid}"));
        }
        by_name
    };
    let mut wanted_by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for event in wanted {
        let kind = match &*event[0].to_ascii_uppercase() {
            "RESYNC" | "RESYNCED" | "SYNC" => "RESYNC".to_owned(),
            kind => kind.to_owned(),
        };
        let uid = event.get(2).map_or("", |uid| uid);
        wanted_by_name.entry(&event[1]).or_default().push(format!("{kind} {uid}"));
    }
    (![None, Some("MODIFIED"), Some("RESYNC")].into_iter().any(|resynced| as_told(resynced) == wanted_by_name))
        .then(|| format!("the events are {:?}, expected are {wanted_by_name:?}", as_told(Some("RESYNC"))))
}

fn timing(expected: &Expected, log: &Log, end: &End) -> Vec<String> {
    let synced = log.pipeline.synced().next().map(|told| told.at - log.start);
    let stopped = Some(end.stopped_in);
    let late = |what: &str, took: Option<Duration>, bound: Option<Duration>| match (took, bound) {
        (_, None) => None,
        (Some(took), Some(bound)) if took <= bound => None,
        (took, Some(bound)) => Some(format!("{what} after {took:.0?}, expected is within {bound:?}")),
    };
    let checks = [
        late("synced", synced, expected.timing.synced_within_ms),
        late("stopped", stopped, expected.timing.stopped_within_ms),
    ];
    checks.into_iter().flatten().collect()
}
