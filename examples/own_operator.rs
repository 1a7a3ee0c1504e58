//! An operator of one's own, and the laws that it keeps.
//!
//! It is an ordinary stream over a stream, so that it stands anywhere between the crate's operators. The suite in
//! `testing::laws` says whether it may.
//!
//! ```sh
//! cargo run --example own_operator
//! ```

use futures::{Stream, StreamExt, stream::FusedStream};
use listwatch::{Error, Event, EventStreamExt, Raw, testing};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Leaves bookmarks out.
#[pin_project::pin_project]
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
struct WithoutBookmarks<S> {
    #[pin]
    stream: S,
    done: bool,
}

/// So many bookmarks are left out before the task is let go, so that a stream of nothing else does not hold it.
const BUDGET: usize = 64;

impl<S, K, E> Stream for WithoutBookmarks<S>
where
    S: Stream<Item = Result<Event<K>, E>>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        if *this.done {
            return Poll::Ready(None);
        }
        for _ in 0..BUDGET {
            match ready!(this.stream.as_mut().poll_next(cx)) {
                Some(Ok(Event::Bookmark(_))) => {}
                item => {
                    *this.done = item.is_none();
                    return Poll::Ready(item);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.done { (0, Some(0)) } else { (0, self.stream.size_hint().1) }
    }
}

impl<S, K, E> FusedStream for WithoutBookmarks<S>
where
    S: Stream<Item = Result<Event<K>, E>>,
{
    fn is_terminated(&self) -> bool {
        self.done
    }
}

/// What makes it a method, beside those of `EventStreamExt`.
trait WithoutBookmarksExt: Stream + Sized {
    fn without_bookmarks(self) -> WithoutBookmarks<Self> {
        WithoutBookmarks { stream: self, done: false }
    }
}
impl<S: Stream> WithoutBookmarksExt for S {}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let script = testing::script().snapshot([testing::raw("a", "1")], "1").bookmark("2").added(testing::raw("b", "3"));
    let mut events = script.without_bookmarks().on_error(|error| eprintln!("{error}"));
    while let Some(event) = events.next().await {
        println!("{}", event.name());
    }

    let input = || -> Vec<Result<Event<Raw>, Error>> {
        vec![
            Ok(Event::Bookmark("1".into())),
            Err(Error::interrupted("cut")),
            Ok(Event::added(testing::raw("a", "2"))),
            Ok(Event::Bookmark("3".into())),
        ]
    };
    let laws = testing::laws::of(input, WithoutBookmarksExt::without_bookmarks);
    laws.hold().await;
    laws.errors_pass().await;
    println!("it keeps the laws");
}
