//! Reading a body against a deadline, which only fires on a poll that found nothing to read: a slow consumer is not
//! taken for a silent server.

use super::Body;
use crate::Error;
use futures::StreamExt;
use std::{future::Future, pin::Pin, task::Poll};
use tokio::time::{Instant, Sleep};

pub(crate) enum Read<T> {
    Item(Result<T, Error>),
    End,
    Deadline,
}

/// Boxed once per stream, reset in place, and registered with the timer only when there is nothing to read.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    pub(crate) async fn read<T>(&mut self, body: &mut Body<T>, deadline: Instant) -> Read<T> {
        std::future::poll_fn(|cx| {
            if let Poll::Ready(item) = body.poll_next_unpin(cx) {
                return Poll::Ready(item.map_or(Read::End, Read::Item));
            }
            let sleep = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
            if sleep.deadline() != deadline {
                sleep.as_mut().reset(deadline);
            }
            sleep.as_mut().poll(cx).map(|()| Read::Deadline)
        })
        .await
    }
}
