//! The library in a process of its own, for what the environment decides.

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    client::{Client, Collection},
    source::{ListParams, ListWatch},
};
use std::{process::Stdio, time::Duration};

/// How often the child lists, if it is one.
const TIMES: &str = "LISTWATCH_TEST_LISTS";
const WORD: &str = "child: ";

/// What a process with nothing but these variables says of so many lists, a second and a half apart: `listed`, or the
/// error.
pub async fn lists(times: usize, environment: &[(&str, &str)]) -> Vec<String> {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::a_process_of_its_own", "--ignored", "--nocapture"]);
    command.env_clear().envs(environment.iter().copied()).env(TIMES, times.to_string());
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| Some(line.split_once(WORD)?.1.to_owned())).collect()
}

#[tokio::test]
#[ignore = "a part of other tests, which run it"]
async fn a_process_of_its_own() {
    let Ok(times) = std::env::var(TIMES) else { return };
    let client = match Client::infer().await {
        Ok(client) => client,
        Err(error) => return println!("{WORD}{error}"),
    };
    for n in 0..times.parse().unwrap() {
        if n > 0 {
            tokio::time::sleep(Duration::from_millis(1500)).await;
        }
        match Collection::<ConfigMap>::all(client.clone()).list_page(ListParams::default()).await {
            Ok(_) => println!("{WORD}listed"),
            Err(error) => println!("{WORD}{}", format!("{error:?}").replace('\n', " ")),
        }
    }
}
