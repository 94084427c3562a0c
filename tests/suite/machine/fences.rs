//! Fences for machine code are changes of its sources: each counts once, is shown with its line,
//! and is written, built and checked again.

use crate::documents;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

fn images() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images")
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it starts")
}

/// A file of roles about an image, with lines before the roles.
fn roles(folder: &Path, image: &str, before: &str, roles: &str) {
    std::fs::write(folder.join("roles.toml"), format!("image = {image:?}\n{before}\n{roles}")).expect("it is writable");
}

const PETERSON: &str =
    "[[role]]\nfunction = \"lock_left\"\nrepeat = true\n[[role]]\nfunction = \"lock_right\"\nrepeat = true\n";
const WAKE: &str = "[[role]]\nfunction = \"waiter\"\ncopies = \"*\"\n[[role]]\nfunction = \"waker\"\ncopies = \"*\"\n";

/// Both sides of Peterson's algorithm are one function, inlined twice; loops are rotated: the fence
/// is one all the same.
#[test]
fn a_place_that_was_copied_needs_one_fence() {
    for (name, of, line) in [("peterson-weak", PETERSON, 16), ("wake", WAKE, 17)] {
        for level in ["O0", "O1", "O2", "O3", "Os"] {
            let folder = tempfile::tempdir().expect("a folder");
            roles(folder.path(), &images().join(format!("{name}-{level}")).display().to_string(), "", of);
            let output = palisade(folder.path(), &["fences", "roles.toml", "--json", "--certificate", "out"]);
            let document = documents::read(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{name} {level}: {document}");
            assert_eq!((&document["cost"], &document["optimal"]), (&1.0.into(), &true.into()), "{name} {level}");
            let source = &document["fences"][0]["source"];
            if level == "O2" {
                assert_eq!(source["line"], line, "{document}");
            }
            assert!(source["text"].as_str().is_some_and(|text| text.contains("atomic_")), "{name} {level}: {document}");
            let evidence: Vec<PathBuf> = std::fs::read_dir(folder.path().join("out"))
                .expect("it was written")
                .map(|file| file.expect("a file").path())
                .collect();
            assert!(!evidence.is_empty());
            for file in evidence {
                let verified = palisade(folder.path(), &["verify", &file.display().to_string()]);
                assert_eq!(verified.status.code(), Some(0), "{name} {level}: {verified:?}");
            }
        }
    }
}

#[test]
fn the_patch_is_about_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    roles(folder.path(), &images().join("wake-O2").display().to_string(), "", WAKE);
    let text = String::from_utf8(palisade(folder.path(), &["fences", "roles.toml", "--diff"]).stdout).expect("a patch");
    let added: Vec<&str> = text.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
    assert_eq!(added, ["+    atomic_thread_fence(memory_order_seq_cst);"], "{text}");
    assert!(text.contains("     unsigned seen = atomic_load_explicit(&state, memory_order_relaxed);"), "{text}");
    let text = palisade(folder.path(), &["fences", "roles.toml", "--diff", "--with", "xchg=0.5"]).stdout;
    let text = String::from_utf8(text).expect("a patch");
    assert!(text.contains("+    atomic_store_explicit(&done, true, memory_order_seq_cst);"), "{text}");
    let output = palisade(folder.path(), &["fences", "roles.toml", "--apply"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("do not say how the image is built"), "{message}");
}

/// The fence that wakes somebody for certain is a change of the source, too.
#[test]
fn the_patch_against_hangs_is_about_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = WAKE.replace("\"*\"", "1");
    roles(folder.path(), &images().join("wake-O2").display().to_string(), "", &one);
    let words = ["fences", "roles.toml", "--ask", "hangs"];
    let output = palisade(folder.path(), &words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("  proposed changes of the sources, not yet built and checked again\n"), "{text}");
    let patch = palisade(folder.path(), &[&words[..], &["--diff"]].concat());
    let patch = String::from_utf8(patch.stdout).expect("a patch");
    assert!(patch.contains("\n+    atomic_thread_fence(memory_order_seq_cst);\n") && text.ends_with(&patch), "{patch}");
}

/// A source that has changed since the build is no place for a patch.
#[test]
fn changed_sources_are_told_and_not_patched() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["wake-O2", "wake.c"] {
        std::fs::copy(images().join(file), folder.path().join(file)).expect("it is copied");
    }
    roles(folder.path(), "wake-O2", "", WAKE);
    let said = |words: &[&str]| {
        let output = palisade(folder.path(), words);
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text.into_owned())
    };
    let (_, text) = said(&["check", "roles.toml"]);
    assert!(!text.contains("has changed"), "{text}");
    let source = std::fs::OpenOptions::new().append(true).open(folder.path().join("wake.c")).expect("it is there");
    source.set_modified(SystemTime::now() + Duration::from_secs(60)).expect("it is ours");
    let (_, text) = said(&["check", "roles.toml"]);
    assert!(text.contains("wake.c` has changed since `wake-O2` was built"), "{text}");
    let why = "wake.c has changed since `wake-O2` was built: build first";
    let (code, text) = said(&["fences", "roles.toml"]);
    assert!(code == Some(0) && text.contains(why) && !text.contains("+    atomic_thread_fence"), "{text}");
    let (code, text) = said(&["fences", "roles.toml", "--diff"]);
    assert!(code == Some(2) && text.contains(why), "{text}");
    // Where orderings are read in the source, there is no answer.
    roles(folder.path(), "wake-O2", "source_order = true", WAKE);
    let (code, text) = said(&["check", "roles.toml"]);
    assert!(code == Some(2) && text.contains("and its orderings are read in it"), "{text}");
}

/// The patch that the guide shows is the one that the command prints.
#[test]
fn the_patch_of_the_guide_is_real() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/check-your-own-code.md");
    let page = std::fs::read_to_string(page).expect("the page can be read");
    let (_, shown) = page.split_once("```diff\n").expect("a patch");
    let (shown, _) = shown.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["wake-O2", "wake.c"] {
        std::fs::copy(images().join(file), folder.path().join(file)).expect("it is copied");
    }
    roles(folder.path(), "wake-O2", "", WAKE);
    let output = palisade(folder.path(), &["fences", "roles.toml", "--diff"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "{}", String::from_utf8_lossy(&output.stderr));
}

/// Each copy has a slot of its own and a fence: control flow rules all attacks out, if all slots
/// are known. More copies than any execution of the reader's has are refused, with the line, by
/// `fences` as by `check`.
#[test]
fn control_flow_says_nothing_where_addresses_are_not_known() {
    for (copies, code) in [("3", 0), ("12", 2)] {
        let folder = tempfile::tempdir().expect("a folder");
        let crowd = format!("[[role]]\nfunction = \"crowd\"\ncopies = {copies}\n");
        roles(folder.path(), &images().join("rare").display().to_string(), "", &crowd);
        for command in ["check", "fences"] {
            let output = palisade(folder.path(), &[command, "roles.toml"]);
            let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{command} {copies}: {text}");
            let why = "an address is computed which is none of the cells that executions of the roles have shown";
            assert_eq!(text.contains(why) && text.contains("rare.c:35"), code == 2, "{command} {copies}: {text}");
        }
    }
}

const BUILD: &str = "gcc -O2 -g -ffreestanding -fcf-protection=none -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pie \
    -no-pie -nostdlib -static -fno-jump-tables -Wl,-e,0 wake.c -o wake";

/// What no property needs may be needed so that nobody waits for ever, which is another question.
#[needs::command("gcc --version")]
#[test]
fn fences_that_no_property_needs_may_wake_somebody() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(images().join("wake.c")).expect("the source is there");
    let text = text + "void waker_that_may_fail(void) { waker(); if (atomic_load(&woken) > 1) __builtin_trap(); }\n";
    std::fs::write(folder.path().join("wake.c"), text).expect("it is writable");
    let built = Command::new("sh").args(["-c", BUILD]).current_dir(folder.path()).status().expect("it starts");
    assert!(built.success());
    let may_fail = WAKE.replace("\"*\"", "1").replace("\"waker\"", "\"waker_that_may_fail\"");
    for (role, words) in [
        (may_fail.as_str(), "  needed   by no property: proved under TSO\n  not asked here: hangs (`--ask hangs`)\n"),
        (WAKE, "  repaired robust\n  proposed"),
    ] {
        roles(folder.path(), "wake", "", role);
        let output = palisade(folder.path(), &["fences", "roles.toml"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(0) && text.contains(words), "{text}");
    }
    // Without traps and assertions in the code there is nothing to prove.
    let output = palisade(folder.path(), &["prove", "roles.toml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("roles.toml: nothing is stated: in the code as it was read, no way leads"), "{text}");
}

#[needs::command("gcc --version")]
#[test]
fn what_is_applied_is_built_and_checked_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("wake.c");
    std::fs::copy(images().join("wake.c"), &source).expect("the source is there");
    let built = Command::new("sh").args(["-c", BUILD]).current_dir(folder.path()).status().expect("it starts");
    assert!(built.success());
    roles(folder.path(), "wake", &format!("build = {BUILD:?}"), WAKE);
    let output = palisade(folder.path(), &["fences", "roles.toml", "--apply"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("proposed") && text.contains("roles.toml: robust\n"), "{text}");
    let changed = std::fs::read_to_string(&source).expect("it is readable");
    let before = std::fs::read_to_string(images().join("wake.c")).expect("it is readable");
    assert_eq!(changed.matches("atomic_thread_fence").count(), before.matches("atomic_thread_fence").count() + 1);
    // A build that fails leaves the sources as they were.
    std::fs::write(&source, &before).expect("it is writable");
    let built = Command::new("sh").args(["-c", BUILD]).current_dir(folder.path()).status().expect("it starts");
    assert!(built.success());
    roles(folder.path(), "wake", "build = \"exit 7\"", WAKE);
    let output = palisade(folder.path(), &["fences", "roles.toml", "--apply"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(std::fs::read_to_string(&source).expect("it is readable"), before);
}
