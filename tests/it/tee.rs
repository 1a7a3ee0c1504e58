use futures::{FutureExt, StreamExt};
use listwatch::{Error, Event, EventStreamExt, Fold, Object, Raw, Recover, Recovery, testing};
use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

/// Notes what it is told.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Fold<Raw> for Notes {
    type Changes = Vec<()>;
    type Error = String;
    fn fold(&mut self, event: Event<Raw>) -> Result<Vec<()>, String> {
        self.note(event.name());
        match event.object().map_or("", |object| object.identity().name) {
            "refused" => Err("refused".into()),
            "panic" => panic!("the user's code"),
            _ => Ok(vec![(); 3]),
        }
    }
    fn failed(&mut self, error: &dyn Recover) -> Option<Vec<()>> {
        self.note(format!("{:?}", error.recovery()));
        Some(vec![(); 3])
    }
}

#[tokio::test]
async fn folds_first_and_passes_on_unchanged() {
    let (a, b) = (Notes::default(), Notes::default());
    let object = Arc::new(testing::raw("a", "1"));
    let script =
        testing::script().event(Event::Added(Arc::clone(&object))).error(Error::other("gone")).event(Event::Resync);
    let mut events = script.tee(a.clone()).tee(b.clone());
    let Some(Ok(Event::Added(passed))) = events.next().await else { panic!() };
    assert!(Arc::ptr_eq(&passed, &object), "one allocation for all");
    assert_eq!((a.take(), b.take()), (vec!["added".into()], vec!["added".into()]));
    assert!(events.next().await.unwrap().is_err_and(|error| error.recovery() == Recovery::Relist));
    assert!(matches!(events.next().await, Some(Ok(Event::Resync))));
    assert!(events.next().await.is_none());
    assert_eq!(b.take(), ["Relist", "resync"]);
}

/// Takes every event, and leaves one thing out of each.
struct Late(bool);

impl Fold<Raw> for Late {
    type Changes = Vec<()>;
    type Error = String;
    fn fold(&mut self, _: Event<Raw>) -> Result<Vec<()>, String> {
        self.0 = true;
        Ok(vec![])
    }
    fn refused(&mut self) -> Option<String> {
        std::mem::take(&mut self.0).then(|| "left out".into())
    }
}

#[tokio::test]
async fn what_an_event_left_out_follows_it() {
    let script = testing::script::<Raw>().event(Event::Resync).event(Event::Resync);
    let out: Vec<_> = script.tee(Late(false)).map(|item| item.is_err_and(|error| error.is_refused())).collect().await;
    assert_eq!(out, [false, true, false, true]);
}

#[tokio::test]
async fn a_refusal_follows_its_event() {
    let notes = Notes::default();
    let script = testing::script().added(testing::raw("refused", "1")).added(testing::raw("a", "2"));
    let mut events = script.tee(notes);
    assert!(matches!(events.next().await, Some(Ok(Event::Added(_)))));
    let error = events.next().await.unwrap().unwrap_err();
    assert!(error.is_refused() && error.recovery() == Recovery::Skip);
    assert!(matches!(events.next().await, Some(Ok(Event::Added(_)))));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn the_refusal_of_the_last_event_is_not_lost() {
    let notes = Notes::default();
    let mut events = testing::script().added(testing::raw("refused", "1")).tee(notes.clone());
    assert!(events.next().await.unwrap().is_ok());
    assert!(events.next().await.unwrap().is_err());
    assert!(events.next().await.is_none());
    assert_eq!(Arc::strong_count(&notes.0), 1, "the fold goes with the end");
}

#[tokio::test]
async fn a_panic_in_the_fold_ends_the_stream() {
    let notes = Notes::default();
    let events = testing::events([Event::added(testing::raw("panic", "1")), Event::Resync]);
    let mut events = events.tee(notes.clone());
    assert!(AssertUnwindSafe(events.next()).catch_unwind().await.is_err());
    assert_eq!(Arc::strong_count(&notes.0), 1);
    assert!(events.next().await.is_none());
}
