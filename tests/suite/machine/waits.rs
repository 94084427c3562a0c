//! Machine code that sleeps, wakes sleepers and spins: who waits for ever, and who may.

use crate::checked;
use palisade::hangs::{HangOptions, Verdict};
use palisade::program::{Patience, Program};
use palisade::semantics::Model;
use std::path::Path;
use std::process::Command;

/// The program of roles, each `function copies` with what else its table says.
fn lifted(heading: &str, roles: &[(&str, &str)]) -> Result<Program, String> {
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images/sleep");
    lifted_of(&image, heading, roles)
}

/// The same of another image.
fn lifted_of(image: &Path, heading: &str, roles: &[(&str, &str)]) -> Result<Program, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = format!("image = {:?}\n{heading}\n", image.display().to_string());
    for (function, rest) in roles {
        text += &format!("[[role]]\nfunction = \"{function}\"\n{rest}\n");
    }
    let path = folder.path().join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    palisade::machine::read(&path.display().to_string()).map_err(|error| error.render(false))
}

/// `free` or `stuck`, with evidence that is accepted.
fn answer(program: &Program, options: &HangOptions) -> &'static str {
    let found = checked::hangs(program, options).expect("every step has a meaning");
    match found.unwrap_or_else(|failure| panic!("the evidence is rejected: {failure}")).verdict {
        Verdict::Free(_) => "free",
        Verdict::Stuck(_) => "stuck",
        Verdict::Unknown(why) => panic!("{}", why.words()),
    }
}

/// What roles do under SC and under TSO.
fn answers(roles: &[(&str, &str)]) -> [&'static str; 2] {
    let program = lifted("", roles).unwrap_or_else(|error| panic!("{error}"));
    [Model::Sc, Model::Tso].map(|model| answer(&program, &HangOptions::new(model)))
}

#[test]
fn who_waits_for_ever_in_machine_code() {
    let any = "copies = \"*\"";
    assert_eq!(answers(&[("publish", ""), ("sleeper", "")]), ["free", "stuck"]);
    assert_eq!(answers(&[("publish_fenced", ""), ("sleeper", "")]), ["free", "free"]);
    // The signal is one for all sleepers.
    assert_eq!(answers(&[("publish_fenced", ""), ("sleeper", "copies = 2")])[0], "stuck");
    assert_eq!(answers(&[("publish", ""), ("spinner", any)]), ["free", "free"]);
    assert_eq!(answers(&[("publish", "copies = 0"), ("spinner", any)]), ["stuck", "stuck"]);
    assert_eq!(answers(&[("waits_for_nothing", "")]), ["stuck", "stuck"]);
    assert_eq!(answers(&[("waits_a_second", any)]), ["free", "free"]);
    assert_eq!(answers(&[("locks", "copies = 2")]), ["free", "free"]);
    assert_eq!(answers(&[("locks", "copies = 2\nrepeat = true")]), ["free", "free"]);
}

/// Sleepers of one word, of which one or all are woken.
const WOKEN: &str = "
__attribute__((noipa)) long syscall(long number, ...) { __asm__ volatile(\"\" ::: \"memory\"); return number; }
static volatile unsigned word;
void sleeper(void) { while (!word) syscall(202, &word, 128, 0, 0L); }
void wakes_one(void) { word = 1; __sync_synchronize(); syscall(202, &word, 129, 1); }
void wakes_all(void) { word = 1; __sync_synchronize(); syscall(202, &word, 129, 0x7fffffff); }
";

/// Builds the image `woken`.
fn build(folder: &Path, text: &str) {
    std::fs::write(folder.join("woken.c"), text).expect("the folder is writable");
    let options =
        ["-O1", "-g", "-ffreestanding", "-fcf-protection=none", "-fno-stack-protector", "-fno-pie", "-no-pie"];
    let linked = ["-nostdlib", "-static", "-Wl,-e,0", "woken.c", "-o", "woken"];
    let built = Command::new("gcc").args(options).args(linked).current_dir(folder).output().expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

#[needs::command("gcc --version")]
#[test]
fn one_sleeper_is_woken_or_all_are() {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), WOKEN);
    for (waker, copies, expected) in
        [("wakes_one", 1, "free"), ("wakes_one", 2, "stuck"), ("wakes_all", 2, "free"), ("wakes_all", 3, "free")]
    {
        let roles = [(waker, ""), ("sleeper", &*format!("copies = {copies}"))];
        let program = lifted_of(&folder.path().join("woken"), "", &roles).unwrap_or_else(|error| panic!("{error}"));
        for model in [Model::Sc, Model::Tso] {
            assert_eq!(answer(&program, &HangOptions::new(model)), expected, "{waker} {copies} {model:?}");
        }
    }
}

/// A role that fails under a lock leaves it, which is said where others then wait.
#[needs::command("gcc --version")]
#[test]
fn who_has_failed_is_said_of_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let fails = "static volatile int lock, count;
void worker(void) { while (__sync_lock_test_and_set(&lock, 1)) {} if (count++) __builtin_trap(); lock = 0; }\n";
    build(folder.path(), fails);
    let roles = "image = \"woken\"\n[[role]]\nfunction = \"worker\"\ncopies = 3\n";
    std::fs::write(folder.path().join("roles.toml"), roles).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(["check", "--ask", "hangs", "roles.toml"]).current_dir(folder.path()).output();
    let output = output.expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("has failed at woken.c:2") && text.contains("is not followed"), "{text}");
}

#[test]
fn who_may_wait_is_said_beside_the_roles() {
    let nobody = [("waits_for_nothing", "")];
    let options = HangOptions::new(Model::Tso);
    let daemon = lifted("", &[("waits_for_nothing", "daemon = true")]).expect("it is read");
    assert!(daemon.threads[0].is_daemon && answer(&daemon, &options) == "free");
    let line = lifted("", &nobody).expect("it is read").source.text.lines().last().expect("a line").to_owned();
    assert!(line.contains("sleep.c:"), "{line}");
    let idle = lifted("idle = [\"sleep.c:9\"]", &nobody).expect("it is read");
    let patience = idle.threads[0].instructions.iter().find(|own| own.sleeps().is_some()).map(|own| own.patience());
    assert_eq!((patience, answer(&idle, &options)), (Some(Patience::Idle), "free"));
    let error = lifted("idle = [\"sleep.c:1\"]", &nobody).expect_err("nothing is accessed there");
    assert!(error.contains("no role accesses memory at `sleep.c:1`"), "{error}");
    // Behind a wait that ends, a wake-up that is lost is a delay.
    let timed = lifted("", &[("waits_a_second", "")]).expect("it is read");
    let untimed = HangOptions { ignore_timeouts: true, ..options.clone() };
    assert_eq!((answer(&timed, &options), answer(&timed, &untimed)), ("free", "stuck"));
}

#[test]
fn bounded_spinning_has_no_counter() {
    let program = lifted("", &[("locks", "copies = 2")]).expect("it is read");
    let names: Vec<&str> = program.threads[0].registers.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["rax", "rdx", "ZF", "t0"]);
    let again = lifted("", &[("locks", "copies = 2\nrepeat = true")]).expect("it is read");
    assert!(again.source.text.contains("each again and again, until it stops"), "{}", again.source.text);
    let daemon = lifted("", &[("locks", "repeat = true\ndaemon = true")]).expect("it is read");
    assert!(daemon.source.text.contains("each again and again, a daemon"), "{}", daemon.source.text);
}
