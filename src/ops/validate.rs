use super::stage::{Stage, operator};
use crate::{Error, Event, Grammar, Recover, Recovery};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Stream for the [`validate`](crate::EventStreamExt::validate) method.
///
#[doc = include_str!("figures/validate.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Validate<S> {
    #[pin]
    stage: Stage<S, State>,
}

struct State {
    grammar: Grammar,
    /// A `SnapshotStart` that stood within a snapshot: it is passed on once the error has voided that.
    restart: bool,
}

impl<S> Validate<S> {
    pub(super) fn new(stream: S) -> Self {
        Validate { stage: Stage::new(stream, State { grammar: Grammar::Start, restart: false }) }
    }
}

operator!(Validate<S>);

impl<S, K, E> Stream for Validate<S>
where
    S: Stream<Item = Result<Event<K>, E>>,
    E: Recover + From<Error>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stage = self.project().stage;
        if stage.as_mut().with(State::restarts) == Some(true) {
            return Poll::Ready(Some(Ok(Event::SnapshotStart)));
        }
        stage.poll(cx, |state, item| {
            let error = match item {
                Ok(event) => match state.grammar.event(&event) {
                    Ok(()) => return Ok(event),
                    Err(misplaced) => {
                        state.restart = matches!(event, Event::SnapshotStart);
                        let recovery = if state.restart { Recovery::Relist } else { Recovery::Skip };
                        Error::grammar(misplaced).with_recovery(recovery).into()
                    }
                },
                Err(error) => error,
            };
            // As whoever reads it will: an error type of the user's may say another recovery.
            state.grammar.error(error.recovery());
            Err(error)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let restart = self.stage.user().is_some_and(|state| state.restart);
        // A misplaced `SnapshotStart` becomes two items.
        (self.stage.size_hint().0.saturating_add(restart.into()), if self.stage.is_done() { Some(0) } else { None })
    }
}

impl State {
    fn restarts(&mut self) -> bool {
        let restart = std::mem::take(&mut self.restart);
        if restart {
            self.grammar = Grammar::Snapshot;
        }
        restart
    }
}
