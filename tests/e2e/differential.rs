//! The API server of the testing room against the real one: the same conversations with both, which must agree in
//! statuses, bodies and events. What must differ (uids, times, numbers of versions) is named alike first.
//!
//! `cargo test --test differential` runs it; like the end-to-end tests it needs Go.

#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod server;

#[path = "differential/normal.rs"]
mod normal;
#[path = "differential/scenario.rs"]
mod scenario;
#[path = "differential/scenarios.rs"]
mod scenarios;
#[path = "differential/subject.rs"]
mod subject;

use futures::{StreamExt, stream};
use scenario::Scenario;
use subject::{Flavour, Subject};

#[tokio::test(flavor = "multi_thread")]
async fn with_a_watch_cache() {
    compare(Flavour::Cached, scenarios::for_all()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_watch_cache() {
    compare(Flavour::Stored, scenarios::for_all()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_watch_lists() {
    compare(Flavour::NoWatchList, scenarios::of_the_gate()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_compaction() {
    compare(Flavour::Compacting, scenarios::of_compaction()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart() {
    for scenario in scenarios::of_restarts() {
        compare(Flavour::Cached, vec![scenario]).await;
    }
}

/// Plays the scenarios with both servers and shows every line that differs.
async fn compare(flavour: Flavour, scenarios: Vec<Scenario>) {
    let (real, fake) = (Subject::real(flavour).await, Subject::fake(flavour).await);
    let play = |subject: &Subject, scenario: &Scenario| {
        let (subject, scenario) = (subject.clone(), scenario.clone());
        async move { scenario.play(&subject).await }
    };
    let compared = stream::iter(&scenarios).map(|scenario| async {
        let (real, fake) = futures::join!(play(&real, scenario), play(&fake, scenario));
        let same = real == fake;
        let show =
            |who: &str, lines: &[String]| lines.iter().map(|line| format!("  {who} {line}\n")).collect::<String>();
        (!same).then(|| format!("{}\n{}{}", scenario.name(), show("real", &real), show("fake", &fake)))
    });
    // So many at once that the watches of a loaded server do not end before what they are to show.
    let compared: Vec<_> = compared.buffered(12).collect().await;
    let differences: Vec<_> = compared.into_iter().flatten().collect();
    println!("{flavour:?}: {} scenarios, {} differ", scenarios.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.concat());
}
