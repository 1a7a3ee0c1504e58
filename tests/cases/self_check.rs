//! The runner itself, tried with a client that speaks raw HTTP: what it sends, and what it does not let pass.

use super::{
    format::{self, Case},
    play::{play, play_here},
    record::Record,
    server::{Listeners, Server},
};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use std::{future::Future, path::Path, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};

/// The runner's own tests.
pub fn trials() -> Vec<Trial> {
    fn trial<F: Future<Output = ()> + 'static>(name: &str, test: fn() -> F) -> Trial {
        let run = move || -> Result<(), Failed> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(test());
            Ok(())
        };
        Trial::test(format!("runner: {name}"), run)
    }
    let mut trials: Vec<Trial> = more().collect();
    trials.extend([
        trial("an unknown field is refused by its name", unknown_fields),
        trial("bodies, chunks and their ends arrive as written", bodies),
        trial("a reset, an early end and a half-open stream differ", faults),
        trial("queries, headers, gaps and connections are judged", judged),
        trial("steps are optional and repeat as they say", optional_and_repeated),
        trial("a revoked credential is answered with 401", revoked),
        Trial::test("runner: a wrong expectation fails", || wrong_expectations().map_err(Failed::from)),
    ]);
    trials
}

/// Conversations that are no reported faults: what of the format no reported one uses, and more of what servers answer.
fn more() -> impl Iterator<Item = Trial> {
    let files = [
        ("vocabulary.json", VOCABULARY),
        ("answers.json", include_str!("more/answers.json")),
        ("ways_in.json", WAYS_IN),
    ];
    files.into_iter().flat_map(|(name, text)| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/more").join(name);
        let cases = format::read(text).expect("JSON");
        cases.into_iter().enumerate().map(move |(index, case)| {
            let case = case.unwrap_or_else(|misread| panic!("{misread}"));
            let file = file.clone();
            let name = format!("more: {} {}", case.id, case.title);
            Trial::test(name, move || play(&case, &file, index).map_err(Failed::from))
        })
    })
}

const WAYS_IN: &str = include_str!("more/ways_in.json");
const VOCABULARY: &str = include_str!("more/vocabulary.json");

async fn unknown_fields() {
    let error = |case: &str| match format::read(&format!("[{case}]")).expect("JSON").remove(0) {
        Ok(case) => panic!("{} was taken", case.id),
        Err(misread) => misread.error,
    };
    let step = r#"{"expect":{"path":"/"},"respond":{"status":200,"chunks":[{"after":3}]}}"#;
    assert!(error(&format!(r#"{{"id":"x","conversation":[{step}]}}"#)).contains("unknown field `after`"));
    assert!(error(r#"{"id":"x","conversation":[],"setup":{"client":{"pagesize":3}}}"#).contains("`pagesize`"));
    assert!(error(r#"{"id":"x","conversation":[],"expected":{"timing":{"soon":3}}}"#).contains("`soon`"));
}

async fn bodies() {
    let play = Play::start(
        r#"[{"expect":{"path":"/a","query":{"v":"1 /+="}},"respond":{"status":200,"body":{ "z" : " \" " , "a":null }}},
            {"expect":{"path":"/b"},"respond":{"chunks":[{"data":"{}\n"},{"data_b64":"0J8=","fault":"eof"}]}},
            {"expect":{"path":"/c"},"respond":{"chunks":[{"data_gen":{"template":"${i}${pad:3}","from":1,"to":3,"separator":","},"split_bytes":5,"fault":"eof"}]}},
            {"expect":{"path":"/d"},"respond":{"headers":{"Content-Encoding":"gzip"},"body":"zip"},"respond_plain":{"body":"plain"}}]"#,
    );
    let mut client = play.connect().await;
    let answer = client.get("/a?v=1+%2F%2B%3D", "").await;
    assert!(answer.ends_with("Content-Length: 21\r\n\r\n{\"z\":\" \\\" \",\"a\":null}"), "{answer}");
    assert!(client.get("/b", "").await.ends_with("\r\n\r\n3\r\n{}\n\r\n2\r\nП\r\n0\r\n\r\n"));
    assert!(client.get("/c", "").await.ends_with("\r\n\r\n5\r\n1xxx,\r\n5\r\n2xxx,\r\n4\r\n3xxx\r\n0\r\n\r\n"));
    assert!(client.get("/d", "Accept-Encoding: identity\r\n").await.ends_with("plain"));
    play.went_well();
}

async fn faults() {
    let chunks = |fault: &str| format!(r#"{{"data":"x"}},{{"after_ms":100,"fault":"{fault}"}}"#);
    let play = Play::start(&format!(
        r#"[{{"expect":{{"path":"/a"}},"respond":{{"chunks":[{}]}}}},
            {{"expect":{{"path":"/b"}},"respond":{{"chunks":[{}]}}}},
            {{"expect":{{"path":"/c"}},"respond":{{"status":null,"chunks":[{{"after_ms":20,"fault":"eof"}}]}}}},
            {{"expect":{{"path":"/d"}},"respond":{{"headers":{{"Content-Length":"9"}},"chunks":[{{"data":"x","fault":"eof"}}]}}}},
            {{"expect":{{"path":"/e"}},"respond":{{"header_delay_ms":50,"chunks":[]}}}}]"#,
        chunks("reset"),
        chunks("half_open")
    ));
    let mut client = play.connect().await;
    client.send("/a", "").await;
    client.read_until(|answer| answer.ends_with("x\r\n")).await;
    assert_eq!(client.tcp.read(&mut [0]).await.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let mut client = play.connect().await;
    client.send("/b", "").await;
    client.read_until(|answer| answer.ends_with("x\r\n")).await;
    client.send("/b", "").await;
    assert!(timeout(Duration::from_millis(150), client.tcp.read(&mut [0])).await.is_err(), "half-open is silent");
    let mut client = play.connect().await;
    assert_eq!(client.get("/c", "").await, "");
    let mut client = play.connect().await;
    assert!(client.get("/d", "").await.ends_with("Content-Length: 9\r\n\r\nx"));
    let mut client = play.connect().await;
    let start = Instant::now();
    client.send("/e", "").await;
    assert!(client.read_until(|answer| answer.ends_with("\r\n\r\n")).await.starts_with("HTTP/1.1 200 OK"));
    assert!(start.elapsed() >= Duration::from_millis(50));
    play.went_well();
}

async fn judged() {
    let unexpected = async |expect: &str, target: &str, headers: &str| {
        let play = Play::start(&format!(
            r#"[{{"expect":{{"path":"/first"}},"respond":{{}}}},{{"expect":{expect},"respond":{{}}}}]"#
        ));
        let mut client = play.connect().await;
        client.get("/first", "").await;
        client.get(target, headers).await;
        play.server.shared.record.log().unexpected.join("\n")
    };
    let query = r#"{"path":"/p","query":{"watch":"true","rv":[null,"0"],"any":"*","no":null}}"#;
    assert_eq!(unexpected(query, "/p?watch=1&any=x&free=1&no=", "").await, "");
    assert_eq!(unexpected(query, "/p?watch=true&any=x&rv=0", "").await, "");
    assert!(
        unexpected(query, "/p?watch=true&any=x&rv=7", "").await.contains("rv is [\"7\"], expected is none or \"0\"")
    );
    assert!(unexpected(query, "/p?watch=true", "").await.contains("any"));
    assert!(unexpected(query, "/q?watch=true&any=1", "").await.contains("GET /p is expected"));
    let header = r#"{"path":"/p","headers":{"Accept":"~Partial","Authorization":"Bearer t"}}"#;
    assert_eq!(unexpected(header, "/p", "accept: as=PartialX\r\nauthorization: Bearer t\r\n").await, "");
    assert!(unexpected(header, "/p", "accept: as=PartialX\r\n").await.contains("authorization"));
    assert!(unexpected(r#"{"path":"/p","min_gap_ms":500}"#, "/p", "").await.contains("500ms or more"));
    assert!(unexpected(r#"{"path":"/p","max_gap_ms":0.001}"#, "/p", "").await.contains("or less"));
    assert!(unexpected(r#"{"path":"/p","connection":"new"}"#, "/p", "").await.contains("new connection"));
    assert!(unexpected(r#"{"path":"/p"}"#, "/first", "").await.contains("played 1 times"));
    assert_eq!(unexpected(r#"{"path":"/first"}"#, "/first", "").await, "", "the last step may come again");
}

async fn optional_and_repeated() {
    let conversation = r#"[{"expect":{"path":"/a"},"respond":{},"optional":true,"repeat":{"min":2,"max":2}},
        {"expect":{"path":"/b","min_gap_ms":0},"respond":{},"repeat":{"min":1,"max":2}},
        {"expect":{},"respond":{},"repeat":{"min":1,"max":2,"for_ms":80}},
        {"expect":{"path":"/d"},"respond":{}}]"#
        .replace(r#""expect":{}"#, r#""expect":{"path":"/c"}"#);
    for (targets, problem) in [
        ("/b /b /c /wait /d", None),
        ("/a /a /b /c /c /wait /d", None),
        ("/a /b", Some("step 1")),
        ("/c", Some("step 2")),
        ("/b /b /b", Some("played 2 times")),
        ("/b /c /c /c", Some("played 2 times")),
        ("/b /c /d", Some("holds for some time yet")),
        ("/b /c /wait /c", Some("its time is over")),
        ("/b /c /wait /d /d", None),
    ] {
        let play = Play::start(&conversation);
        let mut client = play.connect().await;
        for target in targets.split(' ') {
            match target {
                "/wait" => tokio::time::sleep(Duration::from_millis(90)).await,
                target => drop(client.get(target, "").await),
            }
        }
        let unexpected = play.server.shared.record.log().unexpected.join("\n");
        match problem {
            None => play.went_well(),
            Some(problem) => assert!(unexpected.contains(problem), "{targets}: {unexpected}"),
        }
    }
}

async fn revoked() {
    let play = Play::start(
        r#"[{"expect":{"path":"/a"},"respond":{"chunks":[{"fault":"eof"}]},"actions":[{"when":"before_fault","do":"server_revokes","value":"T1"}]},
            {"expect":{"path":"/a"},"respond":{"body":"yes"}}]"#,
    );
    let mut client = play.connect().await;
    client.get("/a", "Authorization: Bearer T1\r\n").await;
    assert!(client.get("/a", "Authorization: Bearer T1\r\n").await.starts_with("HTTP/1.1 401"));
    assert!(client.get("/a", "Authorization: Bearer T2\r\n").await.ends_with("yes"));
    play.went_well();
}

/// Cases that pass, once each part of what they expect is another: none may pass then.
fn wrong_expectations() -> Result<(), String> {
    let texts: Vec<Value> = serde_json::from_str(VOCABULARY).expect("JSON");
    let wrong = [
        ("V1", "final_store", json!(["a"]), "the store holds"),
        ("V1", "relists", json!([1, 2]), "lists were completed"),
        ("V1", "errors", json!(["WrongKind", "WrongKind"]), "was not reported"),
        ("V1", "final_data", json!({ "b": { "size": 4 } }), "b is not"),
        ("V1", "events", json!([["ADDED", "a"], ["ADDED", "b"], ["MODIFIED", "b"]]), "the events are"),
        ("V1", "events", json!([["ADDED", "a"], ["ADDED", "b", "u-a"]]), "the events are"),
        ("V2", "final_uids", json!({ "b": "u-a" }), "the uid of b"),
        ("V7", "timing", json!({ "synced_within_ms": 1 }), "synced after"),
    ];
    let play = |(id, field, value, problem): (&str, &str, Value, &str)| {
        let mut case = texts.iter().find(|case| case["id"] == id).expect("a case").clone();
        case["expected"][field] = value;
        let case = format::read(&case.to_string()).expect("JSON").remove(0).expect("a case");
        match play_here(&case, false) {
            Err(report) if report.contains(problem) => Ok(()),
            Err(report) => Err(format!("{field}: {report}")),
            Ok(()) => Err(format!("{id} passed with another {field}")),
        }
    };
    std::thread::scope(|scope| {
        let plays: Vec<_> = wrong.into_iter().map(|wrong| scope.spawn(|| play(wrong))).collect();
        plays.into_iter().try_for_each(|play| play.join().expect("no panic"))
    })
}

struct Play {
    server: Server,
    address: std::net::SocketAddr,
}

impl Play {
    fn start(conversation: &str) -> Self {
        let case = format!(r#"[{{"id":"self","conversation":{conversation}}}]"#);
        let case: Case = format::read(&case).expect("JSON").remove(0).expect("a case");
        let listeners = Listeners::open().expect("a port");
        let address = listeners.address(0);
        Play { server: Server::start(listeners, case, None, Arc::new(Record::new())), address }
    }

    async fn connect(&self) -> Client {
        Client { tcp: TcpStream::connect(self.address).await.expect("a listener") }
    }

    fn went_well(&self) {
        let shared = &self.server.shared;
        assert_eq!(shared.record.log().unexpected, Vec::<String>::new());
        assert_eq!(shared.script().waits_for(), None);
    }
}

struct Client {
    tcp: TcpStream,
}

impl Client {
    async fn send(&mut self, target: &str, headers: &str) {
        let head = format!("GET {target} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        self.tcp.write_all(head.as_bytes()).await.expect("an open connection");
    }

    /// The whole answer, or what came of it until the connection ended.
    async fn get(&mut self, target: &str, headers: &str) -> String {
        self.send(target, headers).await;
        self.read_until(is_whole).await
    }

    /// What comes until it will do, or until the connection ends.
    async fn read_until(&mut self, will_do: impl Fn(&str) -> bool) -> String {
        let mut answer = Vec::new();
        while !std::str::from_utf8(&answer).is_ok_and(&will_do) {
            match timeout(PATIENCE, self.tcp.read_u8()).await {
                Ok(Ok(byte)) => answer.push(byte),
                Ok(Err(_)) => break,
                Err(_) => panic!("no more came after {:?}", String::from_utf8_lossy(&answer)),
            }
        }
        String::from_utf8(answer).expect("text")
    }
}

/// Longer than any answer here takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether an answer is complete, by its length or its last chunk.
fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    match head.split_once("Content-Length: ") {
        Some((_, length)) => length.lines().next().is_some_and(|length| length.parse() == Ok(body.len())),
        None => body.ends_with("0\r\n\r\n"),
    }
}
