//! What is left of a body's parts where the server did not apply the selector, or not everywhere.

use crate::{
    Error, Identity, Object, Recovery, ResourceVersion,
    source::{Body, ListBody, ListMeta, ListPart, Shard, ShardField, WatchBody, WireEvent},
};
use futures::{Stream, StreamExt, future};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A shard that is asked for. What the server left in is left out here in any case: it costs a hash an object, and of
/// several API servers some may know of shards and others not.
#[derive(Clone, Debug)]
pub(super) struct Sharded(Arc<Asked>);

#[derive(Debug)]
struct Asked {
    shard: Shard,
    selector: String,
    told: AtomicBool,
}

impl Sharded {
    pub(super) fn new(shard: Shard) -> Self {
        Sharded(Arc::new(Asked { selector: shard.to_string(), shard, told: AtomicBool::new(false) }))
    }

    pub(super) fn selector(&self) -> &str {
        &self.0.selector
    }

    pub(super) fn list<K: Object>(self, body: ListBody<K>) -> ListBody<K> {
        until_broken(body.map(move |part| match part {
            Ok(ListPart::Item(object)) if !self.keeps(&object.identity()) => Ok(ListPart::Progress),
            Ok(ListPart::Meta(meta)) => self.meta(meta).map(ListPart::Meta),
            Err(error) if self.is_elsewhere(&error).is_some() => Ok(ListPart::Progress),
            part => part,
        }))
    }

    pub(super) fn watch<K: Object>(self, body: WatchBody<K>) -> WatchBody<K> {
        until_broken(body.map(move |event| match event {
            Ok(WireEvent::Added(object) | WireEvent::Modified(object) | WireEvent::Deleted(object))
                if !self.keeps(&object.identity()) =>
            {
                self.left_to_us();
                Ok(WireEvent::Elsewhere(object.identity().resource_version.into()))
            }
            Err(error) => match self.is_elsewhere(&error) {
                Some(version) => Ok(WireEvent::Elsewhere(version)),
                None => Err(error),
            },
            event => event,
        }))
    }

    fn keeps(&self, object: &Identity<'_>) -> bool {
        self.0.shard.contains(object)
    }

    /// The version of an object that does not decode, if it is known to be in another shard.
    fn is_elsewhere(&self, error: &Error) -> Option<ResourceVersion> {
        let object = error.object()?;
        let identity = Identity { namespace: &object.namespace, uid: &object.uid, ..Identity::default() };
        let known = self.0.shard.field() != ShardField::Uid || !object.uid.is_empty();
        (known && !self.keeps(&identity)).then(|| object.resource_version.clone())
    }

    fn meta(&self, mut meta: ListMeta) -> Result<ListMeta, Error> {
        match meta.shard.as_deref() {
            None => {
                self.left_to_us();
                meta.remaining_items = None; // those of all shards
            }
            Some(selector) if selector == self.selector() => {}
            Some(_) => return Err(Error::not_a_list("it is that of another shard")),
        }
        Ok(meta)
    }

    fn left_to_us(&self) {
        if !self.0.told.swap(true, Ordering::Relaxed) {
            let selector = self.selector();
            tracing::info!(selector, "the server did not say that it shards; what is in other shards is left out here");
        }
    }
}

/// The first error that does not skip one object is the last item.
fn until_broken<T: Send + 'static>(body: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Body<T> {
    Body::new(body.scan(false, |broken, item| {
        if *broken {
            return future::ready(None);
        }
        *broken = item.as_ref().is_err_and(|error| error.recovery() != Recovery::Skip);
        future::ready(Some(item))
    }))
}
