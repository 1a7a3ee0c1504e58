//! The example `dashboard`, as a program.

use std::{env, path::PathBuf, process::Stdio, sync::OnceLock};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// The folder that this crate is built in, below `target`.
pub(crate) fn target() -> PathBuf {
    let test = env::current_exe().expect("this program has a path");
    test.ancestors().nth(2).expect("tests lie in target/PROFILE/deps").to_owned()
}

fn program() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        // What cargo tells this test of its package would make another cargo build its dependencies anew.
        let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        env::vars_os().filter(|(name, _)| name.to_str().is_some_and(told)).for_each(|(name, _)| {
            cargo.env_remove(name);
        });
        cargo.args(["build", "--quiet", "--example", "dashboard"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().expect("cargo runs").success(), "the example does not build");
    });
    target().join("examples").join("dashboard")
}

/// The running program and where it serves. Ends with this.
pub(crate) struct Dashboard {
    process: Child,
    pub(crate) url: String,
}

impl Dashboard {
    /// Starts it with these arguments.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().expect("the program runs");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let url = lines.next_line().await.expect("text").expect("the address where it serves");
        Dashboard { process, url }
    }

    /// Where it serves, as `--listen` has it.
    pub(crate) fn address(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// Ends it at once, as a crash would.
    pub(crate) async fn kill(mut self) {
        self.process.kill().await.expect("it runs");
    }
}
