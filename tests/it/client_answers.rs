//! What answers mean, and what a 401 does.

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    BoxError, Error, Recovery,
    client::{Client, Collection, Credential, Request, Response},
    source::{ListBody, ListParams, ListWatch, WatchParams},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

const EMPTY: &str = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}"#;

async fn listed(answer: fn() -> Response) -> Result<ListBody<ConfigMap>, Error> {
    let client = Client::with_transport(move |_: Request| async move { Ok::<_, Error>(answer()) });
    Collection::<ConfigMap>::namespaced(client, "shop").list_page(ListParams::default()).await
}

fn text(status: u16, kind: &str, body: &'static str) -> Response {
    Response::new(status, stream::iter([Ok(body.into())])).with_header("content-type", kind)
}

#[tokio::test]
async fn a_status_body_says_what_failed() {
    let error =
        listed(|| Response::json(410, r#"{"kind":"Status","reason":"Expired","code":410,"message":"too old"}"#));
    let error = error.await.unwrap_err();
    assert!(error.is_expired(), "{error}");
    assert_eq!(error.request(), Some("list configmaps in shop"));
}

#[tokio::test]
async fn any_other_body_is_its_code() {
    for (kind, body) in [
        ("text/plain", "Too many requests, please try again later.\n"),
        ("text/html", "<html>hunter2</html>"),
        ("application/json", r#"{"error":"hunter2"}"#),
        ("application/json", "{"),
        ("application/json", ""),
    ] {
        let client = Client::with_transport(move |_: Request| async move { Ok::<_, Error>(text(429, kind, body)) });
        let collection = Collection::<ConfigMap>::all(client);
        let error = collection.open_watch(WatchParams::default()).await.unwrap_err();
        assert_eq!(error.status().map(|status| status.code), Some(429), "{body}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}

#[tokio::test]
async fn retry_after_comes_from_the_header_or_the_body() {
    let wait = |error: Error| error.retry_after();
    let error = listed(|| text(429, "text/plain", "later").with_header("Retry-After", "3")).await.unwrap_err();
    assert_eq!(wait(error), Some(Duration::from_secs(3)));
    const BODY: &str = r#"{"kind":"Status","code":429,"details":{"retryAfterSeconds":9}}"#;
    let error = listed(|| Response::json(429, BODY)).await.unwrap_err();
    assert_eq!(wait(error), Some(Duration::from_secs(9)));
    let error = listed(|| Response::json(429, BODY).with_header("retry-after", "86400")).await.unwrap_err();
    assert_eq!(wait(error), Some(Duration::from_secs(300)), "cut to five minutes");
    let error = listed(|| Response::json(503, "{}").with_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"));
    assert_eq!(wait(error.await.unwrap_err()), Some(Duration::from_secs(300)));
}

#[tokio::test]
async fn a_200_that_is_no_json_is_garbage() {
    for answer in [
        (|| text(200, "text/html; charset=utf-8", "<html>")) as fn() -> Response,
        || text(200, "application/vnd.kubernetes.protobuf;stream=watch", "k8s"),
        || Response::new(204, stream::empty()),
        || text(206, "application/json", EMPTY),
    ] {
        let error = listed(answer).await.unwrap_err();
        assert!(error.is_garbage(), "{error}");
    }
    assert!(listed(|| text(200, "application/json; charset=utf-8", EMPTY)).await.is_ok());
    assert!(listed(|| Response::new(200, stream::iter([Ok(EMPTY.into())]))).await.is_ok(), "content decides then");
}

#[tokio::test]
async fn a_redirect_is_an_error_that_names_the_host_and_no_more() {
    let location = "https://user:hunter2@elsewhere.example:8443/login?token=hunter2";
    let client = Client::with_transport(move |_: Request| async move {
        Ok::<_, Error>(Response::new(302, stream::empty()).with_header("Location", location))
    });
    let error = Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap_err();
    let said = format!("{error:?}");
    assert!(said.contains("elsewhere.example:8443") && !said.contains("hunter2"), "{said}");
    assert_eq!(error.status().map(|status| status.code), Some(302));
}

#[tokio::test(start_paused = true)]
async fn an_error_body_that_does_not_end_is_not_waited_for() {
    let error = listed(|| {
        let begun = stream::iter([Ok(r#"{"kind":"Status","code":403}"#.into())]);
        Response::new(403, begun.chain(stream::pending()))
    });
    assert!(error.await.unwrap_err().is_forbidden());
    let error = listed(|| Response::new(500, stream::repeat_with(|| Ok(vec![b' '; 1000].into())))).await;
    assert_eq!(error.unwrap_err().status().map(|status| status.code), Some(500), "read up to a limit");
}

/// A client whose source says T1, T2 and so on, against a server that takes one of them; the tokens it saw.
fn client_of(taken: &'static str, rotates: bool) -> (Client, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let calls = AtomicUsize::new(0);
    let client = Client::builder()
        .credentials(move || {
            let n = calls.fetch_add(usize::from(rotates), Relaxed) + 1;
            async move { Ok::<_, BoxError>(Credential::bearer(format!("T{n}"))) }
        })
        .transport(move |request: Request| {
            let token = request.headers().get("authorization").unwrap_or_default().to_owned();
            let status = if token == taken { 200 } else { 401 };
            log.lock().unwrap().push(token);
            async move { Ok::<_, Error>(Response::json(status, EMPTY)) }
        });
    (client, seen)
}

#[tokio::test]
async fn after_a_401_another_credential_is_tried_once_at_once() {
    let (client, seen) = client_of("Bearer T2", true);
    let collection = Collection::<ConfigMap>::all(client);
    assert!(collection.list_page(ListParams::default()).await.is_ok());
    assert!(collection.list_page(ListParams::default()).await.is_ok());
    assert_eq!(*seen.lock().unwrap(), ["Bearer T1", "Bearer T2", "Bearer T2"]);
}

#[tokio::test]
async fn a_second_401_and_the_same_credential_again_are_errors() {
    let (client, seen) = client_of("Bearer T3", true);
    let collection = Collection::<ConfigMap>::all(client);
    let error = collection.list_page(ListParams::default()).await.unwrap_err();
    assert!(error.is_unauthorized() && error.recovery() == Recovery::Resume, "{error:?}");
    assert_eq!(*seen.lock().unwrap(), ["Bearer T1", "Bearer T2"]);
    let (client, seen) = client_of("Bearer T3", false);
    let error = Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap_err();
    assert!(error.is_unauthorized());
    assert_eq!(*seen.lock().unwrap(), ["Bearer T1"]);
}

#[tokio::test]
async fn a_source_without_a_credential_is_an_error_that_says_why() {
    let client = Client::builder()
        .credentials(async || Err::<Credential, _>("the vault is closed"))
        .transport(|_: Request| async { Ok::<_, Error>(Response::json(200, EMPTY)) });
    let error = Collection::<ConfigMap>::all(client).list_page(ListParams::default()).await.unwrap_err();
    assert!(error.is_unauthorized() && error.to_string().contains("the vault is closed"), "{error}");
}
