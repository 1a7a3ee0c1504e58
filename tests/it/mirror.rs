//! The example `mirror`, as a program: what it prints, and how it ends.

use listwatch::testing::{ApiServer, Ending, Fault, Match, Times};
use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// `cargo test` builds examples as well; `cargo test --test it` alone does not.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = env::current_exe().expect("this program has a path");
        let target = test.ancestors().nth(2).expect("tests lie in target/PROFILE/deps");
        let program = target.join("examples").join(format!("mirror{}", env::consts::EXE_SUFFIX));
        if !program.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--example", "mirror"]).current_dir(env!("CARGO_MANIFEST_DIR"));
            assert!(cargo.status().expect("cargo runs").success(), "the example does not build");
        }
        program
    })
}

/// A kubeconfig whose current context is this server, and the folder that holds it.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn of(url: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("listwatch-mirror-{}-{number}", std::process::id()));
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": url}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        });
        std::fs::write(&path, config.to_string()).expect("a file in the temporary folder");
        Kubeconfig(path)
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(program());
        command.arg("--kubeconfig").arg(&self.0).args(args.split_whitespace()).env_remove("RUST_LOG");
        command
    }

    async fn run(&self, args: &str) -> Output {
        let mut command = self.command(args);
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("the program runs")
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

async fn shop() -> (ApiServer, Kubeconfig) {
    let server = ApiServer::start().await;
    let pod = |namespace: &str, name: &str, node: Value, phase: &str| json!({"metadata": {"namespace": namespace, "name": name}, "spec": {"nodeName": node}, "status": {"phase": phase}});
    server.create("pods", pod("shop", "cart", json!("node-1"), "Running"));
    server.create("pods", pod("shop", "archive", Value::Null, "Pending"));
    server.create("pods", pod("web", "front", json!("node-2"), "Running"));
    let config = Kubeconfig::of(&server.url());
    (server, config)
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("text")
}

/// The cells of each line but the last, which differs from run to run: an age.
fn rows(output: &Output) -> Vec<Vec<&str>> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut rows: Vec<Vec<_>> = text(&output.stdout).lines().map(|line| line.split_whitespace().collect()).collect();
    rows.iter_mut().for_each(|cells| cells.truncate(cells.len().saturating_sub(1)));
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_a_cluster() {
    let run = |args: &'static [&str]| tokio::task::spawn_blocking(move || Command::new(program()).args(args).output());
    let none = run(&["--once", "-n", "nowhere"]).await.expect("no panic").expect("the program runs");
    assert!(none.status.success() && none.stdout.is_empty());
    assert_eq!(text(&none.stderr), "No pods found.\n");
    let output = run(&["--once"]).await.expect("no panic").expect("the program runs");
    let rows = rows(&output);
    assert_eq!(rows[0], ["NAMESPACE", "NAME", "STATUS", "NODE"]);
    assert!(rows.len() > 300, "{} lines", rows.len());
    assert!(!text(&output.stdout).contains('\x1b'), "plain, as it is no terminal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_table() {
    let (_server, config) = shop().await;
    let all = config.run("pods -A --once").await;
    assert_eq!(
        rows(&all),
        [
            vec!["NAMESPACE", "NAME", "STATUS", "NODE"],
            vec!["shop", "archive", "Pending", "<none>"],
            vec!["shop", "cart", "Running", "node-1"],
            vec!["web", "front", "Running", "node-2"],
        ]
    );
    let mine = config.run("po --once").await;
    assert_eq!(
        rows(&mine)[1..],
        [["archive", "Pending", "<none>"], ["cart", "Running", "node-1"]],
        "the context's namespace"
    );
    let one = config.run("Pod -n web --once --field-selector spec.nodeName=node-2").await;
    assert_eq!(rows(&one), [["NAME", "STATUS", "NODE"], ["front", "Running", "node-2"]]);
    assert_eq!(rows(&config.run("namespaces --once").await)[0], ["NAME"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn json() {
    let (server, config) = shop().await;
    let output = config.run("pods -A --once --output json").await;
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(list["kind"], "List");
    let mut expected = server.list("pods");
    for pod in &mut expected {
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
    }
    assert_eq!(list["items"].as_array(), Some(&expected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn failures_are_one_line_and_a_status() {
    let (server, config) = shop().await;
    let gone = Kubeconfig::of("http://127.0.0.1:9");
    let mute = ApiServer::start().await;
    mute.rule(Match::any(), Fault::Before(Ending::Stall), Times::Always);
    let silent = Kubeconfig::of(&mute.url());
    server.rule(Match::lists().of("secrets"), Fault::status(403), Times::Always);
    server.rule(Match::lists().of("services"), Fault::Before(Ending::Stall), Times::Always);
    for (config, args, said) in [
        (&config, "podz --once", "podz"),
        (&config, "podz", "podz"),
        (&config, "bindings --once", "does not list and watch bindings"),
        (&config, "--context elsewhere --once", "no context \"elsewhere\""),
        (&config, "secrets --once", "403"),
        (&config, "secrets", "403"),
        (&config, "services --once --timeout 0.3", "not ready after"),
        (&gone, "pods --once", "no answer"),
        (&gone, "pods", "no answer"),
        (&silent, "pods --timeout 0.3", "no answer in 300ms"),
    ] {
        let output = config.run(args).await;
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args}: {stderr}");
        assert!(stderr.contains(said) && stderr.lines().count() == 1, "{args}: {stderr}");
        assert!(output.stdout.is_empty(), "{args}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_interrupt_ends_it_well() {
    let (_server, config) = shop().await;
    let mut child = config.command("pods -A").stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let ended = tokio::task::spawn_blocking(move || {
        until(&mut lines, "front");
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        (until(&mut lines, "STOPPED"), lines.count(), child.wait().expect("it ends"))
    });
    let (last, more, status) = ended.await.expect("no panic");
    assert!(last.contains("3 objects") && more == 0 && status.success(), "{last} {status}");
}

/// Reads lines of the running program until one contains this.
fn until(lines: &mut impl Iterator<Item = std::io::Result<String>>, part: &str) -> String {
    let found = lines.map(|line| line.expect("text")).find(|line| line.contains(part));
    found.unwrap_or_else(|| panic!("the output ended without {part:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn changes_as_they_come() {
    let (server, config) = shop().await;
    let mut child = config.command("pods").stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let pod = |phase: &str| json!({"metadata": {"namespace": "shop", "name": "search"}, "status": {"phase": phase}});
    let told = tokio::task::spawn_blocking(move || {
        until(&mut lines, "LISTED");
        until(&mut lines, "cart");
        server.create("pods", pod("Pending"));
        let added = until(&mut lines, "ADDED");
        server.update("pods", pod("Running"));
        let updated = until(&mut lines, "UPDATED");
        server.delete("pods", "shop/search");
        let deleted = until(&mut lines, "DELETED");
        // Closes the pipe: the next line ends the program, without an error.
        drop(lines);
        server.create("pods", pod("Pending"));
        [added, updated, deleted]
    });
    let told = tokio::time::timeout(Duration::from_secs(60), told).await;
    let told = told
        .unwrap_or_else(|_| {
            drop(child.kill());
            panic!("the output stopped")
        })
        .expect("no panic");
    assert!(told.iter().all(|line| line.contains("search")), "{told:?}");
    assert!(told[1].contains("was Pending"), "{told:?}");
    let status = tokio::task::spawn_blocking(move || child.wait()).await.expect("no panic").expect("it ends");
    assert!(status.success(), "{status}");
}

/// The program on a terminal of its own, which `script` gives it, and what it wrote there.
#[cfg(target_os = "linux")]
struct OnTerminal {
    child: std::process::Child,
    output: std::process::ChildStdout,
    written: String,
}

#[cfg(target_os = "linux")]
impl OnTerminal {
    const ENTER: &'static str = "\x1b[?1049h";
    const LEAVE: &'static str = "\x1b[?1049l";

    fn start(config: &Kubeconfig, args: &str) -> Self {
        let mirror = format!("exec {} --kubeconfig {} {args}", program().display(), config.0.display());
        let command = format!("stty rows 30 cols 100; echo pid $$ end; {mirror}");
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`script` is installed");
        let output = child.stdout.take().expect("a pipe");
        OnTerminal { child, output, written: String::new() }
    }

    fn until(&mut self, part: &str) {
        use std::io::Read;
        let mut bytes = [0; 4096];
        while !self.written.contains(part) {
            let length = self.output.read(&mut bytes).expect("bytes");
            assert!(length > 0, "it ended without {part:?}: {:?}", self.written);
            self.written.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }

    fn send(&mut self, keys: &str) {
        use std::io::Write;
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(keys.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    /// What it wrote after it left the full screen, and its status.
    fn end(mut self) -> (String, std::process::ExitStatus) {
        use std::io::Read;
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).expect("bytes");
        self.written.push_str(&String::from_utf8_lossy(&rest));
        let after = self.written.rsplit_once(Self::LEAVE).expect("it left the full screen").1.to_owned();
        (after, self.child.wait().expect("it ends"))
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_full_screen_leaves_the_terminal_as_it_was() {
    let (server, config) = shop().await;
    server.rule(Match::lists().of("secrets"), Fault::status(403), Times::Always);
    let ends = tokio::task::spawn_blocking(move || {
        let by_key = {
            let mut terminal = OnTerminal::start(&config, "pods -A");
            terminal.until(OnTerminal::ENTER);
            terminal.until("front");
            terminal.send("cart");
            terminal.send("\x03");
            terminal.end()
        };
        let by_signal = {
            let mut terminal = OnTerminal::start(&config, "pods -A");
            terminal.until("front");
            let pid =
                terminal.written.split("pid ").nth(1).and_then(|rest| rest.split(' ').next()).expect("it says it");
            assert!(Command::new("kill").args(["-TERM", pid]).status().expect("kill runs").success());
            terminal.end()
        };
        let by_failure = OnTerminal::start(&config, "secrets -A").end();
        let mut lines = OnTerminal::start(&config, "pods -A --view lines");
        lines.until("front");
        assert!(!lines.written.contains(OnTerminal::ENTER));
        lines.child.kill().and_then(|()| lines.child.wait()).expect("it ends");
        (by_key, by_signal, by_failure)
    });
    let ends = tokio::time::timeout(Duration::from_secs(60), ends).await.expect("it ends").expect("no panic");
    let ((key, key_status), (signal, signal_status), (failure, failure_status)) = ends;
    assert!(key.contains("3 objects") && key_status.success(), "{key:?}");
    assert!(signal.contains("3 objects") && signal_status.success(), "{signal:?}");
    assert!(failure.contains("error: mirroring secrets") && failure_status.code() == Some(1), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_full_screen_needs_a_terminal() {
    let (_server, config) = shop().await;
    let output = config.run("pods --view full").await;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: --view full needs a terminal\n");
}
