//! The exec credential plugin of a case: this test binary itself, called with `--exec-plugin FILE`.

use k8s_openapi::jiff::Timestamp;
use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    time::Duration,
};

/// The argument that makes this binary a plugin.
pub const ARGUMENT: &str = "--exec-plugin";

/// Prints the next credential of the file; the last one again when all were printed.
pub fn exec_plugin(file: &Path) {
    let credentials = fs::read_to_string(file).expect("the plugin's file");
    let lines: Vec<&str> = credentials.lines().collect();
    // Two runs at once get different numbers: a file that exists is not made again.
    let new = |run: &usize| OpenOptions::new().write(true).create_new(true).open(run_file(file, *run)).is_ok();
    let run = (0..).find(new).expect("a number that is free");
    let (token, expires) = lines[run.min(lines.len() - 1)].split_once(' ').expect("a token and an expiry");
    let mut status = serde_json::json!({ "token": token });
    if let Ok(wait) = expires.parse() {
        let expires = Timestamp::now() + Duration::from_millis(wait);
        status["expirationTimestamp"] = expires.to_string().into();
    }
    let version = "client.authentication.k8s.io/v1";
    println!("{}", serde_json::json!({ "apiVersion": version, "kind": "ExecCredential", "status": status }));
}

/// How often the plugin ran.
pub fn runs(file: &Path) -> usize {
    (0..).take_while(|run| run_file(file, *run).exists()).count()
}

fn run_file(file: &Path, run: usize) -> PathBuf {
    file.with_extension(format!("run-{run}"))
}
