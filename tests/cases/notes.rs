//! What the notes of single cases ask for beyond the fields of the format. A case of another source with the same id
//! is another case.

use super::{
    format::Case,
    play::End,
    record::{Log, Told, What},
};
use std::time::Duration;

type Check = fn(&Case, &Log, &End) -> Result<(), String>;

const CHECKS: &[(&str, &str, Check)] = &[
    ("A14", "tomplus/kubernetes_asyncio#379", synced_before_news),
    ("A15", "kube-rs/kube#1092", no_watch),
    ("A16", "zalando-incubator/kopf#275", big_is_whole),
    ("A19", "kube-rs/kube#2079", seen_before_more_is_sent),
    ("A22", "fabric8io/kubernetes-client#3998", plugin_ran_twice),
    ("A27", "kubernetes-client/java#666", one_error_of_the_handler),
    ("A30", "kube-rs/kube#774", two_errors),
    ("A37", "kubernetes/client-go#1326", slow_handler_sees_the_newest),
    ("A38", "kubernetes/kubernetes#113305", memory_is_bounded),
];

pub fn broken(case: &Case, log: &Log, end: &End) -> Option<String> {
    let (.., check) = CHECKS.iter().find(|(id, source, _)| *id == case.id && *source == case.source)?;
    check(case, log, end).err()
}

/// Whether the case bounds the memory of the whole process.
pub fn measures_memory(case: &Case) -> bool {
    CHECKS.iter().any(|(id, source, check)| {
        *id == case.id && *source == case.source && std::ptr::fn_addr_eq(*check, memory_is_bounded as Check)
    })
}

fn ensure(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

fn first<'a>(log: &'a Log, name: &str) -> Result<&'a Told, String> {
    log.pipeline.told.iter().find(|told| told.name() == name).ok_or_else(|| format!("{name} was never told"))
}

fn synced_before_news(_: &Case, log: &Log, _: &End) -> Result<(), String> {
    let synced = log.pipeline.synced().next().ok_or("never synced")?;
    let a = first(log, "a")?;
    ensure(
        synced.at <= a.at && a.what == (What::Added { initial: false }),
        "the empty store was not told as synced first",
    )
}

fn no_watch(_: &Case, log: &Log, _: &End) -> Result<(), String> {
    ensure(log.requests.iter().all(|(request, _)| !request.is_watch()), "a watch was sent")
}

fn big_is_whole(_: &Case, _: &Log, end: &End) -> Result<(), String> {
    let big = end.content.iter().find(|(key, _)| key.ends_with("/big")).ok_or("no big object")?;
    let size = big.1.json["data"]["blob"].as_str().map_or(0, str::len);
    ensure(size == 1_400_000, format!("the blob has {size} characters"))
}

fn seen_before_more_is_sent(_: &Case, log: &Log, _: &End) -> Result<(), String> {
    let second = log.sent.iter().find(|sent| (sent.step, sent.chunk) == (1, 1)).ok_or("no second event was sent")?;
    ensure(first(log, "b")?.at < second.begun, "b was not visible before the next event was sent")
}

fn plugin_ran_twice(_: &Case, _: &Log, end: &End) -> Result<(), String> {
    ensure(end.plugin_runs == 2, format!("the plugin ran {} times", end.plugin_runs))
}

fn one_error_of_the_handler(_: &Case, log: &Log, _: &End) -> Result<(), String> {
    let count = log.errors.len();
    ensure(count == 1, format!("{count} errors were reported"))?;
    let told = |name: &str, what: What| log.pipeline.told.iter().any(|told| told.name() == name && told.what == what);
    ensure(told("c", What::Added { initial: false }) && told("a", What::Deleted), "the handler was not told all")
}

fn two_errors(_: &Case, log: &Log, _: &End) -> Result<(), String> {
    ensure(log.errors.len() == 2, format!("{} errors were reported", log.errors.len()))?;
    let bad = first(log, "bad")?;
    ensure(&*bad.version == "103" && matches!(bad.what, What::Added { .. }), "bad did not come as an add at 103")
}

fn slow_handler_sees_the_newest(case: &Case, log: &Log, _: &End) -> Result<(), String> {
    let last = log.slow.changes().next_back().ok_or("the handler was told nothing")?;
    ensure(&*last.version == "50100", format!("the handler's last notification is {}", last.version))?;
    let busy = log.slow.changes().next().map(|told| told.at + case.setup.consumer.handler_delay_ms);
    let hundredth = log.pipeline.changes().nth(100).map(|told| told.at);
    ensure(hundredth < busy, "the store waited for the slow handler")?;
    // What it is told is the present, not what came while it was busy: nothing that the store had not held for a second.
    let was_old = |told: &&Told| {
        let held = log.pipeline.changes().take_while(|held| held.at + Duration::from_secs(1) < told.at).last();
        held.is_some_and(|held| held.version.parse::<u64>().ok() > told.version.parse().ok())
    };
    let first = log.slow.changes().nth(1).ok_or("the handler was told one change")?;
    ensure(!was_old(&first), format!("the handler was told {} late: a backlog", first.version))
}

fn memory_is_bounded(_: &Case, _: &Log, end: &End) -> Result<(), String> {
    let memory = end.memory.ok_or("memory was not measured")?;
    let objects = 1000 * 20_000;
    let (peak, rest) = (memory.peak.saturating_sub(memory.start), memory.end.saturating_sub(memory.start));
    ensure(peak < 3 * objects, format!("memory grew by {peak} bytes for {objects} bytes of objects"))?;
    ensure(rest < peak / 4, format!("{rest} bytes of {peak} stayed after the objects were gone"))?;
    ensure(end.stopped_in < Duration::from_secs(1), "the stop took long")
}
