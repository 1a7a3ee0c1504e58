//! What the handle and all connections of a server share.

use super::{
    answer::Answer,
    body::{self, Broken, Pieces},
    fault::{Ending, Fault},
    request::{Connection, Request},
    rule::Rules,
    serve::serve,
    settings::Settings,
    socket::Control,
    state::State,
};
use bytes::Bytes;
use futures::{StreamExt, future, stream};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// Everything of a server but its sockets.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: Arc<State>,
    pub(super) settings: Arc<Settings>,
    pub(super) rules: Mutex<Rules>,
    pub(super) requests: watch::Sender<Vec<Request>>,
    pub(super) connections: Mutex<Vec<(Connection, std::sync::Weak<Control>)>>,
    pub(super) open_watches: Arc<AtomicUsize>,
    /// Connections still to be refused.
    pub(super) refusals: AtomicUsize,
}

/// An answer on its way, after the faults.
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Pieces,
}

impl Shared {
    pub(super) fn new(state: State, settings: Settings) -> Self {
        Self {
            state: Arc::new(state),
            settings: Arc::new(settings),
            rules: Mutex::default(),
            requests: watch::Sender::default(),
            connections: Mutex::default(),
            open_watches: Arc::default(),
            refusals: AtomicUsize::new(0),
        }
    }

    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connections(&self) -> MutexGuard<'_, Vec<(Connection, std::sync::Weak<Control>)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The watch cache begins anew, as after a restart, and all watches end.
    pub(super) fn restart(&self) {
        // First the connections, so that their watches break off instead of ending well.
        self.end_connections(Ending::Close);
        self.state.change(|data| {
            data.cache_start = data.history.revision();
            data.cache_stopped = None;
            data.era += 1;
        });
    }

    /// Storage goes back to the state at a version, and all watches end.
    pub(super) fn rewind(&self, version: u64) {
        self.state.change(|data| {
            data.history.rewind(version);
            data.cache_start = data.history.revision();
            data.era += 1;
        });
    }

    /// Ends every open connection in this way.
    pub(super) fn end_connections(&self, how: Ending) {
        let open: Vec<_> = self.connections().iter().filter_map(|(_, control)| control.upgrade()).collect();
        for control in open {
            control.end(how);
        }
    }

    /// Records the request and answers it, with the faults that its rule asks for.
    ///
    /// # Errors
    ///
    /// The connection breaks before the answer, and there is no socket to break.
    pub(super) async fn respond(&self, request: Request, control: Option<&Arc<Control>>) -> Result<Reply, Broken> {
        self.requests.send_modify(|requests| requests.push(request.clone()));
        let faults = self.rules().take(&request);
        for fault in &faults {
            self.before_answer(fault, control).await?;
        }
        let replaced = faults.iter().find_map(|fault| match fault {
            Fault::Answer { code, content_type, retry_after, body } => {
                let answer = Answer::text(*code, content_type, body.clone());
                Some(Answer { retry_after: retry_after.map(|after| after.as_secs()), ..answer })
            }
            _ => None,
        });
        let answer = match replaced {
            Some(answer) => answer,
            None => serve(&self.state, &self.settings, &request).await,
        };
        Ok(self.reply(answer, &faults, &request, control).await)
    }

    async fn before_answer(&self, fault: &Fault, control: Option<&Arc<Control>>) -> Result<(), Broken> {
        match (fault, control) {
            (Fault::Delay(time), _) | (Fault::SlowRead(time), None) => tokio::time::sleep(*time).await,
            (Fault::SlowRead(time), Some(control)) => {
                control.read(false);
                tokio::time::sleep(*time).await;
                control.read(true);
            }
            (Fault::GoAway, Some(control)) => control.goaway.notify_one(),
            (Fault::Restart, _) => {
                self.restart();
                // On a socket, this connection is being dropped, and this future with it.
                tokio::task::yield_now().await;
                return Err(Broken);
            }
            (Fault::Rewind(version), _) => self.rewind(*version),
            (Fault::Before(Ending::Close | Ending::Reset | Ending::Eof), None) => return Err(Broken),
            (Fault::Before(how), control) => {
                if let Some(control) = control {
                    control.end(if *how == Ending::Eof { Ending::Close } else { *how });
                }
                future::pending::<()>().await;
            }
            _ => {}
        }
        Ok(())
    }

    async fn reply(
        &self,
        answer: Answer,
        faults: &[Fault],
        request: &Request,
        control: Option<&Arc<Control>>,
    ) -> Reply {
        let mut headers = vec![("content-type", answer.content_type.to_owned())];
        if let Some(seconds) = answer.retry_after {
            headers.push(("retry-after", seconds.to_string()));
        }
        let (code, watch, mut length) = (answer.code, answer.watch, answer.length);
        let mut body = body::spoil(answer, faults, control);
        if faults.contains(&Fault::GzipEachEvent) {
            headers.push(("content-encoding", "gzip".to_owned()));
        } else if !watch && faults.is_empty() {
            let asked = request.header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
            if let Some(from) = self.settings.gzip_from.filter(|_| asked) {
                let whole: Vec<_> = body.filter_map(|piece| future::ready(piece.ok())).collect().await;
                let whole = whole.concat();
                let compressed = whole.len() >= from;
                if compressed {
                    length = None;
                    headers.push(("content-encoding", "gzip".to_owned()));
                }
                let whole = if compressed { body::gzip(&whole) } else { whole.into() };
                body = stream::iter([Ok(whole)]).boxed();
            }
        }
        if let Some(length) = length.filter(|_| faults.is_empty()) {
            headers.push(("content-length", length.to_string()));
        }
        if watch {
            body = self.counted(body);
        }
        Reply { code, headers, body }
    }

    /// A watch that counts as open until its stream is dropped or has ended.
    fn counted(&self, mut body: Pieces) -> Pieces {
        let count = Count::new(self.open_watches.clone());
        async_stream::stream! {
            let count = count;
            while let Some(piece) = body.next().await {
                yield piece;
            }
            drop(count);
        }
        .boxed()
    }
}

struct Count(Arc<AtomicUsize>);

impl Count {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How long a client may take to send the rest of a request.
pub(super) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// The most bytes of a request body that are read.
pub(super) const BODY_LIMIT: usize = 16 << 20;

/// The piece types that the HTTP layer takes.
pub(super) type Piece = Result<hyper::body::Frame<Bytes>, Broken>;
