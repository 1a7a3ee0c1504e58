use super::{ListBody, ListParams, ListWatch, WatchBody, WatchParams};
use crate::{Error, Object};
use futures::future::BoxFuture;
use std::{fmt, sync::Arc};

/// Any source of `K`, cloneable: for a field or a list of sources, and for several streams of one source.
///
/// Made by [`ListWatch::erase`]. Costs one allocation a request.
pub struct AnySource<K>(Arc<dyn Erased<K>>);

impl<K> AnySource<K> {
    pub(super) fn new(source: impl ListWatch<Object = K>) -> Self {
        AnySource(Arc::new(source))
    }
}

/// The object-safe mirror of `ListWatch`.
trait Erased<K>: Send + Sync {
    fn list_page(&self, params: ListParams) -> BoxFuture<'_, Result<ListBody<K>, Error>>;
    fn open_watch(&self, params: WatchParams) -> BoxFuture<'_, Result<WatchBody<K>, Error>>;
    fn before_list(&self) -> BoxFuture<'_, ()>;
    fn supports_watch_list(&self) -> bool;
    fn resource(&self) -> &str;
    fn namespace(&self) -> &str;
}

impl<S: ListWatch> Erased<S::Object> for S {
    fn list_page(&self, params: ListParams) -> BoxFuture<'_, Result<ListBody<S::Object>, Error>> {
        Box::pin(ListWatch::list_page(self, params))
    }
    fn open_watch(&self, params: WatchParams) -> BoxFuture<'_, Result<WatchBody<S::Object>, Error>> {
        Box::pin(ListWatch::open_watch(self, params))
    }
    fn before_list(&self) -> BoxFuture<'_, ()> {
        Box::pin(ListWatch::before_list(self))
    }
    fn supports_watch_list(&self) -> bool {
        ListWatch::supports_watch_list(self)
    }
    fn resource(&self) -> &str {
        ListWatch::resource(self)
    }
    fn namespace(&self) -> &str {
        ListWatch::namespace(self)
    }
}

impl<K: Object> ListWatch for AnySource<K> {
    type Object = K;
    async fn list_page(&self, params: ListParams) -> Result<ListBody<K>, Error> {
        self.0.list_page(params).await
    }
    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<K>, Error> {
        self.0.open_watch(params).await
    }
    async fn before_list(&self) {
        self.0.before_list().await;
    }
    fn supports_watch_list(&self) -> bool {
        self.0.supports_watch_list()
    }
    fn resource(&self) -> &str {
        self.0.resource()
    }
    fn namespace(&self) -> &str {
        self.0.namespace()
    }
    fn erase(self) -> AnySource<K> {
        self
    }
}

impl<K> Clone for AnySource<K> {
    fn clone(&self) -> Self {
        AnySource(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for AnySource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("AnySource");
        out.field("resource", &self.0.resource()).field("namespace", &self.0.namespace()).finish_non_exhaustive()
    }
}
