//! The mirrors of a world. They are polled in their order by the task that plays the script: the order in which the
//! runtime wakes tasks is random, and nothing may depend on it.

use super::mirror::Mirror;
use std::{
    cell::{Ref, RefCell, RefMut},
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
};

#[derive(Clone, Default)]
pub struct Crew(Rc<RefCell<Vec<Mirror>>>);

impl Crew {
    pub fn all(&self) -> Ref<'_, Vec<Mirror>> {
        self.0.borrow()
    }

    pub fn all_mut(&self) -> RefMut<'_, Vec<Mirror>> {
        self.0.borrow_mut()
    }

    /// Runs the mirrors for as long as the script plays.
    pub async fn run<T>(&self, script: impl Future<Output = T>) -> T {
        let mut script = pin!(script);
        poll_fn(|cx| {
            let played = script.as_mut().poll(cx);
            if played.is_pending() {
                self.all_mut().iter_mut().for_each(|mirror| mirror.poll(cx));
            }
            played
        })
        .await
    }
}
