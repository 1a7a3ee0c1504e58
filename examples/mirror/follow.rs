//! The mirror, live: what it holds when it is first complete, then one line per change, and a line that says how it is.

use crate::{
    failure::Failure,
    pipeline::{self, Mirror},
    rate::Rate,
    screen::FRAME,
    tone::Tone,
    view::View,
};
use futures::StreamExt;
use kube::core::DynamicObject;
use listwatch::{Change, Recovery, Store, store::State};
use tokio::time::Instant;

/// Shows the mirror until it is stopped.
///
/// # Errors
///
/// The first snapshot will never come, or nobody reads the output any more.
pub async fn follow(mirror: Mirror, what: &str, mut view: View) -> Result<(), Failure> {
    let Mirror { store, stats, mut changes, .. } = mirror;
    let (mut rate, mut synced, mut failing) = (Rate::default(), false, false);
    let mut frames = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            change = changes.next() => match change {
                Some(Ok(Change::Synced { initial: true, .. })) => {
                    synced = true;
                    let snapshot = store.snapshot();
                    view.first(snapshot.iter().collect())?;
                    if view.is_plain() {
                        view.event("SYNCED", Tone::Quiet, &summary(&store))?;
                    }
                }
                // Told by the table.
                Some(Ok(Change::Added { initial: true, .. })) => {}
                Some(Ok(Change::Synced { .. })) => view.event("SYNCED", Tone::Quiet, &summary(&store))?,
                Some(Ok(Change::Watching(version))) if failing => {
                    failing = false;
                    view.event("WATCHING", Tone::Good, &format!("the server answers again, at version {version}"))?;
                }
                Some(Ok(change)) => view.change(&change)?,
                Some(Err(error)) if !synced && pipeline::is_final(&error) => {
                    view.close();
                    return Err(pipeline::failed(what, &error));
                }
                Some(Err(error)) => {
                    failing |= matches!(error.recovery(), Recovery::Resume | Recovery::Relist);
                    view.error(&error)?;
                }
                None => break,
            },
            _ = frames.tick() => {
                let stats = stats.get();
                let rate = rate.at(Instant::now(), stats.events);
                if synced {
                    view.status(&format!("{}   {rate:.1} events/s   Ctrl-C ends", summary(&store)));
                } else {
                    view.syncing(&stats);
                }
            }
        }
    }
    view.close();
    if synced { view.event("STOPPED", Tone::Quiet, &summary(&store)) } else { Err(Failure::Interrupted) }
}

/// Objects, version and state in one line.
pub fn summary(store: &Store<DynamicObject>) -> String {
    let version = store.resource_version().map_or_else(|| "unknown".to_owned(), |version| version.to_string());
    let state = match store.state() {
        State::Live => "live".to_owned(),
        State::Stale { since, .. } => format!("stale for {} s", since.elapsed().as_secs()),
        state => format!("{state:?}").to_lowercase(),
    };
    let count = store.len();
    format!("{count} object{}   version {version}   {state}", if count == 1 { "" } else { "s" })
}
