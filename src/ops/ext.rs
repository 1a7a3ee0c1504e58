#[cfg(feature = "kube-runtime")]
use super::IntoKube;
#[cfg(feature = "kube")]
use super::StripManagedFields;
use super::{
    Backoff, ByRecover, CheckpointEvery, Deletions, ExpectKind, FilterObjects, Fold, IntoFold, MapObjects,
    ModifyObjects, Objects, OnError, OnlyChangedBy, Project, Reflect, ReflectInto, Resync, SendTo, Tee, Until,
    Validate, VerifyWith,
};
use crate::{Change, Error, Event, Kinded, Object, Recover, Recovery, Store, policy, source::ListWatch};
use futures::{Sink, Stream};
use serde::Serialize;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Every operator. The bounds stand on the methods, so that one import serves streams of events, of changes and of
/// anything else.
///
/// | on | operators |
/// |---|---|
/// | events | [`reflect`](Self::reflect), [`tee`](Self::tee), [`resync`](Self::resync), [`resync_if`](Self::resync_if), [`validate`](Self::validate), [`verify_with`](Self::verify_with), [`map_objects`](Self::map_objects), [`modify_objects`](Self::modify_objects), `strip_managed_fields`, [`filter_objects`](Self::filter_objects), [`expect_kind`](Self::expect_kind), `into_kube` |
/// | changes | [`only_changed_by`](Self::only_changed_by) |
/// | both | [`objects`](Self::objects), [`deletions`](Self::deletions) |
/// | any `Result` | [`backoff`](Self::backoff), [`backoff_by`](Self::backoff_by), [`on_error`](Self::on_error), [`send_to`](Self::send_to) |
/// | any item | [`until`](Self::until), [`checkpoint_every`](Self::checkpoint_every) |
///
/// # Errors are items
///
/// A stream goes on after an `Err`; it ends only with `None`. Operators pass errors on unchanged and in order. futures'
/// own `forward`, `try_for_each`, `try_collect` and a loop over `try_next().await?` **end at the first `Err`**, and
/// with them the mirror: take the errors off first, with [`on_error`](Self::on_error), use [`send_to`](Self::send_to), or
/// match on each item.
///
/// # Beside other extension traits
///
/// No method here has a name of futures' `StreamExt` or `TryStreamExt`. kube-runtime's `WatchStreamExt` also has
/// `backoff` and `reflect`: do not import both traits in one module, or name the trait in the call:
/// `EventStreamExt::backoff(stream, policy)`.
///
/// # Cancel safety
///
/// Waiting for the next item of any operator may be dropped and begun again; nothing is lost.
///
/// # Panics
///
/// A panic in the user's code that an operator calls goes out of the poll that called it. The operator is then
/// finished: it drops that code (a store's part becomes stale) and yields `None` from then on.
///
/// # Memory
///
/// Unless it says otherwise, an operator holds at most one item. Timers and tokens are boxed once, so that a whole pipeline is `Unpin` and
/// `stream.next().await` needs no `pin!`.
pub trait EventStreamExt: Stream {
    /// Folds events into a store, and yields what each did to it.
    ///
    #[doc = include_str!("figures/reflect.md")]
    ///
    /// `target` is `&Store`, which opens a part of it, or any [`Fold`], by value or `&mut`. An `Err` is told to the
    /// fold and yielded, and after it the changes that it led to, if any. Where the fold does not take an event, that
    /// is an `Err` with [`Recovery::Skip`], and the stream goes on; so is, after the changes, each thing that an event left
    /// out.
    ///
    /// The store advances while the changes are polled: this is the stream that drives it. The fold is dropped when
    /// the stream ends.
    ///
    /// # Backpressure
    ///
    /// Nothing is read from the stream below before all changes of the last event were taken. The store has all of them
    /// from the first on: who drops the stream in between is not told the rest, nor is it told again by a stream that
    /// takes the part over. [`subscribe`](crate::Store::subscribe) replays what the store holds.
    ///
    /// # `reflect` versus `tee`
    ///
    /// Both fold. `reflect` yields what each event *did* (with the old object, deletions that no event told, nothing for what is
    /// unchanged), `tee` passes the *events* on. Most consumers want `reflect`; put a `tee` before it where a second store
    /// is to hold the same objects.
    ///
    /// # Examples
    ///
    /// A store of one's own:
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use listwatch::{Error, Event, EventStreamExt, Fold, Raw, testing};
    /// use std::convert::Infallible;
    ///
    /// #[derive(Default)]
    /// struct Count(usize);
    ///
    /// impl Fold<Raw> for Count {
    ///     type Changes = Option<usize>;
    ///     type Error = Infallible;
    ///     fn fold(&mut self, event: Event<Raw>) -> Result<Option<usize>, Infallible> {
    ///         let Event::Added(_) = event else { return Ok(None) };
    ///         self.0 += 1;
    ///         Ok(Some(self.0))
    ///     }
    /// }
    ///
    /// # tokio_test::block_on(async {
    /// let mut count = Count::default();
    /// let events = testing::script().added(testing::raw("a", "1")).bookmark("2").added(testing::raw("b", "3"));
    /// let changes: Vec<usize> = events.reflect(&mut count).try_collect().await?;
    /// assert_eq!((changes, count.0), (vec![1, 2], 2));
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    #[doc(alias("reflector", "store"))]
    fn reflect<K, E, T, M>(self, target: T) -> ReflectInto<Self, T::Fold, K>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        E: Recover + From<Error>,
        T: IntoFold<K, M>,
    {
        let reflect = Reflect::new(self, target.into_fold());
        assert_stream::<Result<<<T::Fold as Fold<K>>::Changes as IntoIterator>::Item, E>, _>(reflect)
    }

    /// Folds events into a store and passes them on: for two stores, or a store before a sink.
    ///
    #[doc = include_str!("figures/tee.md")]
    ///
    /// As [`reflect`](Self::reflect), but the changes are dropped. Where the fold does not take an event, one `Err`
    /// with [`Recovery::Skip`] follows that event. The event is folded before it is passed on.
    ///
    /// # Memory
    ///
    /// Both sides share each object; nothing is copied.
    ///
    /// # `tee` versus `reflect`
    ///
    /// `tee` where something below the store wants events: another store, or a sink that copies the stream as it came. Where it
    /// wants to know what changed, [`reflect`](Self::reflect). A slow consumer that should not hold the store up takes neither:
    /// it [subscribes](crate::Store::subscribe).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Event, EventStreamExt, Fold, Raw, testing};
    ///
    /// /// Holds one object and no more.
    /// #[derive(Default)]
    /// struct One(Option<std::sync::Arc<Raw>>);
    ///
    /// impl Fold<Raw> for One {
    ///     type Changes = Option<()>;
    ///     type Error = &'static str;
    ///     fn fold(&mut self, event: Event<Raw>) -> Result<Option<()>, &'static str> {
    ///         match (event, &self.0) {
    ///             (Event::Added(_), Some(_)) => Err("full"),
    ///             (Event::Added(object), None) => Ok(self.0.replace(object).map(drop)),
    ///             _ => Ok(None),
    ///         }
    ///     }
    /// }
    ///
    /// # tokio_test::block_on(async {
    /// let events = testing::script().added(testing::raw("a", "1")).added(testing::raw("b", "2"));
    /// let out: Vec<_> = events.tee(One::default()).collect().await;
    /// assert!(matches!(&out[..], [Ok(Event::Added(_)), Ok(Event::Added(_)), Err(error)] if error.is_refused()));
    /// # });
    /// ```
    fn tee<K, E, T, M>(self, target: T) -> Tee<Self, T::Fold>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        E: Recover + From<Error>,
        T: IntoFold<K, M>,
    {
        assert_stream::<Result<Event<K>, E>, _>(Tee::new(self, target.into_fold()))
    }

    /// Asks the consumer, once each period, to replay what it holds.
    ///
    #[doc = include_str!("figures/resync.md")]
    ///
    /// The timer is its own: it starts with the end of the first snapshot (or the first change of a stream without
    /// one), is not reset by reconnects and relists, and is armed again once the replay was taken. [`Event::Resync`]
    /// comes only between snapshots; one due inside a snapshot waits for its end. It asks the server nothing, and
    /// while a replay is taken nothing is read from it: one slower than the server's patience costs a reconnect, never
    /// an event.
    ///
    /// A zero period means never, as in client-go. Put it below [`reflect`](Self::reflect), where a store answers it
    /// with [`Change::Resynced`](crate::Change::Resynced) for each object.
    ///
    /// # Panics
    ///
    /// When it is polled outside of a tokio runtime with timers.
    ///
    /// # `resync` versus its twins
    ///
    /// On this stream all consumers of the store see the replay. One that wants it alone asks its own subscription:
    /// [`Subscription::resync`](crate::store::Subscription::resync). [`resync_if`](Self::resync_if) asks a predicate first.
    /// Neither is a relist: that asks the server, and is [`RelistHandle::relist`](crate::source::RelistHandle::relist).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Event, EventStreamExt, Raw, testing};
    /// use std::time::Duration;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let start = tokio::time::Instant::now();
    /// let events = testing::script::<Raw>().snapshot([], "7").stay_open().resync(Duration::from_secs(600));
    /// let out: Vec<_> = events.skip(2).take(2).map(|event| (event.unwrap(), start.elapsed().as_secs())).collect().await;
    /// assert_eq!(out, [(Event::Resync, 600), (Event::Resync, 1200)]);
    /// # });
    /// ```
    #[doc(alias = "ResyncPeriod")]
    fn resync<K, E>(self, period: Duration) -> Resync<Self, fn() -> bool>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
    {
        assert_stream::<Result<Event<K>, E>, _>(Resync::new(self, period, || true))
    }

    /// As [`resync`](Self::resync), where the predicate says so; it is asked each time that a resync is due.
    ///
    #[doc = include_str!("figures/resync_if.md")]
    ///
    /// # `resync_if` versus `resync`
    ///
    /// With a predicate where a replay is work that is not always wanted, such as on a replica that does not lead.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Event, EventStreamExt, Raw, testing};
    /// use std::time::Duration;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let start = tokio::time::Instant::now();
    /// let mut asked = 0;
    /// let every_third = || {
    ///     asked += 1;
    ///     asked % 3 == 0
    /// };
    /// let events = testing::script::<Raw>().bookmark("7").stay_open();
    /// let mut out = events.resync_if(Duration::from_secs(60), every_third).skip(1);
    /// assert!(matches!(out.next().await, Some(Ok(Event::Resync))));
    /// assert_eq!(start.elapsed().as_secs(), 180);
    /// # });
    /// ```
    #[doc(alias = "ShouldResync")]
    fn resync_if<K, E, F>(self, period: Duration, predicate: F) -> Resync<Self, F>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        F: FnMut() -> bool,
    {
        assert_stream::<Result<Event<K>, E>, _>(Resync::new(self, period, predicate))
    }

    /// Checks the [grammar](Event) of a stream that is not known to keep it.
    ///
    #[doc = include_str!("figures/validate.md")]
    ///
    /// An event out of place is left out, and an `Err` with [`Recovery::Skip`] stands there instead. A `SnapshotStart`
    /// within a snapshot is passed on after an `Err` with [`Recovery::Relist`], which voids what was pending. So what
    /// comes out always keeps the grammar.
    ///
    /// # `validate` versus `expect_kind` and `verify_with`
    ///
    /// Three checks: `validate` of the order of events, for sources and operators that are not known to keep it; `expect_kind` of
    /// each object's kind, for dynamic objects; `verify_with` of the content against the server, for tests.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Event, EventStreamExt, Raw, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let events = testing::events([Event::<Raw>::SnapshotStart, Event::Bookmark("6".into()), Event::SnapshotEnd("7".into())]);
    /// let out: Vec<_> = events.validate().collect().await;
    /// assert!(matches!(&out[..], [Ok(_), Err(error), Ok(Event::SnapshotEnd(_))] if error.is_grammar()));
    /// # });
    /// ```
    fn validate<K, E>(self) -> Validate<Self>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        E: Recover + From<Error>,
    {
        assert_stream::<Result<Event<K>, E>, _>(Validate::new(self))
    }

    /// Waits after failures, before the stream is polled again.
    ///
    #[doc = include_str!("figures/backoff.md")]
    ///
    /// An `Err` is passed on at once; the wait comes after it, and time spent downstream counts. After
    /// [`Recovery::Resume`] and [`Recovery::Relist`] it waits for the longer of what the policy says and
    /// [`retry_after`](Recover::retry_after), with a count of attempts for each of the two; after
    /// [`Recovery::Fallback`] for `retry_after` alone, after [`Recovery::Skip`] not at all. Both counts begin anew
    /// where a failure comes [`reset_after`](policy::Backoff::reset_after) (2 minutes) or more after the stream was
    /// first polled following a wait: waiting is not health.
    ///
    /// Source streams have a floor of their own and heed `Retry-After`, so they never run hot without this; the waits
    /// overlap, they never add up. Errors of other crates: [`backoff_by`](Self::backoff_by).
    ///
    /// # Panics
    ///
    /// When it has to wait outside of a tokio runtime with timers.
    ///
    /// # `backoff` versus `backoff_by`
    ///
    /// `backoff` asks the error itself, which knows what comes next; [`backoff_by`](Self::backoff_by) asks a closure, for errors
    /// that are not yours to implement [`Recover`] for.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Error, EventStreamExt, ExponentialBackoff, Raw, testing};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let cut = || Error::interrupted("reset by peer");
    /// let policy = ExponentialBackoff::builder().jitter(0.0).build()?;
    /// let start = tokio::time::Instant::now();
    /// let events = testing::script::<Raw>().error(cut()).error(cut()).watching("7").backoff(policy);
    /// let times: Vec<_> = events.map(|_| start.elapsed().as_millis()).collect().await;
    /// assert_eq!(times, [0, 800, 2400]);
    /// # Ok::<_, listwatch::policy::InvalidBackoff>(()) }).unwrap();
    /// ```
    #[doc(alias = "default_backoff")]
    fn backoff<T, E, P>(self, policy: P) -> Backoff<Self, P>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        E: Recover,
        P: policy::Backoff,
    {
        assert_stream::<Result<T, E>, _>(Backoff::new(self, policy, ByRecover))
    }

    /// As [`backoff`](Self::backoff), for errors that do not implement [`Recover`]: the closure says what each asks for.
    ///
    #[doc = include_str!("figures/backoff_by.md")]
    ///
    /// # `backoff_by` versus `backoff`
    ///
    /// Whatever implements [`Recover`], as [`Error`] does, is for [`backoff`](Self::backoff).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use listwatch::{EventStreamExt, Recovery, policy::FixedBackoff};
    /// use std::{fmt, time::Duration};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let start = tokio::time::Instant::now();
    /// let numbers = stream::iter([Ok(1), Err(fmt::Error), Ok(2)]);
    /// let policy = FixedBackoff::new(Duration::from_secs(1));
    /// let asks = |_: &fmt::Error| (Recovery::Resume, Some(Duration::from_secs(7)));
    /// assert_eq!(numbers.backoff_by(policy, asks).count().await, 3);
    /// assert_eq!(start.elapsed().as_secs(), 7);
    /// # });
    /// ```
    fn backoff_by<T, E, P, C>(self, policy: P, classify: C) -> Backoff<Self, P, C>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        P: policy::Backoff,
        C: FnMut(&E) -> (Recovery, Option<Duration>),
    {
        assert_stream::<Result<T, E>, _>(Backoff::new(self, policy, classify))
    }

    /// Hands errors to `f` and yields the rest, plain.
    ///
    #[doc = include_str!("figures/on_error.md")]
    ///
    /// What comes out may go into anything that would end at an `Err`.
    ///
    /// # `on_error` versus its twins
    ///
    /// [`send_to`](Self::send_to) does the same on the way into a sink. futures' `inspect_err` looks at errors but leaves them
    /// in the stream, where `forward` or `try_next()?` would still end at them; `filter_map(Result::ok)` drops them unseen.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use listwatch::EventStreamExt;
    ///
    /// # tokio_test::block_on(async {
    /// let mut errors = Vec::new();
    /// let items = stream::iter([Ok(1), Err("cut"), Ok(2)]).on_error(|error| errors.push(error));
    /// assert_eq!(items.collect::<Vec<_>>().await, [1, 2]);
    /// assert_eq!(errors, ["cut"]);
    /// # });
    /// ```
    #[doc(alias("inspect_err", "SetWatchErrorHandler"))]
    fn on_error<T, E, F>(self, f: F) -> OnError<Self, F>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        F: FnMut(E),
    {
        assert_stream::<T, _>(OnError::new(self, f))
    }

    /// Turns each object into one of another type.
    ///
    #[doc = include_str!("figures/map_objects.md")]
    ///
    /// Where the result is reflected it must keep the object's identity: a store goes by it. Called once for each
    /// object of each event.
    ///
    /// # `map_objects` versus its twins
    ///
    /// [`modify_objects`](Self::modify_objects) keeps the type and the allocation. Both decode the whole object first; a slim type
    /// that is decoded instead of it (`Collection::decode_as`) never holds more than it keeps, and is what saves most.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use listwatch::{Error, Event, EventStreamExt, Object, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let events = testing::events([Event::added(testing::raw("shop/cart", "7")), Event::Resync]);
    /// let names = events.map_objects(|object| object.identity().name.to_owned());
    /// assert_eq!(names.try_collect::<Vec<_>>().await?, [Event::added("cart".to_owned()), Event::Resync]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    fn map_objects<K, L, E, F>(self, f: F) -> MapObjects<Self, F>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        F: FnMut(&K) -> L,
    {
        assert_stream::<Result<Event<L>, E>, _>(MapObjects::new(self, f))
    }

    /// Changes each object in place.
    ///
    #[doc = include_str!("figures/modify_objects.md")]
    ///
    /// Right after a source nothing else holds the object, and nothing is copied; further down an object that is held
    /// elsewhere is cloned first. Called once for each object of each event. Do not change an object's identity.
    ///
    /// # `modify_objects` versus its twins
    ///
    /// For one field that nobody reads. [`strip_managed_fields`](Self::strip_managed_fields) is the ready-made one;
    /// [`map_objects`](Self::map_objects) makes another type.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use listwatch::{Error, Event, EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let map = ConfigMap { data: Some([("key".into(), "value".into())].into()), ..ConfigMap::default() };
    /// let events = testing::events([Event::added(map)]).modify_objects(|map| map.data = None);
    /// assert_eq!(events.try_collect::<Vec<_>>().await?, [Event::added(ConfigMap::default())]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    #[doc(alias("SetTransform", "modify"))]
    fn modify_objects<K, E, F>(self, f: F) -> ModifyObjects<Self, F>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        K: Clone,
        F: FnMut(&mut K),
    {
        assert_stream::<Result<Event<K>, E>, _>(ModifyObjects::new(self, f))
    }

    /// Drops `metadata.managedFields`, often half of an object.
    ///
    #[doc = include_str!("figures/strip_managed_fields.md")]
    ///
    /// A [`modify_objects`](Self::modify_objects) that leaves objects without the field alone.
    ///
    /// # `strip_managed_fields` versus its twins
    ///
    /// The server still sends the field, and it is still decoded. A slim type leaves it out of the memory from the start; the
    /// server leaves nothing out of an object but with metadata alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use listwatch::{Error, Event, EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let mut map = ConfigMap::default();
    /// map.metadata.managed_fields = Some(vec![Default::default()]);
    /// let events = testing::events([Event::added(map)]).strip_managed_fields();
    /// assert_eq!(events.try_collect::<Vec<_>>().await?, [Event::added(ConfigMap::default())]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    #[cfg(feature = "kube")]
    fn strip_managed_fields<K, E>(self) -> StripManagedFields<Self>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        K: kube_core::Resource + Clone,
    {
        assert_stream::<Result<Event<K>, E>, _>(StripManagedFields::new(self))
    }

    /// Keeps the objects that match, as if the server had a selector for it.
    ///
    #[doc = include_str!("figures/filter_objects.md")]
    ///
    /// An object that does not match becomes a `Deleted` of itself if it was passed before, or if the stream began
    /// without a snapshot and none has come yet, as the consumer may then hold it from elsewhere; else it is left out,
    /// also inside a snapshot. A `Deleted` always passes. Errors pass; an object that does not decode counts as passed, as
    /// the consumer may hold what it could read last.
    ///
    /// # Memory
    ///
    /// The keys of the objects that were passed since the last `SnapshotStart`.
    ///
    /// # `filter_objects` versus its twins
    ///
    /// A selector on the source is cheaper wherever the server can say it: what does not match is not sent. `filter_objects` is for
    /// what selectors cannot say, and keeps the rest out of the store.
    /// [`subscribe_filtered`](crate::Store::subscribe_filtered) leaves the store whole and filters for one consumer;
    /// [`only_changed_by`](Self::only_changed_by) leaves out updates, never objects. futures' `filter` on events would leave a store
    /// holding what has ceased to match.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use listwatch::{Error, Event, EventStreamExt, Object, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let (a1, a2, b) = (testing::raw("a", "1"), testing::raw("a", "2"), testing::raw("b", "1"));
    /// let script = testing::script().snapshot([a1.clone(), b], "1").modified(a2.clone());
    /// let even = script.filter_objects(|object| object.identity().resource_version == "1" && object.identity().name == "a");
    /// let events: Vec<_> = even.try_collect().await?;
    /// assert_eq!(events[1..], [Event::listed(a1), Event::SnapshotEnd("1".into()), Event::deleted(a2)]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    #[doc(alias = "FilteringResourceEventHandler")]
    fn filter_objects<K, E, F>(self, f: F) -> FilterObjects<Self, F>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        K: Object,
        E: Recover,
        F: FnMut(&K) -> bool,
    {
        assert_stream::<Result<Event<K>, E>, _>(FilterObjects::new(self, f))
    }

    /// Checks that each object says it is of this kind: for dynamic objects, which decode from anything.
    ///
    #[doc = include_str!("figures/expect_kind.md")]
    ///
    /// Instead of an event with another kind comes an `Err` with [`Recovery::Skip`]. An object that carries no kind
    /// passes, and so does a `PartialObjectMetadata`, which is what any kind is where only metadata is asked for.
    ///
    /// # `expect_kind` versus its twins
    ///
    /// See [`validate`](Self::validate). Types of k8s-openapi check the kind themselves, where the JSON says it: another one
    /// does not decode.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{Event, EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let events = || testing::events([Event::added(testing::raw("a", "1"))]); // a v1 Thing
    /// assert!(events().expect_kind("v1", "Thing").next().await.unwrap().is_ok());
    /// let error = events().expect_kind("v2", "Thing").next().await.unwrap().unwrap_err();
    /// assert!(error.is_wrong_kind());
    /// # });
    /// ```
    #[doc(alias = "expectedGVK")]
    fn expect_kind<K, E>(self, api_version: &str, kind: &str) -> ExpectKind<Self>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        K: Kinded,
        E: Recover + From<Error>,
    {
        assert_stream::<Result<Event<K>, E>, _>(ExpectKind::new(self, api_version, kind))
    }

    /// Checks each snapshot against a LIST at exactly its version: for tests of a server, a source or a pipeline.
    ///
    #[doc = include_str!("figures/verify_with.md")]
    ///
    /// `map` makes of a listed object what the stream makes of it: the closure of [`map_objects`](Self::map_objects) where
    /// that stands below, else `K::clone`. Objects are compared by uid, after `map`, with `==`; those that do not decode
    /// are left out on both sides. A difference is one `Err` with [`Recovery::Skip`] for which
    /// [`is_inconsistent`](Error::is_inconsistent) holds and which names the objects that differ, never their content.
    ///
    /// While the server cannot say, the list is asked for again each second, up to 30 times; that it cannot be had, an
    /// expired version for one, or not within 5 minutes, is an `Err` with [`Recovery::Skip`] too. A snapshot without a version, or at `"0"`, is
    /// not checked. Nothing is read from the stream below while a check runs.
    ///
    /// It costs a whole list for each snapshot, so nothing does it by default.
    ///
    /// # Memory
    ///
    /// While a snapshot comes in, a count for each of its objects; while it is checked, the listed objects as well.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use listwatch::{EventStreamExt, Raw, source::{ListWatch, WireEvent}, testing::{ScriptedApi, raw}};
    ///
    /// # tokio_test::block_on(async {
    /// let api = ScriptedApi::new()
    ///     .on_watch([WireEvent::added(raw("a", "1")), WireEvent::initial_events_end("7")])
    ///     .on_list("7", [raw("a", "1"), raw("b", "2")]);
    /// let mut events = api.clone().events().verify_with(api, Raw::clone).skip(3);
    /// let error = events.next().await.unwrap().unwrap_err();
    /// assert!(error.is_inconsistent() && error.to_string().contains("1 missing"), "{error}");
    /// # });
    /// ```
    #[doc(alias("consistencydetector", "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR"))]
    fn verify_with<L, E, W, F>(self, source: W, map: F) -> VerifyWith<Self, W::Object, L, F>
    where
        Self: Stream<Item = Result<Event<L>, E>> + Sized,
        E: Recover + From<Error>,
        W: ListWatch,
        L: Object + PartialEq,
        F: FnMut(&W::Object) -> L,
    {
        assert_stream::<Result<Event<L>, E>, _>(VerifyWith::new(self, source, map))
    }

    /// kube-runtime's own events, for its stores and controllers.
    ///
    #[doc = include_str!("figures/into_kube.md")]
    ///
    /// kube-runtime's stores stay right through what their own events cannot say: a snapshot is told when it is
    /// complete, so one that is voided, or an object that is deleted within it, leaves no trace; an object that does
    /// not decode stays as it was last readable, and one whose deletion does not decode is deleted. A `Resync` becomes
    /// an `Apply` of each object; bookmarks are left out. A stream without a first snapshot makes no `Init`.
    ///
    /// kube-runtime wants items whose error is `watcher::Error`: take the errors off before, as in the example.
    ///
    /// # Memory
    ///
    /// Holds what it told, and kube-runtime takes objects by value: two copies of each object.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube_runtime::reflector;
    /// use listwatch::{EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let mut map = ConfigMap::default();
    /// map.metadata.name = Some("a".into());
    /// let events = testing::script().snapshot([map], "7");
    ///
    /// let (store, writer) = reflector::store();
    /// let events = events.into_kube().on_error(|error| panic!("{error}")).map(Ok);
    /// assert_eq!(reflector::reflector(writer, events).count().await, 3);
    /// assert_eq!(store.state().len(), 1);
    /// # });
    /// ```
    #[cfg(feature = "kube-runtime")]
    #[doc(alias = "watcher")]
    fn into_kube<K, E>(self) -> IntoKube<Self, K>
    where
        Self: Stream<Item = Result<Event<K>, E>> + Sized,
        K: Object + Clone,
        E: Recover,
    {
        assert_stream::<Result<kube_runtime::watcher::Event<K>, E>, _>(IntoKube::new(self))
    }

    /// Leaves updates out where the closure sees no difference that matters.
    ///
    #[doc = include_str!("figures/only_changed_by.md")]
    ///
    /// The closure sees the old and the new state, and says whether to tell it. [`ops::changed`](crate::ops::changed)
    /// has ready-made ones: `generation`, `labels`, `annotations`, `spec`. Everything but updates passes.
    ///
    /// # `only_changed_by` versus its twins
    ///
    /// It is for consumers that react to each update; what it leaves out is in the store all the same. To keep objects out, see
    /// [`filter_objects`](Self::filter_objects). To be told once of many changes, see [`Store::changed`](crate::Store::changed).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use k8s_openapi::api::core::v1::Pod;
    /// use listwatch::{Change, Error, EventStreamExt, ops::changed};
    /// use std::sync::Arc;
    ///
    /// # tokio_test::block_on(async {
    /// let (old, mut new) = (Arc::new(Pod::default()), Pod::default());
    /// new.metadata.labels = Some([("app".into(), "cart".into())].into());
    /// let changes = || stream::iter([Ok::<_, Error>(Change::Updated { old: old.clone(), new: Arc::new(new.clone()) })]);
    /// assert_eq!(changes().only_changed_by(changed::labels).count().await, 1);
    /// assert_eq!(changes().only_changed_by(changed::annotations).count().await, 0);
    /// assert_eq!(changes().only_changed_by(|old, new| changed::spec(old, new) || changed::labels(old, new)).count().await, 1);
    /// # });
    /// ```
    #[doc(alias = "predicate_filter")]
    fn only_changed_by<K, E, F>(self, f: F) -> OnlyChangedBy<Self, F>
    where
        Self: Stream<Item = Result<Change<K>, E>> + Sized,
        F: FnMut(&K, &K) -> bool,
    {
        assert_stream::<Result<Change<K>, E>, _>(OnlyChangedBy::new(self, f))
    }

    /// Only the objects, as they are now: of events, what was listed, added or modified; of changes, what was added,
    /// updated or resynced.
    ///
    #[doc = include_str!("figures/objects.md")]
    ///
    /// # `objects` versus its twins
    ///
    /// Of events, a relist lists every object again; of changes, it tells only those that differ. [`deletions`](Self::deletions)
    /// has the other half. A consumer that wants both matches on the items.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use listwatch::{Error, EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let (a, b) = (testing::raw("a", "1"), testing::raw("b", "2"));
    /// let events = testing::script().snapshot([a.clone()], "1").deleted(a.clone()).added(b.clone());
    /// let objects: Vec<_> = events.objects().try_collect().await?;
    /// assert_eq!(objects, [a.into(), b.into()]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    #[doc(alias = "applied_objects")]
    fn objects<P, E>(self) -> Objects<Self>
    where
        Self: Stream<Item = Result<P, E>> + Sized,
        P: Project,
    {
        assert_stream::<Result<Arc<P::Object>, E>, _>(Objects::new(self))
    }

    /// Only the last states of objects that are gone.
    ///
    #[doc = include_str!("figures/deletions.md")]
    ///
    /// On events, an object that a relist no longer lists is no `Deleted`: only a store knows it. Use it on changes
    /// where every deletion counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use listwatch::{Error, EventStreamExt, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let a = testing::raw("a", "1");
    /// let events = testing::script().snapshot([a.clone()], "1").deleted(a.clone());
    /// assert_eq!(events.deletions().try_collect::<Vec<_>>().await?, [a.into()]);
    /// # Ok::<(), Error>(()) }).unwrap();
    /// ```
    fn deletions<P, E>(self) -> Deletions<Self>
    where
        Self: Stream<Item = Result<P, E>> + Sized,
        P: Project,
    {
        assert_stream::<Result<Arc<P::Object>, E>, _>(Deletions::new(self))
    }

    /// Sends every item into a sink and hands errors to `f`.
    ///
    #[doc = include_str!("figures/send_to.md")]
    ///
    /// Resolves once the stream has ended and the sink is flushed and closed, or with the sink's error. futures'
    /// `forward` is the same for a stream of plain items, but **ends at the first `Err`**. To go on with the sink
    /// afterwards, get it back with [`into_inner`](SendTo::into_inner), or send to `&mut sink`; it is closed all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// An item is taken only when the sink has room for it, so nothing is lost between them when the future is
    /// dropped. What the sink buffers is not flushed then.
    ///
    /// # Backpressure
    ///
    /// While the sink has no room, nothing is read from the stream.
    ///
    /// # `send_to` versus its twins
    ///
    /// [`on_error`](Self::on_error) and then `forward` is the same in two steps. Where the sink is slow and the stream also drives
    /// a store, send a [subscription](crate::Store::subscribe) instead, so that the store does not wait for the sink.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, channel::mpsc};
    /// use listwatch::{Error, Event, EventStreamExt, Raw, testing};
    ///
    /// # tokio_test::block_on(async {
    /// let (sink, received) = mpsc::channel(8);
    /// let events = testing::script::<Raw>().bookmark("1").error(Error::interrupted("cut")).bookmark("2");
    /// let mut errors = 0;
    /// events.send_to(sink, |_| errors += 1).await?;
    /// assert_eq!(received.collect::<Vec<_>>().await, [Event::Bookmark("1".into()), Event::Bookmark("2".into())]);
    /// assert_eq!(errors, 1);
    /// # Ok::<(), mpsc::SendError>(()) }).unwrap();
    /// ```
    #[doc(alias = "forward")]
    fn send_to<T, E, Si, F>(self, sink: Si, f: F) -> SendTo<Self, Si, T, F>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        Si: Sink<T>,
        F: FnMut(E),
    {
        SendTo::new(self, sink, f)
    }

    /// Ends the stream when the token is cancelled.
    ///
    #[doc = include_str!("figures/until.md")]
    ///
    /// The token comes first: once it is cancelled nothing more is yielded, however much is ready. The stream below is
    /// kept until this one is dropped, or taken out with `into_inner`.
    ///
    /// # `until` versus its twins
    ///
    /// futures' `take_until` takes any future and asks the stream first; this one asks the token first, so that nothing more
    /// comes out once it is cancelled. A [`ReflectorHandle`](crate::ReflectorHandle) has `stop()`.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use listwatch::EventStreamExt;
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # tokio_test::block_on(async {
    /// let shutdown = CancellationToken::new();
    /// let mut numbers = stream::iter(1..).until(shutdown.clone());
    /// assert_eq!(numbers.next().await, Some(1));
    /// shutdown.cancel();
    /// assert_eq!(numbers.next().await, None);
    /// # });
    /// ```
    #[doc(alias("take_until", "stopCh"))]
    fn until(self, token: CancellationToken) -> Until<Self>
    where
        Self: Sized,
    {
        assert_stream::<Self::Item, _>(Until::new(self, token))
    }

    /// Passes everything on, and meanwhile writes a [checkpoint](Store::checkpoint) of a store to a file each `period`
    /// and at the stream's end, where the content or the version has moved since the last.
    ///
    #[doc = include_str!("figures/checkpoint_every.md")]
    ///
    /// It stands anywhere below what drives the store: after its `reflect` or `tee`, most often.
    ///
    /// Each is written beside the file, synced, and renamed over it: there is always the old one or the new one, whole. It
    /// is written on a blocking thread; the stream does not wait for it, except at its end. A failure is traced at warn,
    /// counted, and the next period tries again. Any replica may do this, also one that is not the leader.
    ///
    /// Needs a tokio runtime with time.
    ///
    /// # Examples
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// use futures::StreamExt;
    /// use listwatch::{EventStreamExt, Object, Store, testing};
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use std::time::Duration;
    ///
    /// let path = std::env::temp_dir().join(format!("checkpoint-{}", std::process::id()));
    /// let store = Store::new();
    /// let events = testing::script().snapshot([ConfigMap::decode(br#"{"metadata":{"name":"a"}}"#)?], "7");
    /// let changes = events.reflect(&store).checkpoint_every(&store, &path, Duration::from_secs(60));
    /// assert_eq!(changes.count().await, 2, "Added and Synced");
    ///
    /// let warm = Store::<ConfigMap>::new();
    /// warm.restore(&std::fs::read(&path)?)?;
    /// assert!(warm.contains("a"));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    fn checkpoint_every<K>(
        self,
        store: &Store<K>,
        path: impl Into<PathBuf>,
        period: Duration,
    ) -> CheckpointEvery<Self, K>
    where
        Self: Sized,
        K: Object + Serialize,
    {
        assert_stream::<Self::Item, _>(CheckpointEvery::new(self, store.clone(), path.into(), period))
    }
}

impl<S: Stream + ?Sized> EventStreamExt for S {}

/// Checks at compile time that an operator is a stream of what its method promises.
fn assert_stream<T, S: Stream<Item = T>>(stream: S) -> S {
    stream
}
