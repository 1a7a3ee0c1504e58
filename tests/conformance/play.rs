//! Short words for what goes in and what comes out.

use futures::{Stream, StreamExt};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use listwatch::{
    Change, Error, Event, EventStreamExt, ExponentialBackoff, Key, Object, Recover, Status, Store,
    source::{Strategy, WireEvent},
    testing::ScriptedApi,
};
use std::time::Duration;

pub(crate) type Api = ScriptedApi<ConfigMap>;
pub(crate) type Wire = WireEvent<ConfigMap>;
pub(crate) type Item = Result<Event<ConfigMap>, Error>;
pub(crate) const S: Duration = Duration::from_secs(1);
pub(crate) const MS: Duration = Duration::from_millis(1);

/// `foo@2`: `ns/foo` at version 2, with the uid `uid-foo`.
pub(crate) fn cm(spec: &str) -> ConfigMap {
    let (name, version) = spec.split_once('@').expect("name@version");
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("ns".into()),
            name: Some(name.into()),
            uid: Some(format!("uid-{name}")),
            resource_version: (!version.is_empty()).then(|| version.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

/// `foo@2 bar@3`, in that order.
pub(crate) fn cms(specs: &str) -> Vec<ConfigMap> {
    specs.split_whitespace().map(cm).collect()
}

pub(crate) fn added(spec: &str) -> Wire {
    WireEvent::added(cm(spec))
}
pub(crate) fn modified(spec: &str) -> Wire {
    WireEvent::modified(cm(spec))
}
pub(crate) fn deleted(spec: &str) -> Wire {
    WireEvent::deleted(cm(spec))
}
/// The bookmark that ends the initial events.
pub(crate) fn closing(version: &str) -> Wire {
    WireEvent::initial_events_end(version)
}
/// An `ERROR` event.
pub(crate) fn error_event(code: u16, reason: &str) -> Wire {
    WireEvent::Error(Error::from_event(Status::from_code(code).with_reason(reason)))
}
/// An answer.
pub(crate) fn status(code: u16, reason: &str) -> Error {
    Error::from_status(Status::from_code(code).with_reason(reason))
}
pub(crate) fn refused() -> Error {
    Error::unreachable(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))
}

/// A source with the gate on.
pub(crate) fn api() -> Api {
    ScriptedApi::new()
}
/// A source that declares the watch-list unsupported.
pub(crate) fn without_watch_list() -> Api {
    api().without_watch_list()
}
pub(crate) const LIST: Strategy = Strategy::List;

/// client-go's loop: `events()`, its backoff, and a store.
pub(crate) fn mirror<S, E>(
    events: S,
    store: &Store<ConfigMap>,
) -> impl Stream<Item = Result<Change<ConfigMap>, E>> + Unpin + use<S, E>
where
    S: Stream<Item = Result<Event<ConfigMap>, E>>,
    E: Recover + From<Error>,
{
    Box::pin(events.backoff(ExponentialBackoff::default()).reflect(store))
}

/// What the store holds: `bar@3 foo@2`, sorted.
pub(crate) fn held(store: &Store<ConfigMap>) -> String {
    let mut held: Vec<_> = store.snapshot().iter().map(|object| spec(object)).collect();
    held.sort();
    held.join(" ")
}

/// The store's version; `""` where it has none.
pub(crate) fn version<K: Object>(store: &Store<K>) -> String {
    store.resource_version().map(|version| version.to_string()).unwrap_or_default()
}

pub(crate) fn spec(object: &ConfigMap) -> String {
    let version = object.metadata.resource_version.as_deref().unwrap_or_default();
    format!("{}@{version}", Key::of(object).name)
}

/// Something that a stream yields, as a short word.
pub(crate) trait Word {
    fn word(&self) -> String;
}

/// `start`, `listed a@1`, `end 7`, `added a@1`, `bookmark 8`, `watching 7`, `resync`.
impl Word for Event<ConfigMap> {
    fn word(&self) -> String {
        match self {
            Event::SnapshotStart => "start".into(),
            Event::SnapshotEnd(version) => format!("end {version}"),
            Event::Bookmark(version) | Event::Watching(version) => format!("{} {version}", self.name()),
            _ => match self.object() {
                Some(object) => format!("{} {}", self.name(), spec(object)),
                None => self.name().into(),
            },
        }
    }
}

/// `added a@1 initial`, `updated a@2`, `deleted a@2 Observed`, `resynced a@2`, `synced 7`, `bookmark 8`, `watching 7`.
impl Word for Change<ConfigMap> {
    fn word(&self) -> String {
        let name = self.name();
        match self {
            Change::Added { object, initial: true } => format!("{name} {} initial", spec(object)),
            Change::Added { object, .. } | Change::Updated { new: object, .. } | Change::Resynced(object) => {
                format!("{name} {}", spec(object))
            }
            Change::Deleted { last, why } => format!("{name} {} {why:?}", spec(last)),
            Change::Synced { resource_version: version, .. }
            | Change::Bookmark(version)
            | Change::Watching(version) => format!("{name} {version}"),
        }
    }
}

/// `Relist 410`, `Skip`.
impl Word for Error {
    fn word(&self) -> String {
        match self.status() {
            Some(status) => format!("{:?} {}", self.recovery(), status.code),
            None => format!("{:?}", self.recovery()),
        }
    }
}

impl<T: Word> Word for Result<T, Error> {
    fn word(&self) -> String {
        match self {
            Ok(item) => item.word(),
            Err(error) => error.word(),
        }
    }
}

/// Everything that comes within this time; `over` at a stream's end.
pub(crate) async fn during<T: Word>(stream: &mut (impl Stream<Item = T> + Unpin), time: Duration) -> Vec<String> {
    let mut words = Vec::new();
    let until = tokio::time::Instant::now() + time;
    loop {
        match tokio::time::timeout_at(until, stream.next()).await {
            Ok(Some(item)) => words.push(item.word()),
            Ok(None) => {
                words.push("over".into());
                return words;
            }
            Err(_) => return words,
        }
    }
}

/// Everything up to the first item with this word.
pub(crate) async fn until<T: Word>(stream: &mut (impl Stream<Item = T> + Unpin), last: &str) -> Vec<String> {
    let mut words = Vec::new();
    while words.last().is_none_or(|word| word != last) {
        match stream.next().await {
            Some(item) => words.push(item.word()),
            None => panic!("the stream ended before {last:?}: {words:?}"),
        }
        assert!(words.len() < 10_000, "{last:?} does not come");
    }
    words
}

/// The errors among words.
pub(crate) fn errors(words: &[String]) -> Vec<&str> {
    let recoveries = ["Skip", "Resume", "Relist", "Fallback"];
    words.iter().map(String::as_str).filter(|word| recoveries.iter().any(|r| word.starts_with(r))).collect()
}

/// What was traced on this thread, as text.
#[derive(Clone, Default)]
pub(crate) struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes down what this thread traces, as long as the guard is held.
pub(crate) fn log() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

/// A store and the synthetic stream that feeds it, for as long as this lives.
pub(crate) struct Fed {
    events: futures::channel::mpsc::UnboundedSender<Item>,
    changes: futures::stream::BoxStream<'static, Result<Change<ConfigMap>, Error>>,
    pub(crate) store: Store<ConfigMap>,
}

impl Fed {
    pub(crate) fn new() -> Self {
        Self::into(Store::new())
    }

    pub(crate) fn into(store: Store<ConfigMap>) -> Self {
        let (sender, events) = futures::channel::mpsc::unbounded();
        Fed { events: sender, changes: events.reflect(&store).boxed(), store }
    }

    /// An event that is not read yet.
    pub(crate) fn send(&mut self, event: Event<ConfigMap>) {
        self.events.unbounded_send(Ok(event)).expect("the stream lives");
    }

    /// What these events did.
    pub(crate) fn tell(&mut self, events: impl IntoIterator<Item = Event<ConfigMap>>) -> Vec<String> {
        events.into_iter().for_each(|event| self.send(event));
        self.taken().iter().map(Word::word).collect()
    }

    /// The changes that are to be had now.
    pub(crate) fn taken(&mut self) -> Vec<Result<Change<ConfigMap>, Error>> {
        let mut changes = Vec::new();
        while let Some(Some(change)) = futures::FutureExt::now_or_never(self.changes.next()) {
            changes.push(change);
        }
        changes
    }

    /// One change, while the rest waits.
    pub(crate) fn one(&mut self) -> Option<String> {
        futures::FutureExt::now_or_never(self.changes.next()).flatten().map(|change| change.word())
    }

    /// A snapshot: what the difference was.
    pub(crate) fn replace(&mut self, specs: &str, version: &str) -> Vec<String> {
        self.tell(snapshot(specs, version))
    }
}

/// The events of a snapshot.
pub(crate) fn snapshot(specs: &str, version: &str) -> Vec<Event<ConfigMap>> {
    let listed = cms(specs).into_iter().map(Event::listed);
    [Event::SnapshotStart].into_iter().chain(listed).chain([Event::SnapshotEnd(version.into())]).collect()
}

pub(crate) fn add(spec: &str) -> Event<ConfigMap> {
    Event::added(cm(spec))
}
pub(crate) fn update(spec: &str) -> Event<ConfigMap> {
    Event::modified(cm(spec))
}
pub(crate) fn delete(spec: &str) -> Event<ConfigMap> {
    Event::deleted(cm(spec))
}
