use futures::{FutureExt, StreamExt, channel::mpsc, stream};
use listwatch::EventStreamExt;
use std::panic::AssertUnwindSafe;
use tokio_test::{assert_pending, assert_ready_eq, task};

#[tokio::test]
async fn hands_errors_out_and_yields_the_rest() {
    let mut errors = Vec::new();
    let items = stream::iter([Err("a"), Ok(1), Err("b"), Err("c"), Ok(2), Err("d")]);
    let stream = items.on_error(|error| errors.push(error));
    assert_eq!(stream.collect::<Vec<_>>().await, [1, 2]);
    assert_eq!(errors, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn an_error_is_handed_out_when_it_comes() {
    let (mut feed, items) = mpsc::channel::<Result<u32, u32>>(8);
    let (tell, told) = std::sync::mpsc::channel();
    let mut stream = task::spawn(items.on_error(move |error| tell.send(error).unwrap()));
    feed.try_send(Err(7)).unwrap();
    assert_pending!(stream.poll_next());
    assert_eq!(told.try_recv(), Ok(7));
    feed.try_send(Ok(1)).unwrap();
    assert!(stream.is_woken());
    assert_ready_eq!(stream.poll_next(), Some(1));
    drop(feed);
    assert_ready_eq!(stream.poll_next(), None);
    assert_eq!(told.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected), "the closure goes with the end");
}

#[tokio::test]
async fn nothing_but_errors_does_not_hold_the_task() {
    let mut stream = task::spawn(stream::repeat(Err::<(), _>(())).on_error(drop));
    assert_pending!(stream.poll_next());
    assert!(stream.is_woken());
}

#[tokio::test]
async fn a_panic_in_the_closure_ends_the_stream() {
    let mut stream = stream::iter([Err(()), Ok(1)]).on_error(|()| panic!("the user's code"));
    assert!(AssertUnwindSafe(stream.next()).catch_unwind().await.is_err());
    assert_eq!(stream.next().await, None);
}
