//! A live store of a resource, and what each browser is told of it.

use crate::{cluster::Target, pipeline::Mirror, tile};
use futures::{Stream, StreamExt, stream};
use kube::core::{ApiResource, DynamicObject};
use listwatch::{State, Store};
use serde_json::{Value, json};
use std::future::ready;
use tokio_util::sync::CancellationToken;

/// A resource that is mirrored for as long as the program runs.
#[derive(Clone, Debug)]
pub struct Feed {
    resource: ApiResource,
    store: Store<DynamicObject>,
}

impl Feed {
    /// Mirrors the target until the token is cancelled.
    pub fn start(mut target: Target, stop: CancellationToken) -> Self {
        let resource = target.resource.clone();
        if resource.group.is_empty() && resource.kind == "Secret" {
            target.collection = target.collection.metadata_only();
        }
        let Mirror { store, mut changes, .. } = Mirror::of(target, stop);
        // Failures are traced by the library, and told by the state of the store.
        tokio::spawn(async move { while changes.next().await.is_some() {} });
        Feed { resource, store }
    }

    /// The content, a mark where that is complete, then changes; among them how the mirror is.
    ///
    /// Nothing is queued for a browser: one that reads slowly is told the difference to the present content when it
    /// reads again, and of states the last.
    fn messages(&self, number: usize) -> impl Stream<Item = Value> + Send + use<> {
        let is_pod = self.resource.group.is_empty() && self.resource.kind == "Pod";
        let changes = self.store.subscribe().without_old();
        let changes = changes.filter_map(move |noted| ready(tile::message(number, is_pod, &noted)));
        let states = self.store.states().map(move |state| {
            let (word, why) = match &state {
                State::Live => ("live", ""),
                State::Stale { why, .. } => ("stale", &**why),
                _ => ("syncing", ""),
            };
            json!({"op": "state", "resource": number, "state": word, "why": why})
        });
        stream::select(states.boxed(), changes.boxed())
    }
}

/// How many messages go out at a time at most.
const CHUNK: usize = 256;

/// What one browser is told of all of them, as bodies of server-sent events.
pub fn events(source: &str, feeds: &[Feed]) -> impl Stream<Item = String> + Send + use<> {
    let resources: Vec<_> =
        feeds.iter().map(|feed| json!({"kind": feed.resource.kind, "plural": feed.resource.plural})).collect();
    let hello = json!([{"op": "hello", "source": source, "resources": resources}]);
    // After a cut the browser comes back this soon, and is told everything again.
    let hello = format!("retry: 500\ndata: {hello}\n\n");
    let messages = feeds.iter().enumerate().map(|(number, feed)| feed.messages(number).boxed());
    let messages = stream::select_all(messages).ready_chunks(CHUNK);
    let messages = messages.map(|chunk| format!("data: {}\n\n", Value::Array(chunk)));
    stream::once(async { hello }).chain(messages)
}
