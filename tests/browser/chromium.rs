//! A headless Chromium, spoken to by the DevTools protocol over a pipe.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::{Instant, timeout},
};

/// What it may take to answer anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser with one page. Ends with this.
pub(crate) struct Chromium {
    process: Child,
    profile: PathBuf,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
}

impl Chromium {
    /// Starts the browser and opens a page of this size.
    pub(crate) async fn open(url: &str, width: u32, height: u32) -> Self {
        let profile = std::env::temp_dir().join(format!("listwatch-browser-{}", std::process::id()));
        // The protocol goes over the descriptors 3 and 4; what the browser prints is noise.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut command = Command::new("sh");
        command.args(["-c", script, name().as_str()]).args(
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
             --disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
                .split_whitespace(),
        );
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().expect("a shell");
        let commands = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut browser = Chromium { process, profile, commands, answers, session: None, sent: 0 };
        let target = browser.send("Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.send("Target.attachToTarget", attach).await;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        browser.send("Emulation.setDeviceMetricsOverride", size).await;
        browser.send("Page.navigate", json!({"url": url})).await;
        browser
    }

    /// Sends a command and waits for its result. Events in between are left out.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut command = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).await.expect("the browser listens");
        let sent = self.sent;
        let answer = timeout(PATIENCE, async {
            loop {
                let mut bytes = Vec::new();
                let length = self.answers.read_until(0, &mut bytes).await.expect("the browser answers");
                assert!(length > 0, "the browser has ended: is it installed? CHROMIUM says its name");
                let answer: Value = serde_json::from_slice(bytes.strip_suffix(&[0]).unwrap_or(&bytes)).expect("JSON");
                if answer["id"] == sent {
                    return answer;
                }
            }
        });
        let mut answer = answer.await.unwrap_or_else(|_| panic!("no answer to {method}"));
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// The value of an expression on the page.
    pub(crate) async fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.send("Runtime.evaluate", params).await;
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Waits until an expression is true, and says how long that took.
    pub(crate) async fn until(&mut self, expression: &str, limit: Duration) -> Duration {
        let start = Instant::now();
        while self.eval(expression).await != true {
            if start.elapsed() > limit {
                let page = self.eval("document.body.innerText.slice(0, 2000)").await;
                panic!("not within {limit:?}: {expression}\n{page}");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        start.elapsed()
    }

    /// A picture of the page.
    pub(crate) async fn screenshot(&mut self, path: &Path) {
        let mut picture = self.send("Page.captureScreenshot", json!({"format": "png"})).await;
        let picture = BASE64_STANDARD.decode(picture["data"].take().as_str().expect("text")).expect("base64");
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder in target");
        std::fs::write(path, picture).expect("a file in target");
    }

    /// Whether the reader wants it light or dark, still or moving.
    pub(crate) async fn prefer(&mut self, feature: &str, value: &str) {
        let params = json!({"features": [{"name": feature, "value": value}]});
        self.send("Emulation.setEmulatedMedia", params).await;
    }

    /// Ends it and forgets what it kept.
    pub(crate) async fn close(mut self) {
        self.session = None;
        self.send("Browser.close", json!({})).await;
        timeout(PATIENCE, self.process.wait()).await.expect("it ends").expect("it has run");
        drop(std::fs::remove_dir_all(&self.profile));
    }
}

/// What the browser is called here.
fn name() -> String {
    std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned())
}
