//! What is on the screen.

use super::{
    super::{
        failure::line,
        status::{status, tone},
        table::Columns,
        tone::Tone,
        waits::Wait,
    },
    Action,
};
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use listwatch::{Change, Error, Key, OwnedKey, Recovery, Snapshot, State, source::Stats};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// How long a change is marked.
const MARKED: Duration = Duration::from_secs(2);

/// How many seconds the sparkline goes back at most.
const SECONDS: usize = 300;

/// How many errors are kept.
const ERRORS: usize = 50;

/// All that is drawn.
#[derive(Debug)]
pub struct Model {
    pub what: String,
    pub columns: Columns,
    /// The objects that match the filter, by key.
    pub shown: Vec<Arc<DynamicObject>>,
    pub held: usize,
    pub filter: String,
    /// The first of the shown objects that is on the screen.
    pub top: usize,
    /// How many fit, as the last drawing found.
    pub room: usize,
    pub state: State,
    pub call: Call,
    pub wait: Option<Wait>,
    pub stats: Stats,
    pub memory: Option<u64>,
    /// Events in each second, the latest last.
    pub seconds: VecDeque<u64>,
    /// The latest first.
    pub errors: VecDeque<(Timestamp, String)>,
    marks: HashMap<OwnedKey, (Instant, Tone)>,
    stale: bool,
    sampled: Option<(Instant, u64)>,
}

/// Which call the stream is about to make or in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    List,
    Watch,
}

impl Model {
    pub fn new(what: &str, columns: Columns) -> Self {
        Model {
            what: what.to_owned(),
            columns,
            shown: Vec::new(),
            held: 0,
            filter: String::new(),
            top: 0,
            room: 1,
            state: State::Empty,
            call: Call::List,
            wait: None,
            stats: Stats::default(),
            memory: None,
            seconds: VecDeque::new(),
            errors: VecDeque::new(),
            marks: HashMap::new(),
            stale: true,
            sampled: None,
        }
    }

    /// What the stream said.
    pub fn note(&mut self, item: &Result<Change<DynamicObject>, Error>, now: Instant) {
        let change = match item {
            Ok(change) => change,
            Err(error) => {
                match error.recovery() {
                    Recovery::Relist => self.call = Call::List,
                    Recovery::Resume => self.call = Call::Watch,
                    _ => {}
                }
                self.errors.push_front((Timestamp::now(), line(error)));
                self.errors.truncate(ERRORS);
                return;
            }
        };
        let tone = match change {
            Change::Added { initial: false, .. } => Some(Tone::Good),
            Change::Updated { .. } => Some(Tone::Changed),
            Change::Synced { .. } => {
                self.call = Call::Watch;
                None
            }
            _ => None,
        };
        self.stale |= change.object().is_some() || matches!(change, Change::Synced { .. });
        if let (Some(tone), Some(key)) = (tone, change.key()) {
            self.marks.insert(key, (now, tone));
        }
    }

    /// Whether the objects may be others than those shown.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Takes the objects that match the filter.
    pub fn show(&mut self, snapshot: &Snapshot<DynamicObject>) {
        let words: Vec<_> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        self.held = snapshot.len();
        self.shown = snapshot.iter().filter(|object| self.matches(object, &words)).cloned().collect();
        self.shown.sort_by(|a, b| Key::of(&**a).cmp(&Key::of(&**b)));
        self.stale = false;
        self.scroll_to(self.top);
    }

    fn matches(&self, object: &DynamicObject, words: &[String]) -> bool {
        if words.is_empty() {
            return true;
        }
        let mut text = format!("{} {}", Key::of(object), status(object, self.columns.is_pod()));
        self.columns.facts(object).for_each(|fact| {
            text.push(' ');
            text.push_str(&fact);
        });
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    /// Takes the figures of this moment.
    pub fn sample(&mut self, stats: Stats, now: Instant) {
        let (since, before) = *self.sampled.get_or_insert((now, stats.events));
        let seconds = (now - since).as_secs();
        let gained = stats.events.saturating_sub(before);
        if let Some(each) = gained.checked_div(seconds) {
            // After a pause, such as that of a stopped process, what came is spread over it.
            let first = gained - each * (seconds - 1);
            self.seconds.push_back(first);
            self.seconds
                .extend(std::iter::repeat_n(each, usize::try_from(seconds - 1).unwrap_or(SECONDS).min(SECONDS)));
            self.seconds.drain(..self.seconds.len().saturating_sub(SECONDS));
            self.sampled = Some((since + Duration::from_secs(seconds), stats.events));
        }
        self.marks.retain(|_, (marked, _)| now - *marked < MARKED);
        self.stats = stats;
    }

    /// How an object changed a moment ago.
    pub fn mark(&self, object: &DynamicObject) -> Option<Tone> {
        self.marks.get(&Key::of(object).to_owned()).map(|(_, tone)| *tone)
    }

    /// Its status, and how that is.
    pub fn status(&self, object: &DynamicObject) -> (String, Tone) {
        let status = status(object, self.columns.is_pod());
        let tone = tone(&status);
        (status, tone)
    }

    /// Does what a key asks for, as far as it is about the screen.
    pub fn act(&mut self, action: Action) {
        let page = isize::try_from(self.room).unwrap_or(1).max(1);
        match action {
            Action::Type(letter) => self.filter.push(letter),
            Action::Erase => {
                self.filter.pop();
            }
            Action::Clear => self.filter.clear(),
            Action::Scroll(lines) => self.scroll_to(self.top.saturating_add_signed(lines)),
            Action::Page(pages) => self.scroll_to(self.top.saturating_add_signed(pages * page)),
            Action::Top => self.top = 0,
            Action::Bottom => self.scroll_to(usize::MAX),
            Action::Relist => self.call = Call::List,
            Action::End => {}
        }
        self.stale |= matches!(action, Action::Type(_) | Action::Erase | Action::Clear);
    }

    fn scroll_to(&mut self, top: usize) {
        self.top = top.min(self.shown.len().saturating_sub(self.room));
    }
}
