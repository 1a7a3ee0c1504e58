//! What holds in every case, whether it says so or not.

use super::{format::Case, play::End, record::Log, replay};
use std::time::Duration;

/// How long a stop may take, whatever the mirror is doing.
const STOP: Duration = Duration::from_secs(1);

/// How long a consumer that takes no time may lag behind the server's last byte, whatever other consumers do.
const LAG: Duration = Duration::from_secs(5);

pub fn broken(case: &Case, log: &Log, end: &End) -> Vec<String> {
    let mut broken = Vec::new();
    for (request, _) in &log.requests {
        let initial = request.query("sendInitialEvents") == Some("true");
        if request.is_watch() && !initial && matches!(request.query("resourceVersion"), None | Some("0")) {
            broken.push(format!("a watch that starts nowhere: {request}"));
        }
    }
    for (who, consumed) in [("pipeline", &log.writer), ("handler", &log.handler), ("subscription", &log.fast)] {
        if let Err(why) = replay::is_store(consumed, &end.content) {
            broken.push(format!("the {who}: {why}"));
        }
    }
    let last = log.sent.last().map(|sent| sent.at).max(log.writer.told.last().map(|told| told.at));
    if let (Some(sent), Some(told)) = (last, log.fast.told.last().map(|told| told.at))
        && told.saturating_duration_since(sent) > LAG
    {
        broken.push(format!("a fast consumer lagged by {:.0?}", told - sent));
    }
    if end.stopped_in > STOP {
        broken.push(format!("the stop took {:.0?}", end.stopped_in));
    }
    if end.open_after_stop > 0 {
        broken.push(format!("{} connections stayed open after the stop", end.open_after_stop));
    }
    if let Some((request, _)) = log.requests.iter().find(|(request, _)| end.stopped_at < request.at) {
        broken.push(format!("a request after the stop: {request}"));
    }
    for consumed in [&log.writer, &log.handler, &log.fast] {
        if let Some(told) = consumed.told.iter().find(|told| end.stopped_at < told.at) {
            broken.push(format!("told after the stop: {:?} {}", told.what, told.key));
        }
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
