use super::{Store, root::Root};
use crate::Object;
use std::fmt;

impl<K: Object> Store<K> {
    /// Keeps the store open while no stream feeds it, until the guard is dropped: for stores whose parts come and go.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use futures::FutureExt;
    /// use listwatch::{IntoFold, Raw, Store};
    ///
    /// let store = Store::<Raw>::new();
    /// let open = store.keep_open();
    /// drop((&store).into_fold()); // its only stream ends
    /// assert!(store.ready().now_or_never().is_none(), "still waiting");
    /// drop(open);
    /// assert!(store.ready().await.is_err(), "closed");
    /// # });
    /// ```
    pub fn keep_open(&self) -> KeepOpen<K> {
        self.shared().update(|present| {
            let mut next = Root::clone(present);
            next.counts.keepers += 1;
            (Some(next), ())
        });
        KeepOpen(self.clone())
    }
}

/// Keeps a store open: see [`Store::keep_open`].
#[must_use = "dropping it lets the store close"]
pub struct KeepOpen<K: Object>(Store<K>);

impl<K: Object> Drop for KeepOpen<K> {
    fn drop(&mut self) {
        self.0.shared().update(|present| {
            let mut next = Root::clone(present);
            next.counts.keepers -= 1;
            next.close_if_unfed();
            (Some(next), ())
        });
    }
}

impl<K: Object> fmt::Debug for KeepOpen<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeepOpen").field(&self.0).finish()
    }
}
