//! Plays seeds, and says what came of it.

use super::{
    checks::Figures,
    script::Script,
    shrink::{Shrunk, shrink},
    world::{self, Outcome},
};
use std::{
    fmt::Write,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

/// A line after so many seeds, so that a long run is seen to go on.
const PROGRESS: u64 = 1000;

#[derive(Default)]
struct Total {
    seeds: u64,
    requests: usize,
    figures: Figures,
    failed: Option<(Script, String)>,
}

/// Plays them on all processors; the report of the first that fails, shrunk.
pub fn play_all(seeds: &Range<u64>) -> Option<String> {
    let next = AtomicU64::new(seeds.start);
    let total = Mutex::new(Total::default());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= seeds.end || total.lock().unwrap().failed.is_some() {
                        return;
                    }
                    let script = Script::of(seed);
                    let outcome = world::play(&script);
                    total.lock().unwrap().add(script, outcome);
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    println!("{}", total.line());
    total.failed.map(|(script, failure)| {
        let (seed, first) = (script.seed, failure.clone());
        println!("seed {seed} fails; shrinking it\n{first}");
        report(seed, &first, &shrink(script, failure))
    })
}

impl Total {
    fn add(&mut self, script: Script, outcome: Outcome) {
        self.seeds += 1;
        self.requests += outcome.requests.len();
        for figures in outcome.figures {
            self.figures.changes += figures.changes;
            self.figures.snapshots += figures.snapshots;
            self.figures.skips += figures.skips;
            self.figures.resumes += figures.resumes;
            self.figures.relists += figures.relists;
            self.figures.fallbacks += figures.fallbacks;
        }
        if let Some(failure) = outcome.failure {
            self.failed.get_or_insert((script, failure));
        }
        if self.seeds.is_multiple_of(PROGRESS) {
            println!("{}", self.line());
        }
    }

    fn line(&self) -> String {
        format!("{} seeds, {} requests, {:?}", self.seeds, self.requests, self.figures)
    }
}

fn report(seed: u64, first: &str, least: &Shrunk) -> String {
    let mut text = String::new();
    let Shrunk { script, failure, runs } = least;
    let _ =
        writeln!(text, "seed {seed} fails: {first}\n\nto play it alone: SIM_SEED={seed} cargo test --test simulation");
    let _ = writeln!(text, "\nthe smallest script that fails, after {runs} runs: {failure}\n\n{:?}", script.server);
    for mirror in &script.mirrors {
        let _ = writeln!(text, "{mirror:?}");
    }
    for (at, step) in script.steps.iter().enumerate() {
        let _ = writeln!(text, "{at:3}  {step:?}");
    }
    let _ = writeln!(text, "\nits requests");
    for request in &world::play(script).requests {
        let _ = writeln!(text, "  {request}");
    }
    text
}
