//! What the package promises to those who depend on it.

use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    process::Command,
};

/// The graph of all dependencies, as cargo resolved it.
fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--all-features", "--locked"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn version(text: &str) -> [u64; 3] {
    let mut numbers = text.split('.').map(|number| number.parse().expect("a number"));
    [(); 3].map(|()| numbers.next().unwrap_or_default())
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    let metadata = metadata();
    let packages: HashMap<_, _> =
        metadata["packages"].as_array().expect("packages").iter().map(|package| (&package["id"], package)).collect();
    let nodes: HashMap<_, _> =
        metadata["resolve"]["nodes"].as_array().expect("nodes").iter().map(|node| (&node["id"], node)).collect();
    let root = &metadata["resolve"]["root"];
    let ours = version(packages[root]["rust_version"].as_str().expect("ours"));

    // What users of the library build: no dev-dependencies.
    let (mut todo, mut seen) = (vec![root], BTreeSet::new());
    while let Some(id) = todo.pop() {
        if !seen.insert(id.as_str().expect("an id")) {
            continue;
        }
        for dependency in nodes[id]["deps"].as_array().expect("dependencies") {
            let kinds = dependency["dep_kinds"].as_array().expect("kinds");
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                todo.push(&dependency["pkg"]);
            }
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
    let newer: Vec<_> = packages
        .values()
        .filter(|package| seen.contains(package["id"].as_str().expect("an id")))
        .filter_map(|package| {
            let needed = package["rust_version"].as_str()?;
            (version(needed) > ours).then(|| format!("{} {} needs {needed}", package["name"], package["version"]))
        })
        .collect();
    assert_eq!(newer, Vec::<String>::new(), "our rust-version is {ours:?}");
}
