//! What is shown of the mirror, as lines of one table or as JSON.

use crate::{
    cli::Format,
    failure::{Failure, line},
    news,
    screen::Screen,
    table::{Columns, Table},
    tone::Tone,
};
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use listwatch::{Change, Error, Key, Recovery, source::Stats};
use serde_json::json;
use std::sync::Arc;

/// How many of the first objects a terminal shows.
const FIRST: usize = 10;

/// A screen, and how objects and changes look on it.
#[derive(Debug)]
pub struct View {
    columns: Columns,
    format: Format,
    screen: Screen,
    table: Table,
}

impl View {
    pub fn new(columns: Columns, format: Format, screen: Screen) -> Self {
        View { columns, format, screen, table: Table::default() }
    }

    /// Whether this is a table without a line of its own for the state.
    pub fn is_plain(&self) -> bool {
        self.screen.is_plain() && self.format == Format::Table
    }

    /// Shows how far the first snapshot is.
    pub fn syncing(&self, stats: &Stats) {
        self.screen.syncing(stats);
    }

    /// Shows how the mirror is, on a terminal.
    pub fn status(&self, text: &str) {
        self.screen.status(text);
    }

    /// Nothing changes by itself any more.
    pub fn close(&self) {
        self.screen.close();
    }

    /// The head, and the content that the mirror begins with.
    pub fn first(&mut self, mut objects: Vec<&Arc<DynamicObject>>) -> Result<(), Failure> {
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
        // No line that comes later is to shift the columns.
        self.table.fit(&[clock(now), "WATCHING".to_owned()]);
        all.iter().for_each(|cells| self.table.fit(cells));
        let shown = if self.screen.is_plain() { all.len() } else { all.len().min(FIRST) };
        let mut lines = vec![self.table.line(&head)];
        lines.extend(all[..shown].iter().map(|cells| self.table.line(cells)));
        if shown < all.len() {
            lines.push(self.screen.paint(Tone::Quiet, &format!("... and {} more", all.len() - shown)));
        }
        Ok(self.screen.print(lines)?)
    }

    /// One change, if it is about an object.
    pub fn change(&mut self, change: &Change<DynamicObject>) -> Result<(), Failure> {
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

    /// An error, and what happens next.
    pub fn error(&mut self, error: &Error) -> Result<(), Failure> {
        let next = match error.recovery() {
            Recovery::Skip => "goes on",
            Recovery::Resume => "opens the watch again",
            Recovery::Relist => "lists again",
            _ => "tries in another way",
        };
        self.event("ERROR", Tone::Bad, &format!("{}; {next}", line(error)))
    }

    /// A line that is about no object. With JSON it goes to standard error, so that the output stays JSON.
    pub fn event(&mut self, word: &str, tone: Tone, text: &str) -> Result<(), Failure> {
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
