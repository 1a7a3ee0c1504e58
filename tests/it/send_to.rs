use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt, channel::mpsc, future::FusedFuture, sink, stream};
use listwatch::EventStreamExt;
use std::{
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok, task};

type Item = Result<u32, &'static str>;

/// Notes what is done to it.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<String>>>);

impl Sink<u32> for Noted {
    type Error = String;
    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }
    fn start_send(self: Pin<&mut Self>, item: u32) -> Result<(), String> {
        self.note(item.to_string());
        if item == 13 { Err("unlucky".into()) } else { Ok(()) }
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        self.note("flush".into());
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        self.note("close".into());
        Poll::Ready(Ok(()))
    }
}

impl Noted {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn sends_all_hands_errors_out_flushes_and_closes() {
    let noted = Noted::default();
    let (mut feed, items) = mpsc::channel::<Item>(8);
    let (tell, told) = std::sync::mpsc::channel();
    let mut sending = task::spawn(items.send_to(noted.clone(), move |error| tell.send(error).unwrap()));
    for item in [Ok(1), Err("a"), Ok(2)] {
        feed.try_send(item).unwrap();
    }
    assert_pending!(sending.poll());
    assert_eq!((noted.take(), told.try_recv()), (vec!["1".into(), "2".into(), "flush".into()], Ok("a")));
    feed.try_send(Ok(3)).unwrap();
    assert!(sending.is_woken());
    drop(feed);
    assert_ready_ok!(sending.poll());
    assert!(sending.is_terminated());
    assert_eq!(noted.take(), ["3", "close"]);
    assert!(matches!(told.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected)));
    assert_ready_ok!(sending.poll(), "once more changes nothing");
    assert!(noted.take().is_empty());
}

#[tokio::test]
async fn ends_with_the_sinks_error() {
    let noted = Noted::default();
    let items = stream::iter([Ok::<_, &str>(1), Ok(13), Ok(2)]);
    assert_eq!(items.send_to(noted.clone(), drop).await, Err("unlucky".to_owned()));
    assert_eq!(noted.take(), ["1", "13"]);
}

#[tokio::test]
async fn takes_nothing_while_the_sink_has_no_room_and_wakes_when_it_has() {
    let (sink, mut received) = mpsc::channel::<u32>(0);
    let mut sending = task::spawn(stream::iter((1..=5).map(Ok::<_, ()>)).send_to(sink, drop));
    assert_pending!(sending.poll());
    assert_eq!(sending.get_ref().0.size_hint().0, 4, "the sink took one; the rest stays where it is");
    assert_eq!(received.next().await, Some(1));
    assert!(sending.is_woken());
    assert_pending!(sending.poll());
    let (rest, sink) = sending.into_inner().into_inner();
    drop(sink);
    let left: Vec<_> = received.collect().await;
    assert_eq!((left, rest.size_hint().0), (vec![2], 3), "nothing is lost between them");
}

#[tokio::test]
async fn a_sink_by_reference_comes_back() {
    let mut all: Vec<u32> = Vec::new();
    stream::iter([Ok::<_, ()>(1), Err(()), Ok(2)]).send_to(&mut all, drop).await.unwrap();
    stream::iter([Ok::<_, ()>(3)]).send_to(&mut all, drop).await.unwrap();
    assert_eq!(all, [1, 2, 3]);
}

#[tokio::test]
async fn a_sink_that_is_always_ready_does_not_hold_the_task() {
    let mut sending = task::spawn(stream::repeat(Ok::<_, ()>(1)).send_to(sink::drain(), drop));
    assert_pending!(sending.poll());
    assert!(sending.is_woken());
}

#[tokio::test]
async fn a_panic_in_the_closure_ends_it() {
    let noted = Noted::default();
    let mut sending = stream::iter([Err(()), Ok(1)]).send_to(noted.clone(), |()| panic!("the user's code"));
    assert!(AssertUnwindSafe(&mut sending).catch_unwind().await.is_err());
    assert!(sending.is_terminated() && noted.take().is_empty());
}

#[tokio::test]
async fn futures_sinks_and_their_adapters_fit() {
    let (sink, received) = mpsc::unbounded::<String>();
    let sink = sink.with(|n: u32| std::future::ready(Ok::<_, mpsc::SendError>(n.to_string())));
    let mut sending = task::spawn(stream::iter([Ok::<_, ()>(1), Ok(2)]).send_to(sink, drop));
    assert!(assert_ready!(sending.poll()).is_ok());
    drop(sending);
    assert_eq!(received.collect::<Vec<_>>().await, ["1", "2"]);
}
