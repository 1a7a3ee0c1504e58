//! The conversations: every row of the table of lists, every rule of watches, and the refusals.

use crate::scenario::{Scenario, create, delete, put, write};
use serde_json::json;

const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const WATCH_LIST: &str =
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=2";

/// Those that hold with and without a watch cache.
pub fn for_all() -> Vec<Scenario> {
    [lists(), pages(), refused_lists(), selectors(), watches(), watch_lists(), refused_watches(), shapes(), writes()]
        .into_iter()
        .flatten()
        .collect()
}

fn lists() -> Vec<Scenario> {
    let list = |name: &str, query: &str| Scenario::five(name).get(&format!("{{maps}}?{query}"));
    vec![
        list("list", ""),
        list("list limit", "limit=2"),
        list("list at 0", "resourceVersion=0"),
        list("list at 0 limit", "resourceVersion=0&limit=2"),
        list("list at n", "resourceVersion={c3}"),
        list("list at n limit is exact", "resourceVersion={c3}&limit=2"),
        list("list exact", "resourceVersionMatch=Exact&resourceVersion={c3}"),
        list("list exact limit", "resourceVersionMatch=Exact&resourceVersion={c3}&limit=2"),
        list("list exact unset", "resourceVersionMatch=Exact"),
        list("list exact at 0", "resourceVersionMatch=Exact&resourceVersion=0"),
        list("list not older unset", "resourceVersionMatch=NotOlderThan"),
        list("list not older at 0", "resourceVersionMatch=NotOlderThan&resourceVersion=0"),
        list("list not older at 0 limit", "resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=2"),
        list("list not older at n", "resourceVersionMatch=NotOlderThan&resourceVersion={c3}"),
        list("list not older at n limit", "resourceVersionMatch=NotOlderThan&resourceVersion={c3}&limit=2"),
        list("list at a version ahead", "resourceVersion={far}"),
        list("list exact at a version ahead", "resourceVersionMatch=Exact&resourceVersion={far}"),
        list("list limit at a version ahead", "resourceVersion={far}&limit=2"),
        Scenario::five("list after changes")
            .prepare(put("changed", "c2", "9"))
            .prepare(delete("c4"))
            .get("{maps}?resourceVersionMatch=Exact&resourceVersion={c5}")
            .get("{maps}")
            .get("{maps}?resourceVersionMatch=Exact&resourceVersion={c1}"),
        Scenario::new("list nothing").get("{maps}").get("{maps}?limit=2").get("/api/v1/namespaces/absent/configmaps"),
    ]
}

fn pages() -> Vec<Scenario> {
    vec![
        Scenario::five("pages")
            .get("{maps}?limit=2")
            .prepare(delete("c3"))
            .prepare(create("c9", "9"))
            .get("{maps}?limit=2&continue={token}")
            .get("{maps}?limit=2&continue={token}"),
        Scenario::five("pages of an exact list")
            .get("{maps}?limit=1&resourceVersion={c3}&resourceVersionMatch=Exact")
            .get("{maps}?limit=1&continue={token}")
            .get("{maps}?limit=1&continue={token}"),
        Scenario::five("the rest without a limit").get("{maps}?limit=2").get("{maps}?continue={token}"),
        Scenario::five("a token at 0").get("{maps}?limit=2").get("{maps}?limit=1&resourceVersion=0&continue={token}"),
        Scenario::five("a token and a version")
            .get("{maps}?limit=2")
            .get("{maps}?resourceVersion={c1}&continue={token}"),
        Scenario::five("a token and a match")
            .get("{maps}?limit=2")
            .get("{maps}?resourceVersionMatch=NotOlderThan&resourceVersion=0&continue={token}"),
        Scenario::five("a page that is full to the last").get("{maps}?limit=5").get("{maps}?limit=4"),
        Scenario::five("tokens that are none").get("{maps}?continue=abc").get("{maps}?continue=e30"),
    ]
}

fn refused_lists() -> Vec<Scenario> {
    let queries = [
        "resourceVersion=abc",
        "resourceVersion=-1",
        "limit=abc",
        "timeoutSeconds=abc",
        "sendInitialEvents=true",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=Foo",
        "resourceVersion=5&resourceVersionMatch=Foo",
        "resourceVersionMatch=Exact&continue=abc",
        "labelSelector=a%20b%20c",
        "labelSelector=%3D%3D",
        "labelSelector=a%20in%20b",
        "fieldSelector=abc",
        "fieldSelector=spec.foo%3Db",
    ];
    let refused = queries
        .into_iter()
        .fold(Scenario::new("lists refused"), |scenario, query| scenario.get(&format!("{{maps}}?{query}")));
    let odd =
        ["limit=-1", "limit=0", "resourceVersion=05", "timeoutSeconds=0", "allowWatchBookmarks=abc", "watch=false"];
    let accepted = odd
        .into_iter()
        .fold(Scenario::five("odd lists accepted"), |scenario, query| scenario.get(&format!("{{maps}}?{query}")));
    let paths = [
        "/api/v1/things",
        "/api/v1/namespaces/default/things",
        "/apis/nope.example.com/v1/things",
        "/apis/apps/v1/things",
        "/apis/example.com/v1/nopes",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/namespaces/default/bindings",
        "/api/v1/bindings",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        "/foo",
        "/api/v1/nodes/absent",
        "/apis/apps/v1/namespaces/default/deployments/absent",
    ];
    let absent = paths.into_iter().fold(Scenario::new("paths that are none"), Scenario::get);
    vec![refused, accepted, absent]
}

fn selectors() -> Vec<Scenario> {
    let choose = |name: &str, queries: &[&str]| {
        queries.iter().fold(Scenario::five(name), |scenario, query| scenario.get(&format!("{{maps}}?{query}")))
    };
    vec![
        choose(
            "labels",
            &[
                "labelSelector=n%20in%20(1,2)",
                "labelSelector=n%20notin%20(1,2),n",
                "labelSelector=n!%3D3",
                "labelSelector=!n",
                "labelSelector=n%3E2,n%3C5",
                "labelSelector=n%3D%3D4",
                "labelSelector=x%20in%20()",
            ],
        ),
        choose(
            "fields",
            &[
                "fieldSelector=metadata.name%3Dc2",
                "fieldSelector=metadata.name!%3Dc2,metadata.namespace!%3Dx",
                "fieldSelector=metadata.name%3Dabsent",
            ],
        ),
        choose("labels and pages", &["labelSelector=n%20in%20(1,2)&limit=1", "labelSelector=n%20in%20(1,2)&limit=2"])
            .get("{maps}?labelSelector=n%20in%20(1,2)&limit=2&continue={token}"),
        Scenario::five("a watch by label").watch_while(
            "{maps}?watch=1&timeoutSeconds=4&resourceVersion={c5}&labelSelector=n%3D1",
            [put("m1", "c2", "1"), put("m2", "c1", "7"), put("m3", "c3", "8"), put("m4", "c2", "1"), delete("c2")],
        ),
        Scenario::five("a watch by name").watch_while(
            "{maps}?watch=1&timeoutSeconds=4&resourceVersion={c5}&fieldSelector=metadata.name%3Dc2",
            [put("m1", "c1", "9"), put("m2", "c2", "9"), delete("c2")],
        ),
        Scenario::five("pods by phase").get("/api/v1/namespaces/{ns}/pods?fieldSelector=status.phase%3DRunning"),
    ]
}

fn watches() -> Vec<Scenario> {
    let watch =
        |name: &str, query: &str| Scenario::five(name).watch(&format!("{{maps}}?watch=1&timeoutSeconds=2&{query}"));
    vec![
        watch("watch", ""),
        watch("watch with bookmarks", "allowWatchBookmarks=true"),
        watch("watch from 0", "resourceVersion=0"),
        watch("watch from 0 with bookmarks", "resourceVersion=0&allowWatchBookmarks=true"),
        watch("watch from n", "resourceVersion={c3}"),
        watch("watch ignores limits", "resourceVersion={c3}&limit=1"),
        watch("watch from a version ahead", "resourceVersion={far}&allowWatchBookmarks=true"),
        watch("watch as another word for true", "resourceVersion={c3}&watch=abc"),
        Scenario::five("watch while things change").watch_while(
            "{maps}?watch=1&timeoutSeconds=4&resourceVersion={c5}",
            [create("c6", "6"), put("m1", "c1", "9"), put("same", "c1", "9"), delete("c2"), create("c2", "again")],
        ),
        Scenario::five("watch all namespaces").watch_while(
            "/api/v1/configmaps?watch=1&timeoutSeconds=4&resourceVersion={c5}&labelSelector=only%3Dthis",
            [write("x", "POST", "{maps}", json!({"metadata": {"name": "x", "labels": {"only": "this"}}}))],
        ),
        Scenario::five("watch by the old paths")
            .watch("/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=2&resourceVersion={c3}")
            .watch("/api/v1/watch/namespaces/{ns}/configmaps/c4?timeoutSeconds=2&resourceVersion={c3}"),
        Scenario::five("a watch of one object is the object").get("{maps}/c1?watch=1&timeoutSeconds=2"),
        // Only from a version: with initial events a real server races with itself, between an error and nothing.
        Scenario::five("a watch without time").watch("{maps}?watch=1&timeoutSeconds=-1&resourceVersion={c3}"),
        Scenario::five("bookmarks before the end")
            .watch_bookmarks("{maps}?watch=1&timeoutSeconds=5&resourceVersion={c3}&allowWatchBookmarks=true"),
        Scenario::new("finalizers")
            .prepare(write("f", "POST", "{maps}", json!({"metadata": {"name": "f", "finalizers": ["example.com/x"]}})))
            .watch_while(
                "{maps}?watch=1&timeoutSeconds=4&resourceVersion={f}&labelSelector=!x",
                [
                    write("", "PATCH", "{maps}/f", json!({"data": {"k": "v"}})),
                    write("", "PATCH", "{maps}/f", json!({"metadata": {"finalizers": null}})),
                    delete("f"),
                ],
            ),
    ]
}

fn watch_lists() -> Vec<Scenario> {
    let watch = |name: &str, query: &str| Scenario::five(name).watch(&format!("{{maps}}?{WATCH_LIST}{query}"));
    vec![
        watch("watch list", ""),
        watch("watch list at 0", "&resourceVersion=0"),
        watch("watch list at n", "&resourceVersion={c3}"),
        watch("watch list at a version ahead", "&resourceVersion={far}"),
        watch("watch list by label", "&labelSelector=n%20in%20(2,3)"),
        Scenario::new("watch list of nothing").watch(&format!("{{maps}}?{WATCH_LIST}")),
        Scenario::five("watch list while things change")
            .prepare(delete("c2"))
            .prepare(put("m1", "c1", "9"))
            .watch_while(
                "{maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=4",
                [create("c6", "6"), delete("c3")],
            ),
        Scenario::five("initial events without bookmarks")
            .watch("{maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2"),
        Scenario::five("no initial events at n").watch(
            "{maps}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=2&resourceVersion={c3}",
        ),
        Scenario::five("no initial events from now").watch_while(
            "{maps}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=4",
            [create("c6", "6")],
        ),
    ]
}

fn refused_watches() -> Vec<Scenario> {
    let queries = [
        "resourceVersion=abc",
        "resourceVersion=-1",
        "timeoutSeconds=abc",
        "limit=abc",
        "sendInitialEvents=true",
        "sendInitialEvents=false",
        "sendInitialEvents=true&resourceVersionMatch=Exact",
        "sendInitialEvents=true&resourceVersionMatch=Foo",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=abc",
        "resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=NotOlderThan&resourceVersion=5",
        "resourceVersionMatch=Exact&resourceVersion=5",
        "continue=abc",
        "labelSelector=a%20b%20c",
        "fieldSelector=abc",
        "fieldSelector=spec.foo%3Db",
    ];
    let refused = queries
        .into_iter()
        .fold(Scenario::new("watches refused"), |scenario, query| scenario.watch(&format!("{{maps}}?watch=1&{query}")));
    vec![refused]
}

fn shapes() -> Vec<Scenario> {
    let widget = |name: &'static str| {
        write(
            name,
            "POST",
            "{widgets}",
            json!({
                "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"a": "<1>"},
            }),
        )
    };
    let widgets = |name: &str| Scenario::new(name).prepare(widget("w1")).prepare(widget("w2"));
    let gadget = json!({"apiVersion": "going.example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}});
    vec![
        Scenario::five("metadata of lists").get_as(PARTIAL_LIST, "{maps}?limit=2").get_as(PARTIAL, "{maps}"),
        Scenario::five("metadata of one object").get_as(PARTIAL, "{maps}/c1").get_as(PARTIAL_LIST, "{maps}/c1"),
        Scenario::five("metadata of watches")
            .watch_as(PARTIAL, &format!("{{maps}}?{WATCH_LIST}"))
            .watch_as(PARTIAL_LIST, &format!("{{maps}}?{WATCH_LIST}")),
        Scenario::five("media types").get_as("text/plain", "{maps}").get_as("application/json, */*", "{maps}"),
        widgets("custom lists")
            .get("{widgets}")
            .get("{widgets}?limit=1")
            .get("{widgets}?limit=1&continue={token}")
            .get("{widgets}?resourceVersion={w1}&resourceVersionMatch=Exact")
            .get("{widgets}/absent"),
        widgets("custom refusals")
            .get("{widgets}?resourceVersion=abc")
            .get("{widgets}?fieldSelector=spec.a%3Db")
            .watch("{widgets}?watch=1&resourceVersion=abc"),
        widgets("custom watches").watch(&format!("{{widgets}}?{WATCH_LIST}")).watch_while(
            "{widgets}?watch=1&timeoutSeconds=4&resourceVersion={w2}",
            [
                write("", "PATCH", "{widgets}/w1", json!({"spec": {"a": "2"}})),
                write("", "PATCH", "{widgets}/w1", json!({"metadata": {"labels": {"a": "b"}}})),
                write("", "DELETE", "{widgets}/w2", json!(null)),
            ],
        ),
        widgets("custom metadata")
            .get_as(PARTIAL_LIST, "{widgets}")
            .watch_as(PARTIAL, &format!("{{widgets}}?{WATCH_LIST}")),
        Scenario::new("empty bookmarks of other kinds")
            .watch(&format!("/api/v1/namespaces/{{ns}}/pods?{WATCH_LIST}"))
            .watch(&format!("/api/v1/namespaces/{{ns}}/services?{WATCH_LIST}"))
            .watch(&format!("/api/v1/namespaces/{{ns}}/events?{WATCH_LIST}"))
            .watch(&format!("/apis/apps/v1/namespaces/{{ns}}/deployments?{WATCH_LIST}"))
            .watch(&format!("/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases?{WATCH_LIST}")),
        Scenario::new("events page at 0")
            .prepare(event("e1"))
            .prepare(event("e2"))
            .get("/api/v1/namespaces/{ns}/events?resourceVersion=0&limit=1"),
        Scenario::new("a custom resource goes")
            .prepare(write("g", "POST", "{gadgets}", gadget))
            .watch_removal("{gadgets}?watch=1&timeoutSeconds=9&resourceVersion={g}")
            .get("{gadgets}"),
        Scenario::new("discovery of custom resources").get("/apis/example.com").get("/apis/nope.example.com/v1"),
    ]
}

fn event(name: &'static str) -> crate::scenario::Write {
    let about = json!({"kind": "Pod", "namespace": "s-events-page-at-0", "name": "p"});
    write(
        name,
        "POST",
        "/api/v1/namespaces/{ns}/events",
        json!({
            "metadata": {"name": name}, "involvedObject": about, "reason": "Tested", "type": "Normal",
            "source": {"component": "tests"}, "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
            "reportingComponent": "", "reportingInstance": "",
        }),
    )
}

fn writes() -> Vec<Scenario> {
    let map = |name: &str| json!({"metadata": {"name": name}});
    vec![
        Scenario::five("creations")
            .write(write("", "POST", "{maps}", json!({"metadata": {"name": "new"}, "data": {"k": "v"}})))
            .write(write("", "POST", "{maps}", map("c1")))
            .write(write("", "POST", "{maps}", json!({"metadata": {}})))
            .write(write("", "POST", "{maps}", json!({"metadata": {"name": "x", "namespace": "other"}})))
            .write(write("", "POST", "/api/v1/namespaces/absent/configmaps", map("x")))
            .write(write("", "POST", "/api/v1/configmaps", map("x")))
            .write(write("", "POST", "{maps}/c1", map("x")))
            .write(write("", "POST", "{maps}", json!({"metadata": {"name": "x", "resourceVersion": "5"}})))
            .write(write("", "POST", "{maps}", json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}}))),
        Scenario::five("updates")
            .write(put("m1", "c1", "9"))
            .write(put("m2", "c1", "9"))
            .write(write("", "PUT", "{maps}/c1", json!({"metadata": {"name": "c1", "resourceVersion": "5"}})))
            .write(write("", "PUT", "{maps}/absent", map("absent")))
            .write(write("", "PUT", "{maps}/c1", map("c2")))
            .write(write("", "PUT", "{maps}", map("c1"))),
        Scenario::five("patches")
            .write(write("", "PATCH", "{maps}/c1", json!({"data": {"k": null, "z": "1"}})))
            .write(write("", "PATCH", "{maps}/absent", json!({"data": {"k": null}})))
            .write(write("", "PATCH", "{maps}", json!({}))),
        Scenario::five("deletions")
            .write(delete("c1"))
            .write(delete("c1"))
            .write(write("", "DELETE", "{maps}/c2", json!({"preconditions": {"resourceVersion": "3"}})))
            .write(write("", "DELETE", "{maps}?labelSelector=n%20in%20(3,4)", json!(null)))
            .get("{maps}"),
    ]
}

/// Those about servers without watch lists.
pub fn of_the_gate() -> Vec<Scenario> {
    vec![
        Scenario::five("gate watch list").watch(&format!("{{maps}}?{WATCH_LIST}")),
        Scenario::five("gate watch").watch("{maps}?watch=1&timeoutSeconds=2"),
        Scenario::five("gate watch with bookmarks").watch("{maps}?watch=1&timeoutSeconds=2&allowWatchBookmarks=true"),
        Scenario::five("gate watch from 0").watch("{maps}?watch=1&timeoutSeconds=2&resourceVersion=0"),
        Scenario::five("gate no initial events")
            .watch("{maps}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=2"),
        Scenario::five("gate match alone").watch("{maps}?watch=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=2"),
    ]
}

/// Those about storage that forgets.
pub fn of_compaction() -> Vec<Scenario> {
    vec![
        Scenario::five("compaction")
            .get("{maps}?limit=2")
            .prepare(delete("c3"))
            .prepare(create("c8", "8"))
            .compact("c5")
            .get("{maps}?limit=2&continue={token}")
            .get("{maps}?limit=2&continue={token}")
            .get("{maps}?resourceVersionMatch=Exact&resourceVersion={c1}")
            .get("{maps}?resourceVersion={c1}")
            .get("{maps}?resourceVersion={c1}&limit=2")
            .watch("{maps}?watch=1&timeoutSeconds=2&resourceVersion={c1}")
            .watch(&format!("{{maps}}?{WATCH_LIST}&resourceVersion={{c1}}")),
    ]
}

/// Those about servers that start again.
pub fn of_restarts() -> Vec<Scenario> {
    vec![
        Scenario::five("restart")
            .get("{maps}?limit=2")
            .restart()
            .watch("{maps}?watch=1&timeoutSeconds=2&resourceVersion={c1}")
            .watch(&format!("{{maps}}?{WATCH_LIST}"))
            .get("{maps}?resourceVersionMatch=Exact&resourceVersion={c3}")
            .get("{maps}?resourceVersion={c3}"),
    ]
}
