//! Simulation: mirrors of a server whose every part fails at random, in virtual time, each run decided by one seed.
//!
//! * `cargo test --test simulation` plays the first 300 seeds;
//! * `SIM_SEEDS=20000 cargo test --release --test simulation` plays as many as it says, and `SIM_FROM=n` begins at n;
//! * `SIM_SEED=n` plays that one alone and says what it did.
//!
//! A seed that fails is shrunk: the fewest mirrors, steps and faults that still fail are printed.

#[path = "simulation/mod.rs"]
mod simulation;

use simulation::{report, script::Script, seed, world};

#[test]
fn every_seed_ends_well() {
    if let Some(failure) = report::play_all(&seed::asked_for()) {
        panic!("{failure}");
    }
}

#[test]
fn a_seed_is_played_the_same_twice() {
    for seed in 1000..1010 {
        let script = Script::of(seed);
        assert_eq!(format!("{script:?}"), format!("{:?}", Script::of(seed)));
        let first = world::play(&script);
        assert_eq!(first, world::play(&script), "seed {seed}");
        assert!(!first.requests.is_empty(), "seed {seed} asked for nothing");
    }
}
