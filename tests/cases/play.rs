//! Plays one case from start to verdict.

use super::{
    clients, exec_plugin,
    format::{Case, SetupAction, SetupDo},
    ground::Ground,
    judge, memory,
    mirror::Mirror,
    notes,
    record::{Consumed, Content, Log, Record},
    server::{Listeners, Server},
};
use std::{
    fmt::Write,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

/// How often the state of a case is looked at.
const TICK: Duration = Duration::from_millis(3);
/// How long after the last step requests are still watched for, where the notes do not say.
const OBSERVE: Duration = Duration::from_millis(500);
/// How long nothing must change once the last step came again, which ends the watch for further requests.
const REST: Duration = Duration::from_millis(100);
/// How long the store and the consumers may take after the last byte.
const SETTLE: Duration = Duration::from_secs(6);
/// How long a stop is waited for; what counts is the law's bound, or the case's.
const STOP: Duration = Duration::from_secs(5);

/// How a case ended.
pub struct End {
    pub content: Content,
    /// The step that was waited for in vain.
    pub waits_for: Option<String>,
    pub stopped_in: Duration,
    pub stopped_at: Instant,
    pub open_after_stop: usize,
    pub plugin_runs: usize,
    pub memory: Option<Memory>,
}

/// Bytes allocated by the process of a case.
#[derive(Clone, Copy)]
pub struct Memory {
    pub start: usize,
    pub peak: usize,
    pub end: usize,
}

/// The variable that tells a process to play one case alone: its place in the file.
pub const ALONE: &str = "CASES_ALONE";

/// Plays the case at this place of a file, in a process of its own where it needs one.
///
/// # Errors
///
/// Everything that is not as the case expects, and what happened.
pub fn play(case: &Case, file: &Path, index: usize) -> Result<(), String> {
    if !case.setup.needs_process() && !notes::measures_memory(case) {
        return play_here(case, false);
    }
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let child = Command::new(this).env(ALONE, index.to_string()).env("CASES", file).stdin(Stdio::null()).output();
    let output = child.map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// Plays a case in this process; `alone` where the process is the case's own and has no threads yet.
///
/// # Errors
///
/// As [`play`].
pub fn play_here(case: &Case, alone: bool) -> Result<(), String> {
    let listeners = Listeners::open().map_err(|e| e.to_string())?;
    let ground = Ground::lay(case, &listeners).map_err(|e| format!("files: {e}"))?;
    if alone {
        ground.enter(case, &listeners).map_err(|e| format!("environment: {e}"))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| e.to_string())?;
    let record = Arc::new(Record::new());
    let end = runtime.block_on(Player::play(case, listeners, &ground, Arc::clone(&record)))?;
    runtime.shutdown_timeout(Duration::from_secs(1));
    let log = record.log();
    let problems = judge::problems(case, &log, &end);
    if problems.is_empty() { Ok(()) } else { Err(report(case, &log, &problems)) }
}

struct Player<'a> {
    case: &'a Case,
    record: Arc<Record>,
    server: Server,
    mirror: Mirror,
    actions: Vec<&'a SetupAction>,
    stopped: Option<(Instant, Duration)>,
}

impl<'a> Player<'a> {
    async fn play(case: &'a Case, listeners: Listeners, ground: &Ground, record: Arc<Record>) -> Result<End, String> {
        let server = Server::start(listeners, case.clone(), ground.token_file.clone(), Arc::clone(&record));
        let start = memory::live();
        record.log().start = Instant::now();
        let mirror = clients::mirror(case, ground, &record).await?;
        let actions = case.setup.actions.iter().collect();
        let mut player = Player { case, record, server, mirror, actions, stopped: None };
        let waits_for = player.watch().await;
        let memory = Memory { start, peak: memory::peak(), end: memory::live() };
        player.stop().await;
        let (stopped_at, stopped_in) = player.stopped.expect("stopped just now");
        let open_after_stop = player.watch_stopped().await;
        let memory = notes::measures_memory(case).then_some(memory);
        let plugin_runs = ground.plugin.as_deref().map_or(0, exec_plugin::runs);
        let content = player.mirror.content();
        Ok(End { content, waits_for, stopped_in, stopped_at, open_after_stop, plugin_runs, memory })
    }

    /// Waits until the conversation is over, the mirror has come to rest and nothing more was asked for a while.
    async fn watch(&mut self) -> Option<String> {
        let deadline = Instant::now() + longest(self.case);
        let (mut over_since, mut at_rest_since, mut changes) = (None, None, 0);
        loop {
            self.act().await;
            let now = Instant::now();
            if self.stopped.is_some() || !self.record.log().unexpected.is_empty() {
                return None;
            }
            let waits_for = self.server.shared.script().waits_for();
            if now > deadline {
                return waits_for.or_else(|| (!self.actions.is_empty()).then(|| "the time of an action".into()));
            }
            let is_over = self.server.shared.script().is_over();
            if waits_for.is_none() && self.actions.is_empty() && (is_over || self.record.log().unsent == 0) {
                let over = *over_since.get_or_insert(now);
                let in_vain = now > over + SETTLE + self.case.setup.consumer.handler_delay_ms * 10;
                let before = std::mem::replace(&mut changes, self.record.log().changed());
                if changes != before || !(self.is_at_rest() || in_vain) {
                    at_rest_since = None;
                } else {
                    let rest = *at_rest_since.get_or_insert(now);
                    let script = self.server.shared.script();
                    let observe = if is_over { REST } else { self.case.expected.observe().unwrap_or(OBSERVE) };
                    if in_vain || (now > rest + observe && script.holds_for(now).is_zero()) {
                        return None;
                    }
                }
            }
            sleep(TICK).await;
        }
    }

    /// The store is as expected, and every consumer knows.
    fn is_at_rest(&self) -> bool {
        let content = self.mirror.keys();
        let log = self.record.log();
        let is_told = |consumed: &Consumed| consumed.replay.is_store(&content).is_ok();
        let slow = !self.case.setup.consumer.is_slow() || is_told(&log.slow);
        let all_told = slow && is_told(&log.pipeline) && is_told(&log.fast);
        let expected = &self.case.expected;
        drop(log);
        all_told && judge::store(expected, &content).is_none()
    }

    /// Does what the setup asks for at this moment.
    async fn act(&mut self) {
        let now = Instant::now();
        let synced = self.record.log().pipeline.synced().next().map(|told| told.at);
        let due = |action: &&SetupAction| {
            let since = match (action.at_ms_after_sync, action.at_ms_after_step) {
                (Some(wait), _) => synced.map(|at| at + wait),
                (_, Some((step, ms))) => {
                    self.server.shared.script().begun(step - 1).map(|at| at + Duration::from_millis(ms))
                }
                _ => None,
            };
            since.is_some_and(|at| at <= now)
        };
        let (due, later): (Vec<_>, Vec<_>) = self.actions.drain(..).partition(due);
        self.actions = later;
        for action in due {
            match action.action {
                SetupDo::Stop => self.stop().await,
                SetupDo::ForceRelist => self.mirror.relist(),
            }
        }
    }

    /// Stops the mirror; twice, as that is safe.
    async fn stop(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        let start = Instant::now();
        let _ = timeout(STOP, self.mirror.stop()).await;
        let took = start.elapsed();
        self.mirror.stop().await;
        self.stopped = Some((start + took, took));
    }

    /// Watches for what must not come after a stop, and says how many connections are left.
    async fn watch_stopped(&self) -> usize {
        let closed = async {
            while self.record.log().connections > 0 {
                sleep(TICK).await;
            }
        };
        let _ = timeout(Duration::from_secs(1), closed).await;
        sleep(OBSERVE).await;
        self.record.log().connections
    }
}

/// The time after which a conversation is not waited for any more: what its script takes, and time for each step.
fn longest(case: &Case) -> Duration {
    let step = |step: &super::format::Step| {
        let chunks = step.respond.chunks.iter().flatten().map(|chunk| chunk.after_ms);
        let (min, _) = step.times();
        let once = chunks.sum::<Duration>() + step.respond.header_delay_ms + step.expect.min_gap_ms.unwrap_or_default();
        once * min + step.repeat.and_then(|repeat| repeat.for_ms).unwrap_or_default() + Duration::from_secs(4)
    };
    let actions = case.setup.actions.iter().filter_map(|action| action.at_ms_after_sync).sum::<Duration>();
    let settle = SETTLE + case.setup.consumer.handler_delay_ms * 10;
    case.conversation.iter().map(step).sum::<Duration>() + actions + settle + Duration::from_secs(15)
}

/// What is wrong, and what happened, for whoever has to find out why.
fn report(case: &Case, log: &Log, problems: &[String]) -> String {
    let mut text = format!("{}: {}\n", case.id, case.title);
    let at = |at: Instant| (at - log.start).as_millis();
    for problem in problems {
        let _ = writeln!(text, "  wrong: {problem}");
    }
    let _ = writeln!(text, "  right: {}", case.right_behaviour);
    if let Some(notes) = &case.expected.notes {
        let _ = writeln!(text, "  notes: {notes}");
    }
    if let Some(note) = &case.setup.note {
        let _ = writeln!(text, "  setup: {note}");
    }
    for (request, step) in &log.requests {
        let step = step.map_or("no step".into(), |step| format!("step {}", step + 1));
        let _ = writeln!(text, "  {:>6} ms  connection {}  {step}: {request}", at(request.at), request.connection);
    }
    for error in &log.errors {
        let _ = writeln!(text, "  {:>6} ms  {}", at(error.at), error.text);
    }
    let (told, some) = (&log.pipeline.told, 20);
    for (index, told) in told.iter().enumerate().filter(|(index, _)| *index < some || index + some >= told.len()) {
        let _ = writeln!(text, "  {:>6} ms  {index}. {:?} {} at {}", at(told.at), told.what, told.key, told.version);
    }
    text
}
