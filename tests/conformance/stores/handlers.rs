//! S36, S42 to S44: `shared_informer_test.go`, as far as it is about handlers: here, subscriptions.

use crate::play::{Fed, MS, S, add, during, held, update};
use futures::StreamExt;
use listwatch::Store;

fn count(words: &[String], word: &str) -> usize {
    words.iter().filter(|told| *told == word).count()
}

#[tokio::test(start_paused = true)]
async fn s36_each_handler_resyncs_in_its_own_period() {
    let mut fed = Fed::new();
    fed.replace("a@1", "1");
    let mut never = fed.store.subscribe();
    let mut two = fed.store.subscribe().resync(S * 2);
    let mut three = fed.store.subscribe().resync(S * 3);
    let told = async |never: &mut _, two: &mut _, three: &mut _, time| {
        let (never, two, three) = tokio::join!(during(never, time), during(two, time), during(three, time));
        [never, two, three].map(|words| count(&words, "resynced a@1"))
    };
    assert_eq!(told(&mut never, &mut two, &mut three, MS * 1900).await, [0, 0, 0]);
    assert_eq!(told(&mut never, &mut two, &mut three, MS * 200).await, [0, 1, 0], "after 2 s");
    assert_eq!(told(&mut never, &mut two, &mut three, MS * 1000).await, [0, 0, 1], "after 3 s");
    assert_eq!(told(&mut never, &mut two, &mut three, MS * 1000).await, [0, 1, 0], "after 4 s");
}

#[tokio::test(start_paused = true)]
async fn s42_a_handler_is_removed_by_dropping_it_and_each_is_one_of_its_own() {
    let mut fed = Fed::new();
    fed.replace("a@1", "1");
    let (mut first, mut second) = (fed.store.subscribe(), fed.store.subscribe());
    let content = ["added a@1 initial", "synced 1"];
    assert_eq!(during(&mut first, MS).await, content);
    assert_eq!(during(&mut second, MS).await, content);
    drop(first);
    fed.tell([add("b@2")]);
    assert_eq!(during(&mut second, MS).await, ["added b@2"], "the other goes on");
    drop(second);
    fed.tell([add("c@3")]);
    assert_eq!(held(&fed.store), "a@1 b@2 c@3", "and so does the store");
}

#[tokio::test(start_paused = true)]
async fn s43_a_handler_added_to_what_has_stopped_is_told_the_content_and_ends() {
    let mut fed = Fed::new();
    fed.replace("a@1", "1");
    let store = fed.store.clone();
    drop(fed);
    let mut late = store.subscribe();
    assert_eq!(during(&mut late, S).await, ["added a@1 initial", "synced 1", "over"]);
    drop(late);

    // What never was complete has nothing to tell.
    let mut fed = Fed::into(Store::new());
    fed.tell([add("a@1")]);
    let store = fed.store.clone();
    drop(fed);
    assert!(store.subscribe().next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn s44_a_handler_added_late_is_told_the_content_and_that_it_has_synced_after_it() {
    let mut fed = Fed::new();
    fed.replace("a@1 b@1", "1");
    fed.tell([update("a@2")]);
    let mut late = fed.store.subscribe();
    let mut told = during(&mut late, MS).await;
    assert_eq!(told.pop().as_deref(), Some("synced 2"), "last");
    told.sort();
    assert_eq!(told, ["added a@2 initial", "added b@1 initial"]);
    fed.tell([add("c@3")]);
    assert_eq!(during(&mut late, MS).await, ["added c@3"], "news is not initial");

    // Before the store is ready nothing is told, nor is it synced.
    let mut fed = Fed::new();
    let mut early = fed.store.subscribe();
    assert!(during(&mut early, S).await.is_empty());
    fed.replace("a@1", "1");
    assert_eq!(during(&mut early, MS).await, ["added a@1 initial", "synced 1"]);
}
