use std::sync::Arc;
use tokio::sync::Notify;

/// Asks an [`Events`](super::Events) stream for a new snapshot, from anywhere and at any time.
///
/// The watch is given up and a snapshot taken at the present position, told as its differences by a store. A request
/// during a snapshot is served after it; several before it is served are one.
#[derive(Clone, Debug, Default)]
pub struct RelistHandle(Arc<Notify>);

impl RelistHandle {
    /// Asks for a new snapshot.
    pub fn relist(&self) {
        self.0.notify_one();
    }

    /// # Cancel safety
    ///
    /// A request is taken only by a wait that ends.
    pub(crate) async fn asked(&self) {
        self.0.notified().await;
    }
}
