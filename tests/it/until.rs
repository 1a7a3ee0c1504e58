use futures::{Stream, StreamExt, channel::mpsc, stream, stream::FusedStream};
use listwatch::EventStreamExt;
use tokio_test::{assert_pending, assert_ready, assert_ready_eq, task};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn the_token_wakes_and_comes_first() {
    let token = CancellationToken::new();
    let (mut feed, items) = mpsc::channel(8);
    let mut stream = task::spawn(items.until(token.clone()));
    assert_pending!(stream.poll_next());
    feed.try_send(1).unwrap();
    assert!(stream.is_woken());
    assert_ready_eq!(stream.poll_next(), Some(1));
    assert_pending!(stream.poll_next());
    token.cancel();
    assert!(stream.is_woken());
    feed.try_send(2).unwrap();
    assert_ready_eq!(stream.poll_next(), None);
    assert!(stream.is_terminated());
    assert_ready_eq!(stream.poll_next(), None);
    assert_eq!(stream.into_inner().into_inner().next().await, Some(2), "what was not yielded is not lost");
}

#[tokio::test]
async fn ends_with_the_stream_and_lets_go_of_the_token() {
    let token = CancellationToken::new();
    let mut stream = stream::iter([1]).until(token.clone());
    assert_eq!(stream.size_hint(), (0, Some(1)));
    assert_eq!((stream.next().await, stream.next().await), (Some(1), None));
    token.cancel();
    assert_eq!((stream.next().await, stream.size_hint()), (None, (0, Some(0))));
}

#[tokio::test]
async fn a_token_cancelled_before_the_first_poll_yields_nothing() {
    let token = CancellationToken::new();
    token.cancel();
    assert_eq!(stream::repeat(1).until(token).count().await, 0);
}

#[tokio::test]
async fn a_child_token_and_one_token_for_many() {
    let token = CancellationToken::new();
    let mut streams: Vec<_> =
        (0..10).map(|_| task::spawn(stream::pending::<()>().until(token.child_token()))).collect();
    for stream in &mut streams {
        assert_pending!(stream.poll_next());
    }
    token.cancel();
    for stream in &mut streams {
        assert!(stream.is_woken() && assert_ready!(stream.poll_next()).is_none());
    }
}
