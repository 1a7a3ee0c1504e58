use super::{Driver, Item, Phase};
use crate::{
    Error, Event, Object, Recovery, ResourceVersion,
    source::{
        ListBody, ListMeta, ListParams, ListPart, ListWatch, VersionMatch,
        plan::{Mode, Outcome, Verdict},
        reading::Read,
    },
};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The server gives up on a request after 60 s: what has not answered by then does not.
const HEADERS: Duration = Duration::from_secs(75);
/// A list's body that stays silent this long is broken.
const SILENCE: Duration = Duration::from_secs(30);

/// One page that is being read.
pub(super) struct Listing<K> {
    body: ListBody<K>,
    meta: Option<ListMeta>,
}

impl<K> Listing<K> {
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
        self.list_page(ListParams { continue_token: Some(token), limit, ..ListParams::default() }).await
    }

    async fn list_page(&mut self, mut params: ListParams) -> Option<Item<K>> {
        params.max_event_size = self.settings.max_event_size;
        match timeout(HEADERS, self.source.list_page(params)).await {
            Ok(Ok(body)) => {
                self.heard();
                self.snapshot.pages += 1;
                self.phase = Phase::Listing(Listing { body, meta: None });
                None
            }
            Ok(Err(error)) => self.failed(error, false),
            Err(_) => self.failed(Error::unreachable(format!("no answer within {HEADERS:?}")), false),
        }
    }

    pub(super) async fn read_list(&mut self) -> Option<Item<K>> {
        let Phase::Listing(listing) = &mut self.phase else { return None };
        let unpaged = listing.unpaged();
        match self.alarm.read(&mut listing.body, Instant::now() + SILENCE).await {
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
        self.announced(None)
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
        let Phase::Listing(Listing { meta, .. }) = std::mem::replace(&mut self.phase, Phase::Asking) else {
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
            _ => None,
        }
    }
}
