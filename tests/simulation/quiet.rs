//! What must hold once nothing fails and nobody writes any more.

use super::{mirror::Mirror, rate, script::secs, world::World};
use std::{sync::atomic::Ordering::Relaxed, time::Duration};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};

/// A refused watch is tried again after up to 10 minutes, and a slow consumer takes its time.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);

/// Every mirror becomes what the server is, and every subscriber's replay becomes the store.
pub async fn becomes_equal(world: &mut World) -> Result<(), String> {
    let server = world.shared.server.clone();
    server.clear_rules();
    server.resume_cache();
    world.shared.down.store(false, Relaxed);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let equal = is_equal(world);
        if equal.is_ok() || Instant::now() >= deadline {
            return equal.map_err(|why| format!("never became equal: {why}"));
        }
        sleep(secs(5)).await;
        if let Some(wrong) = world.shared.verdict.get() {
            return Err(format!("when quiet: {wrong}"));
        }
    }
}

fn is_equal(world: &World) -> Result<(), String> {
    for mirror in world.mirrors.all().iter() {
        if !mirror.runs() {
            return Err("a mirror has ended".into());
        }
        let judge = mirror.judge.lock().unwrap();
        if judge.is_rewound() {
            return Err("no snapshot since the server went back".into());
        }
        judge.is_current()?;
        if !mirror.store.state().is_live() {
            return Err(format!("the store is {:?}", mirror.store.state()));
        }
    }
    let mirrors = world.mirrors.all();
    world.subscribers.iter().try_for_each(|subscriber| subscriber.is_current(&mirrors[subscriber.mirror].store))
}

/// Nothing more happens, and requests are as rare as the settings say.
pub async fn stays_quiet(world: &World) -> Result<(), String> {
    // What was opened while faults were in force may still end in its own way, and a slow consumer comes late to it.
    let longest = |time: fn(&Mirror) -> Duration| world.mirrors.all().iter().map(time).max().unwrap_or_default();
    let life = longest(|mirror| mirror.setup.watch_timeout) * 2;
    sleep(life + secs(60) + longest(|mirror| mirror.setup.pace) * 60).await;
    let since = Instant::now();
    sleep(life + secs(60)).await;
    for mirror in world.mirrors.all().iter() {
        rate::when_quiet(&mirror.setup, &mirror.noted, since)?;
        rate::of_any_minute(&mirror.setup, &mirror.noted, world.asked)?;
    }
    is_equal(world).map_err(|why| format!("did not stay equal: {why}"))?;
    world.shared.verdict.get().map_or(Ok(()), Err)
}

/// The mirrors end, then their subscribers; no task and no connection is left.
pub async fn leaves_nothing(world: &mut World) -> Result<(), String> {
    world.mirrors.all().iter().for_each(Mirror::stop);
    // A consumer may be at a change still.
    sleep(secs(30)).await;
    if world.mirrors.all().iter().any(Mirror::runs) {
        return Err("a mirror does not end".into());
    }
    for subscriber in world.subscribers.drain(..) {
        subscriber.is_current(&world.mirrors.all()[subscriber.mirror].store)?;
        world.retired.push(subscriber);
    }
    for subscriber in world.retired.drain(..) {
        timeout(PATIENCE, subscriber.ended()).await.map_err(|_| "a subscriber of a closed store does not end")??;
    }
    sleep(secs(1)).await;
    let open: usize = world.mirrors.all().iter().map(|mirror| mirror.noted.open.load(Relaxed)).sum();
    let (watches, tasks) = (world.shared.server.open_watches(), Handle::current().metrics().num_alive_tasks());
    if (open, watches, tasks) != (0, 0, world.tasks) {
        return Err(format!(
            "left behind: {open} requests, {watches} watches, {tasks} tasks instead of {}",
            world.tasks
        ));
    }
    world.shared.verdict.get().map_or(Ok(()), Err)
}
