//! Real API servers: built once, started with flags, killed, paused and restarted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};

/// How many servers may run at once: each takes about 300 MB.
static PERMITS: Semaphore = Semaphore::const_new(3);
static SHARED: Mutex<Weak<Server>> = Mutex::const_new(Weak::new());

/// A running API server. Dropping it kills the process and removes its folder; a failing test prints the end of its log first.
#[derive(Debug)]
pub struct Server {
    process: Option<Process>,
    dir: PathBuf,
    url: String,
    flags: Vec<String>,
    _permit: SemaphorePermit<'static>,
}

/// The process and the pipes that must stay open: it ends when its standard input closes, so it cannot outlive the tests.
#[derive(Debug)]
struct Process {
    child: Child,
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server of the caller's own with flags of kube-apiserver, and waits until it is ready.
    pub async fn start(flags: &[&str]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let permit = PERMITS.acquire().await.expect("the semaphore is never closed");
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = folder().join(format!("server-{}-{count}", std::process::id()));
        fs::create_dir_all(&dir).expect("create the server's folder");
        let mut server = Self {
            process: None,
            dir,
            url: String::new(),
            flags: flags.iter().map(ToString::to_string).collect(),
            _permit: permit,
        };
        server.spawn().await;
        server
    }

    /// A server with the default flags, shared by the tests that run at the same time. A test that holds it starts no other.
    pub async fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().await;
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Self::start(&[]).await);
        *shared = Arc::downgrade(&server);
        server
    }

    /// `https://127.0.0.1:PORT`, the same after a restart.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port of that address.
    pub fn port(&self) -> u16 {
        self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("the address has a port")
    }

    /// The kubeconfig with the contexts `token` (the current one), `cert`, `user` and `nobody`.
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    /// kube's client for a context, the second opinion that tests compare with.
    pub async fn kube(&self, context: &str) -> kube::Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig()).expect("read the kubeconfig");
        let options = KubeConfigOptions { context: Some(context.into()), ..KubeConfigOptions::default() };
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a known context");
        config.default_retry = false; // tests see what the server answers
        kube::Client::try_from(config).expect("build kube's client")
    }

    /// Kills the server at once (SIGKILL) and waits until it is gone. What it answered is on disk.
    pub fn kill(&mut self) {
        self.signal("KILL");
        if let Some(mut process) = self.process.take() {
            process.child.wait().expect("wait for the killed server");
        }
    }

    /// Stops the process where it stands (SIGSTOP): connections stay open and silent.
    pub async fn pause(&self) {
        self.signal("STOP");
        // On a busy machine its threads run on for a while after the signal was sent.
        while self.process.as_ref().is_some_and(|process| runs(process.child.id())) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Lets a paused process run on (SIGCONT).
    pub fn resume(&self) {
        self.signal("CONT");
    }

    /// Kills the server if it runs and starts it on the same data and port.
    pub async fn restart(&mut self) {
        self.kill();
        self.spawn().await;
    }

    /// Kills the server if it runs and starts it on the same data and port, with other flags.
    pub async fn restart_with(&mut self, flags: &[&str]) {
        self.flags = flags.iter().map(ToString::to_string).collect();
        self.restart().await;
    }

    /// Makes storage forget all versions but the present one, within moments.
    pub fn compact(&mut self) {
        let stdin = self.process.as_mut().and_then(|process| process.child.stdin.as_mut());
        stdin.expect("a running server").write_all(b"compact\n").expect("tell the API server");
    }

    async fn spawn(&mut self) {
        let binary = tokio::task::spawn_blocking(binary).await.expect("build the API server");
        let log = File::options().create(true).append(true).open(self.log_path()).expect("open the server's log");
        let mut command = Command::new(binary);
        command.arg("-until-stdin-closes").arg("-dir").arg(&self.dir);
        if let Some((_, port)) = self.url.rsplit_once(':') {
            command.args(["-port", port]);
        }
        command.arg("--").args(&self.flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).process_group(0);
        let mut child = command.spawn().expect("start the API server");
        let mut stdout = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let pid = child.id();
        let ready = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            stdout.read_line(&mut line).map(|_| (line, stdout))
        });
        let ready = tokio::time::timeout(Duration::from_secs(90), ready).await;
        let Ok(ready) = ready else {
            signal(pid, "KILL");
            panic!("the API server was not ready within 90 s");
        };
        let (line, stdout) = ready.expect("read the server's output").expect("read the server's output");
        self.process = Some(Process { child, _stdout: stdout });
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some("ready"), "the API server ended before it was ready");
        words.next().expect("the ready line has the address").clone_into(&mut self.url);
    }

    fn log_path(&self) -> PathBuf {
        self.dir.join("log")
    }

    fn signal(&self, name: &str) {
        if let Some(process) = &self.process {
            signal(process.child.id(), name);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal("KILL");
        if let Some(mut process) = self.process.take() {
            let _ = process.child.wait();
        }
        if std::thread::panicking() {
            let log = fs::read(self.log_path()).unwrap_or_default();
            let tail = &log[log.len().saturating_sub(8_000)..];
            eprintln!("--- end of the API server's log {:?}\n{}", self.flags, String::from_utf8_lossy(tail));
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Whether a process is not stopped, where /proc tells.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['T', 't']))
}

/// Signals the process group, by the shell's own `kill`: std has SIGKILL only.
fn signal(pid: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} -{pid}")]).status();
    assert!(status.is_ok_and(|status| status.success()), "cannot send SIG{name} to the API server");
}

/// `target/e2e`, which holds the server's binary and the folders of running servers.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("e2e")
}

/// The server's binary, built if its sources are newer. Test processes take turns; Go's build cache makes the second build short.
fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(build).clone()
}

fn build() -> PathBuf {
    fs::create_dir_all(folder()).expect("create the folder for the server");
    let lock = File::create(folder().join("lock")).expect("create the lock file");
    lock.lock().expect("lock the build");
    remove_left_folders();
    let binary = folder().join("apiserver");
    let status = Command::new("go")
        .args(["build", "-buildvcs=false", "-o"])
        .arg(&binary)
        .arg(".")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/apiserver"))
        .status()
        .expect("run go, which the end-to-end tests need");
    assert!(status.success(), "go build failed");
    binary
}

/// Removes the folders of test processes that were killed before they could, where /proc tells which those are.
fn remove_left_folders() {
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in fs::read_dir(folder()).expect("read the folder for the server").flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("server-")) else {
            continue;
        };
        let pid = rest.split('-').next().unwrap_or_default();
        if !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
