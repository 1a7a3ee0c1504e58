//! What holds in every case, whether it says so or not.

use super::{format::Case, play::End, record::Log};
use std::time::Duration;

/// How long a stop may take, whatever the mirror is doing.
const STOP: Duration = Duration::from_secs(1);

/// How long before it is read a request may have been sent, on a machine that is busy with other cases.
const UNDER_WAY: Duration = Duration::from_millis(100);

/// How long a consumer that takes no time may lag behind the store, once that has all that the server sent.
const LAG: Duration = Duration::from_secs(5);

pub fn broken(case: &Case, log: &Log, end: &End) -> Vec<String> {
    let mut broken = Vec::new();
    for (request, _) in &log.requests {
        let initial = request.query("sendInitialEvents") == Some("true");
        if request.is_watch() && !initial && request.query("resourceVersion").is_none() {
            broken.push(format!("a watch that starts nowhere: {request}"));
        }
    }
    let slow = case.setup.consumer.is_slow().then_some(("slow consumer", &log.slow));
    let consumers = [("pipeline", &log.pipeline), ("fast consumer", &log.fast)].into_iter().chain(slow);
    for (who, consumed) in consumers.clone() {
        if let Err(why) = consumed.replay.is_store(&end.content) {
            broken.push(format!("the {who}: {why}"));
        }
        if let Some(told) = consumed.told.iter().find(|told| end.stopped_at < told.at) {
            broken.push(format!("the {who} was told after the stop: {:?} {}", told.what, told.key));
        }
    }
    let sent = log.sent.last().map(|sent| sent.done);
    let held = log.pipeline.changes().next_back().map(|told| told.at);
    if let (Some(held), Some(told)) = (sent.max(held), log.fast.changes().next_back().map(|told| told.at))
        && told.saturating_duration_since(held) > LAG
    {
        broken.push(format!("a fast consumer lagged by {:.0?}", told - held));
    }
    if end.stopped_in > STOP {
        broken.push(format!("the stop took {:.0?}", end.stopped_in));
    }
    if end.open_after_stop > 0 {
        broken.push(format!("{} connections stayed open after the stop", end.open_after_stop));
    }
    if let Some((request, _)) = log.requests.iter().find(|(request, _)| end.stopped_at + UNDER_WAY < request.at) {
        broken.push(format!("a request after the stop: {request}"));
    }
    let auth = &case.setup.auth;
    let plugin = auth.exec_plugin.iter().flatten().map(|credential| &credential.token);
    let secrets = plugin.chain(&auth.token_file).chain(auth.provider.iter().flatten().flatten());
    for secret in secrets.filter(|secret| secret.len() > 1) {
        let shown = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == secret);
        broken.extend(
            log.errors.iter().filter(|e| shown(&e.text)).map(|e| format!("an error shows a token: {}", e.text)),
        );
    }
    broken
}
