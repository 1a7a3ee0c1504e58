//! The list at exactly one version.

use super::content::Content;
use crate::{
    Error, Object, Recovery, ResourceVersion,
    source::{AnySource, ListParams, ListPart, ListWatch, VersionMatch},
};
use futures::StreamExt;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often, and how many times, the list is asked for while the server cannot answer.
const AGAIN: Duration = Duration::from_secs(1);
const TRIES: u32 = 30;

/// A list that is not whole by then is given up.
const WHOLE: Duration = Duration::from_secs(300);
/// As the source streams have it by default.
const MAX_ITEM_SIZE: usize = 16 << 20;

pub(super) async fn list_at<K: Object>(source: AnySource<K>, version: ResourceVersion) -> Result<Content<K>, Error> {
    let mut tries = 1;
    loop {
        let silent = || Error::silent(format!("no whole list within {WHOLE:?}"));
        match timeout(WHOLE, pages(&source, &version)).await.map_err(|_| silent())? {
            Err(error) if passes(&error) && tries < TRIES => {
                tracing::debug!(%error, tries, "the list that verifies a snapshot failed");
                tries += 1;
                sleep(AGAIN.max(error.retry_after().unwrap_or_default())).await;
            }
            listed => return listed,
        }
    }
}

/// Whether the same request may be answered later on.
fn passes(error: &Error) -> bool {
    error.is_unreachable()
        || error.is_interrupted()
        || error.is_too_many_requests()
        || error.status().is_some_and(|status| (500..=599).contains(&status.code))
}

async fn pages<K: Object>(source: &AnySource<K>, version: &ResourceVersion) -> Result<Content<K>, Error> {
    let mut listed = Content::default();
    let mut params = ListParams {
        resource_version: version.clone(),
        version_match: VersionMatch::Exact,
        max_event_size: MAX_ITEM_SIZE,
        ..ListParams::default()
    };
    loop {
        let mut body = source.list_page(params).await?;
        let mut token = None;
        while let Some(part) = body.next().await {
            match part {
                Ok(ListPart::Item(object)) => listed.insert(object),
                Ok(ListPart::Meta(meta)) => token = meta.continue_token.filter(|token| !token.is_empty()),
                Ok(ListPart::Progress) => {}
                Err(error) => match error.object() {
                    Some(object) if error.recovery() == Recovery::Skip => listed.skip(object),
                    _ => return Err(error),
                },
            }
        }
        let Some(token) = token else { return Ok(listed) };
        params = ListParams { continue_token: Some(token), max_event_size: MAX_ITEM_SIZE, ..ListParams::default() };
    }
}
