//! Makes a script that fails as small as it can be and still fail.

use super::{
    script::{Script, Server, Step, Waits},
    world,
};
use std::time::Duration;

/// The most runs that are spent on it.
const RUNS: usize = 2000;

pub struct Shrunk {
    pub script: Script,
    pub failure: String,
    pub runs: usize,
}

/// Tries smaller scripts, the much smaller ones first, until none of them fails.
pub fn shrink(script: Script, failure: String) -> Shrunk {
    let mut least = Shrunk { script, failure, runs: 0 };
    while least.steps() | least.writers() | least.mirrors() | least.settings() {}
    least
}

impl Shrunk {
    /// Goes on with this script if it fails.
    fn fails(&mut self, script: Script) -> bool {
        if self.runs >= RUNS {
            return false;
        }
        self.runs += 1;
        match world::play(&script).failure {
            Some(failure) => {
                (self.script, self.failure) = (script, failure);
                true
            }
            None => false,
        }
    }

    fn attempt(&mut self, change: impl FnOnce(&mut Script)) -> bool {
        let mut script = self.script.clone();
        change(&mut script);
        self.fails(script)
    }

    /// Fewer steps: by halves, then smaller and smaller runs of them.
    fn steps(&mut self) -> bool {
        let mut any = false;
        let mut size = self.script.steps.len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < self.script.steps.len() {
                let until = (from + size).min(self.script.steps.len());
                if self.attempt(|script| drop(script.steps.drain(from..until))) {
                    any = true;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
        any
    }

    /// Fewer writers.
    fn writers(&mut self) -> bool {
        let of = |step: &Step| match step {
            Step::Write { writer, .. } | Step::Delete { writer, .. } => Some(*writer),
            _ => None,
        };
        let mut any = false;
        for writer in 0..3 {
            if self.script.steps.iter().any(|step| of(step) == Some(writer)) {
                any |= self.attempt(|script| script.steps.retain(|step| of(step) != Some(writer)));
            }
        }
        any
    }

    /// One mirror, where it is enough.
    fn mirrors(&mut self) -> bool {
        if self.script.mirrors.len() < 2 {
            return false;
        }
        self.attempt(|script| drop(script.mirrors.pop()))
            || self.attempt(|script| {
                script.mirrors.remove(0);
                for step in &mut script.steps {
                    if let Step::Relist(mirror) | Step::Reopen { mirror, .. } | Step::Subscribe { mirror, .. } = step {
                        *mirror = 0;
                    }
                }
            })
    }

    /// Usual settings, fewer operators, no haste and no delay.
    fn settings(&mut self) -> bool {
        let mut any = false;
        let usual =
            Server { watch_cache: true, watch_list: true, bookmarks: Some(Duration::from_secs(60)), slow_watch: None };
        if self.script.server != usual {
            any |= self.attempt(|script| script.server = usual);
        }
        for at in 0..self.script.mirrors.len() {
            for operator in (0..self.script.mirrors[at].operators.len()).rev() {
                any |= self.attempt(|script| {
                    script.mirrors[at].operators.retain({
                        let mut left = operator + 1;
                        move |_| {
                            left = left.wrapping_sub(1);
                            left != 0
                        }
                    })
                });
            }
            let mut simpler = |change: fn(&mut super::script::Mirror)| {
                let mut changed = self.script.mirrors[at].clone();
                change(&mut changed);
                changed != self.script.mirrors[at] && self.attempt(|script| script.mirrors[at] = changed)
            };
            any |= simpler(|mirror| mirror.pace = Duration::ZERO);
            any |= simpler(|mirror| mirror.chunk = usize::MAX);
            any |= simpler(|mirror| mirror.page_size = None);
            any |= simpler(|mirror| mirror.internal_error_window = None);
            any |= simpler(|mirror| mirror.waits = Waits::Default);
            any |= simpler(|mirror| mirror.watch_timeout = Duration::from_secs(300));
            any |= simpler(|mirror| mirror.idle_timeout = Duration::from_secs(150));
        }
        any
    }
}
