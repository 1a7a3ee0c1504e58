//! Events per second.

use std::{collections::VecDeque, time::Duration};
use tokio::time::Instant;

/// The mean rate of a count over the last seconds.
#[derive(Debug, Default)]
pub struct Rate(VecDeque<(Instant, u64)>);

const SPAN: Duration = Duration::from_secs(5);

impl Rate {
    /// Takes the count at this moment and says how much it grew per second.
    pub fn at(&mut self, now: Instant, count: u64) -> f64 {
        while self.0.len() > 1 && self.0.front().is_some_and(|(first, _)| now - *first > SPAN) {
            self.0.pop_front();
        }
        self.0.push_back((now, count));
        let (first, before) = self.0[0];
        let seconds = (now - first).as_secs_f64();
        if seconds > 0.0 { count.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_is_long_ago() {
        let (start, mut rate) = (Instant::now(), Rate::default());
        let mut at = |seconds, count| rate.at(start + Duration::from_secs(seconds), count);
        assert_eq!(at(0, 0), 0.0);
        assert_eq!(at(2, 10), 5.0);
        assert_eq!(at(5, 10), 2.0);
        assert_eq!(at(6, 10), 0.0, "the sample of second 0 is gone, that of second 2 counts 10 as well");
    }
}
