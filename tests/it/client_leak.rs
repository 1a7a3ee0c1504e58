//! Nothing secret is said, whatever goes wrong: Secrets are mirrored through success and every fault, at trace level.

use futures::{FutureExt, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use listwatch::{
    BoxError, Error, Event, Raw,
    client::{Client, Collection, Credential},
    source::{ListWatch, Strategy},
    testing::{ApiServer, At, Ending, Fault, Match, Times},
};
use serde_json::json;
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tracing_subscriber::fmt::MakeWriter;

/// What goes nowhere: a token, each of its successors, an object's content plain and in base64.
const TOKEN: &str = "tok-5f0c2a91";
const CONTENT: &str = "content-8d1e77b3";
const BASE64: &str = "Y29udGVudC04ZDFlNzdiMw";
const LABEL: &str = "label-2b9c4410";
const PASSWORD: &str = "pass-c7719e02";

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    fn say(&self, text: &str) {
        self.0.lock().unwrap().extend_from_slice(text.as_bytes());
    }

    fn error(&self, error: &Error) {
        self.say(&format!("{error}\n{error:?}\n{error:#?}\n{:?}\n", error.status()));
        let mut cause: Option<&dyn std::error::Error> = Some(error);
        while let Some(at) = cause {
            self.say(&format!("{at}\n{at:?}\n"));
            cause = at.source();
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Output {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn faults() -> Vec<Fault> {
    let page =
        |body: String, content_type| Fault::Answer { code: 200, content_type, retry_after: None, body: body.into() };
    let secret = format!(r#"{{"metadata":{{"name":7,"labels":{{"a":"{LABEL}"}}}},"data":{{"k":"{CONTENT}"}}}}"#);
    let mut faults = vec![
        page(format!("<html>{TOKEN} {CONTENT}</html>"), "text/html"),
        page(format!("{CONTENT} {TOKEN}"), "application/json"),
        page(secret.clone(), "application/json"),
        page(
            format!(r#"{{"kind":"{CONTENT}","items":[{secret}],"metadata":{{"resourceVersion":7}}}}"#),
            "application/json",
        ),
        page(
            format!(r#"{{"kind":"SecretList","items":[{secret}],"metadata":{{"resourceVersion":"7"}}}}"#),
            "application/json",
        ),
        page(format!(r#"{{"type":"ADDED","object":{secret}}}"#), "application/json"),
        page(format!(r#"{{"type":"{CONTENT}","object":{secret}}}"#), "application/json"),
        page(format!(r#"{{"type":"ERROR","object":{secret}}}"#), "application/json"),
        page(format!(r#"{{"type":"BOOKMARK","object":{{"data":"{CONTENT}"}}}}"#), "application/json"),
        Fault::Insert(At::InsideEvent(0), "\u{7f}\n\n}{".into()),
        Fault::End(At::InsideEvent(0), Ending::Eof),
        Fault::End(At::InsideEvent(0), Ending::Close),
        Fault::End(At::InsideEvent(0), Ending::Reset),
        Fault::Before(Ending::Close),
        Fault::Before(Ending::Reset),
        Fault::GoAway,
    ];
    for code in [302, 400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 503, 504] {
        faults.push(Fault::status(code));
        let body = format!("{CONTENT} {TOKEN}");
        faults.push(Fault::Answer { code, content_type: "text/plain", retry_after: None, body: body.into() });
    }
    faults
}

#[tokio::test]
async fn nothing_leaks_through_any_fault() {
    let output = Output::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(output.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = ApiServer::start().await;
    for name in ["a", "b"] {
        let metadata = json!({"namespace": "default", "name": name, "labels": {"l": LABEL}});
        server.create(
            "secrets",
            json!({"metadata": metadata, "data": {"k": format!("{BASE64}==")}, "stringData": {"k": CONTENT}}),
        );
    }
    let calls = AtomicUsize::new(0);
    let credentials = move || {
        let n = calls.fetch_add(1, Relaxed);
        async move { Ok::<_, BoxError>(Credential::bearer(format!("{TOKEN}-{n}")).valid_for(Duration::from_millis(1))) }
    };
    let client = Client::builder().header("X-Extra", PASSWORD).credentials(credentials).url(&server.url()).unwrap();
    output.say(&format!("{client:?} {:?}", Credential::bearer(TOKEN)));

    let mut errors = 0;
    for fault in faults() {
        for (requests, strategy) in [
            (Match::lists(), Strategy::List),
            (Match::watches(), Strategy::List),
            (Match::watches(), Strategy::WatchListFirst),
        ] {
            server.clear_rules();
            server.rule(requests, fault.clone(), Times::Once);
            let secrets = Collection::<Secret>::namespaced(client.clone(), "default");
            output.say(&format!("{secrets:?}"));
            let mut events = secrets.events().strategy(strategy).floor(Duration::from_millis(10));
            output.say(&format!("{events:?}"));
            // Until it has recovered, or waits for what the fault made it wait for.
            while let Ok(Some(item)) = tokio::time::timeout(Duration::from_millis(150), events.next()).await {
                match item {
                    Ok(event) => output.say(event.name()),
                    Err(error) => {
                        errors += 1;
                        output.error(&error);
                    }
                }
                if errors % 8 == 7 {
                    break;
                }
            }
        }
    }
    assert!(errors > 20, "the faults were met: {errors}");

    // Objects that do not fit their type, and those that keep their JSON.
    server.clear_rules();
    let raw = Collection::<Secret>::all(client.clone()).decode_as::<Raw>();
    let listed: Vec<_> = raw.list().filter_map(|item| async { item.ok() }).collect::<Vec<Event<Raw>>>().await;
    output.say(&format!("{listed:?}"));
    for refused in ["http://u:{}@127.0.0.1:1", "https://{}@host", "{}"] {
        output.error(&Client::new(&refused.replace("{}", PASSWORD)).unwrap_err());
    }
    server.stop().await;
    let gone = Collection::<ConfigMap>::all(client).list_page(Default::default()).now_or_never();
    if let Some(Err(error)) = gone {
        output.error(&error);
    }

    let output = output.0.lock().unwrap();
    let text: String = output.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect();
    assert!(text.contains("TRACE") && text.contains("watch opened"), "the traces are in it");
    let planted = [TOKEN, CONTENT, BASE64, LABEL, PASSWORD];
    let around = |at: usize| String::from_utf8_lossy(&output[at.saturating_sub(300)..(at + 100).min(output.len())]);
    let found: Vec<_> = planted.iter().filter_map(|secret| text.find(secret).map(around)).collect();
    println!(
        "{} bytes of output searched, {} secrets planted, secrets found: {}",
        text.len(),
        planted.len(),
        found.len()
    );
    assert!(found.is_empty(), "{found:#?}");
}
