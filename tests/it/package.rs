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

/// The listing that `.ci/release api` keeps, against what CONTRIBUTING.md says of other crates' types.
#[test]
fn the_crates_whose_types_are_public_are_named() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect(path);
    let listing = read(".ci/public-api.txt");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let public: BTreeSet<String> = listing
        .match_indices("::")
        .map(|(at, _)| &listing[..at])
        .map(|before| before.rsplit(|c: char| !is_name(c) && c != ':').next().expect("a part"))
        .filter(|path| path.starts_with(char::is_lowercase) && !path.contains(':'))
        .map(str::to_owned)
        .collect();
    let contributing = read("CONTRIBUTING.md");
    let versions = contributing.split_once("\n## Versions").expect("a section").1;
    let versions = versions.split_once("\n## ").expect("another section").0;
    let rows = versions.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let named: BTreeSet<_> = rows.map(|(name, _)| name.to_owned()).collect();
    assert!(named.len() > 5, "{named:?}");
    // The standard library's, our own, and what others' macros and re-exports say in place of the crate's name.
    let no_crates = ["alloc", "core", "listwatch", "pin_project", "std", "str"];
    let foreign = public.iter().filter(|name| !no_crates.contains(&name.as_str()));
    let foreign: BTreeSet<_> = foreign.map(|name| name.replace("serde_core", "serde")).collect();
    assert_eq!(foreign, named);
}
