//! `cargo palisade` on a package: it asks, shows the fences that are missing, puts them in, and
//! finds the package robust.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use crate::lsp::client::Client;
use serde_json::json;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "\
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub struct Door {
    left: AtomicBool,
    right: AtomicBool,
    inside: AtomicBool,
}

impl Door {
    pub fn left(&self) {
        self.left.store(true, Ordering::Release);
        if !self.right.load(Ordering::Acquire) {
            self.inside();
        }
    }

    pub fn right(&self) {
        self.right.store(true, Ordering::Release);
        if !self.left.load(Ordering::Acquire) {
            self.inside();
        }
    }

    fn inside(&self) {
        assert!(!self.inside.swap(true, Ordering::AcqRel));
        self.inside.store(false, Ordering::Release);
    }
}
";

const HARNESS: &str = "\
use door::Door;
use palisade_harness::{Harness, share};

#[test]
fn door() {
    let door = share(Door::default());
    Harness::new().role(\"left\", 1, || door.left()).role(\"right\", 1, || door.right()).check();
}
";

/// A package with a harness.
fn package(folder: &Path) {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-harness");
    let manifest = format!(
        "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\npalisade-harness = {{ path = {:?} }}\n\n[workspace]\n",
        harness.display().to_string()
    );
    for (path, text) in [("Cargo.toml", manifest.as_str()), ("src/lib.rs", LIBRARY), ("tests/robust.rs", HARNESS)] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    }
}

fn cargo_palisade(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-palisade"));
    command.arg("palisade").args(arguments).current_dir(folder).env_remove("CARGO_TARGET_DIR");
    let output = command.output().expect("it starts");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
    )
}

#[test]
fn cargo_palisade_repairs_a_package() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path());
    let (code, text) = cargo_palisade(folder.path(), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("lib.rs:12") && text.contains("self.left.store(true, Ordering::Release);"), "{text}");
    // The two who are inside at once is what the assertion forbids.
    assert!(text.contains("fail") && !text.contains("unreached"), "{text}");
    let mut editor = Editor::open(&folder.path().join("tests/robust.rs"));
    let verdict = editor.lens();
    assert!(verdict.starts_with("violated under TSO, not robust") && verdict.ends_with(", as last built"), "{verdict}");
    let (_, found) = editor.client.diagnostics(&editor.uri);
    assert!(found.iter().any(|own| own["code"] == "not-robust" && own["range"]["start"]["line"] == 4), "{found:?}");
    let failure = found.iter().find(|own| own["code"] == "property-violated").expect("the assertion");
    assert!(failure["message"].as_str().is_some_and(|own| own.starts_with("`fail` at left lib.rs:26")), "{failure}");
    // Steps stand in the sources that they come from.
    let steps = failure["relatedInformation"].as_array().expect("steps");
    let first = &steps[0]["location"];
    assert!(first["uri"].as_str().is_some_and(|own| own.ends_with("/src/lib.rs")), "{first}");
    assert_eq!(first["range"]["start"]["line"], 11, "{first}");
    let (code, text) = cargo_palisade(folder.path(), &["--diff"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text.matches("+        core::sync::atomic::fence(Ordering::SeqCst);").count(), 2, "{text}");
    let (code, text) = cargo_palisade(folder.path(), &["--apply"]);
    assert_eq!(code, Some(0), "{text}");
    let library = std::fs::read_to_string(folder.path().join("src/lib.rs")).expect("it is readable");
    assert_eq!(library.matches("fence(Ordering::SeqCst);").count(), 2, "{library}");
    let (code, text) = cargo_palisade(folder.path(), &[]);
    assert_eq!(code, Some(0), "{text}");
    // The editor hears of other snapshots, and of other sources.
    while !editor.lens().starts_with("holds under TSO, robust") {}
    assert!(editor.client.diagnostics(&editor.uri).1.is_empty());
    std::fs::write(folder.path().join("src/lib.rs"), format!("{library}// Another text\n")).expect("it is writable");
    while editor.lens() != "changed since the last verdict: run `cargo palisade`" {}
    editor.client.change(&editor.uri, 2, json!([{ "text": format!("// Another text\n{HARNESS}") }]));
    assert_eq!(editor.client.until(&editor.uri, 2, "checked"), "changed since the last verdict: run `cargo palisade`");
    assert_eq!(editor.client.leave(), Some(0));
}

/// A source that is open in an editor.
struct Editor {
    client: Client,
    uri: String,
}

impl Editor {
    fn open(path: &Path) -> Self {
        let uri = format!("file://{}", path.display());
        let mut client = Client::new(json!({}));
        client.open(&uri, "rust", &std::fs::read_to_string(path).expect("it is readable"));
        Self { client, uri }
    }

    /// What stands above the only harness the next time that something is known.
    fn lens(&mut self) -> String {
        self.client.until(&self.uri, 1, "checked");
        let lenses = self.client.about("codeLens", &self.uri);
        assert_eq!(lenses.as_array().map(Vec::len), Some(1), "{lenses}");
        assert_eq!(lenses[0]["range"]["start"]["line"], 4, "{lenses}");
        lenses[0]["command"]["title"].as_str().expect("a title").to_owned()
    }
}

/// A test may check several harnesses: each has its verdict above the test.
#[test]
fn each_harness_of_a_test_has_its_verdict_in_the_editor() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path());
    let path = folder.path().join("tests/robust.rs");
    let alone = "let door = share(Door::default());\n    Harness::new().role(\"left\", 1, || door.left()).check();";
    let text = HARNESS.replace("    let door", &format!("    {alone}\n    let door"));
    std::fs::write(&path, text).expect("it is writable");
    let (code, text) = cargo_palisade(folder.path(), &[]);
    assert_eq!(code, Some(1), "{text}");
    let mut editor = Editor::open(&path);
    editor.client.until(&editor.uri, 1, "checked");
    let lenses = editor.client.about("codeLens", &editor.uri);
    let titles = lenses.as_array().expect("lines").iter().map(|lens| lens["command"]["title"].as_str());
    let titles: Vec<&str> = titles.map(|title| title.expect("a title")).collect();
    assert!(titles.len() == 2 && titles[0].contains("robust") && !titles[0].contains("not robust"), "{titles:?}");
    assert!(titles[1].starts_with("violated under TSO, not robust"), "{titles:?}");
    let (_, found) = editor.client.diagnostics(&editor.uri);
    assert!(found.iter().any(|own| own["code"] == "not-robust"), "{found:?}");
}

/// Harnesses that nobody has asked about yet say so, and other tests nothing.
#[test]
fn harnesses_without_a_snapshot_say_so_in_the_editor() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path());
    let path = folder.path().join("tests/robust.rs");
    std::fs::write(&path, format!("{HARNESS}\n#[test]\nfn other() {{}}\n")).expect("it is writable");
    let mut editor = Editor::open(&path);
    assert_eq!(editor.lens(), "no verdict yet: run `cargo palisade`");
    // Snapshots of a binary that is not made of this source are not its own.
    let store = folder.path().join("target/palisade/robust");
    std::fs::create_dir_all(&store).expect("it is writable");
    let image = store.join("robust");
    std::fs::write(image.with_extension("d"), "robust: tests/other.rs\n\ntests/other.rs:\n").expect("it is writable");
    std::fs::write(store.join("door.toml"), format!("image = {image:?}\nsnapshot = \"door.snapshot\"\n"))
        .expect("it is writable");
    assert_eq!(editor.lens(), "no verdict yet: run `cargo palisade`");
    assert_eq!(editor.client.leave(), Some(0));
}

const LOCK: &str = "\
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Default)]
pub struct Lock {
    taken: AtomicBool,
    count: AtomicU32,
}

impl Lock {
    pub fn section(&self) {
        while self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        let count = self.count.load(Ordering::Acquire);
        self.count.store(count ^ 1, Ordering::Release);
        self.taken.store(false, Ordering::Release);
    }

    pub fn look(&self) -> bool {
        self.taken.load(Ordering::Relaxed) && self.count.load(Ordering::Relaxed) > 0
    }
}
";

/// A harness among the unit tests of the library.
const INSIDE: &str = "
#[cfg(test)]
mod tests {
    use super::Lock;
    use palisade_harness::{Harness, share};

    #[test]
    fn lock() {
        let lock = share(Lock::default());
        Harness::new().role(\"worker\", .., || lock.section()).check();
    }
}
";

const LOOKED_AT: &str = "\
use door::Lock;
use palisade_harness::{Harness, share};

#[test]
fn looked_at() {
    let lock = share(Lock::default());
    Harness::new().role(\"worker\", .., || lock.section()).role(\"looker\", .., || _ = std::hint::black_box(lock.look())).check();
}
";

#[test]
fn cargo_palisade_asks_about_every_compilation() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path());
    let library = LOCK.to_owned() + INSIDE;
    for (path, text) in [("src/lib.rs", library.as_str()), ("tests/robust.rs", LOOKED_AT)] {
        std::fs::write(folder.path().join(path), text).expect("it is writable");
    }
    let (code, text) = cargo_palisade(folder.path(), &["--every-compilation"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("  source   also for every compilation (orderings suffice; source order checked)\n"),
        "{text}"
    );
    let not = "  source   not shown for every compilation: lib.rs:20:20: 3 Relaxed accesses; by its ordering, this load may come after the load at lib.rs:20:58\n";
    assert!(text.contains(not), "{text}");
    // Those among the unit tests are asked as well.
    assert!(text.contains("lock") && text.contains("looked_at"), "{text}");
    // Some tests leave the snapshots of others where they are, as long as the build is the same.
    let (code, text) = cargo_palisade(folder.path(), &["tests::lock", "--exact"]);
    assert!(code == Some(0) && !text.contains("looked_at"), "{text}");
    let others = folder.path().join("target/palisade/robust");
    let kept = [others.join("looked_at.toml"), others.join("unoptimised/looked_at.toml")];
    assert!(kept.iter().all(|file| file.exists()), "{text}");
    let (code, text) = cargo_palisade(folder.path(), &["--test", "robust"]);
    assert!(code == Some(0) && kept[1].exists(), "{text}");
    std::fs::write(folder.path().join("tests/robust.rs"), LOOKED_AT.replace("looked_at()", "seen()"))
        .expect("it is writable");
    let (code, text) = cargo_palisade(folder.path(), &["seen"]);
    assert!(code == Some(0) && !kept[0].exists(), "{text}");
    let (code, text) = cargo_palisade(folder.path(), &["robust"]);
    assert!(code == Some(2) && text.contains("Help: `--test robust` names the file of tests"), "{text}");
    let (_, text) = cargo_palisade(folder.path(), &["sen"]);
    assert!(text.contains("Help: did you mean `seen`?") || text.contains("robust"), "{text}");
}
