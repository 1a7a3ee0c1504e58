//! How many requests a mirror may make.

use super::{
    script::{Mirror, Waits},
    wire::{Asked, Noted},
};
use std::time::Duration;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

/// Watches that the server ends are opened again at most once a second.
const REOPENED: usize = 60;
/// One after another: watch-list, the same without a version, list, the same without a version, without pages.
const WAYS: usize = 5;

/// The most requests in any minute, pages left out: each failure waits, but for those that are tried another way.
/// `asked` is how often someone asked for a snapshot or began anew.
fn bound(setup: &Mirror, asked: usize) -> usize {
    let failures = match setup.waits {
        // 0.8 + 1.6 + 3.2 + 6.4 + 12.8 + 25.6 s without any jitter; the next wait ends after the minute.
        Waits::Default => 7,
        // The floor after a failure.
        Waits::Floor => 600,
        Waits::Fixed(wait) => (MINUTE.as_millis() / wait.as_millis().max(100)) as usize + 1,
    };
    REOPENED + failures + (failures + asked) * WAYS
}

/// Whether a mirror kept to its policy in every minute.
pub fn of_any_minute(setup: &Mirror, noted: &Noted, asked: usize) -> Result<(), String> {
    let requests = noted.requests.lock().unwrap();
    let times: Vec<_> = requests.iter().filter(|(_, asked, _)| *asked != Asked::Page).map(|(at, ..)| *at).collect();
    let most = bound(setup, asked);
    let busy = times
        .iter()
        .enumerate()
        .find(|(first, at)| times.get(first + most).is_some_and(|later| later.duration_since(**at) < MINUTE));
    busy.map_or(Ok(()), |(_, at)| Err(format!("more than {most} requests in the minute from {:?}", at.elapsed())))
}

/// Whether a mirror without faults did nothing but open its watch again as its settings say.
pub fn when_quiet(setup: &Mirror, noted: &Noted, since: Instant) -> Result<(), String> {
    let requests = noted.requests.lock().unwrap();
    let of_late: Vec<_> = requests.iter().filter(|(at, ..)| *at > since).collect();
    let life = setup.watch_timeout.min(setup.idle_timeout);
    let most = (since.elapsed().as_millis() / life.as_millis()) as usize + 2;
    if of_late.len() > most {
        return Err(format!("{} requests in {:?} when quiet, more than {most}", of_late.len(), since.elapsed()));
    }
    match of_late.iter().find(|(_, asked, _)| *asked != Asked::Watch) {
        Some((_, _, request)) => Err(format!("a snapshot when quiet: {request}")),
        None => Ok(()),
    }
}
