//! What readers of machine code fall for: one test for each trap, by its name.
//!
//! Most are store buffering with something between store and load, in the images `traps` and
//! `vanish`; the others are refusals, and facts about reports. Two are the harness's: state that is
//! made at first use (5, `palisade-harness/tests/warm.rs`), and copies of roles that change what
//! they own (6, an example of `Harness::role` that must not compile).

use crate::{checked, documents};
use palisade::program::{Action, Program, Sites};
use palisade::robustness::{CheckOptions, Verdict};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn image(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images").join(name)
}

/// Writes a file of roles, one for each function, with as many copies.
fn roles(folder: &Path, image: &Path, functions: &[&str], copies: &str, repeat: bool) -> String {
    let mut text = format!("image = {:?}\n", image.display().to_string());
    for function in functions {
        text += &format!("[[role]]\nfunction = {function:?}\ncopies = {copies}\nrepeat = {repeat}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

fn read(name: &str, functions: &[&str], copies: &str, repeat: bool) -> Result<Program, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), &image(name), functions, copies, repeat);
    palisade::machine::read(&path).map_err(|error| error.render(false))
}

fn verdict_of(name: &str, functions: &[&str], copies: &str, repeat: bool) -> Verdict {
    let program = read(name, functions, copies, repeat).unwrap_or_else(|error| panic!("{functions:?}: {error}"));
    checked::check(&program, &CheckOptions::default())
        .unwrap_or_else(|fault| panic!("{functions:?}: {fault:?}"))
        .verdict
}

/// The verdict on two sides of store buffering.
fn pair(name: &str, between: &str) -> Verdict {
    verdict_of(name, &[&format!("{between}_left"), &format!("{between}_right")], "1", false)
}

/// What `check` says of code that is refused.
fn refusal(name: &str, functions: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), &image(name), functions, "1", false);
    let output = report(folder.path(), &["check", &path]);
    assert_eq!(output.status.code(), Some(2), "{functions:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it starts")
}

#[test]
fn trap_01_read_modify_writes_that_vanish_are_no_fences() {
    for (between, expected) in [
        ("or", Verdict::NotRobust),
        ("or_seqcst", Verdict::Robust),
        ("add_nothing", Verdict::NotRobust),
        ("add", Verdict::Robust),
        ("swap", Verdict::Robust),
        ("declined", Verdict::NotRobust),
        ("fence", Verdict::Robust),
        ("weak_fence", Verdict::NotRobust),
    ] {
        assert_eq!(pair("vanish-O3", between), expected, "{between}");
    }
}

#[test]
fn trap_02_locked_instructions_on_the_stack_are_fences() {
    assert_eq!(pair("traps", "plain"), Verdict::NotRobust);
    assert_eq!(pair("traps", "below_the_stack"), Verdict::Robust);
    assert_eq!(pair("traps", "on_a_local"), Verdict::Robust);
    assert_eq!(pair("traps", "unlocked_local"), Verdict::NotRobust);
}

#[test]
fn trap_03_the_stack_is_not_shared_and_shared_memory_is_no_stack() {
    // Without optimisation all variables are on stacks, which copies would share if they were
    // cells.
    let program = read("wake-O0", &["waiter", "waker"], "\"*\"", false).expect("is read");
    let mut cells: Vec<&str> = program.addresses.iter().map(|address| address.name.as_str()).collect();
    cells.sort_unstable();
    assert_eq!(cells, ["done", "state", "woken"]);
    // Each way to the store says where it goes.
    assert_eq!(verdict_of("traps", &["either", "counting"], "1", false), Verdict::Robust);
    let text = refusal("refused", &["stack_escapes"]);
    assert!(text.contains("stored where others can read it"), "{text}");
}

#[test]
fn trap_04_an_answer_is_about_one_build() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut claims = Vec::new();
    for level in ["O1", "O2"] {
        roles(folder.path(), &image(&format!("spin-{level}")), &["worker"], "\"*\"", true);
        let output = report(folder.path(), &["check", "roles.toml", "--json"]);
        let document = documents::read(&output.stdout);
        assert_eq!(document["claim"]["statement"], "for this machine code", "{document}");
        claims.push(document["claim"]["files"].clone());
    }
    assert_ne!(claims[0], claims[1], "the images have digests of their own");
}

#[test]
fn trap_07_landing_pads_are_not_gone_to() {
    let program = read("traps", &["cleaning_up"], "\"*\"", true).expect("is read");
    assert!(!program.source.text.contains("_Unwind_Resume"), "{}", program.source.text);
    assert!(program.addresses.iter().all(|address| address.name != "z"), "only a landing pad stores to z");
    assert_eq!(verdict_of("traps", &["cleaning_up"], "\"*\"", true), Verdict::Robust);
}

/// What is counted between two attempts is nobody's value, whether memory is looked at meanwhile or
/// not.
#[test]
fn trap_08_counters_of_spins_are_no_growing_values() {
    for role in ["backing_off", "spinning"] {
        assert_eq!(verdict_of("traps", &[role], "\"*\"", true), Verdict::Robust);
    }
}

#[test]
fn trap_09_roles_are_found_by_address() {
    let names = ["one_name", "another_name"];
    let programs = names.map(|name| read("traps", &[name], "2", false).expect("is read"));
    let place = |program: &Program| {
        let lines = program.source.text.lines().filter(|line| line.contains("traps.c"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(place(&programs[0]), place(&programs[1]), "both names are of the same code");
    let line = programs[0].source.text.lines().find(|line| line.contains("traps.c")).expect("an instruction");
    let address = format!("0x{}", line.split_whitespace().next().expect("an address"));
    let by_address = read("traps", &[&address], "2", false).expect("is read");
    assert_eq!(place(&by_address), place(&programs[0]));
}

#[test]
fn trap_10_a_comparison_that_fails_is_a_fence() {
    assert_eq!(pair("traps", "failing"), Verdict::Robust);
}

#[test]
fn trap_11_accesses_across_cells_are_several() {
    let program = read("refused", &["sixteen_bytes"], "2", false).expect("is read");
    let stores = program.threads[0].instructions.iter().filter(|own| matches!(own.action, Action::Store { .. }));
    let cells: std::collections::BTreeSet<_> =
        stores.filter_map(|own| own.action.address()?.evaluate_address(&[]).ok()).collect();
    assert_eq!(cells.len(), 2, "{}", program.source.text);
    assert!(program.source.text.contains("\nhalves "), "{}", program.source.text);
    let text = refusal("refused", &["mixed_sizes"]);
    assert!(text.contains("stores of different sizes to the same bytes"), "{text}");
}

#[test]
fn trap_12_instructions_around_the_caches_are_refused() {
    for (function, why) in [("repeats", "repeat"), ("flushes", "clflush"), ("goes_around", "movnti")] {
        let text = refusal("traps", &[function]);
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn trap_13_the_system_fences_only_where_it_is_called() {
    assert_eq!(pair("traps", "without_call"), Verdict::NotRobust);
    assert_eq!(pair("traps", "with_call"), Verdict::Robust);
}

#[test]
fn trap_14_addresses_do_not_reach_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = ["traps", "traps-moved"].map(|name| {
        roles(folder.path(), &image(name), &["plain_left", "plain_right", "by_table"], "\"*\"", true);
        let text = String::from_utf8(report(folder.path(), &["check", "roles.toml"]).stdout).expect("a report");
        text.lines().filter(|line| !line.contains("SHA-256")).map(str::to_owned).collect::<Vec<_>>().join("\n")
    });
    assert!(answers[0].contains("violation: "), "{}", answers[0]);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn trap_15_snapshots_stay_in_the_target_folder_and_the_command_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-palisade")).arg("--help").output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("a text");
    assert!(text.contains("Snapshots stay in target/palisade"), "{text}");
}

#[test]
fn trap_16_the_first_load_of_a_loop_around_cmpxchg_is_no_access() {
    for (roles, loops) in [(["left", "right"], true), (["declining_left", "right"], false)] {
        let program = read("guess-O2", &roles, "1", false).expect("is read");
        let first = program.source.text.split("\nrole ").nth(1).expect("a role");
        assert_eq!(first.contains("read as one locked instruction"), loops, "{first}");
    }
}

/// Both roles run one function, which was inlined: labels of two threads come from one position,
/// and one fence in the source is before both.
#[test]
fn trap_17_a_position_with_several_labels_costs_one_fence() {
    let folder = tempfile::tempdir().expect("a folder");
    let functions = ["lock_left", "lock_right"];
    let program = read("peterson-weak-O2", &functions, "1", true).expect("is read");
    roles(folder.path(), &image("peterson-weak-O2"), &functions, "1", true);
    let document = documents::read(&report(folder.path(), &["fences", "roles.toml", "--json"]).stdout);
    assert_eq!((&document["cost"], &document["optimal"]), (&1.0.into(), &true.into()), "{document}");
    let fence = &document["fences"][0];
    let thread = program.thread_ids().find(|(_, thread)| fence["thread"] == thread.name.as_str()).expect("a thread");
    let label = fence["label"].as_str().and_then(|name| thread.1.label_named(name)).expect("a label");
    let labels = Sites::of(&program).labels(thread.0, label);
    assert!(labels.iter().any(|(other, _)| *other != thread.0), "{labels:?}");
}

/// Functions called by their addresses, and tables of jumps: control goes where runs have shown,
/// and the search shows that it goes nowhere else.
#[test]
fn addresses_of_code_are_followed() {
    // The handler changes while it is called.
    let program = read("traps", &["turning", "handling"], "1", true).expect("is read");
    assert!(["first", "second"].iter().all(|_| program.source.text.contains("traps.c:")), "{}", program.source.text);
    assert_eq!(verdict_of("traps", &["turning", "handling"], "2", true), Verdict::NotRobust);
    assert_eq!(verdict_of("traps", &["turning", "handling"], "1", true), Verdict::Robust);
    assert_eq!(verdict_of("traps", &["by_table", "counting"], "1", false), Verdict::Robust);
    assert_eq!(verdict_of("traps", &["by_table", "counting"], "2", false), Verdict::NotRobust);
    assert_eq!(verdict_of("traps", &["switching", "counting"], "3", false), Verdict::Robust);
}
