//! What an object costs as there are more of them, and a mirror as there are more of those:
//! `cargo bench --bench growth`. Each line is a process of its own; slim Pods, made in the process and decoded.
//!
//! Without `--bench` it only checks that it runs.

mod pods;

use k8s_openapi::api::core::v1::Pod;
use listwatch::{Reflector, client::Collection, source::Strategy};
use pods::SlimPod;
use std::{process::Command, time::Duration};
use tokio::time::Instant;

/// Set for the process that does the work: objects and mirrors.
const WORK: &str = "GROWTH_BENCH_WORK";

fn main() {
    if let Ok(work) = std::env::var(WORK) {
        let (objects, mirrors) = work.split_once(' ').expect("objects and mirrors");
        return measure(objects.parse().expect("objects"), mirrors.parse().expect("mirrors"));
    }
    let bench = std::env::args().any(|arg| arg == "--bench");
    let sizes: &[(usize, usize)] = if bench {
        &[(10_000, 1), (100_000, 1), (1_000_000, 1), (10_000, 10), (10_000, 100)]
    } else {
        &[(1_000, 1), (100, 3)]
    };
    println!(
        "{:>9}{:>9}{:>14}{:>16}{:>20}",
        "objects", "mirrors", "ns an object", "bytes an object", "idle CPU ms in 2 s"
    );
    for (objects, mirrors) in sizes {
        let myself = std::env::current_exe().expect("this program");
        let status = Command::new(myself).env(WORK, format!("{objects} {mirrors}")).status();
        assert!(status.is_ok_and(|status| status.success()), "{objects} objects, {mirrors} mirrors");
    }
}

#[tokio::main]
async fn measure(objects: usize, mirrors: usize) {
    let client = pods::client(objects);
    let (before, start) = (resident_bytes(), Instant::now());
    let running: Vec<_> = (0..mirrors)
        .map(|_| {
            let pods = Collection::<Pod>::all(client.clone()).decode_as::<SlimPod>();
            Reflector::new(pods).strategy(Strategy::List).spawn()
        })
        .collect();
    for mirror in &running {
        mirror.store().ready().await.expect("a snapshot");
    }
    let (took, all) = (start.elapsed(), objects * mirrors);
    assert!(running.iter().all(|mirror| mirror.store().len() == objects));
    let held = resident_bytes() - before;
    let idle = cpu_ms();
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("{objects:>9}{mirrors:>9}{:>14}{:>16}{:>20}", took.as_nanos() / all as u128, held / all, cpu_ms() - idle,);
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    4096 * statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages")
}

/// User and system time, in milliseconds (100 ticks a second).
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    10 * (11..13).map(|at| fields[at].parse::<u64>().expect("ticks")).sum::<u64>()
}
