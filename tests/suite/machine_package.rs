//! `cargo palisade` on a package: it asks, shows the fences that are missing, puts them in, and finds the package robust.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

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
    assert!(text.contains("fail"), "{text}");
    let (code, text) = cargo_palisade(folder.path(), &["--diff"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text.matches("+        core::sync::atomic::fence(Ordering::SeqCst);").count(), 2, "{text}");
    let (code, text) = cargo_palisade(folder.path(), &["--apply"]);
    assert_eq!(code, Some(0), "{text}");
    let library = std::fs::read_to_string(folder.path().join("src/lib.rs")).expect("it is readable");
    assert_eq!(library.matches("fence(Ordering::SeqCst);").count(), 2, "{library}");
    let (code, text) = cargo_palisade(folder.path(), &[]);
    assert_eq!(code, Some(0), "{text}");
}
