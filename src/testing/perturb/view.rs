//! Through what the consumer sees the cluster.

use crate::{
    Error,
    client::{Client, Request, Response, Transport},
    testing::{ApiServer, Ending},
};
use std::sync::{Arc, Mutex, PoisonError};

/// The server that requests go to now, if any. Clones are the same view.
#[derive(Clone, Debug, Default)]
pub(super) struct View(Arc<Mutex<Option<ApiServer>>>);

impl View {
    pub(super) fn client(&self) -> Client {
        Client::with_transport(self.clone())
    }

    /// Requests go to this server from now on, or nowhere; what was open breaks.
    pub(super) fn turn_to(&self, server: Option<&ApiServer>) {
        let before = std::mem::replace(&mut *self.lock(), server.cloned());
        if let Some(before) = before {
            before.end_connections(Ending::Reset);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ApiServer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for View {
    async fn send(&self, request: Request) -> Result<Response, Error> {
        let server = self.lock().clone();
        match server {
            Some(server) => Transport::send(&server, request).await,
            None => Err(Error::unreachable("cut off by a perturbation")),
        }
    }
}
