//! What happens when, drawn from one seed: the same seed gives the same faults in the same order.

use std::fmt;
use std::time::Duration;

use fastrand::Rng;

use crate::proxy::{Door, Ending, Order};

/// What happens to one mirror's connections, or to the mirror itself.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    Connections(Order),
    /// Each piece comes late.
    Delay {
        each: Duration,
        lasts: Duration,
    },
    /// No connection can be made.
    Door {
        door: Door,
        lasts: Duration,
    },
    /// Its streams end and begin anew.
    Restart {
        resume: bool,
    },
}

/// What happens to the server.
#[derive(Clone, Copy, Debug)]
pub enum Blow {
    /// SIGKILL, then a start with these flags.
    Kill {
        down: Duration,
        flags: &'static [&'static str],
    },
    /// SIGSTOP, then SIGCONT.
    Stop {
        lasts: Duration,
    },
    Compact,
    /// 429 to all that the mirrors ask for.
    Throttle {
        lasts: Duration,
    },
}

/// Every kind of fault.
pub const KINDS: [&str; 12] =
    ["reset", "close", "half-open", "cut", "delay", "shut", "deaf", "restart", "kill", "stop", "compaction", "429"];

/// What a server may be started with: with or without a watch cache, and one that sends connections away.
const FLAGS: [&[&str]; 4] = [&[], &["--watch-cache=false"], &[], &["--goaway-chance=0.02"]];

/// Kinds in a random order, each as often as the others.
struct Deck<const N: usize> {
    left: Vec<usize>,
}

impl<const N: usize> Deck<N> {
    fn draw(&mut self, draw: &mut Rng) -> usize {
        if self.left.is_empty() {
            self.left.extend(0..N);
            draw.shuffle(&mut self.left);
        }
        self.left.pop().expect("a full deck")
    }
}

/// The harm that comes to mirrors: which, to how many of them, and how long until the next.
pub struct Harms {
    draw: Rng,
    deck: Deck<9>,
    mirrors: usize,
}

impl Harms {
    pub fn new(seed: u64, mirrors: usize) -> Self {
        Self { draw: Rng::with_seed(seed), deck: Deck { left: Vec::new() }, mirrors }
    }

    /// To one mirror by its number, or to all.
    pub fn next(&mut self) -> (Harm, Option<usize>, Duration) {
        let draw = &mut self.draw;
        let harm = match self.deck.draw(draw) {
            0 => Harm::Connections(Order::End(Ending::Reset)),
            1 => Harm::Connections(Order::End(Ending::Close)),
            2 => Harm::Connections(Order::End(Ending::HalfOpen)),
            // From within a line to far into a list.
            3 | 4 => {
                let ending = [Ending::Close, Ending::Reset, Ending::HalfOpen][draw.usize(0..3)];
                let most = 1 << draw.u32(1..20);
                Harm::Connections(Order::Cut(draw.usize(0..most), ending))
            }
            5 => Harm::Delay { each: millis(draw, 5..400), lasts: millis(draw, 500..8_000) },
            6 => Harm::Door { door: Door::Shut, lasts: millis(draw, 200..4_000) },
            7 => Harm::Door { door: Door::Deaf, lasts: millis(draw, 200..4_000) },
            _ => Harm::Restart { resume: draw.u32(0..3) > 0 },
        };
        let whom = (draw.u32(0..8) > 0).then(|| draw.usize(0..self.mirrors));
        (harm, whom, millis(draw, 50..1_600))
    }
}

/// The blows to the server, and how long until the next.
pub struct Blows {
    draw: Rng,
    deck: Deck<5>,
}

impl Blows {
    pub fn new(seed: u64) -> Self {
        Self { draw: Rng::with_seed(seed), deck: Deck { left: Vec::new() } }
    }

    pub fn next(&mut self) -> (Duration, Blow) {
        let draw = &mut self.draw;
        let blow = match self.deck.draw(draw) {
            0 => Blow::Kill { down: millis(draw, 0..3_000), flags: FLAGS[draw.usize(0..FLAGS.len())] },
            1 => Blow::Stop { lasts: millis(draw, 300..10_000) },
            2 | 3 => Blow::Compact,
            _ => Blow::Throttle { lasts: millis(draw, 1_000..6_000) },
        };
        (millis(draw, 1_000..6_000), blow)
    }
}

impl Harm {
    /// One of [`KINDS`].
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Connections(Order::End(Ending::Reset)) => "reset",
            Self::Connections(Order::End(Ending::Close)) => "close",
            Self::Connections(Order::End(Ending::HalfOpen)) => "half-open",
            Self::Connections(Order::Cut(..)) => "cut",
            Self::Delay { .. } => "delay",
            Self::Door { door: Door::Deaf, .. } => "deaf",
            Self::Door { .. } => "shut",
            Self::Restart { .. } => "restart",
        }
    }
}

impl Blow {
    /// One of [`KINDS`].
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kill { .. } => "kill",
            Self::Stop { .. } => "stop",
            Self::Compact => "compaction",
            Self::Throttle { .. } => "429",
        }
    }
}

fn millis(draw: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(draw.u64(range))
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connections(Order::End(ending)) => write!(f, "{ending:?}"),
            Self::Connections(Order::Cut(bytes, ending)) => write!(f, "cut after {bytes} bytes, {ending:?}"),
            Self::Delay { each, lasts } => write!(f, "delay of {each:?} for {lasts:?}"),
            Self::Door { door, lasts } => write!(f, "{door:?} to new connections for {lasts:?}"),
            Self::Restart { resume: true } => f.write_str("restart where it was"),
            Self::Restart { resume: false } => f.write_str("restart with a snapshot"),
        }
    }
}

impl fmt::Display for Blow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill { down, flags } => write!(f, "kill, down for {down:?}, started with {flags:?}"),
            Self::Stop { lasts } => write!(f, "stop for {lasts:?}"),
            Self::Compact => f.write_str("compaction"),
            Self::Throttle { lasts } => write!(f, "429 for {lasts:?}"),
        }
    }
}
