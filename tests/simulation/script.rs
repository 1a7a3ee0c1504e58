//! What a seed decides: a server, its mirrors, and what happens to them, step by step.

use super::{faults, history, seed::Draw};
use listwatch::{
    source::Strategy,
    testing::{Ending, Fault},
};
use std::time::Duration;

/// A whole run. Every change of it is a run too, which is what shrinking rests on.
#[derive(Clone, Debug)]
pub struct Script {
    /// What the library itself draws from.
    pub seed: u64,
    pub server: Server,
    pub mirrors: Vec<Mirror>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub watch_cache: bool,
    pub watch_list: bool,
    pub bookmarks: Option<Duration>,
    pub slow_watch: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    pub strategy: Strategy,
    pub page_size: Option<u32>,
    pub watch_timeout: Duration,
    pub idle_timeout: Duration,
    pub internal_error_window: Option<Duration>,
    pub waits: Waits,
    /// The ready-made composition, where the operators do not matter.
    pub standard: bool,
    pub operators: Vec<Operator>,
    /// How long the consumer takes over each change.
    pub pace: Duration,
    /// The most bytes of a body that arrive at once.
    pub chunk: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Default,
    Fixed(Duration),
    /// No backoff: the floor of the streams alone.
    Floor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Resync(Duration),
    /// Leaves out what [`filtered_out`](super::thing::Thing::filtered_out) says.
    Filter,
    Modify,
    Map,
    /// Into a second store.
    Tee,
    OnlyChangedBy,
}

/// Whose turn it is, and what happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Write {
        writer: usize,
        name: String,
        value: Value,
    },
    Delete {
        writer: usize,
        name: String,
    },
    /// Something else takes a version.
    OtherWrite,
    Wait(Duration),
    Fault {
        on: On,
        skip: usize,
        times: usize,
        fault: Fault,
    },
    EndConnections(Ending),
    Compact {
        storage_only: bool,
    },
    Restart,
    /// Storage goes back by so many versions; whoever watches is told to list again, as nothing else tells them.
    Rewind(u64),
    /// Connections are refused from now on, or no longer.
    Down(bool),
    /// The watch cache stands still from now on, or no longer.
    HoldCache(bool),
    Relist(usize),
    /// The mirror's process ends and begins anew with what it held: from its version on, or with a snapshot.
    Reopen {
        mirror: usize,
        resume: bool,
    },
    Subscribe {
        mirror: usize,
        kind: Follow,
        pace: Duration,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// One that filters let pass.
    Kept(u32),
    Dropped(u32),
    Unreadable(u32),
}

/// The requests that a fault is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Any,
    Lists,
    Pages,
    Watches,
    WatchLists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    All,
    Filtered,
    WithoutOld,
    Resync(Duration),
}

impl Script {
    pub fn of(seed: u64) -> Self {
        let draw = &mut Draw::new(seed);
        let server = Server {
            watch_cache: draw.percent(85),
            watch_list: draw.percent(80),
            bookmarks: draw.maybe(85, |draw| secs(draw.of(&[2, 60, 60]))),
            slow_watch: draw.maybe(10, |draw| draw.0.usize(0..4)),
        };
        let mirrors: Vec<_> = (0..draw.of(&[1, 1, 1, 2])).map(|_| mirror(draw)).collect();
        let mut steps = history::first(draw);
        let rewinds = draw.percent(20);
        let length = draw.0.usize(10..60);
        for _ in 0..length {
            match draw.0.u32(0..100) {
                0..54 => steps.extend(history::step(draw)),
                54..72 => steps.push(Step::Wait(draw.time(secs(300)))),
                72..88 => steps.extend(faults::step(draw, rewinds)),
                88..92 => steps.push(Step::Relist(draw.0.usize(0..mirrors.len()))),
                92..96 => {
                    let mirror = draw.0.usize(0..mirrors.len());
                    steps.push(Step::Reopen { mirror, resume: draw.percent(60) });
                }
                _ => {
                    let (mirror, pace) = (draw.0.usize(0..mirrors.len()), pace(draw));
                    let period = secs(20) + draw.time(secs(60));
                    let kind = draw.of(&[Follow::All, Follow::Filtered, Follow::WithoutOld, Follow::Resync(period)]);
                    steps.push(Step::Subscribe { mirror, kind, pace });
                }
            }
        }
        Script { seed, server, mirrors, steps }
    }
}

fn mirror(draw: &mut Draw) -> Mirror {
    let standard = draw.percent(30);
    let period = secs(20) + draw.time(secs(300));
    let choices = [
        Operator::Resync(period),
        Operator::Filter,
        Operator::Modify,
        Operator::Map,
        Operator::Tee,
        Operator::OnlyChangedBy,
    ];
    let mut operators: Vec<_> = choices.into_iter().filter(|_| draw.percent(30)).collect();
    draw.0.shuffle(&mut operators);
    Mirror {
        strategy: draw.of(&[
            Strategy::WatchListFirst,
            Strategy::WatchListFirst,
            Strategy::List,
            Strategy::ListConsistent,
        ]),
        page_size: draw.maybe(60, |draw| draw.0.u32(1..6)),
        watch_timeout: secs(draw.of(&[5, 30, 300, 300])),
        idle_timeout: secs(draw.of(&[10, 150, 150])),
        internal_error_window: draw.maybe(20, |draw| draw.time(secs(60))),
        waits: draw.of(&[Waits::Default, Waits::Default, Waits::Fixed(secs(1)), Waits::Floor]),
        standard,
        operators: if standard { Vec::new() } else { operators },
        pace: pace(draw),
        chunk: draw.of(&[7, 64, 1000, usize::MAX]),
    }
}

fn pace(draw: &mut Draw) -> Duration {
    if draw.percent(60) { Duration::ZERO } else { draw.time(secs(20)) }
}

pub fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
