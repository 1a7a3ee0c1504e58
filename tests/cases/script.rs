//! Where a conversation stands, and which step takes a request. No IO.

use super::{
    format::{NewConnection, Step},
    http::Request,
    wanted,
};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::time::Instant;

/// What an answer that arrives a little early by the clock of this server may be: the two clocks are read by two tasks.
const CLOCK: Duration = Duration::from_millis(3);

pub struct Script {
    steps: Arc<Vec<Step>>,
    at: usize,
    served: Vec<u32>,
    /// When each step had its first request.
    begun: Vec<Option<Instant>>,
    /// Of the last answer: its step, and when its last byte, its fault or its close was.
    last: Option<(usize, Instant)>,
    connection: Option<u64>,
    server: Option<usize>,
    revoked: HashSet<String>,
    /// The last step came again after it was played as often as it may be.
    is_over: bool,
}

/// How a request is answered.
#[derive(Debug, PartialEq)]
pub enum Turn {
    Step(usize),
    /// The credential was revoked: 401, outside of the script.
    Unauthorized,
}

impl Script {
    pub fn new(steps: Arc<Vec<Step>>) -> Self {
        let count = steps.len();
        Script {
            steps,
            at: 0,
            served: vec![0; count],
            begun: vec![None; count],
            last: None,
            connection: None,
            server: None,
            revoked: HashSet::new(),
            is_over: false,
        }
    }

    /// The step that takes this request, which is thereby played.
    ///
    /// # Errors
    ///
    /// The conversation does not allow the request, or not now.
    pub fn take(&mut self, request: &Request) -> Result<Turn, String> {
        if *self.server.get_or_insert(request.server) != request.server {
            return Err("the conversation was with the other server".into());
        }
        let revoked = request.credential().is_some_and(|credential| self.revoked.contains(credential));
        let index = match self.find(request, revoked) {
            Ok(index) => index,
            Err(_) if revoked && !self.scripts_unauthorized() => return Ok(Turn::Unauthorized),
            Err(error) => return Err(error),
        };
        if self.served[index] == 0 || self.steps[index].repeat.is_some() {
            self.check_time(index, request.at)?;
        }
        if let (Some(NewConnection::New), 0) = (self.steps[index].expect.connection, self.served[index])
            && self.connection == Some(request.connection)
        {
            return Err(format!("step {} must come on a new connection", index + 1));
        }
        self.at = index;
        self.is_over |= self.served[index] >= self.steps[index].times().1;
        self.served[index] += 1;
        self.begun[index].get_or_insert(request.at);
        self.last = Some((index, request.at));
        self.connection = Some(request.connection);
        Ok(Turn::Step(index))
    }

    /// The current step, or one that may be reached from it.
    fn find(&self, request: &Request, revoked: bool) -> Result<usize, String> {
        let mut reasons = Vec::new();
        for index in self.at..self.steps.len() {
            let step = &self.steps[index];
            match wanted::mismatch(&step.expect, request) {
                None if revoked && step.respond.status != Some(401) => {
                    reasons.push(format!("step {}: the credential was revoked", index + 1));
                }
                None if self.is_too_late(index, request.at) => {
                    reasons.push(format!("step {}: its time is over", index + 1))
                }
                None if self.served[index] < step.times().1 => return Ok(index),
                // Further requests like the last one end the case well, unless they come too fast.
                None if index + 1 == self.steps.len() && !self.holds(index, request.at) => return Ok(index),
                None => {
                    reasons.push(format!("step {}: played {} times, no more is allowed", index + 1, step.times().1))
                }
                Some(why) => reasons.push(format!("step {}: {why}", index + 1)),
            }
            if self.holds(index, request.at) {
                reasons.push(format!("step {} holds for some time yet", index + 1));
                break;
            }
            if !self.may_pass(index) {
                break;
            }
        }
        Err(reasons.join("; "))
    }

    /// A step that was played as often as it must be, or need not be played at all.
    fn may_pass(&self, index: usize) -> bool {
        let (min, _) = self.steps[index].times();
        self.served[index] >= min || (self.steps[index].optional && self.served[index] == 0)
    }

    /// `for_ms` since its first request: until then the step takes what matches it, and nothing else is played.
    fn holds(&self, index: usize, now: Instant) -> bool {
        self.time_left(index, now).is_some_and(|left| !left.is_zero())
    }

    fn is_too_late(&self, index: usize, now: Instant) -> bool {
        self.time_left(index, now).is_some_and(|left| left.is_zero()) && index + 1 < self.steps.len()
    }

    fn time_left(&self, index: usize, now: Instant) -> Option<Duration> {
        let length = self.steps[index].repeat?.for_ms?;
        Some(length.saturating_sub(now - self.begun[index]?))
    }

    fn check_time(&self, index: usize, now: Instant) -> Result<(), String> {
        let Some((_, end)) = self.last else { return Ok(()) };
        let (step, gap) = (&self.steps[index], now - end);
        // Of a repeated step, the shortest gap is one between its own requests.
        let is_first_of_many = step.repeat.is_some() && self.served[index] == 0;
        match (step.expect.min_gap_ms, step.expect.max_gap_ms) {
            (Some(min), _) if !is_first_of_many && gap + CLOCK < min => {
                Err(format!("step {} came after {gap:.0?}, {min:?} or more is expected", index + 1))
            }
            (_, Some(max)) if gap > max => {
                Err(format!("step {} came after {gap:.0?}, {max:?} or less is expected", index + 1))
            }
            _ => Ok(()),
        }
    }

    fn scripts_unauthorized(&self) -> bool {
        self.steps.iter().any(|step| step.respond.status == Some(401))
    }

    /// A byte, the fault or the close of this step's answer was just now.
    pub fn answered(&mut self, index: usize, now: Instant) {
        match &mut self.last {
            Some((last, at)) if *last == index => *at = now,
            _ => {}
        }
    }

    /// Whether the last step came once more than it may, which ends the time for which requests are watched.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn revoke(&mut self, credential: &str) {
        self.revoked.insert(credential.into());
    }

    /// When this step (counted from 0) had its first request.
    pub fn begun(&self, index: usize) -> Option<Instant> {
        self.begun[index]
    }

    /// What still has to be played: None when every step was.
    pub fn waits_for(&self) -> Option<String> {
        let waits = |index: &usize| !self.may_pass(*index);
        let index = (self.at..self.steps.len()).find(waits)?;
        let (step, expect) = (index + 1, &self.steps[index].expect);
        let query: Vec<_> = expect.query.iter().map(|(name, wanted)| format!("{name}={wanted}")).collect();
        let played = self.served[index];
        Some(format!("step {step} ({} {} {}), played {played} times", expect.method, expect.path, query.join(" ")))
    }

    /// How long the last step reached holds yet.
    pub fn holds_for(&self, now: Instant) -> Duration {
        self.time_left(self.at, now).unwrap_or_default()
    }
}
