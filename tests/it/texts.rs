//! The texts beside the code: what in them can be checked is.

use std::{fs, path::Path};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the files of a folder that end so, without the ending.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

/// The texts that a reader tries out.
fn tried() -> impl Iterator<Item = String> {
    let guides = names("src/guides", ".md").into_iter().map(|guide| format!("src/guides/{guide}.md"));
    guides.chain(["README.md".to_owned()])
}

#[test]
fn every_operator_shows_its_effect_and_its_place() {
    let text = read("src/ops/ext.rs");
    let (_, methods) = text.split_once("pub trait EventStreamExt: Stream {").unwrap();
    let (methods, _) = methods.split_once("\n}\n").unwrap();
    let mut docs = String::new();
    let mut operators = 0;
    for line in methods.lines().map(str::trim) {
        let Some(method) = line.strip_prefix("fn ") else {
            docs += line;
            continue;
        };
        let name = method.split(['<', '(']).next().unwrap();
        assert!(docs.contains(&format!("figures/{name}.md")), "{name} shows no figure");
        assert!(docs.contains("# Examples"), "{name} has no example");
        let figure = read(&format!("src/ops/figures/{name}.md"));
        let begins = |with: &str| figure.lines().any(|line| line.starts_with(with));
        assert!(begins("in ") && (begins("out ") || begins("sink ")), "{name} shows no effect");
        assert!(figure.contains(&format!("| {name} |")), "{name} shows no place in a pipeline");
        docs.clear();
        operators += 1;
    }
    assert_eq!(operators, names("src/ops/figures", ".md").len(), "figures of no operator");
    for name in names("src/ops", ".rs") {
        let text = read(&format!("src/ops/{name}.rs"));
        if text.contains("operator!(") && text.contains("pub struct") {
            assert!(text.contains(&format!("figures/{name}.md")), "the page of {name} shows no figure");
        }
    }
}

#[test]
fn features_guides_and_examples_are_all_named() {
    let (manifest, readme, page) = (read("Cargo.toml"), read("README.md"), read("src/lib.rs"));
    let (_, features) = manifest.split_once("\n[features]\n").unwrap();
    let (features, _) = features.split_once("\n[").unwrap();
    let features = features.lines().filter(|line| !line.starts_with([' ', ']', '#']));
    for feature in features.filter_map(|line| line.split_once(" = ").map(|(name, _)| name)) {
        if feature != "default" {
            assert!(readme.contains(&format!("**`{feature}`**")), "the README has no paragraph on {feature}");
            assert!(page.contains(&format!("//! * `{feature}`")), "the crate page says nothing of {feature}");
        }
    }
    let guides = read("src/guides/mod.rs");
    for guide in names("src/guides", ".md") {
        assert!(readme.contains(&format!("src/guides/{guide}.md")), "the README does not name the guide {guide}");
        assert!(guides.contains(&format!("include_str!(\"{guide}.md\")")), "nothing shows the guide {guide}");
    }
    for example in names("examples", ".rs") {
        assert!(readme.contains(&format!("`{example}`")), "the README does not name the example {example}");
    }
}

/// Whoever pastes a piece of code has all of it: rustdoc hides some lines, other viewers show them as they stand.
#[test]
fn the_code_of_the_guides_can_be_pasted() {
    let mut programs = 0;
    for path in tried() {
        let text = read(&path);
        for piece in text.split("\n```").skip(1).step_by(2) {
            let (language, code) = piece.split_once('\n').unwrap_or((piece, ""));
            if !["rust", "rust,no_run"].contains(&language) {
                continue;
            }
            let hidden = |line: &str| line.trim_start() == "#" || line.trim_start().starts_with("# ");
            assert!(!code.lines().any(hidden), "{path}: a line is hidden: {code}");
            assert!(code.contains("fn main()"), "{path}: no program: {code}");
            programs += 1;
        }
    }
    assert!(programs > 20, "{programs}");
}

/// The versions that the texts tell a reader to depend on.
#[test]
fn dependencies_are_those_of_the_manifest() {
    let manifest = read("Cargo.toml");
    let told = |text: &str, name: &str| -> Vec<String> {
        let line = format!("\n{name} = ");
        let versions =
            text.split(&line).skip(1).filter_map(|rest| rest.lines().next()?.split('"').nth(1).map(str::to_owned));
        versions.filter(|version| version.starts_with(|first: char| first.is_ascii_digit())).collect()
    };
    let own = manifest.split("\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let mut versions = 0;
    for path in tried() {
        let text = read(&path);
        for name in ["listwatch", "k8s-openapi", "kube-runtime"] {
            let ours = if name == "listwatch" { own.to_owned() } else { told(&manifest, name).remove(0) };
            for version in told(&text, name) {
                assert!(ours.starts_with(&version), "{path}: {name} {version}, and {ours} in Cargo.toml");
                versions += 1;
            }
        }
    }
    assert!(versions > 5, "{versions}");
}

#[test]
fn the_rooms_exist() {
    let text = read("CONTRIBUTING.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|word| ["src/", "tests/", "benches/"].iter().any(|room| word.starts_with(room)));
    let mut rooms = 0;
    for path in paths.filter(|path| !path.contains("NAME") && !path.contains(' ')) {
        assert!(root.join(path).exists(), "CONTRIBUTING.md names {path}");
        rooms += 1;
    }
    assert!(rooms > 40, "{rooms}");
}
