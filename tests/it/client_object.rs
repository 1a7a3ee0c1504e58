//! The states of one object, and waiting on it.

use futures::{FutureExt, StreamExt, stream::FusedStream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Recovery,
    client::{Client, Collection, ObjectStates},
    testing::{ApiServer, Ending, Fault, Match, Times},
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(3600);

async fn server() -> ApiServer {
    ApiServer::start().await
}

fn named(server: &ApiServer, name: &str) -> ObjectStates<ConfigMap> {
    Collection::named(Client::with_transport(server.clone()), name).object()
}

fn colored(name: &str, color: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"color": color}})
}

fn color(map: Option<&ConfigMap>) -> Option<&str> {
    Some(map?.data.as_ref()?.get("color")?)
}

fn is(wanted: &str) -> impl FnMut(Option<&ConfigMap>) -> bool {
    move |map| color(map) == Some(wanted)
}

/// The color of the next state, past errors.
async fn next(states: &mut ObjectStates<ConfigMap>) -> Option<String> {
    loop {
        if let Ok(state) = states.next().await.unwrap() {
            return color(state.as_deref()).map(Into::into);
        }
    }
}

async fn assert_silent(states: &mut ObjectStates<ConfigMap>) {
    let told = timeout(LONG, next(states)).await;
    assert!(told.is_err(), "{told:?}");
}

/// Ends the connections, lets something happen, and makes the server forget how it came about.
fn while_away(server: &ApiServer, happens: impl FnOnce()) {
    server.end_connections(Ending::Reset);
    happens();
    let unrelated = format!("other-{}", server.next_version());
    server.create("configmaps", colored(&unrelated, "red"));
    server.compact();
}

#[tokio::test(start_paused = true)]
async fn each_state_that_differs_is_told() {
    let server = server().await;
    server.create("configmaps", colored("another", "red"));
    let mut states = named(&server, "a");
    assert_eq!(next(&mut states).await, None, "absent");
    assert_silent(&mut states).await;
    server.create("configmaps", colored("a", "blue"));
    assert_eq!(next(&mut states).await.as_deref(), Some("blue"));
    server.patch("configmaps", colored("a", "green"));
    assert_eq!(next(&mut states).await.as_deref(), Some("green"));
    server.patch("configmaps", colored("another", "white"));
    assert_silent(&mut states).await;
    server.delete("configmaps", "a");
    assert_eq!(next(&mut states).await, None, "deleted");
    assert!(!states.is_terminated() && format!("{states:?}").contains("client_object.rs"), "{states:?}");
}

#[tokio::test(start_paused = true)]
async fn a_relist_tells_only_what_differs() {
    let server = server().await;
    server.create("configmaps", colored("a", "blue"));
    let mut states = named(&server, "a");
    assert_eq!(next(&mut states).await.as_deref(), Some("blue"));
    assert_silent(&mut states).await;
    while_away(&server, || {});
    assert_silent(&mut states).await;
    while_away(&server, || drop(server.patch("configmaps", colored("a", "green"))));
    assert_eq!(next(&mut states).await.as_deref(), Some("green"));
    while_away(&server, || {
        server.delete("configmaps", "a");
        server.create("configmaps", colored("a", "green"));
    });
    assert_eq!(next(&mut states).await, None, "the old one is gone");
    assert_eq!(next(&mut states).await.as_deref(), Some("green"), "a new one of the same name");
    while_away(&server, || drop(server.delete("configmaps", "a")));
    assert_eq!(next(&mut states).await, None);
    while_away(&server, || {});
    assert_silent(&mut states).await;
    let snapshots = server.requests().iter().filter(|asked| asked.query("sendInitialEvents").is_some()).count();
    assert_eq!(snapshots, 6, "there were relists");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_decode_is_not_absent() {
    let server = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a"}, "data": "none"}));
    let mut states = named(&server, "a");
    assert!(states.next().await.unwrap().unwrap_err().is_unreadable());
    assert_silent(&mut states).await;
    server.delete("configmaps", "a");
    assert_eq!(next(&mut states).await, None);

    server.create("configmaps", colored("a", "blue"));
    assert_eq!(next(&mut states).await.as_deref(), Some("blue"));
    server.patch("configmaps", json!({"metadata": {"name": "a"}, "data": "none"}));
    assert!(states.next().await.unwrap().unwrap_err().is_unreadable());
    assert_silent(&mut states).await;
    server.patch("configmaps", colored("a", "green"));
    assert_eq!(next(&mut states).await.as_deref(), Some("green"));
}

#[tokio::test(start_paused = true)]
async fn several_objects_are_an_error() {
    let server = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a", "namespace": "n1"}, "data": {"color": "red"}}));
    server.create("configmaps", json!({"metadata": {"name": "a", "namespace": "n2"}, "data": {"color": "blue"}}));
    let client = Client::with_transport(server.clone());
    let mut states = Collection::<ConfigMap>::all(client).name("a").object();
    assert_eq!(next(&mut states).await.as_deref(), Some("red"));
    let error = states.next().await.unwrap().unwrap_err();
    assert!(error.is_config() && error.recovery() == Recovery::Skip, "{error:?}");
    server.delete("configmaps", "n2/a");
    assert_silent(&mut states).await;
    server.delete("configmaps", "n1/a");
    assert_eq!(next(&mut states).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_condition_holds() {
    let server = server().await;
    let mut states = named(&server, "a");
    assert_eq!(states.wait(|map| map.is_none()).await.unwrap(), None);
    assert!(states.wait(is("blue")).now_or_never().is_none());
    server.create("configmaps", colored("a", "blue"));
    server.patch("configmaps", colored("a", "green"));
    let blue = states.wait(is("blue")).await.unwrap();
    assert_eq!(color(blue.as_deref()), Some("blue"), "each state is asked about");
    let again = states.wait(is("blue")).now_or_never().unwrap().unwrap();
    assert_eq!(again, blue, "the state told last counts first");
    assert_eq!(next(&mut states).await.as_deref(), Some("green"));
}

#[tokio::test(start_paused = true)]
async fn a_wait_goes_on_through_what_passes() {
    let server = server().await;
    server.create("configmaps", colored("a", "blue"));
    server.rule(
        Match::watches().with(|asked| asked.query("sendInitialEvents").is_some()),
        Fault::status(403),
        Times::Always,
    );
    for fault in [Fault::status(503), Fault::html(), Fault::too_many_requests(Duration::from_secs(7))] {
        server.rule(Match::lists(), fault, Times::Next(1));
    }
    let mut states = named(&server, "a");
    states.wait(is("blue")).await.unwrap();
    assert_eq!(server.rules_left(), 1, "all but that of the watch-list, which is refused for good");
    while_away(&server, || drop(server.patch("configmaps", colored("a", "green"))));
    states.wait(is("green")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_fails_where_waiting_does_not_help() {
    type Is = fn(&Error) -> bool;
    let faults: [(u16, Is); 4] = [
        (401, Error::is_unauthorized),
        (403, Error::is_forbidden),
        (404, Error::is_not_found),
        (405, Error::is_unwatchable),
    ];
    for (code, is_so) in faults {
        let server = server().await;
        server.create("configmaps", colored("a", "blue"));
        let refused = if code == 405 { Match::watches() } else { Match::any() };
        server.rule(refused, Fault::status(code), Times::Always);
        let mut states = named(&server, "a");
        let error = timeout(LONG, states.wait(is("green"))).await.expect("an end").unwrap_err();
        assert!(is_so(&error), "{code}: {error:?}");
        server.clear_rules();
        server.patch("configmaps", colored("a", "green"));
        timeout(LONG, states.wait(is("green"))).await.expect("an end").expect("another wait goes on");
    }
    let server = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a"}, "data": "none"}));
    assert!(named(&server, "a").wait(|_| true).await.unwrap_err().is_unreadable());
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_loses_nothing() {
    let server = server().await;
    let mut states = named(&server, "a");
    for color in ["blue", "green", "red"] {
        let early = timeout(Duration::from_secs(5), states.wait(is(color))).await;
        assert!(early.is_err(), "{early:?}");
        server.create("configmaps", colored(color, color));
        server.apply("configmaps", colored("a", color));
        states.wait(is(color)).await.unwrap();
    }
    assert_eq!(server.requests().len(), 1, "one watch-list served all of it: {:?}", server.requests());
}

#[cfg(feature = "kube-runtime")]
#[tokio::test(start_paused = true)]
async fn the_conditions_of_kube_runtime_fit() {
    use kube_runtime::wait::{Condition, conditions};

    let server = server().await;
    let uid = server.create("configmaps", colored("a", "blue"))["metadata"]["uid"].as_str().unwrap().to_owned();
    let mut states = named(&server, "a");
    assert!(states.wait_condition(conditions::is_created()).await.unwrap().is_some());
    let gone = || conditions::is_deleted(&uid).and(|map: Option<&ConfigMap>| color(map) != Some("blue"));
    assert!(states.wait_condition(gone()).now_or_never().is_none());
    server.delete("configmaps", "a");
    assert_eq!(states.wait_condition(gone()).await.unwrap(), None);
}
