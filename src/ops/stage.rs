use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Items that an operator may take without yielding one before it lets its task go: a relist of unchanged objects, or
/// a filter that lets nothing pass, must not starve the other tasks.
pub(super) const BUDGET: usize = 128;

/// What every operator is made of: the stream it stands on, and what it does with the items.
///
/// `user` holds whatever code or state of the user's the operator has. It is dropped as soon as the stream ends, and
/// also when a poll panics: the panic goes out of that poll, and the stream is finished.
#[pin_project]
pub(super) struct Stage<S, U> {
    #[pin]
    stream: S,
    user: Option<U>,
}

impl<S, U> Stage<S, U> {
    pub(super) fn new(stream: S, user: U) -> Self {
        Stage { stream, user: Some(user) }
    }
    pub(super) fn get_ref(&self) -> &S {
        &self.stream
    }
    pub(super) fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }
    pub(super) fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().stream
    }
    pub(super) fn into_inner(self) -> S {
        self.stream
    }
    pub(super) fn is_done(&self) -> bool {
        self.user.is_none()
    }
    pub(super) fn user(&self) -> Option<&U> {
        self.user.as_ref()
    }

    /// Ends the operator before its stream has ended.
    pub(super) fn finish(self: Pin<&mut Self>) {
        *self.project().user = None;
    }

    /// Runs something with the user's code; `None` once the stream is over.
    pub(super) fn with<R>(self: Pin<&mut Self>, f: impl FnOnce(&mut U) -> R) -> Option<R> {
        guarded(self.project().user, f)
    }
}

impl<S: Stream, U> Stage<S, U> {
    /// The stream's next item, as `f` makes it; `None` from the end on, when the stream is not polled again.
    pub(super) fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        f: impl FnOnce(&mut U, S::Item) -> R,
    ) -> Poll<Option<R>> {
        let this = self.project();
        let polled = guarded(this.user, |user| match this.stream.poll_next(cx) {
            Poll::Ready(Some(item)) => Poll::Ready(Some(f(user, item))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        let out = ready!(polled.unwrap_or(Poll::Ready(None)));
        if out.is_none() {
            *this.user = None;
        }
        Poll::Ready(out)
    }

    /// The same where `f` may leave items out.
    pub(super) fn poll_some<R>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&mut U, S::Item) -> Option<R>,
    ) -> Poll<Option<R>> {
        for _ in 0..BUDGET {
            match ready!(self.as_mut().poll(cx, &mut f)) {
                Some(None) => {}
                Some(out) => return Poll::Ready(out),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// How many items the stream still has.
    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_done() { (0, Some(0)) } else { self.stream.size_hint() }
    }

    /// The same where items may be left out.
    pub(super) fn size_hint_at_most(&self) -> (usize, Option<usize>) {
        (0, self.size_hint().1)
    }
}

/// Calls `f`, and drops `user` if it panics.
fn guarded<U, R>(user: &mut Option<U>, f: impl FnOnce(&mut U) -> R) -> Option<R> {
    struct DropUser<'a, U>(&'a mut Option<U>, bool);
    impl<U> Drop for DropUser<'_, U> {
        fn drop(&mut self) {
            if self.1 {
                *self.0 = None;
            }
        }
    }
    let mut guard = DropUser(user, true);
    let out = guard.0.as_mut().map(f);
    guard.1 = false;
    out
}

/// What every operator has besides `Stream`: accessors, `FusedStream`, and `Debug` without closures.
macro_rules! operator {
    ($name:ident<S $(, $param:ident)*>) => {
        impl<S $(, $param)*> $name<S $(, $param)*> {
            /// The stream below.
            pub fn get_ref(&self) -> &S {
                self.stage.get_ref()
            }
            /// The stream below. Taking items from it takes them away from this operator.
            pub fn get_mut(&mut self) -> &mut S {
                self.stage.get_mut()
            }
            /// The stream below, pinned. Taking items from it takes them away from this operator.
            pub fn get_pin_mut(self: std::pin::Pin<&mut Self>) -> std::pin::Pin<&mut S> {
                self.project().stage.get_pin_mut()
            }
            /// The stream below; what this operator holds is dropped.
            pub fn into_inner(self) -> S {
                self.stage.into_inner()
            }
        }

        impl<S $(, $param)*> futures::stream::FusedStream for $name<S $(, $param)*>
        where
            Self: futures::Stream,
        {
            fn is_terminated(&self) -> bool {
                self.stage.is_done()
            }
        }

        impl<S: std::fmt::Debug $(, $param)*> std::fmt::Debug for $name<S $(, $param)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("stream", self.get_ref()).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use operator;
