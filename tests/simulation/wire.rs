//! One mirror's way to the server: bodies arrive in small chunks, requests are noted, open ones are counted.

use super::{checks::Verdict, timeline::Timeline};
use futures::{StreamExt, future};
use listwatch::{
    Error,
    client::{Request, Response, Transport},
    testing::ApiServer,
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Snapshot,
    Page,
    Watch,
}

/// What the wire noted.
#[derive(Debug, Default)]
pub struct Noted {
    pub requests: Mutex<Vec<(Instant, Asked, String)>>,
    pub open: AtomicUsize,
    /// How often the server had gone back when the last snapshot was asked for.
    pub rewinds: AtomicU64,
}

pub struct Wire {
    pub server: ApiServer,
    pub down: Arc<AtomicBool>,
    pub timeline: Arc<Mutex<Timeline>>,
    pub noted: Arc<Noted>,
    pub verdict: Verdict,
    pub chunk: usize,
    /// This stream has a state, as it has watched from one.
    pub stands: AtomicBool,
}

/// Who asks more often than this will not stop, and in virtual time nothing else would stop it.
const MOST: usize = 20_000;

struct Open(Arc<Noted>);

impl Open {
    fn new(noted: &Arc<Noted>) -> Self {
        noted.open.fetch_add(1, Relaxed);
        Open(Arc::clone(noted))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

impl Transport for Wire {
    async fn send(&self, request: Request) -> Result<Response, Error> {
        let asked = match (request.query("continue"), request.query("watch"), request.query("sendInitialEvents")) {
            (Some(_), _, _) => Asked::Page,
            (_, Some(_), None) => Asked::Watch,
            _ => Asked::Snapshot,
        };
        if asked == Asked::Snapshot {
            self.noted.rewinds.store(self.timeline.lock().unwrap().rewinds, Relaxed);
        }
        if asked == Asked::Watch {
            self.stands.store(true, Relaxed);
        } else if asked == Asked::Snapshot && self.stands.load(Relaxed) && request.query("resourceVersion") == Some("0")
        {
            self.verdict.wrong(format!("asked for any state, though it had one: {}", request.path_and_query()));
        }
        self.noted.requests.lock().unwrap().push((Instant::now(), asked, request.path_and_query()));
        if self.noted.requests.lock().unwrap().len() > MOST {
            self.verdict.wrong(format!("more than {MOST} requests"));
            future::pending::<()>().await;
        }
        let open = Open::new(&self.noted);
        if self.down.load(Relaxed) {
            return Err(Error::unreachable("connection refused"));
        }
        let response = Transport::send(&self.server, request).await?;
        let (status, headers, chunk) = (response.status(), response.headers().clone(), self.chunk);
        let mut body = response.into_body();
        let chunks = async_stream::stream! {
            let _open = open;
            while let Some(piece) = body.next().await {
                let mut piece = match piece {
                    Ok(piece) => piece,
                    Err(error) => {
                        yield Err(error);
                        return;
                    }
                };
                while piece.len() > chunk {
                    yield Ok(piece.split_to(chunk));
                }
                yield Ok(piece);
            }
        };
        Ok(headers
            .iter()
            .fold(Response::new(status, chunks), |response, (name, value)| response.with_header(name, value)))
    }
}
