use super::{Driver, Item, Phase};
use crate::{
    Error, Event, Object, Recovery, ResourceVersion,
    source::{
        AnySource, ListBody, ListMeta, ListParams, ListPart, ListWatch, VersionMatch,
        plan::{Mode, Outcome, Request, Verdict},
        reading::{Alarm, Read},
    },
};
use futures::future::{BoxFuture, FutureExt, MaybeDone, maybe_done};
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Context,
    time::Duration,
};
use tokio::time::{Instant, timeout};

/// The server gives up on a request after 60 s: what has not answered by then does not.
const HEADERS: Duration = Duration::from_secs(75);
/// A list's body that stays silent this long is broken.
const SILENCE: Duration = Duration::from_secs(30);

/// One page that is being read.
pub(super) struct Listing<K> {
    body: ListBody<K>,
    meta: Option<ListMeta>,
    /// The page after it, asked for as soon as its token is known: at most its headers are read meanwhile.
    next: Option<Ask<K>>,
}

/// A request for a page, until its answer has begun.
pub(super) struct Ask<K> {
    token: Option<Box<str>>,
    answer: MaybeDone<BoxFuture<'static, Result<ListBody<K>, Error>>>,
}

impl<K: Object> Ask<K> {
    fn new(source: &AnySource<K>, params: ListParams) -> Self {
        let (source, token) = (source.clone(), params.continue_token.clone());
        let answer = async move {
            if params.continue_token.is_some() {
                source.before_list().await;
            }
            let silent = |_| Err(Error::unreachable(format!("no answer within {HEADERS:?}")));
            timeout(HEADERS, source.list_page(params)).await.unwrap_or_else(silent)
        };
        Ask { token, answer: maybe_done(answer.boxed()) }
    }

    /// Sends it; whoever waits for it later is woken.
    fn begun(mut self) -> Self {
        let _ = (&mut self.answer).now_or_never();
        self
    }

    /// Moves it on beside something else.
    fn poll(&mut self, cx: &mut Context<'_>) {
        let _ = self.answer.poll_unpin(cx);
    }

    async fn answer(mut self) -> Option<Result<ListBody<K>, Error>> {
        (&mut self.answer).await;
        Pin::new(&mut self.answer).take_output()
    }
}

impl<K: Object> Listing<K> {
    async fn read(&mut self, alarm: &mut Alarm) -> Read<ListPart<K>> {
        let mut read = pin!(alarm.read(&mut self.body, Instant::now() + SILENCE));
        poll_fn(|cx| {
            let read = read.as_mut().poll(cx);
            if read.is_pending() {
                self.next.iter_mut().for_each(|next| next.poll(cx));
            }
            read
        })
        .await
    }

    /// The metadata has promised no other page, or has not come.
    fn unpaged(&self) -> bool {
        self.meta.as_ref().is_none_or(|meta| meta.continue_token.as_deref().is_none_or(str::is_empty))
    }
}

impl<K: Object> Driver<K> {
    pub(super) async fn ask_list(
        &mut self,
        rv: ResourceVersion,
        limit: Option<u32>,
        version_match: VersionMatch,
    ) -> Option<Item<K>> {
        self.snapshot_begins(Instant::now());
        tracing::debug!(version = %rv, limit, "list begun");
        self.list_page(ListParams { resource_version: rv, version_match, limit, ..ListParams::default() }).await
    }

    pub(super) async fn ask_page(&mut self, token: Box<str>, limit: Option<u32>) -> Option<Item<K>> {
        match self.page_ahead.take().filter(|ask| ask.token.as_ref() == Some(&token)) {
            Some(ask) => self.answered(ask).await,
            None => self.list_page(ListParams { continue_token: Some(token), limit, ..ListParams::default() }).await,
        }
    }

    async fn list_page(&mut self, params: ListParams) -> Option<Item<K>> {
        let ask = self.asking(params);
        self.answered(ask).await
    }

    fn asking(&self, params: ListParams) -> Ask<K> {
        Ask::new(&self.source, ListParams { max_event_size: self.settings.max_event_size, ..params })
    }

    async fn answered(&mut self, ask: Ask<K>) -> Option<Item<K>> {
        match ask.answer().await? {
            Ok(body) => {
                self.heard();
                self.snapshot.pages += 1;
                self.phase = Phase::Listing(Listing { body, meta: None, next: None });
                None
            }
            Err(error) => self.failed(error, false),
        }
    }

    pub(super) async fn read_list(&mut self) -> Option<Item<K>> {
        let Phase::Listing(listing) = &mut self.phase else { return None };
        let unpaged = listing.unpaged();
        match listing.read(&mut self.alarm).await {
            Read::Item(Ok(ListPart::Progress)) => {
                self.heard();
                None
            }
            Read::Item(Ok(ListPart::Item(object))) => {
                let item = self.listed(Ok(Event::Listed(object)));
                self.announced(item)
            }
            Read::Item(Ok(ListPart::Meta(meta))) => self.meta(meta),
            Read::Item(Err(error)) if error.recovery() == Recovery::Skip => {
                if error.object().is_some_and(|object| object.name.is_empty()) {
                    return self.failed(Error::not_a_list("an item without a readable name"), false);
                }
                let error = self.told(error, Recovery::Skip);
                let item = self.listed(Err(error));
                self.announced(item)
            }
            Read::Item(Err(error)) => self.failed(error, unpaged),
            Read::End => self.page_ended(),
            Read::Deadline => self.failed(Error::silent(format!("nothing for {SILENCE:?}")), unpaged),
        }
    }

    fn meta(&mut self, meta: ListMeta) -> Option<Item<K>> {
        let Phase::Listing(listing) = &mut self.phase else { return None };
        if listing.meta.is_some() {
            return self.failed(Error::not_a_list("its metadata comes twice"), false);
        }
        let (version, remaining) = (meta.resource_version.clone(), meta.remaining_items);
        let token = meta.continue_token.clone().filter(|token| !token.is_empty());
        listing.meta = Some(meta);
        self.stats.edit(|stats| {
            stats.remaining = remaining;
            stats.last_heard = Some(Instant::now());
        });
        if self.snapshot.pages == 1 {
            if version.is_unset() && self.mode != Mode::Poll {
                return self.failed(Error::not_a_list("it has no resource version"), false);
            }
            self.snapshot.version = version;
        }
        self.ask_ahead(token);
        self.announced(None)
    }

    /// The request for the page after this one, if there is to be one.
    fn ask_ahead(&mut self, token: Option<Box<str>>) {
        let (Request::List { limit, .. } | Request::Page { limit, .. }) = *self.plan.request() else { return };
        let ask = token.map(|token| {
            self.asking(ListParams { continue_token: Some(token), limit, ..ListParams::default() }).begun()
        });
        if let Phase::Listing(listing) = &mut self.phase {
            listing.next = ask;
        }
    }

    /// `SnapshotStart` before the first part of a snapshot.
    fn announced(&mut self, item: Option<Item<K>>) -> Option<Item<K>> {
        if std::mem::replace(&mut self.snapshot.announced, true) {
            return item;
        }
        self.held = item;
        Some(Ok(Event::SnapshotStart))
    }

    fn page_ended(&mut self) -> Option<Item<K>> {
        let Phase::Listing(Listing { meta, next, .. }) = std::mem::replace(&mut self.phase, Phase::Asking) else {
            return None;
        };
        let Some(meta) = meta else { return self.failed(Error::not_a_list("it has no metadata"), false) };
        let version = self.snapshot.version.clone();
        let page = Outcome::Page { token: meta.continue_token, version: version.clone(), pages: self.snapshot.pages };
        match self.plan.decide(page, Instant::now()) {
            Verdict::SnapshotEnd { over } => {
                self.over = over;
                Some(self.snapshot_ends(version))
            }
            _ => {
                self.page_ahead = next.filter(|_| matches!(self.plan.request(), Request::Page { .. }));
                None
            }
        }
    }
}
