//! Plays the cases of `tests/cases/*.json`: real faults of list/watch clients, retold as conversations.
//!
//! `CASES` names another file, or a folder of files, of the same format; then those are played instead. A filter by
//! id works as for any test: `cargo test --test cases -- A07`.

#[path = "cases/mod.rs"]
mod cases;

use cases::{
    format::{self, Case},
    play, self_check,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

/// Cases mostly wait, so more run at once than there are processors.
const AT_ONCE: usize = 8;

type Read = Result<Case, (String, String)>;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == cases::PLUGIN_ARGUMENT) {
        cases::exec_plugin(Path::new(&arguments.next().expect("the plugin's file")));
        return ExitCode::SUCCESS;
    }
    let cases = match read_all() {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match env::var(play::ALONE) {
        Ok(id) => play_alone(&cases, &id),
        Err(_) => play_all(cases),
    }
}

/// Every case of the files asked for, with its file.
fn read_all() -> Result<Vec<(PathBuf, Read)>, String> {
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let place = env::var_os("CASES").map_or_else(ours, PathBuf::from);
    let mut files = vec![place.clone()];
    if place.is_dir() {
        let entries = fs::read_dir(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        files = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
    }
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let read = format::read(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        cases.extend(read.into_iter().map(|case| (file.clone(), case)));
    }
    if cases.is_empty() { Err(format!("{} holds no case", place.display())) } else { Ok(cases) }
}

/// This process was started for one case that needs the environment, or the memory, for itself.
fn play_alone(cases: &[(PathBuf, Read)], id: &str) -> ExitCode {
    let case = cases.iter().find_map(|(_, case)| case.as_ref().ok().filter(|case| case.id == id));
    match play::play_here(case.expect("the case that was asked for"), true) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            println!("{report}");
            ExitCode::FAILURE
        }
    }
}

fn play_all(cases: Vec<(PathBuf, Read)>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let (played, failed) = (Arc::new(Mutex::new(BTreeSet::new())), Arc::new(Mutex::new(BTreeSet::new())));
    let trials = cases.into_iter().map(|(file, case)| {
        let (played, failed) = (Arc::clone(&played), Arc::clone(&failed));
        let name = match &case {
            Ok(case) => format!("{} {}", case.id, case.title),
            Err((id, _)) => id.clone(),
        };
        let trial = move || {
            let (id, verdict) = match case {
                Ok(case) => (case.id.clone(), play::play(&case, &file)),
                Err((id, error)) => (id, Err(format!("cannot be read: {error}"))),
            };
            // A variant of a case is named after it, as in `A13 without causes`, and counts with it.
            let id = id.split(' ').next().unwrap_or_default().to_owned();
            let add = |set: &Mutex<BTreeSet<String>>| {
                set.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
            };
            add(&played);
            if verdict.is_err() {
                add(&failed);
            }
            verdict.map_err(Failed::from)
        };
        Trial::test(name, trial)
    });
    let mut trials: Vec<Trial> = trials.collect();
    if env::var_os("CASES").is_none() {
        trials.extend(self_check::trials());
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let count = |set: &Mutex<BTreeSet<String>>| set.lock().unwrap_or_else(PoisonError::into_inner).len();
    if !arguments.list {
        println!("{} of {} cases", count(&played) - count(&failed), count(&played));
    }
    conclusion.exit_code()
}
