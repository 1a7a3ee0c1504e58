//! The mirror, live: what it holds when it is first complete, then one line per change, and a line that says how it is.

use crate::{
    cli::Format,
    failure::{Failure, line},
    news,
    pipeline::{self, Mirror},
    rate::Rate,
    screen::{FRAME, Screen, Tone},
    table::{Columns, Table},
};
use futures::StreamExt;
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use listwatch::{Change, Error, Key, Recovery, Store, store::State};
use serde_json::json;
use std::sync::Arc;
use tokio::time::Instant;

/// How many of the first objects a terminal shows.
const FIRST: usize = 10;

/// Shows the mirror until it is stopped.
///
/// # Errors
///
/// The first snapshot will never come, or nobody reads the output any more.
pub async fn follow(
    mirror: Mirror,
    what: &str,
    columns: Columns,
    format: Format,
    screen: Screen,
) -> Result<(), Failure> {
    let Mirror { store, stats, mut changes } = mirror;
    let mut view = View { columns, format, screen, table: Table::default() };
    let (mut rate, mut synced, mut failing) = (Rate::default(), false, false);
    let mut frames = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            change = changes.next() => match change {
                Some(Ok(Change::Synced { initial: true, .. })) => {
                    synced = true;
                    let snapshot = store.snapshot();
                    view.first(snapshot.iter().collect())?;
                }
                // Told by the table.
                Some(Ok(Change::Added { initial: true, .. })) => {}
                Some(Ok(Change::Synced { resource_version, .. })) => {
                    view.event("SYNCED", Tone::Quiet, &format!("a new list is complete at version {resource_version}"))?;
                }
                Some(Ok(Change::Watching(version))) if failing => {
                    failing = false;
                    view.event("WATCHING", Tone::Good, &format!("the server answers again, at version {version}"))?;
                }
                Some(Ok(change)) => view.change(&change)?,
                Some(Err(error)) if !synced && pipeline::is_final(&error) => {
                    view.screen.close();
                    return Err(pipeline::failed(what, &error));
                }
                Some(Err(error)) => {
                    failing = error.recovery() != Recovery::Skip;
                    view.error(&error)?;
                }
                None => break,
            },
            _ = frames.tick() => {
                let stats = stats.get();
                let rate = rate.at(Instant::now(), stats.events);
                if synced {
                    view.screen.status(&format!("{}   {rate:.1} events/s   Ctrl-C ends", summary(&store)));
                } else {
                    view.screen.syncing(&stats);
                }
            }
        }
    }
    view.screen.close();
    if synced { view.event("STOPPED", Tone::Quiet, &summary(&store)) } else { Err(Failure::Interrupted) }
}

/// Objects, version and state in one line.
fn summary(store: &Store<DynamicObject>) -> String {
    let version = store.resource_version().map_or_else(|| "unknown".to_owned(), |version| version.to_string());
    let state = match store.state() {
        State::Live => "live".to_owned(),
        State::Stale { since, .. } => format!("stale for {} s", since.elapsed().as_secs()),
        state => format!("{state:?}").to_lowercase(),
    };
    format!("{} objects   version {version}   {state}", store.len())
}

struct View {
    columns: Columns,
    format: Format,
    screen: Screen,
    table: Table,
}

impl View {
    /// The head, and the content that the mirror begins with.
    fn first(&mut self, mut objects: Vec<&Arc<DynamicObject>>) -> Result<(), Failure> {
        objects.sort_by_key(|object| Key::of(&***object));
        let now = Timestamp::now();
        if self.format == Format::Json {
            return Ok(self.screen.print(objects.into_iter().map(|object| document("ADDED", object)))?);
        }
        let head =
            [vec!["TIME".to_owned(), "EVENT".to_owned()], self.columns.names(), vec!["CHANGE".to_owned()]].concat();
        let all: Vec<_> = objects
            .into_iter()
            .map(|object| {
                let note = news::difference(&Change::Added { object: Arc::clone(object), initial: true }, self.columns);
                self.row("LISTED", object, note, now)
            })
            .collect();
        self.table.fit(&head);
        self.table.fit(&[String::new(), "UPDATED".to_owned()]);
        all.iter().for_each(|cells| self.table.fit(cells));
        let shown = if self.screen.is_plain() { all.len() } else { all.len().min(FIRST) };
        let mut lines = vec![self.table.line(&head)];
        lines.extend(all[..shown].iter().map(|cells| self.table.line(cells)));
        if shown < all.len() {
            lines.push(self.screen.paint(Tone::Quiet, &format!("... and {} more", all.len() - shown)));
        }
        Ok(self.screen.print(lines)?)
    }

    fn change(&mut self, change: &Change<DynamicObject>) -> Result<(), Failure> {
        let (Some((word, tone)), Some(object)) = (news::word(change), change.object()) else { return Ok(()) };
        let text = match self.format {
            Format::Json => document(word, object),
            Format::Table => {
                let cells = self.row(word, object, news::difference(change, self.columns), Timestamp::now());
                let line = self.table.line(&cells);
                line.replacen(word, &self.screen.paint(tone, word), 1)
            }
        };
        Ok(self.screen.print([text])?)
    }

    fn error(&mut self, error: &Error) -> Result<(), Failure> {
        let next = match error.recovery() {
            Recovery::Skip => "goes on",
            Recovery::Resume => "opens the watch again",
            Recovery::Relist => "lists again",
            _ => "tries in another way",
        };
        self.event("ERROR", Tone::Bad, &format!("{}; {next}", line(error)))
    }

    /// A line that is about no object. With JSON it goes to standard error, so that the output stays JSON.
    fn event(&mut self, word: &str, tone: Tone, text: &str) -> Result<(), Failure> {
        if self.format == Format::Json {
            eprintln!("{word} {text}");
            return Ok(());
        }
        let start = self.table.line(&[clock(Timestamp::now()), word.to_owned()]);
        let start = start.replacen(word, &self.screen.paint(tone, word), 1);
        Ok(self.screen.print([format!("{start}   {text}")])?)
    }

    fn row(&self, word: &str, object: &DynamicObject, note: String, now: Timestamp) -> Vec<String> {
        [vec![clock(now), word.to_owned()], self.columns.cells(object, now), vec![note]].concat()
    }
}

/// As `kubectl get --watch --output-watch-events -o json`, on one line.
fn document(word: &str, object: &DynamicObject) -> String {
    json!({"type": word, "object": object}).to_string()
}

fn clock(now: Timestamp) -> String {
    now.strftime("%H:%M:%SZ").to_string()
}
