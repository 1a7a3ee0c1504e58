//! What comes next: the decision table as a pure function over state and outcome. No IO and no clock of its own.

use super::{Class, Strategy, VersionMatch};
use crate::{Recovery, ResourceVersion};
use std::time::Duration;
use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// Which stream this is: where it starts, and which steps end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Events,
    List,
    WatchList,
    WatchFrom,
    /// `poll_every`: a list that is followed by the next one, and needs no version.
    Poll,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    WatchList { rv: ResourceVersion },
    List { rv: ResourceVersion, limit: Option<u32>, version_match: VersionMatch },
    Page { token: Box<str>, limit: Option<u32> },
    Watch { rv: ResourceVersion },
}

/// What a request came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The request, its body or an `ERROR` event failed. `unpaged`: a list whose metadata promised no other page.
    Failed { class: Class, unpaged: bool },
    /// A stream ended.
    Ended(Ending),
    /// A page is complete; `version` is the first page's.
    Page { token: Option<Box<str>>, version: ResourceVersion, pages: u64 },
    /// The bookmark that ends a watch-list's snapshot.
    ClosingBookmark { version: ResourceVersion },
    /// Before the closing one, a bookmark without its annotation: the server ignores `sendInitialEvents`.
    PlainBookmark,
    /// The closing bookmark did not come in time.
    SnapshotDeadline,
    /// The watch was answered with 200.
    Answered,
    /// A watch brought an event.
    Event { version: ResourceVersion, deleted: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// At once and without an event.
    Short,
    Clean,
    /// The client ended it: life or silence.
    Deadline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    ReadOn,
    /// An `Err` item with this recovery where there is one, then the plan's next request.
    Next(Option<Recovery>),
    /// The snapshot is complete: its `SnapshotEnd`, then on.
    SnapshotEnd {
        over: bool,
    },
    /// An `Err` item with this recovery, and the stream is over.
    Over(Recovery),
    /// There is no such resource: an empty snapshot, unless it was told before, then on.
    Absent {
        tell: bool,
        over: bool,
    },
}

/// How long the plan wants to wait before its next request, beside the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    None,
    /// The watch ended by itself.
    Reopen,
    /// 405: tried again after 5 to 10 minutes.
    Parked,
    /// `poll_every`.
    Poll,
    /// There is no such resource; it was looked for so often before.
    Absent(u32),
}

/// Watches in a row without progress before a relist.
const IDLE_LIMIT: u32 = 10;
/// How long a refusal of the watch-list is remembered.
const REFUSAL: Duration = Duration::from_secs(3600);
const DEFAULT_PAGE: u32 = 500;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    mode: Mode,
    strategy: Strategy,
    size: Option<u32>,
    next: Request,
    pause: Pause,
    at: Option<ResourceVersion>,
    lost: bool,
    /// The watch-list is not tried until then.
    off_until: Option<Instant>,
    paged: bool,
    tries: u32,
    idle: u32,
    bad: bool,
    full: bool,
    parked: bool,
    /// 404 means empty.
    absent_is_empty: bool,
    /// The last outcome was 404, after so many others in a row.
    absent: Option<u32>,
    /// The version that the present list asked for.
    list_at: ResourceVersion,
    /// `watch_list()`: its snapshot is complete.
    complete: bool,
}

impl Plan {
    pub(crate) fn new(
        mode: Mode,
        strategy: Strategy,
        size: Option<u32>,
        at: Option<ResourceVersion>,
        now: Instant,
    ) -> Self {
        let mut plan = Plan {
            mode,
            strategy,
            size,
            next: Request::WatchList { rv: ResourceVersion::default() },
            pause: Pause::None,
            at,
            lost: false,
            off_until: None,
            paged: false,
            tries: 0,
            idle: 0,
            bad: false,
            full: false,
            parked: false,
            absent_is_empty: false,
            absent: None,
            list_at: ResourceVersion::default(),
            complete: false,
        };
        plan.next = match (&plan.at, mode) {
            (Some(at), Mode::Events | Mode::WatchFrom) => Request::Watch { rv: at.clone() },
            _ => plan.snapshot(now),
        };
        plan
    }

    /// Whether a resource that the server does not have is an empty one.
    pub(crate) fn absent_is_empty(mut self, is_empty: bool) -> Self {
        self.absent_is_empty = is_empty;
        self
    }

    pub(crate) fn request(&self) -> &Request {
        &self.next
    }

    pub(crate) fn pause(&self) -> Pause {
        self.pause
    }

    /// The version that a watch would start at.
    pub(crate) fn position(&self) -> ResourceVersion {
        self.at.clone().unwrap_or_default()
    }

    pub(crate) fn decide(&mut self, outcome: Outcome, now: Instant) -> Verdict {
        self.pause = Pause::None;
        let absent = self.absent.take();
        let missing = matches!(outcome, Outcome::Failed { class: Class::Absent, .. });
        if missing && self.absent_is_empty && matches!(self.next, Request::WatchList { .. } | Request::List { .. }) {
            return self.is_absent(absent, now);
        }
        match self.next {
            Request::WatchList { .. } => self.in_watch_list(outcome, now),
            Request::List { .. } | Request::Page { .. } => self.in_list(outcome, now),
            Request::Watch { .. } => self.in_watch(outcome, now),
        }
    }

    /// Row A1.
    fn is_absent(&mut self, before: Option<u32>, now: Instant) -> Verdict {
        let looks = before.map_or(0, |looks| looks.saturating_add(1));
        self.absent = Some(looks);
        self.at = None;
        (self.lost, self.tries, self.idle, self.bad, self.full) = (false, 0, 0, false, false);
        self.next = self.snapshot(now);
        self.pause = if self.mode == Mode::Poll { Pause::Poll } else { Pause::Absent(looks) };
        Verdict::Absent { tell: looks == 0 || self.mode == Mode::Poll, over: self.mode == Mode::List }
    }

    /// Rows S2 to S9.
    fn in_watch_list(&mut self, outcome: Outcome, now: Instant) -> Verdict {
        match outcome {
            Outcome::Answered | Outcome::Event { .. } => Verdict::ReadOn,
            Outcome::ClosingBookmark { version } if !version.is_unset() => {
                self.at = Some(version.clone());
                (self.lost, self.tries, self.full) = (false, 0, false);
                (self.idle, self.bad) = (0, false);
                self.complete = true;
                self.next = Request::Watch { rv: version };
                Verdict::SnapshotEnd { over: false }
            }
            Outcome::Failed { class: Class::Gone | Class::TooLarge, .. } if !self.lost => {
                self.lost = true;
                self.next = Request::WatchList { rv: ResourceVersion::default() };
                Verdict::Next(Some(Recovery::Fallback))
            }
            Outcome::Failed { class: Class::Gone | Class::TooLarge, .. } => self.fall_back(),
            Outcome::SnapshotDeadline
            | Outcome::PlainBookmark
            | Outcome::Failed {
                class: Class::BadRequest | Class::NotOffered | Class::NotAllowed | Class::Unsupported,
                ..
            } => {
                self.off_until = Some(now + REFUSAL);
                self.fall_back()
            }
            Outcome::Failed { class: Class::Hidden | Class::Absent | Class::Other, .. } => self.fall_back(),
            Outcome::Failed { class: Class::Busy | Class::Auth | Class::Unreachable, .. } => self.again(now),
            Outcome::Failed { class: class @ (Class::Fault | Class::FaultEvent | Class::Internal), .. } => {
                self.unfinished(Some(class), now)
            }
            Outcome::Failed { class: Class::Garbage | Class::Interrupted | Class::Silent, .. }
            | Outcome::Ended(_)
            | Outcome::ClosingBookmark { .. }
            | Outcome::Page { .. } => self.unfinished(None, now),
        }
    }

    /// Row S8: once more, then a LIST; remembered unless the server only struggles.
    fn unfinished(&mut self, fault: Option<Class>, now: Instant) -> Verdict {
        self.tries += 1;
        if self.tries < 2 {
            return self.again(now);
        }
        if fault.is_none() {
            self.off_until = Some(now + REFUSAL);
        }
        self.fall_back()
    }

    /// Rows L2 to L7.
    fn in_list(&mut self, outcome: Outcome, now: Instant) -> Verdict {
        let first = match &self.next {
            Request::List { rv, .. } => Some(rv.clone()),
            _ => None,
        };
        match outcome {
            Outcome::Page { token: Some(token), .. } if !token.is_empty() => {
                let (Request::List { limit, .. } | Request::Page { limit, .. }) = self.next else {
                    return Verdict::ReadOn;
                };
                self.next = Request::Page { token, limit };
                Verdict::Next(None)
            }
            Outcome::Page { version, pages, .. } => {
                self.paged |= self.list_at == "0" && pages > 1;
                self.at = (!version.is_unset()).then_some(version);
                (self.lost, self.tries, self.idle, self.bad, self.full) = (false, 0, 0, false, false);
                self.listed(now)
            }
            Outcome::Failed { class: Class::Gone | Class::TooLarge | Class::BadRequest, .. }
                if first.as_ref().is_some_and(|rv| !rv.is_unset()) =>
            {
                self.lost = true;
                self.next = self.list("".into());
                Verdict::Next(Some(Recovery::Fallback))
            }
            Outcome::Failed { class: Class::Gone, .. } if first.is_none() && self.full => {
                self.lost = true;
                self.next = self.list("".into());
                Verdict::Next(Some(Recovery::Relist))
            }
            Outcome::Failed { class: Class::Gone, .. } if first.is_none() => {
                self.full = true;
                self.next = Request::List { rv: self.list_at.clone(), limit: None, version_match: VersionMatch::Unset };
                Verdict::Next(Some(Recovery::Fallback))
            }
            Outcome::Failed { class: Class::Interrupted | Class::Silent, unpaged: true } if first.is_some() => {
                self.lost = true;
                self.next = self.list("".into());
                Verdict::Next(Some(Recovery::Relist))
            }
            _ => self.again(now),
        }
    }

    /// Rows W1 to W12.
    fn in_watch(&mut self, outcome: Outcome, now: Instant) -> Verdict {
        match outcome {
            Outcome::Answered => {
                self.parked = false;
                Verdict::ReadOn
            }
            Outcome::Event { version, deleted } => {
                self.advance(version, deleted);
                (self.idle, self.bad) = (0, false);
                Verdict::ReadOn
            }
            Outcome::ClosingBookmark { version } => {
                self.advance(version, false);
                (self.idle, self.bad) = (0, false);
                Verdict::ReadOn
            }
            Outcome::Failed { class: Class::Unreachable | Class::Auth | Class::Busy, .. } => {
                self.watch_on();
                Verdict::Next(Some(Recovery::Resume))
            }
            Outcome::Failed { class: Class::Fault | Class::Internal, .. } | Outcome::Ended(Ending::Short) => {
                self.idle += 1;
                if self.idle >= IDLE_LIMIT {
                    return self.relist(now);
                }
                self.watch_on();
                Verdict::Next(Some(Recovery::Resume))
            }
            Outcome::Failed { class: Class::Gone, .. } => self.relist(now),
            Outcome::Failed { class: Class::TooLarge, .. } => {
                self.lost = true;
                self.relist(now)
            }
            Outcome::Failed { class: Class::NotAllowed, .. } => {
                let first = !std::mem::replace(&mut self.parked, true);
                self.watch_on();
                self.pause = Pause::Parked;
                Verdict::Next(first.then_some(Recovery::Resume))
            }
            Outcome::Failed { class: Class::Garbage, .. } => {
                if self.bad {
                    return self.relist(now);
                }
                self.bad = true;
                self.watch_on();
                Verdict::Next(Some(Recovery::Resume))
            }
            // A body that broke off is told as `Ended` by whoever reads it.
            Outcome::Ended(ending @ (Ending::Clean | Ending::Deadline)) => {
                if ending == Ending::Clean {
                    self.idle = 0;
                }
                self.watch_on();
                self.pause = Pause::Reopen;
                Verdict::Next(None)
            }
            Outcome::Failed { .. } | Outcome::PlainBookmark | Outcome::SnapshotDeadline | Outcome::Page { .. } => {
                self.relist(now)
            }
        }
    }

    /// An internal error beyond `internal_error_window` relists at once.
    pub(crate) fn relist(&mut self, now: Instant) -> Verdict {
        (self.idle, self.bad) = (0, false);
        self.again(now)
    }

    /// Within `internal_error_window`: the watch again, whatever the count.
    pub(crate) fn resume(&mut self) -> Verdict {
        self.watch_on();
        Verdict::Next(Some(Recovery::Resume))
    }

    /// A new snapshot though nothing failed.
    pub(crate) fn take_snapshot(&mut self, now: Instant) {
        self.next = self.snapshot(now);
        (self.pause, self.absent) = (Pause::None, None);
    }

    fn again(&mut self, now: Instant) -> Verdict {
        if self.mode == Mode::WatchFrom || (self.mode == Mode::WatchList && self.complete) {
            return Verdict::Over(Recovery::Relist);
        }
        self.next = self.snapshot(now);
        Verdict::Next(Some(Recovery::Relist))
    }

    fn fall_back(&mut self) -> Verdict {
        if self.mode == Mode::WatchList {
            return Verdict::Over(Recovery::Fallback);
        }
        self.tries = 0;
        self.next = self.list(self.list_version());
        Verdict::Next(Some(Recovery::Fallback))
    }

    /// After a complete list: what this stream does next.
    fn listed(&mut self, now: Instant) -> Verdict {
        match (self.mode, &self.at) {
            (Mode::Poll, _) => {
                self.next = self.snapshot(now);
                self.pause = Pause::Poll;
            }
            (Mode::Events, Some(at)) => self.next = Request::Watch { rv: at.clone() },
            _ => return Verdict::SnapshotEnd { over: true },
        }
        Verdict::SnapshotEnd { over: false }
    }

    /// SNAP of the table.
    fn snapshot(&mut self, now: Instant) -> Request {
        let offered = match self.mode {
            Mode::WatchList => true,
            Mode::Events => {
                self.strategy == Strategy::WatchListFirst && self.off_until.is_none_or(|until| now >= until)
            }
            Mode::List | Mode::WatchFrom | Mode::Poll => false,
        };
        if offered {
            let rv = if self.lost { None } else { self.at.clone() };
            return Request::WatchList { rv: rv.unwrap_or_default() };
        }
        self.list(self.list_version())
    }

    fn list_version(&self) -> ResourceVersion {
        match &self.at {
            _ if self.lost => "".into(),
            None if self.strategy == Strategy::ListConsistent => "".into(),
            None => "0".into(),
            Some(at) => at.clone(),
        }
    }

    fn list(&mut self, rv: ResourceVersion) -> Request {
        let limit = self.size.or((!rv.is_exact() || self.paged).then_some(DEFAULT_PAGE));
        let version_match =
            if limit.is_some() && rv.is_exact() { VersionMatch::NotOlderThan } else { VersionMatch::Unset };
        self.list_at = rv.clone();
        Request::List { rv, limit, version_match }
    }

    fn watch_on(&mut self) {
        self.next = Request::Watch { rv: self.position() };
    }

    /// The last version wins; an empty one, or an older one of a deletion, moves nothing.
    fn advance(&mut self, version: ResourceVersion, deleted: bool) {
        let behind = deleted && self.at.as_ref().is_some_and(|at| version < *at);
        if !version.is_unset() && !behind {
            self.at = Some(version);
        }
    }
}
