//! Polls a store's roots, the latest one each time.

use super::root::Root;
use futures::ready;
use std::{
    sync::Arc,
    task::{Context, Poll},
};
use tokio::sync::watch::Receiver;
use tokio_util::sync::ReusableBoxFuture;

type Roots<K> = Receiver<Arc<Root<K>>>;

/// Boxed once, reused for each root.
pub(super) struct Follow<K>(ReusableBoxFuture<'static, (bool, Roots<K>)>);

async fn next<K: Send + Sync + 'static>(mut roots: Roots<K>) -> (bool, Roots<K>) {
    let open = roots.changed().await.is_ok();
    (open, roots)
}

impl<K: Send + Sync + 'static> Follow<K> {
    /// The present root, and what follows it.
    pub(super) fn new(mut roots: Roots<K>) -> (Arc<Root<K>>, Self) {
        let present = Arc::clone(&roots.borrow_and_update());
        (present, Follow(ReusableBoxFuture::new(next(roots))))
    }

    /// The latest root, once there is another one; `None` once there can be none.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Arc<Root<K>>>> {
        let (open, mut roots) = ready!(self.0.poll(cx));
        let root = Arc::clone(&roots.borrow_and_update());
        self.0.set(next(roots));
        Poll::Ready(open.then_some(root))
    }
}
