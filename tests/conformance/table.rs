//! `README.md` and the tests say the same, row by row.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    process::Command,
};

const TABLE: &str = include_str!("README.md");
const STATES: [&str; 4] = ["held", "deviates", "waits", "n/a"];

/// Rows by id, in lower case as tests are named: `| R12a | TestReflectorListAndWatch | held | ... |`.
fn rows() -> BTreeMap<String, &'static str> {
    let mut rows = BTreeMap::new();
    for line in TABLE.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let (id, state, note) = (cells[1], cells[3], cells[4]);
        if !id.starts_with(['R', 'W', 'D', 'P', 'S']) || !id[1..].starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        assert!(STATES.contains(&state), "row {id} has the state {state:?}");
        assert!(state == "held" || !note.is_empty(), "row {id} {state}, and does not say why");
        assert!(rows.insert(id.to_lowercase(), state).is_none(), "row {id} stands twice");
    }
    rows
}

/// The ids that this binary's tests begin with.
fn tested() -> BTreeSet<String> {
    let list = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--list", "--format", "terse"])
        .output()
        .expect("the list of tests");
    let list = String::from_utf8(list.stdout).expect("names of tests");
    let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let outside = ["table::"];
    names
        .filter(|name| !outside.iter().any(|room| name.starts_with(room)))
        .map(|name| {
            let test = name.rsplit("::").next().unwrap_or(name);
            test.split('_').next().unwrap_or(test).to_owned()
        })
        .collect()
}

/// Every row of the reference: none may be left out of the table.
fn reference() -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let sections = [("r", 34), ("w", 14), ("d", 8), ("p", 11), ("s", 53)];
    for (section, last) in sections {
        ids.extend((1..=last).map(|n| format!("{section}{n:02}")));
    }
    for (whole, parts) in [("r12", ["r12a", "r12b"]), ("w02", ["w02a", "w02b"])] {
        ids.remove(whole);
        ids.extend(parts.map(str::to_owned));
    }
    ids
}

#[test]
fn every_row_says_what_holds_and_has_its_test() {
    let (rows, tested) = (rows(), tested());
    let ids: BTreeSet<_> = rows.keys().cloned().collect();
    assert_eq!(ids, reference(), "the rows of the table (left) against the reference");
    for (id, state) in &rows {
        let needs = matches!(*state, "held" | "deviates");
        assert!(!needs || tested.contains(id), "row {id} {state}, and has no test");
        assert!(needs || !tested.contains(id), "row {id} has a test, but the table says {state}");
    }
    for id in &tested {
        assert!(rows.contains_key(id), "a test begins with {id}, which is no row");
    }
    let count = |state| rows.values().filter(|s| **s == state).count();
    let waiting: Vec<_> =
        rows.iter().filter(|(_, state)| **state == "waits").map(|(id, _)| id.to_uppercase()).collect();
    let summary = format!(
        "\nconformance: {} rows: {} hold, {} hold with our deviation, {} wait ({}), {} do not apply\n",
        rows.len(),
        count("held"),
        count("deviates"),
        waiting.len(),
        if waiting.is_empty() { "none".into() } else { waiting.join(" ") },
        count("n/a"),
    );
    // Not eprint!, which the harness captures: this line is for whoever runs the tests.
    std::io::stderr().write_all(summary.as_bytes()).expect("stderr");
}
