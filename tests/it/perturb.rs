//! Each perturbation finds the consumer that it is meant for, and leaves the others alone.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Reflector,
    client::Collection,
    testing::{
        ApiServer,
        perturb::{self, Access, Perturbation, Trial},
    },
};
use serde_json::json;

fn put(server: &ApiServer, name: &str, value: &str) {
    server.apply("configmaps", json!({"metadata": {"name": name}, "data": {"value": value}}));
}

fn value(map: &ConfigMap) -> String {
    map.data.as_ref().and_then(|data| data.get("value")).cloned().unwrap_or_default()
}

fn maps(access: &Access) -> Reflector<ConfigMap> {
    Reflector::new(Collection::all(access.client()))
}

/// `a` goes through three values.
fn three_values<C: AsyncFn(Access)>(consumer: C) -> Trial<C> {
    perturb::of(consumer)
        .given(|server| put(server, "a", "0"))
        .step("one", |server| put(server, "a", "1"))
        .step("two", |server| put(server, "a", "2"))
        .step("three", |server| put(server, "a", "3"))
}

/// Everything a consumer may know is what it wrote before.
async fn copies(access: Access) {
    let mut changes = maps(&access);
    let store = changes.store();
    while changes.next().await.is_some() {
        if let Some(map) = store.get(("default", "a")) {
            access.apply("secrets", json!({"metadata": {"name": "copy"}, "data": {"value": value(&map)}})).await.ok();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_the_present_state_holds_in_every_perturbation() {
    let report = three_values(copies).explore().await;
    assert!(report.found().is_none(), "{report}");
    assert_eq!(report.writes(), ["apply secrets default/copy"; 4]);
    assert_eq!(report.runs(), 2 + report.writes().len() + 3 * 6);
}

/// Writes down each state that it sees: what passes unobserved is missing.
#[tokio::test(start_paused = true)]
async fn states_that_pass_unobserved_are_found() {
    let report = three_values(async |access: Access| {
        let mut changes = maps(&access);
        while let Some(change) = changes.next().await {
            if let Change::Added { object, .. } | Change::Updated { new: object, .. } = change {
                let name = format!("saw-{}", value(&object));
                access.create("secrets", json!({"metadata": {"name": name}})).await.ok();
            }
        }
    })
    .explore()
    .await;
    let found = report.found().expect("a difference");
    assert_eq!(found.perturbations(), [Perturbation::Unobserved { from: 1, to: 2 }]);
    assert_eq!(found.differences(), ["secrets default/saw-1 is missing"]);
    assert!(report.to_string().contains("a gap from step 1 to 2"), "{report}");
}

/// Takes what it sees for new, and remembers the highest it was told in what it writes.
#[tokio::test(start_paused = true)]
async fn a_journey_back_in_time_is_found() {
    let report = three_values(async |access: Access| {
        let mut changes = maps(&access);
        while let Some(change) = changes.next().await {
            if let Change::Updated { old, new } = change
                && value(&new) < value(&old)
            {
                access.create("secrets", json!({"metadata": {"name": "alarm"}})).await.ok();
            }
        }
    })
    .explore()
    .await;
    let found = report.found().expect("a difference");
    assert_eq!(found.perturbations(), [Perturbation::TimeTravel { after: 1, to: 0 }]);
    assert_eq!(found.differences(), ["secrets default/alarm is too much"]);
    assert_eq!((report.writes().len(), found.writes()), (0, &["create secrets default/alarm".to_owned()][..]));
}

/// Takes the news that it sees for the newest.
#[tokio::test(start_paused = true)]
async fn a_server_that_lags_is_found() {
    let report = three_values(async |access: Access| {
        let mut changes = maps(&access);
        while let Some(change) = changes.next().await {
            if let Change::Updated { old, new } = change
                && value(&new) > value(&old)
            {
                let newest = access.get("configmaps", "a").map(|map| map["data"]["value"].clone());
                if newest != Some(json!(value(&new))) {
                    access.create("secrets", json!({"metadata": {"name": "late"}})).await.ok();
                }
            }
        }
    })
    .explore()
    .await;
    let found = report.found().expect("a difference");
    assert_eq!(found.perturbations(), [Perturbation::Stale { from: 1, to: 2 }]);
}

/// Two writes that belong together; the second is only made along with the first.
#[tokio::test(start_paused = true)]
async fn a_crash_between_two_writes_is_found() {
    let report = perturb::of(async |access: Access| {
        let mut changes = maps(&access).filter(|change| std::future::ready(matches!(change, Change::Added { .. })));
        while changes.next().await.is_some() {
            if access.create("secrets", json!({"metadata": {"name": "first"}})).await.is_ok() {
                access.create("secrets", json!({"metadata": {"name": "second"}})).await.ok();
            }
        }
    })
    .step("a comes", |server| put(server, "a", "1"))
    .explore()
    .await;
    let found = report.found().expect("a difference");
    assert_eq!(found.perturbations(), [Perturbation::Crash { after_write: 1 }]);
    assert_eq!(found.differences(), ["secrets default/second is missing"]);
}

/// Tries its job once more after a crash, and then gives up.
async fn twice_at_most(access: Access) {
    let lock = |tries: u8| json!({"metadata": {"name": "lock"}, "data": {"tries": tries.to_string()}});
    match access.get("secrets", "lock") {
        None => drop(access.create("secrets", lock(1)).await),
        Some(held) if held["data"]["tries"] == "1" => drop(access.patch("secrets", lock(2)).await),
        Some(_) => return,
    }
    access.create("secrets", json!({"metadata": {"name": "job"}})).await.ok();
    access.delete("secrets", "lock").await.ok();
}

#[tokio::test(start_paused = true)]
async fn what_only_two_perturbations_break_is_found_among_pairs() {
    let report = perturb::of(twice_at_most).explore().await;
    assert_eq!((report.found().is_none(), report.runs(), report.untried()), (true, 2 + 3, 0), "{report}");
    let report = perturb::of(twice_at_most).pairs(3).explore().await;
    let found = report.found().expect("a difference");
    let crash = |after_write| Perturbation::Crash { after_write };
    assert_eq!(found.perturbations(), [crash(1), crash(2)]);
    assert_eq!(found.differences(), ["secrets default/job is missing", "secrets default/lock is too much"]);
    assert!(report.to_string().contains("with a crash after write 1 and a crash after write 2:"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn pairs_that_were_not_tried_are_counted() {
    let report = three_values(copies).pairs(2).explore().await;
    assert!(report.found().is_none() && report.untried() > 100, "{report}");
    assert_eq!(report.runs(), 2 + report.writes().len() + 3 * 6 + 2);
    assert!(report.to_string().ends_with(&format!("; {} pairs were not tried", report.untried())), "{report}");
}

#[tokio::test(start_paused = true)]
async fn what_differs_by_itself_is_said_to() {
    let next = std::cell::Cell::new(0);
    let report = perturb::of(async |access: Access| {
        next.set(next.get() + 1);
        access.create("secrets", json!({"metadata": {"name": "run"}, "data": {"n": next.get()}})).await.ok();
    })
    .explore()
    .await;
    assert_eq!(report.found().map(perturb::Found::perturbations), Some(&[Perturbation::Nothing][..]));
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a crash after write 1")]
async fn holding_panics_with_the_report() {
    let trial = perturb::of(async |access: Access| {
        let n = access.list("secrets").len();
        access.create("secrets", json!({"metadata": {"name": format!("run-{n}")}})).await.ok();
    });
    trial.hold().await;
}
