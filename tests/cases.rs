//! Plays the cases of `tests/cases/*.json`: real faults of list/watch clients, retold as conversations.
//!
//! `CASES` names another file, or a folder of files, of the same format; then those are played instead. A filter by
//! id works as for any test: `cargo test --test cases -- A07`.

#[path = "cases/mod.rs"]
mod cases;

use cases::{
    format::{self, Case, Misread},
    play, self_check,
};
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

/// Cases mostly wait, so more run at once than there are processors.
const AT_ONCE: usize = 8;

/// A case with its place.
struct Placed {
    file: PathBuf,
    index: usize,
    case: Result<Case, Misread>,
}

impl Placed {
    fn id(&self) -> &str {
        match &self.case {
            Ok(case) => &case.id,
            Err(misread) => &misread.id,
        }
    }
}

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
        Ok(index) => play_alone(&cases, &index),
        Err(_) => play_all(cases),
    }
}

/// Every case of the files asked for.
fn read_all() -> Result<Vec<Placed>, String> {
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
        cases.extend(read.into_iter().enumerate().map(|(index, case)| Placed { file: file.clone(), index, case }));
    }
    if cases.is_empty() { Err(format!("{} holds no case", place.display())) } else { Ok(cases) }
}

/// This process was started for one case that needs the environment, or the memory, for itself.
fn play_alone(cases: &[Placed], index: &str) -> ExitCode {
    let case = index.parse().ok().and_then(|index: usize| cases.get(index)?.case.as_ref().ok());
    match play::play_here(case.expect("the case that was asked for"), true) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            println!("{report}");
            ExitCode::FAILURE
        }
    }
}

fn play_all(cases: Vec<Placed>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    // By group: how many were played, and how many failed.
    let tally = Arc::new(Mutex::new(BTreeMap::<usize, (u32, u32)>::new()));
    let groups: Vec<usize> = (0..cases.len()).map(|index| group(&cases, index)).collect();
    let trial = |(placed, group): (Placed, usize)| {
        let tally = Arc::clone(&tally);
        let name = match &placed.case {
            Ok(case) => format!("{} {}", case.id, case.title),
            Err(misread) => misread.id.clone(),
        };
        Trial::test(name, move || {
            let Placed { file, index, case } = placed;
            let verdict = match case {
                Ok(case) => play::play(&case, &file, index),
                Err(misread) => Err(misread.to_string()),
            };
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let (played, failed) = tally.entry(group).or_default();
            *played += 1;
            *failed += u32::from(verdict.is_err());
            verdict.map_err(Failed::from)
        })
    };
    let mut trials: Vec<Trial> = cases.into_iter().zip(groups).map(trial).collect();
    if env::var_os("CASES").is_none() {
        trials.extend(self_check::trials());
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    if !arguments.list {
        let passed = tally.values().filter(|(_, failed)| *failed == 0).count();
        println!("{passed} of {} cases", tally.len());
    }
    conclusion.exit_code()
}

/// A variant of a case is named after it, as in `A13 without causes`, and counts with it.
fn group(cases: &[Placed], index: usize) -> usize {
    let base = cases[index].id().split_once(' ').map(|(base, _)| base);
    cases.iter().position(|case| Some(case.id()) == base).unwrap_or(index)
}
