//! Chaos: six mirrors of a real API server, while the server is killed, stopped, compacted and throttled, their
//! connections come to harm in proxies in between, and writers write as fast as they can. At the end every mirror must
//! be what the server lists, and the log of its changes must say so too.
//!
//! `cargo test --test chaos` runs it for two minutes; like the end-to-end tests it needs Go. `CHAOS_SECONDS` says for
//! how long, `CHAOS_SEED` repeats the faults of a run: their order and kinds, not the moments at which they strike.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use tokio::time::Instant;

#[path = "chaos/mirror.rs"]
mod mirror;
#[path = "chaos/mirrors.rs"]
mod mirrors;
#[path = "chaos/proxy.rs"]
mod proxy;
#[path = "chaos/record.rs"]
mod record;
#[path = "chaos/schedule.rs"]
mod schedule;
#[path = "chaos/throttle.rs"]
mod throttle;
#[path = "chaos/traffic.rs"]
mod traffic;

mod account;
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod recorded;
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod server;
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod writer;

use mirror::Mirror;
use record::Record;
use schedule::{Blow, Blows, Harm, Harms};
use server::Server;
use traffic::Traffic;

/// How long the mirrors may take to become the server once all is well: a connection that is dead without a sign is
/// noticed within 75 s, the longest default wait is a minute, and another failure may be in between.
const PATIENCE: Duration = Duration::from_secs(240);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let seconds = number("CHAOS_SECONDS").unwrap_or(120);
    let seed = number("CHAOS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("chaos: for {seconds} s by CHAOS_SEED={seed}");
    let mut server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    let mut traffic = Traffic::start(&kube, seed).await;
    let mut mirrors = mirrors::all(&server).await;
    let record = Record::new(Duration::from_secs(seconds));

    tokio::join!(
        harm(&mirrors, Harms::new(seed, mirrors.len()), &record),
        strike(&mut server, &kube, Blows::new(!seed), &record),
        tell(&mirrors, &traffic, &record),
    );
    mirrors.iter().for_each(|mirror| mirror.proxy.calm());
    traffic.stop().await;

    let behind = become_equal(&mirrors, &kube).await;
    let mut lost: usize = behind.iter().map(|(objects, _)| (*objects).max(1)).sum();
    let mut failures: Vec<_> = behind.into_iter().map(|(_, why)| why).collect();
    for mirror in &mut mirrors {
        let wrong = mirror.wrong();
        lost += wrong.len();
        failures.extend(wrong);
        mirror.stop().await;
        println!("chaos: {}", mirror.summary());
    }
    failures.extend(left_open(&mirrors).await);
    failures.extend(record.missing());
    println!("chaos: {}", record.kinds());
    failures.iter().for_each(|failure| println!("chaos: {failure}"));
    if !failures.is_empty() {
        record.lines().iter().for_each(|line| println!("chaos: {line}"));
        for mirror in &mirrors {
            mirror.last_errors().iter().for_each(|error| println!("chaos: {}: {error}", mirror.name));
        }
    }
    let events: usize = mirrors.iter().map(Mirror::told).sum();
    println!("chaos: {} mirrors, {} faults injected, {events} events, lost: {lost}", mirrors.len(), record.faults());
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Harms connections and mirrors until the time is over.
async fn harm(mirrors: &[Mirror], mut harms: Harms, record: &Record) {
    while !record.is_over() {
        let (harm, whom, wait) = harms.next();
        let harmed = match whom {
            Some(number) => &mirrors[number..=number],
            None => mirrors,
        };
        let hit: usize = harmed.iter().map(|mirror| inflict(mirror, harm)).sum();
        // What met no connection was no fault.
        if hit > 0 {
            let names: Vec<_> = harmed.iter().map(|mirror| mirror.name).collect();
            record.note(harm.kind(), format!("{harm}: {}", names.join(", ")));
        }
        tokio::time::sleep(wait).await;
    }
}

/// How many connections or mirrors it met.
fn inflict(mirror: &Mirror, harm: Harm) -> usize {
    match harm {
        Harm::Connections(order) => return mirror.proxy.order(order),
        Harm::Delay { each, lasts } => mirror.proxy.delay(each, lasts),
        Harm::Door { door, lasts } => mirror.proxy.door(door, lasts),
        Harm::Restart { resume } => mirror.restart(resume),
    }
    1
}

/// Strikes the server until the time is over; then it serves as ever.
async fn strike(server: &mut Server, kube: &kube::Client, mut blows: Blows, record: &Record) {
    loop {
        let (wait, blow) = blows.next();
        tokio::time::sleep(wait).await;
        if record.is_over() {
            return;
        }
        record.note(blow.kind(), blow.to_string());
        match blow {
            Blow::Kill { down, flags } => {
                server.kill();
                tokio::time::sleep(down).await;
                server.restart_with(flags).await;
            }
            Blow::Stop { lasts } => {
                server.pause().await;
                tokio::time::sleep(lasts).await;
                server.resume();
            }
            Blow::Compact => server.compact(),
            Blow::Throttle { lasts } => {
                throttle::begin(kube).await;
                tokio::time::sleep(lasts).await;
                throttle::end(kube).await;
            }
        }
    }
}

/// A line now and then, so that a long run is seen to go on.
async fn tell(mirrors: &[Mirror], traffic: &Traffic, record: &Record) {
    const PERIOD: Duration = Duration::from_secs(30);
    while !record.is_over() {
        tokio::time::sleep(PERIOD.min(record.left())).await;
        let events: usize = mirrors.iter().map(Mirror::told).sum();
        println!(
            "chaos: {:?}: {} faults, {} writes, {events} events",
            record.elapsed(),
            record.faults(),
            traffic.written()
        );
    }
}

/// Waits until every mirror is what the server lists; what is not by then.
async fn become_equal(mirrors: &[Mirror], kube: &kube::Client) -> Vec<(usize, String)> {
    let start = Instant::now();
    loop {
        let mut failures = Vec::new();
        for mirror in mirrors {
            let (objects, why) = mirror.lost(kube).await;
            if !why.is_empty() {
                failures.push((objects, format!("{}: {why}", mirror.name)));
            }
        }
        if failures.is_empty() || start.elapsed() > PATIENCE {
            let (equal, waited) = (mirrors.len() - failures.len(), start.elapsed());
            println!("chaos: {equal} mirrors are what the server lists, {waited:.1?} after the last fault");
            return failures;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Connections that mirrors keep though they have ended.
async fn left_open(mirrors: &[Mirror]) -> Vec<String> {
    let start = Instant::now();
    let open = || mirrors.iter().filter(|mirror| mirror.proxy.open() > 0);
    while open().next().is_some() && start.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    open().map(|mirror| format!("{} left {} connections open", mirror.name, mirror.proxy.open())).collect()
}
