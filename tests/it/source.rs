//! The rules of list, watch-list and watch, played on a scripted source in paused time.

mod absent;
mod list;
mod pacing;
mod pages;
mod poll;
mod streams;
mod watch;
mod watch_list;

use crate::objects::config_map;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{Error, Event, Status, Unreadable, UnreadableAs, testing::ScriptedApi};
use std::time::Duration;

pub(crate) type Api = ScriptedApi<ConfigMap>;
pub(crate) const S: Duration = Duration::from_secs(1);

/// The next items as short words: `start`, `listed a`, `end 7`, `added a`, `watching 7`, `Relist: status 410`, `over`.
pub(crate) async fn next(
    stream: &mut (impl Stream<Item = Result<Event<ConfigMap>, Error>> + Unpin),
    count: usize,
) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..count {
        told.push(match stream.next().await {
            Some(item) => word(&item),
            None => "over".into(),
        });
    }
    told
}

pub(crate) fn word(item: &Result<Event<ConfigMap>, Error>) -> String {
    match item {
        Ok(Event::SnapshotStart) => "start".into(),
        Ok(Event::SnapshotEnd(version)) => format!("end {version}"),
        Ok(Event::Bookmark(version)) => format!("bookmark {version}"),
        Ok(Event::Watching(version)) => format!("watching {version}"),
        Ok(event) => {
            let name = event.object().and_then(|object| object.metadata.name.clone());
            format!("{} {}", event.name(), name.unwrap_or_default())
        }
        Err(error) => match error.status() {
            Some(status) => format!("{:?} {}", error.recovery(), status.code),
            None => format!("{:?}", error.recovery()),
        },
    }
}

pub(crate) fn status(code: u16) -> Error {
    Error::from_status(Status::from_code(code))
}

pub(crate) fn unreadable(came_as: UnreadableAs, name: &str, version: &str) -> Error {
    let object = Unreadable::new(came_as, "ns", name).with_identity(format!("uid-{name}"), version);
    Error::unreadable(object, listwatch::DecodeError::new("bad"))
}

pub(crate) fn api() -> Api {
    ScriptedApi::new()
}

/// A list of `a` at version 7, without a watch-list.
pub(crate) fn listed() -> Api {
    api().without_watch_list().on_list("7", [config_map("a", "5")])
}
