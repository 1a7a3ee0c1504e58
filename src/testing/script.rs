use crate::{Error, Event, Grammar, ResourceVersion, ops::Timer};
use futures::{Stream, stream, stream::FusedStream};
use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

/// A synthetic stream of these events, which then ends. Its error is [`Error`], so that nothing need be annotated.
///
/// [`script`] has errors, waits and checks as well.
///
/// ```
/// use futures::StreamExt;
/// use listwatch::{Event, EventStreamExt, Raw, testing};
///
/// # tokio_test::block_on(async {
/// let events = testing::events([Event::<Raw>::SnapshotStart, Event::SnapshotEnd("7".into())]);
/// assert_eq!(events.validate().count().await, 2);
/// # });
/// ```
pub fn events<K>(
    events: impl IntoIterator<Item = Event<K>>,
) -> stream::Iter<std::vec::IntoIter<Result<Event<K>, Error>>> {
    stream::iter(events.into_iter().map(Ok).collect::<Vec<_>>())
}

/// A synthetic stream, step by step.
///
/// Each step is checked against the [`Grammar`], unless the script is [`unchecked`](Script::unchecked). The stream ends
/// after its last step, unless it [stays open](Script::stay_open).
///
/// # Panics
///
/// Where a step may not stand where it stands; and where the script is dropped with steps that were not taken, unless
/// the thread is panicking already.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use listwatch::{Error, EventStreamExt, Object, Raw, Status, policy::FixedBackoff, testing};
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let pod = Raw::decode(br#"{"metadata":{"name":"a"}}"#)?;
/// let mut events = testing::script()
///     .snapshot_start()
///     .listed(pod)
///     .pending()
///     .snapshot_end("7")
///     .wait(Duration::from_secs(60))
///     .error(Error::from_status(Status::from_code(503)))
///     .watching("7")
///     .backoff(FixedBackoff::new(Duration::from_secs(5)));
/// let start = tokio::time::Instant::now();
/// let mut times = Vec::new();
/// while let Some(_) = events.next().await {
///     times.push(start.elapsed().as_secs());
/// }
/// assert_eq!(times, [0, 0, 0, 60, 65]);
/// # Ok::<_, listwatch::DecodeError>(()) }).unwrap();
/// ```
pub fn script<K>() -> Script<K> {
    Script {
        steps: VecDeque::new(),
        timer: Timer::default(),
        waiting: false,
        stays_open: false,
        ended: false,
        grammar: Some(Grammar::Start),
    }
}

/// A synthetic stream that is built step by step: see [`script`].
#[must_use = "streams do nothing unless polled"]
pub struct Script<K> {
    steps: VecDeque<Step<K>>,
    timer: Timer,
    waiting: bool,
    stays_open: bool,
    ended: bool,
    /// `None` where it is not checked.
    grammar: Option<Grammar>,
}

enum Step<K> {
    Item(Result<Event<K>, Error>),
    Pending,
    Wait(Duration),
}

impl<K> Script<K> {
    /// [`Event::SnapshotStart`].
    #[track_caller]
    pub fn snapshot_start(self) -> Self {
        self.event(Event::SnapshotStart)
    }
    /// [`Event::Listed`].
    #[track_caller]
    pub fn listed(self, object: K) -> Self {
        self.event(Event::listed(object))
    }
    /// [`Event::SnapshotEnd`].
    #[track_caller]
    pub fn snapshot_end(self, version: impl Into<ResourceVersion>) -> Self {
        self.event(Event::SnapshotEnd(version.into()))
    }
    /// A whole snapshot: its start, these objects, its end.
    #[track_caller]
    pub fn snapshot(self, objects: impl IntoIterator<Item = K>, version: impl Into<ResourceVersion>) -> Self {
        objects.into_iter().fold(self.snapshot_start(), Self::listed).snapshot_end(version)
    }
    /// [`Event::Added`].
    #[track_caller]
    pub fn added(self, object: K) -> Self {
        self.event(Event::added(object))
    }
    /// [`Event::Modified`].
    #[track_caller]
    pub fn modified(self, object: K) -> Self {
        self.event(Event::modified(object))
    }
    /// [`Event::Deleted`].
    #[track_caller]
    pub fn deleted(self, object: K) -> Self {
        self.event(Event::deleted(object))
    }
    /// [`Event::Bookmark`].
    #[track_caller]
    pub fn bookmark(self, version: impl Into<ResourceVersion>) -> Self {
        self.event(Event::Bookmark(version.into()))
    }
    /// [`Event::Watching`].
    #[track_caller]
    pub fn watching(self, version: impl Into<ResourceVersion>) -> Self {
        self.event(Event::Watching(version.into()))
    }

    /// Any event: one that is shared, or an [`Event::Resync`], which no source makes.
    #[track_caller]
    pub fn event(mut self, event: Event<K>) -> Self {
        if let Some(Err(error)) = self.grammar.as_mut().map(|grammar| grammar.event(&event)) {
            panic!("step {}: {error}", self.steps.len());
        }
        self.step(Step::Item(Ok(event)))
    }

    /// An `Err` item.
    pub fn error(mut self, error: Error) -> Self {
        if let Some(grammar) = &mut self.grammar {
            grammar.error(error.recovery());
        }
        self.step(Step::Item(Err(error)))
    }

    /// One poll that finds nothing and is woken at once.
    pub fn pending(self) -> Self {
        self.step(Step::Pending)
    }

    /// Nothing for this long, from the time on that the step before was taken and the stream polled again.
    pub fn wait(self, time: Duration) -> Self {
        self.step(Step::Wait(time))
    }

    /// After the last step the stream says nothing more, rather than end.
    pub fn stay_open(mut self) -> Self {
        self.stays_open = true;
        self
    }

    /// Steps from here on are not checked: for streams that break the grammar.
    pub fn unchecked(mut self) -> Self {
        self.grammar = None;
        self
    }

    fn step(mut self, step: Step<K>) -> Self {
        self.steps.push_back(step);
        self
    }
}

impl<K> Stream for Script<K> {
    type Item = Result<Event<K>, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if this.waiting {
                ready!(this.timer.poll(cx));
                this.waiting = false;
            }
            match this.steps.pop_front() {
                Some(Step::Item(item)) => return Poll::Ready(Some(item)),
                Some(Step::Wait(time)) => {
                    this.timer.arm(time);
                    this.waiting = true;
                }
                Some(Step::Pending) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                None if this.stays_open => return Poll::Pending,
                None => {
                    this.ended = true;
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let items = self.steps.iter().filter(|step| matches!(step, Step::Item(_))).count();
        (items, Some(items))
    }
}

impl<K> FusedStream for Script<K> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<K> Drop for Script<K> {
    fn drop(&mut self) {
        let left = self.size_hint().0;
        if left > 0 && !self.ended && !std::thread::panicking() {
            panic!("a script was dropped with {left} items that were not taken");
        }
    }
}

impl<K> fmt::Debug for Script<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("left", &self.steps.len()).finish_non_exhaustive()
    }
}
