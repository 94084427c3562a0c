//! Repairs of orderings in Rust and C sources: `fences --model c11` and `orderings` propose
//! patches, apply them, build, and check again.

use super::source_orderings::{build, build_c};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "#![no_std]
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
static LOCK: AtomicBool = AtomicBool::new(false);
static mut DATA: u32 = 0;
static LEFT: AtomicU32 = AtomicU32::new(0);
static RIGHT: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern \"C\" fn locks() {
    while LOCK.compare_exchange(false, true, Relaxed, Relaxed).is_err() {}
    unsafe { DATA ^= 1 };
    LOCK.store(false, Relaxed);
}

#[unsafe(no_mangle)]
pub extern \"C\" fn left() {
    LEFT.store(1, Ordering::SeqCst);
    RIGHT.load(Ordering::Relaxed);
}

#[unsafe(no_mangle)]
pub extern \"C\" fn right() {
    RIGHT.store(1, Ordering::SeqCst);
    LEFT.load(Ordering::Relaxed);
}

fn set(order: Ordering) {
    LEFT.store(1, order);
}

macro_rules! look {
    () => {
        LEFT.load(Relaxed)
    };
}

#[unsafe(no_mangle)]
pub extern \"C\" fn sends() {
    unsafe { DATA = 7 };
    set(Relaxed);
}

#[unsafe(no_mangle)]
pub extern \"C\" fn receives() {
    if look!() == 1 {
        unsafe { (&raw const DATA).read() };
    }
}

#[unsafe(no_mangle)]
pub extern \"C\" fn strong_sends() {
    unsafe { DATA = 7 };
    fence(SeqCst);
    RIGHT.store(1, SeqCst);
}

#[unsafe(no_mangle)]
pub extern \"C\" fn strong_receives() {
    if RIGHT.load(SeqCst) == 1 {
        fence(Acquire);
        unsafe { (&raw const DATA).read() };
    }
}

#[unsafe(no_mangle)]
pub extern \"C\" fn unused() {
    fence(Release);
}
";

/// A file of roles, the first with so many copies, the others with any number.
fn roles(folder: &Path, functions: &[&str], first: &str) {
    let mut text = "image = \"all\"\norderings = true\nbuild = \"sh build.sh\"\n".to_owned();
    for (number, function) in functions.iter().enumerate() {
        let copies = if number == 0 { first } else { "*" };
        let copies = if copies == "*" { "\"*\"" } else { copies };
        let _ = write!(text, "[[role]]\nfunction = {function:?}\ncopies = {copies}\n");
    }
    std::fs::write(folder.join("roles.toml"), text).expect("it is written");
}

/// Asks about the roles.
fn palisade(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    run(folder, &[words, &["roles.toml"]].concat())
}

fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(words).current_dir(folder).output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    (output.status.code(), text.concat())
}

/// What is left of the source, and what came.
fn difference(folder: &Path) -> Vec<String> {
    let after = std::fs::read_to_string(folder.join("all.rs")).expect("it is there");
    let (before, after): (Vec<&str>, Vec<&str>) = (SOURCE.lines().collect(), after.lines().collect());
    let gone = before.iter().filter(|line| !after.contains(line)).map(|line| format!("-{}", line.trim()));
    let come = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+{}", line.trim()));
    gone.chain(come).collect()
}

#[needs::command("gcc --version")]
#[test]
fn orderings_of_sources_are_repaired() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, SOURCE);

    roles(folder, &["locks"], "*");
    // Of x86 nothing is said: this is not the code that runs there.
    for words in [&["check"][..], &["prove"], &["fences"], &["witness"], &["simulate"]] {
        let (code, text) = palisade(folder, words);
        assert!(code == Some(2) && text.contains("say nothing of the store buffers of x86"), "{words:?}: {text}");
    }
    let (code, text) = palisade(folder, &["fences", "--model", "c11", "--certificate", "evidence"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("roles.toml: 2 changes for robustness against C11, no fewer and none weaker\n"), "{text}");
    assert!(text.contains("  change   acquire at all.rs:11:16\n"), "{text}");
    assert!(text.contains("  proposed changes of the sources, not yet built and checked again\n"), "{text}");
    let (code, text) = run(folder, &["verify", "evidence/roles.toml.repair.json"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = palisade(folder, &["fences", "--model", "c11", "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("roles.toml: robust against C11\n"), "{text}");
    let changes = [
        "-while LOCK.compare_exchange(false, true, Relaxed, Relaxed).is_err() {}",
        "-LOCK.store(false, Relaxed);",
        "+while LOCK.compare_exchange(false, true, Acquire, Relaxed).is_err() {}",
        "+LOCK.store(false, Release);",
    ];
    assert_eq!(difference(folder), changes);

    // A fence orders what orderings do not.
    build(folder, SOURCE);
    roles(folder, &["left", "right"], "*");
    let (code, text) = palisade(folder, &["fences", "--model", "c11", "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("roles.toml: robust against C11\n"), "{text}");
    let changes = [
        "-RIGHT.load(Ordering::Relaxed);",
        "-LEFT.load(Ordering::Relaxed);",
        "+RIGHT.load(Ordering::SeqCst);",
        "+LEFT.load(Ordering::SeqCst);",
    ];
    assert_eq!(difference(folder), changes);
}

/// Where the source has no room for an ordering, that is said, and other changes are found.
#[needs::command("gcc --version")]
#[test]
fn what_the_source_does_not_take_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, SOURCE);
    roles(folder, &["sends", "receives"], "1");
    let (code, text) = palisade(folder, &["fences", "--model", "c11", "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 changes for robustness") && text.contains("roles.toml: robust against C11\n"), "{text}");
    assert!(
        text.contains("  kept     all.rs:29:10: no constant stands in the place of the ordering of `store`\n"),
        "{text}"
    );
    assert!(text.contains("  kept     all.rs:34:14: no call of a method stands there"), "{text}");
    let changes = ["+fence(Ordering::SeqCst);", "+unsafe { fence(Ordering::SeqCst); (&raw const DATA).read() };"];
    assert_eq!(difference(folder), changes);
}

#[needs::command("gcc --version")]
#[test]
fn orderings_of_sources_are_weakened() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder, SOURCE);
    roles(folder, &["strong_sends", "strong_receives"], "1");
    let (code, text) = palisade(folder, &["orderings", "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("roles.toml: robust against C11, and "), "{text}");
    assert!(text.contains("roles.toml: robust against C11\n"), "{text}");
    let changes = difference(folder);
    assert!(changes.contains(&"-fence(SeqCst);".to_owned()), "{changes:?}");
    assert!(changes.contains(&"+RIGHT.store(1, Release);".to_owned()), "{changes:?}");
}

const C_SOURCE: &str = "#include <stdatomic.h>
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic unsigned left, right, ready, count;
static unsigned data;

void locks(void) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_relaxed)) {}
    data ^= 1;
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
}

void goes_left(void) {
    atomic_store_explicit(&left, 1, memory_order_release);
    (void)atomic_load_explicit(&right, memory_order_acquire);
}

void goes_right(void) {
    atomic_store_explicit(&right, 1, memory_order_seq_cst);
    (void)atomic_load_explicit(&left, memory_order_seq_cst);
}

void sends(void) {
    data = 7;
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}

void receives(void) {
    if (atomic_load_explicit(&ready, memory_order_consume))
        (void)*(volatile unsigned *)&data;
}

void counts(void) {
    count |= 1;
}
";

#[needs::command("gcc --version")]
#[test]
fn orderings_of_c_are_repaired() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build_c(folder, "gcc", C_SOURCE);
    let changed = |apply: &[&str]| {
        let (code, text) = palisade(folder, apply);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("roles.toml: robust against C11\n"), "{text}");
        let after = std::fs::read_to_string(folder.join("all.c")).expect("it is there");
        std::fs::write(folder.join("all.c"), C_SOURCE).expect("it is writable");
        after
    };

    roles(folder, &["locks"], "*");
    let (code, text) = palisade(folder, &["check", "--model", "c11"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("all.c:8") && text.contains("racy"), "{text}");
    let text = C_SOURCE.replace(
        "test_and_set_explicit(&lock, memory_order_relaxed)",
        "test_and_set_explicit(&lock, memory_order_acquire)",
    );
    let text =
        text.replace("clear_explicit(&lock, memory_order_relaxed)", "clear_explicit(&lock, memory_order_release)");
    assert_eq!(changed(&["fences", "--model", "c11", "--apply"]), text);

    roles(folder, &["goes_left", "goes_right"], "1");
    // One fence is fewer than two orderings.
    let load = "    (void)atomic_load_explicit(&right, memory_order_acquire);\n";
    let text = C_SOURCE.replace(load, &format!("    atomic_thread_fence(memory_order_seq_cst);\n{load}"));
    assert_eq!(changed(&["fences", "--model", "c11", "--apply"]), text);

    // What is consumed is acquired.
    roles(folder, &["sends", "receives"], "1");
    let (code, text) = palisade(folder, &["check", "--model", "c11"]);
    assert_eq!(code, Some(0), "{text}");
}

/// An operator says no ordering in its code: what rests on that is unknown.
#[needs::command("gcc --version")]
#[test]
fn operators_of_c_have_no_ordering() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build_c(folder, "gcc", C_SOURCE);
    roles(folder, &["counts"], "*");
    let (code, text) = palisade(folder, &["check", "--model", "c11"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("all.c:33:11: an operator or assembly makes it"), "{text}");
    assert!(text.contains("all.c:33:11: it is a load of plain data, or one by an operator"), "{text}");
}

/// C that was not read with the header has no orderings.
#[needs::command("gcc --version")]
#[test]
fn c_without_the_header_counts_as_relaxed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build_c(folder, "gcc", C_SOURCE);
    let script = std::fs::read_to_string(folder.join("build.sh")).expect("it is there");
    let (before, behind) = script.split_once("-include '").expect("the header is read");
    let without = format!("{before}{}", behind.split_once('\'').expect("the path ends").1);
    std::fs::write(folder.join("build.sh"), without).expect("it is writable");
    let built = Command::new("sh").arg("build.sh").current_dir(folder).status().expect("it starts");
    assert!(built.success());
    roles(folder, &["sends", "receives"], "1");
    let (code, text) = palisade(folder, &["check", "--model", "c11"]);
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("neither Rust nor read with palisade_atomics.h"), "{text}");
}

const CPP_SOURCE: &str = "#include <atomic>
static std::atomic<bool> taken;
static std::atomic<unsigned> ready;
static int data;

extern \"C\" void locks() {
    bool free = false;
    while (!taken.compare_exchange_weak(free, true, std::memory_order_acquire, std::memory_order_relaxed))
        free = false;
    data ^= 1;
    taken.store(false, std::memory_order_release);
}

extern \"C\" void forgets() {
    data ^= 1;
    ready.store(1, std::memory_order_relaxed);
}
";

/// Both compilers of C++ leave the orderings of `std::atomic` to be read.
fn orderings_of_cpp_are_read(compiler: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build_c(folder, &format!("{compiler} -x c++ -std=c++17 -fno-exceptions"), CPP_SOURCE);
    for (function, code, words) in [("locks", 0, "robust against C11"), ("forgets", 1, "racy, which is undefined")] {
        roles(folder, &[function], "*");
        let (found, text) = palisade(folder, &["check", "--model", "c11"]);
        assert!(found == Some(code) && text.contains(words), "{compiler}, {function}: {text}");
    }
}

#[needs::command("g++ --version")]
#[test]
fn orderings_of_gcc_cpp_are_read() {
    orderings_of_cpp_are_read("g++");
}

#[needs::command("clang++ --version")]
#[test]
fn orderings_of_clang_cpp_are_read() {
    orderings_of_cpp_are_read("clang++");
}
