//! LIST: every row of the table, and what it looks like on the wire.

use super::client::{Answer, Http, MAPS, get};
use listwatch::testing::{ApiServer, ApiServerBuilder, Resource};
use serde_json::json;
use std::time::Duration;

const ALL: [&str; 5] = ["c1", "c2", "c3", "c4", "c5"];

/// Five configmaps, and the version at which there were three.
async fn five(builder: ApiServerBuilder) -> (ApiServer, Http, u64) {
    let server = builder.freshness_timeout(Duration::from_millis(20)).start().await.expect("a port");
    let mut third = 0;
    for name in ALL {
        let object = json!({"metadata": {"name": name, "labels": {"n": &name[1..]}}});
        server.create("configmaps", object);
        if name == "c3" {
            third = server.resource_version();
        }
    }
    let http = Http::to(&server);
    (server, http, third)
}

async fn list(http: &Http, query: &str) -> Answer {
    http.get(&format!("{MAPS}?{query}")).await
}

/// How many items, whether there are more, and whether in the newest state; or the code of the refusal.
type Row = Result<(usize, bool, bool), u16>;

#[tokio::test]
async fn every_row_of_the_table() {
    // What is asked, and what the watch cache and storage answer.
    let rows: [(&str, Row, Row); 16] = [
        ("", Ok((5, false, true)), Ok((5, false, true))),
        ("limit=2", Ok((2, true, true)), Ok((2, true, true))),
        ("resourceVersion=0", Ok((5, false, true)), Ok((5, false, true))),
        ("resourceVersion=0&limit=2", Ok((5, false, true)), Ok((2, true, true))),
        ("resourceVersion=N", Ok((5, false, true)), Ok((5, false, true))),
        ("resourceVersion=N&limit=2", Ok((2, true, false)), Ok((2, true, false))),
        ("resourceVersionMatch=Exact", Err(422), Err(422)),
        ("resourceVersionMatch=Exact&resourceVersion=0", Err(422), Err(422)),
        ("resourceVersionMatch=Exact&resourceVersion=N", Ok((3, false, false)), Ok((3, false, false))),
        ("resourceVersionMatch=Exact&resourceVersion=N&limit=2", Ok((2, true, false)), Ok((2, true, false))),
        ("resourceVersionMatch=NotOlderThan", Err(422), Err(422)),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=0", Ok((5, false, true)), Ok((5, false, true))),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=2", Ok((5, false, true)), Ok((2, true, true))),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=N", Ok((5, false, true)), Ok((5, false, true))),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=N&limit=2", Ok((2, true, true)), Ok((2, true, true))),
        ("resourceVersion=999999&resourceVersionMatch=Exact", Err(504), Err(504)),
    ];
    for cache in [true, false] {
        let (server, http, third) = five(ApiServer::builder().watch_cache(cache)).await;
        for (query, cached, stored) in rows {
            let query = query.replace('N', &third.to_string()).replace(&format!("{third}otOlderThan"), "NotOlderThan");
            let answer = list(&http, &query).await;
            match if cache { cached } else { stored } {
                Err(code) => assert_eq!(answer.code, code, "{query}"),
                Ok((items, paged, newest)) => {
                    assert_eq!(answer.names(), ALL[..items], "{query}");
                    assert_eq!(!answer.token().is_empty(), paged, "{query}");
                    let version = if newest { server.resource_version() } else { third };
                    assert_eq!(answer.json()["metadata"]["resourceVersion"], version.to_string(), "{query}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_show_one_state() {
    let (server, http, _) = five(ApiServer::builder()).await;
    let first = list(&http, "limit=2").await;
    assert_eq!(first.json()["metadata"]["remainingItemCount"], 3);
    server.delete("configmaps", "c3");
    server.create("configmaps", json!({"metadata": {"name": "c6"}}));
    let second = list(&http, &format!("limit=2&continue={}", first.token())).await;
    assert_eq!(second.names(), ["c3", "c4"]);
    let last = list(&http, &format!("limit=2&continue={}", second.token())).await;
    assert_eq!(last.names(), ["c5"]);
    assert_eq!(last.token(), "");
    assert_eq!(last.json()["metadata"].as_object().expect("metadata").len(), 1);
    assert_eq!(last.json()["metadata"]["resourceVersion"], first.json()["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn an_expired_token_brings_one_to_go_on_with() {
    let (server, http, _) = five(ApiServer::builder()).await;
    let first = list(&http, "limit=2").await;
    server.delete("configmaps", "c3");
    server.compact();
    let gone = list(&http, &format!("limit=2&continue={}", first.token())).await;
    assert_eq!(gone.code, 410);
    assert_eq!(gone.json()["reason"], "Expired");
    let rest = list(&http, &format!("limit=9&continue={}", gone.token())).await;
    assert_eq!(rest.names(), ["c4", "c5"]);
    assert_eq!(rest.json()["metadata"]["resourceVersion"], server.resource_version().to_string());
}

#[tokio::test]
async fn a_compacted_version_is_gone() {
    let (server, http, third) = five(ApiServer::builder()).await;
    server.compact();
    let gone = list(&http, &format!("resourceVersionMatch=Exact&resourceVersion={third}")).await;
    assert_eq!(
        gone.text(),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"The resourceVersion for the provided list is too old.\",\"reason\":\"Expired\",\"code\":410}\n"
    );
    assert_eq!(list(&http, &format!("resourceVersion={third}")).await.names(), ALL);
}

#[tokio::test]
async fn a_version_ahead_is_waited_for() {
    let (server, http, _) = five(ApiServer::builder()).await;
    let current = server.resource_version();
    let late = list(&http, &format!("resourceVersion={}", current + 1)).await;
    assert_eq!(late.code, 504);
    assert_eq!(late.headers["retry-after"], "1");
    let version = current + 1;
    assert_eq!(late.json()["message"], format!("Timeout: Too large resource version: {version}, current: {current}"));
    assert_eq!(late.json()["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    let server = ApiServer::start().await;
    let http = Http::to(&server);
    let version = server.resource_version() + 1;
    let query = format!("resourceVersion={version}");
    let (answer, ()) = futures::join!(list(&http, &query), async {
        server.until(|requests| !requests.is_empty()).await;
        server.create("configmaps", json!({"metadata": {"name": "a"}}));
    });
    assert_eq!(answer.names(), ["a"]);
}

#[tokio::test]
async fn what_does_not_go_together_is_refused() {
    let (_server, http, _) = five(ApiServer::builder()).await;
    for (query, code, message) in [
        (
            "resourceVersion=abc",
            400,
            "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax",
        ),
        ("limit=abc", 400, "strconv.ParseInt: parsing \"abc\": invalid syntax"),
        ("labelSelector=a%20b", 400, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        (
            "fieldSelector=spec.a%3Db",
            400,
            "\"spec.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        (
            "continue=abc",
            400,
            "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
        ),
        (
            "sendInitialEvents=true",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
    ] {
        let answer = list(&http, query).await;
        assert_eq!((answer.code, answer.json()["message"].as_str()), (code, Some(message)), "{query}");
    }
    let token = list(&http, "limit=1").await.token();
    let both = list(&http, &format!("continue={token}&resourceVersion=5")).await;
    assert_eq!(both.json()["message"], "specifying resource version is not allowed when using continue");
}

#[tokio::test]
async fn selectors_choose() {
    let (_server, http, _) = five(ApiServer::builder()).await;
    for (query, names) in [
        ("labelSelector=n%20in%20(1,2)", &["c1", "c2"][..]),
        ("labelSelector=n%20notin%20(1,2),n!%3D5", &["c3", "c4"]),
        ("labelSelector=n%3E3", &["c4", "c5"]),
        ("labelSelector=!n", &[]),
        ("labelSelector=n", &ALL),
        ("fieldSelector=metadata.name%3Dc2", &["c2"]),
        ("fieldSelector=metadata.name!%3Dc2,metadata.namespace%3Ddefault", &["c1", "c3", "c4", "c5"]),
    ] {
        assert_eq!(list(&http, query).await.names(), names, "{query}");
    }
    let page = list(&http, "labelSelector=n%20in%20(1,2)&limit=1").await;
    assert_eq!(page.json()["metadata"].get("remainingItemCount"), None);
    assert_eq!(
        list(&http, &format!("labelSelector=n%20in%20(1,2)&limit=1&continue={}", page.token())).await.names(),
        ["c2"]
    );
}

#[tokio::test]
async fn built_in_and_custom_lists_differ_on_the_wire() {
    let server = ApiServer::start().await;
    server.register(Resource::custom("widgets.example.com"));
    server.create("widgets", json!({"metadata": {"name": "w"}, "spec": {"a": "<b>"}}));
    server.create("configmaps", json!({"metadata": {"name": "c"}}));
    let http = Http::to(&server);
    let custom = http.get("/apis/example.com/v1/widgets").await;
    assert!(custom.text().starts_with(r#"{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"creationTimestamp":""#));
    assert!(custom.text().contains("\"a\":\"\\u003cb\\u003e\""));
    let version = server.resource_version() - 1;
    assert!(custom.text().ends_with(&format!(
        "],\"kind\":\"WidgetList\",\"metadata\":{{\"continue\":\"\",\"resourceVersion\":\"{}\"}}}}\n",
        version + 1
    )));
    let built_in = list(&http, "").await;
    assert!(
        built_in.text().starts_with(r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":""#)
    );
    assert!(built_in.text().contains(r#""items":[{"metadata":{"name":"c","namespace":"default","uid":""#));
    let mut request = get(MAPS);
    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    request.headers_mut().insert("accept", partial.parse().expect("a header"));
    let metadata = http.send(request).await.expect("an answer");
    assert!(
        metadata.text().starts_with(r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":"#)
    );
    assert!(
        metadata.text().contains(
            r#""items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c""#
        )
    );
}

#[tokio::test]
async fn large_lists_are_compressed_where_asked() {
    let server = ApiServer::builder().gzip_from(Some(1000)).start().await.expect("a port");
    server.create("configmaps", json!({"metadata": {"name": "c"}, "data": {"k": "x".repeat(2000)}}));
    let http = Http::to(&server);
    let mut request = get(MAPS);
    request.headers_mut().insert("accept-encoding", "gzip".parse().expect("a header"));
    let answer = http.send(request).await.expect("an answer");
    assert_eq!(answer.headers["content-encoding"], "gzip");
    assert_eq!(&answer.body[..2], [0x1f, 0x8b]);
    assert!(list(&http, "").await.headers.get("content-encoding").is_none());
}

#[tokio::test]
async fn discovery_finds_resources() {
    let server = ApiServer::start().await;
    server.register(Resource::custom("widgets.example.com").short_name("wd"));
    let http = Http::to(&server);
    assert_eq!(http.get("/api").await.json()["versions"], json!(["v1"]));
    let groups = http.get("/apis").await.json();
    let names: Vec<_> = groups["groups"].as_array().expect("groups").iter().map(|group| &group["name"]).collect();
    assert!(names.iter().any(|name| *name == "apps") && names.iter().any(|name| *name == "example.com"));
    let widgets = http.get("/apis/example.com/v1").await.json();
    assert_eq!(widgets["resources"][0]["shortNames"], json!(["wd"]));
    let core = http.get("/api/v1").await.json();
    assert_eq!(core["groupVersion"], "v1");
    let unknown = http.get("/apis/nope.example.com/v1/things").await;
    assert_eq!((unknown.code, unknown.text()), (404, "404 page not found\n"));
    let unknown = http.get("/api/v1/things").await;
    assert_eq!(
        unknown.text(),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the server could not find the requested resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}\n"
    );
    let reviews = http.get("/apis/authentication.k8s.io/v1/tokenreviews").await;
    assert_eq!(reviews.code, 405);
}

#[tokio::test]
async fn a_shard_is_listed_where_the_gate_is_on() {
    let query = "shardSelector=shardRange(object.metadata.uid,%20'0x0000000000000000',%20'0x8000000000000000')";
    for on in [true, false] {
        let server = ApiServer::builder().sharding(on).start().await.expect("a port");
        for n in 0..40 {
            server.create("configmaps", json!({"metadata": {"name": format!("m{n}")}}));
        }
        let http = Http::to(&server);
        let answer = http.get(&format!("{MAPS}?{query}")).await;
        let said = answer.json()["metadata"]["shardInfo"]["selector"].clone();
        if on {
            assert_eq!(said, "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
            assert!((5..35).contains(&answer.names().len()), "{:?}", answer.names());
        } else {
            assert_eq!((said, answer.names().len()), (serde_json::Value::Null, 40));
        }
        let refused = http.get(&format!("{MAPS}?shardSelector=half")).await;
        assert_eq!(refused.code, if on { 500 } else { 200 });
    }
}
