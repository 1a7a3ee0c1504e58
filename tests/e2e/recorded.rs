//! A source that notes each request it passes on.

use std::sync::{Arc, Mutex, PoisonError};

use listwatch::Error;
use listwatch::source::{ListBody, ListParams, ListWatch, WatchBody, WatchParams};

/// What was asked of the server, in order. Clones share one account.
#[derive(Clone, Debug, Default)]
pub struct Requests(Arc<Mutex<Vec<Request>>>);

#[derive(Clone, Debug)]
pub enum Request {
    List(ListParams),
    Watch(WatchParams),
}

impl Requests {
    pub fn all(&self) -> Vec<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn lists(&self) -> Vec<ListParams> {
        let lists = |request| match request {
            Request::List(params) => Some(params),
            Request::Watch(_) => None,
        };
        self.all().into_iter().filter_map(lists).collect()
    }

    /// Watches that asked for the initial events.
    pub fn watch_lists(&self) -> Vec<WatchParams> {
        self.watches_where(|params| params.send_initial_events)
    }

    /// Watches from a version.
    pub fn watches(&self) -> Vec<WatchParams> {
        self.watches_where(|params| !params.send_initial_events)
    }

    fn watches_where(&self, wanted: impl Fn(&WatchParams) -> bool) -> Vec<WatchParams> {
        let watches = |request| match request {
            Request::Watch(params) => Some(params),
            Request::List(_) => None,
        };
        self.all().into_iter().filter_map(watches).filter(wanted).collect()
    }

    fn add(&self, request: Request) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }
}

/// A source whose requests are noted.
#[derive(Debug)]
pub struct Recorded<S> {
    source: S,
    requests: Requests,
}

impl<S> Recorded<S> {
    pub fn new(source: S, requests: Requests) -> Self {
        Self { source, requests }
    }
}

impl<S: ListWatch> ListWatch for Recorded<S> {
    type Object = S::Object;

    async fn list_page(&self, params: ListParams) -> Result<ListBody<S::Object>, Error> {
        self.requests.add(Request::List(params.clone()));
        self.source.list_page(params).await
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<S::Object>, Error> {
        self.requests.add(Request::Watch(params.clone()));
        self.source.open_watch(params).await
    }

    async fn before_list(&self) {
        self.source.before_list().await;
    }
}
