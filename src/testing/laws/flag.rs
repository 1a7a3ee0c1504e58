use futures::task::{ArcWake, AtomicWaker, waker};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// The waker of one poll: says whether it was woken, and passes it on to the task that runs the suite.
#[derive(Default)]
pub(super) struct Flag {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl ArcWake for Flag {
    fn wake_by_ref(flag: &Arc<Self>) {
        flag.woken.store(true, Ordering::SeqCst);
        flag.task.wake();
    }
}

impl Flag {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(super) fn waker(self: &Arc<Self>) -> Waker {
        waker(Arc::clone(self))
    }

    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::SeqCst)
    }

    /// Ready once it was woken.
    pub(super) fn poll_woken(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.task.register(cx.waker());
        if self.is_woken() { Poll::Ready(()) } else { Poll::Pending }
    }
}
