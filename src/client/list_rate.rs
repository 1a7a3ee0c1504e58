use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};

/// How many lists a client asks for: one each so often, and some at once before that.
///
/// # Defaults
///
/// client-go's `QPS` of 5 and `Burst` of 10, which there count other requests as well, and no watches.
///
/// ```
/// use listwatch::client::{Client, ListRate};
/// use std::time::Duration;
///
/// assert_eq!(ListRate::default(), ListRate::every(Duration::from_millis(200)).burst(10));
/// let client = Client::builder().list_rate(ListRate::default()).url("https://cluster.example:6443")?;
/// # drop(client);
/// # Ok::<_, listwatch::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias("QPS", "Burst", "flowcontrol"))]
pub struct ListRate {
    every: Duration,
    burst: u32,
}

impl ListRate {
    /// One list each `period`, which is at most a day. A period of zero is no limit.
    #[must_use]
    pub fn every(period: Duration) -> Self {
        ListRate { every: period.min(Duration::from_secs(24 * 60 * 60)), burst: 1 }
    }

    /// So many lists may follow each other at once after a while without any: 1 to 10 000.
    #[must_use]
    pub fn burst(mut self, lists: u32) -> Self {
        self.burst = lists.clamp(1, 10_000);
        self
    }
}

impl Default for ListRate {
    fn default() -> Self {
        ListRate::every(Duration::from_millis(200)).burst(10)
    }
}

/// A bucket of tokens that refills by time, by whoever waits.
pub(super) struct Limiter {
    rate: ListRate,
    /// tokio's semaphore serves in the order of asking; one that waits and is not polled holds up nobody else.
    tokens: Semaphore,
    /// Up to when tokens were put in.
    filled: Mutex<Option<Instant>>,
}

impl Limiter {
    pub(super) fn new(rate: ListRate) -> Self {
        let tokens = Semaphore::new(rate.burst as usize);
        Limiter { rate, tokens, filled: Mutex::new(None) }
    }

    /// Waits for a token and takes it.
    ///
    /// # Cancel safety
    ///
    /// No token is taken by a wait that is dropped.
    pub(super) async fn turn(&self) {
        if self.rate.every.is_zero() {
            return;
        }
        let came = Instant::now();
        let mut token = pin!(self.tokens.acquire());
        loop {
            let next = self.refill(Instant::now());
            tokio::select! {
                biased;
                token = &mut token => {
                    if let Ok(token) = token {
                        token.forget();
                    }
                    break;
                }
                () = sleep_until(next) => {}
            }
        }
        let waited = came.elapsed();
        if !waited.is_zero() {
            tracing::debug!(?waited, "a list waited for its turn");
        }
    }

    /// Puts in what is due, and says when the next one is.
    fn refill(&self, now: Instant) -> Instant {
        let (every, burst) = (self.rate.every, self.rate.burst as usize);
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let last = *filled.get_or_insert(now);
        let due = usize::try_from((now - last).as_nanos() / every.as_nanos()).unwrap_or(usize::MAX);
        let put = due.min(burst.saturating_sub(self.tokens.available_permits()));
        self.tokens.add_permits(put);
        // What finds the bucket full is lost, and the next token then counts from the one that is taken now.
        let full = put < due || self.tokens.available_permits() >= burst;
        let last = if full { now } else { last + every * u32::try_from(put).unwrap_or(u32::MAX) };
        *filled = Some(last);
        last + every
    }
}
