use crate::{
    Error, Object,
    source::{Body, ListBody, ListMeta, ListParams, ListPart, ListWatch, WatchBody, WatchParams, WireEvent},
};
use futures::{Stream, StreamExt, stream};
use std::{
    collections::VecDeque,
    fmt, future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A [`ListWatch`] that plays answers in order and records each call, without a socket: for tests of what a stream
/// asks, and when.
///
/// Lists and watches have a queue each. A list beyond the script is answered with 503; a watch beyond it, and the last
/// scripted one, stays open and silent. Clones share the script and the record.
///
/// ```
/// use futures::StreamExt;
/// use listwatch::{Object, Raw, source::{ListWatch, WireEvent}, testing::ScriptedApi};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let raw = |json: &str| Raw::decode(json.as_bytes()).unwrap();
/// let api = ScriptedApi::new()
///     .without_watch_list()
///     .on_list("7", [raw(r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"5"}}"#)])
///     .on_watch([WireEvent::bookmark("9")]);
/// let mut events = api.clone().events();
/// for _ in 0..5 {
///     println!("{:?}", events.next().await); // SnapshotStart, Listed, SnapshotEnd, Watching, Bookmark
/// }
/// assert_eq!(api.calls()[0].list().unwrap().resource_version, "0");
/// assert_eq!(api.calls()[1].watch().unwrap().resource_version, "7");
/// # });
/// ```
pub struct ScriptedApi<K> {
    inner: Arc<Mutex<Inner<K>>>,
    watch_list: bool,
}

struct Inner<K> {
    lists: VecDeque<Answer<ListPart<K>>>,
    watches: VecDeque<Answer<WireEvent<K>>>,
    calls: Vec<Call>,
}

struct Answer<T> {
    delay: Duration,
    body: Result<Vec<Step<T>>, Error>,
    /// After its steps the body stays open and silent.
    stays_open: bool,
}

/// One step of a scripted body.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<T> {
    /// An item, or the body's error.
    Item(Result<T, Error>),
    /// Nothing for this long.
    Wait(Duration),
}

/// One recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    at: Instant,
    params: Params,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Params {
    List(ListParams),
    Watch(WatchParams),
}

impl Call {
    /// When it came, in tokio's time.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Its parameters, if it was for a list.
    pub fn list(&self) -> Option<&ListParams> {
        match &self.params {
            Params::List(params) => Some(params),
            Params::Watch(_) => None,
        }
    }

    /// Its parameters, if it was for a watch.
    pub fn watch(&self) -> Option<&WatchParams> {
        match &self.params {
            Params::Watch(params) => Some(params),
            Params::List(_) => None,
        }
    }
}

/// A line as short as a test wants it: `L 0 500`, `P token 500`, `W 7`, `WL ""` with the version, limit and token.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.params {
            Params::List(params) => {
                match &params.continue_token {
                    Some(token) => write!(f, "P {token}")?,
                    None => write!(f, "L {:?}", params.resource_version)?,
                }
                if let Some(limit) = params.limit {
                    write!(f, " limit {limit}")?;
                }
                match params.version_match {
                    crate::source::VersionMatch::Unset => Ok(()),
                    other => write!(f, " {other:?}"),
                }
            }
            Params::Watch(params) => {
                let kind = if params.send_initial_events { "WL" } else { "W" };
                write!(f, "{kind} {:?}", params.resource_version)
            }
        }
    }
}

impl<K: Object> ScriptedApi<K> {
    /// An empty script.
    pub fn new() -> Self {
        let inner = Inner { lists: VecDeque::new(), watches: VecDeque::new(), calls: Vec::new() };
        ScriptedApi { inner: Arc::new(Mutex::new(inner)), watch_list: true }
    }

    /// The source says that it offers no watch-list.
    #[must_use]
    pub fn without_watch_list(mut self) -> Self {
        self.watch_list = false;
        self
    }

    /// The next list is answered with one page: these items, then the metadata.
    #[must_use]
    pub fn on_list(self, version: &str, items: impl IntoIterator<Item = K>) -> Self {
        self.on_page(ListMeta::new(version), items)
    }

    /// The next list request is answered with one page that has this metadata.
    #[must_use]
    pub fn on_page(self, meta: ListMeta, items: impl IntoIterator<Item = K>) -> Self {
        let items = items.into_iter().map(|object| ListPart::Item(Arc::new(object)));
        self.on_list_steps(items.chain([ListPart::Meta(meta)]).map(|part| Step::Item(Ok(part))))
    }

    /// The next list request is answered with a body of these steps, which then ends.
    #[must_use]
    pub fn on_list_steps(self, steps: impl IntoIterator<Item = Step<ListPart<K>>>) -> Self {
        let answer = Answer { delay: Duration::ZERO, body: Ok(steps.into_iter().collect()), stays_open: false };
        self.lock().lists.push_back(answer);
        self
    }

    /// The next list request is answered with this error.
    #[must_use]
    pub fn on_list_error(self, error: Error) -> Self {
        self.lock().lists.push_back(Answer { delay: Duration::ZERO, body: Err(error), stays_open: false });
        self
    }

    /// The next watch is answered with these events, and then ends.
    #[must_use]
    pub fn on_watch(self, events: impl IntoIterator<Item = WireEvent<K>>) -> Self {
        self.on_watch_steps(events.into_iter().map(|event| Step::Item(Ok(event))))
    }

    /// The next watch is answered with a body of these steps, and then ends.
    #[must_use]
    pub fn on_watch_steps(self, steps: impl IntoIterator<Item = Step<WireEvent<K>>>) -> Self {
        let answer = Answer { delay: Duration::ZERO, body: Ok(steps.into_iter().collect()), stays_open: false };
        self.lock().watches.push_back(answer);
        self
    }

    /// The next watch is answered with this error.
    #[must_use]
    pub fn on_watch_error(self, error: Error) -> Self {
        self.lock().watches.push_back(Answer { delay: Duration::ZERO, body: Err(error), stays_open: false });
        self
    }

    /// The watch scripted last stays open and silent after its steps, though others follow.
    #[must_use]
    pub fn stays_open(self) -> Self {
        if let Some(answer) = self.lock().watches.back_mut() {
            answer.stays_open = true;
        }
        self
    }

    /// The answer to the watch scripted last comes this much later.
    #[must_use]
    pub fn watch_delayed(self, delay: Duration) -> Self {
        if let Some(answer) = self.lock().watches.back_mut() {
            answer.delay = delay;
        }
        self
    }

    /// The answer to the list scripted last comes this much later.
    #[must_use]
    pub fn list_delayed(self, delay: Duration) -> Self {
        if let Some(answer) = self.lock().lists.back_mut() {
            answer.delay = delay;
        }
        self
    }

    /// The calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// The calls so far as short lines: see [`Call`]'s `Display`.
    pub fn lines(&self) -> Vec<String> {
        self.lock().calls.iter().map(Call::to_string).collect()
    }

    /// How many scripted answers were not asked for yet.
    pub fn unplayed(&self) -> usize {
        let inner = self.lock();
        inner.lists.len() + inner.watches.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Object> ListWatch for ScriptedApi<K> {
    type Object = K;

    async fn list_page(&self, params: ListParams) -> Result<ListBody<K>, Error> {
        let answer = {
            let mut inner = self.lock();
            inner.calls.push(Call { at: Instant::now(), params: Params::List(params) });
            inner.lists.pop_front()
        };
        match answer {
            Some(answer) => answer.given().await,
            None => Err(Error::from_status(crate::Status::from_code(503))),
        }
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<K>, Error> {
        let answer = {
            let mut inner = self.lock();
            inner.calls.push(Call { at: Instant::now(), params: Params::Watch(params) });
            let mut answer = inner.watches.pop_front();
            if let Some(answer) = &mut answer {
                answer.stays_open |= inner.watches.is_empty();
            }
            answer
        };
        match answer {
            Some(answer) => answer.given().await,
            None => Ok(Body::new(stream::pending())),
        }
    }

    fn supports_watch_list(&self) -> bool {
        self.watch_list
    }
}

impl<T: Send + 'static> Answer<T> {
    async fn given(self) -> Result<Body<T>, Error> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        let steps = played(self.body?);
        Ok(if self.stays_open { Body::new(steps.chain(stream::pending())) } else { Body::new(steps) })
    }
}

fn played<T: Send + 'static>(steps: Vec<Step<T>>) -> impl Stream<Item = Result<T, Error>> + Send {
    stream::iter(steps)
        .then(|step| async {
            match step {
                Step::Item(item) => Some(item),
                Step::Wait(wait) => {
                    tokio::time::sleep(wait).await;
                    None
                }
            }
        })
        .filter_map(future::ready)
}

impl<K: Object> Default for ScriptedApi<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for ScriptedApi<K> {
    fn clone(&self) -> Self {
        ScriptedApi { inner: Arc::clone(&self.inner), watch_list: self.watch_list }
    }
}

impl<K> fmt::Debug for ScriptedApi<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedApi").field("watch_list", &self.watch_list).finish_non_exhaustive()
    }
}
