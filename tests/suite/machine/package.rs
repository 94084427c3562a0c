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
    let not = "  source   not for every compilation: lib.rs:20:20: 3 Relaxed accesses; this load may come after the load at lib.rs:20:58\n";
    assert!(text.contains(not), "{text}");
    // Those among the unit tests are asked as well.
    assert!(text.contains("lock") && text.contains("looked_at"), "{text}");
}
