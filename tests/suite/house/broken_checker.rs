//! A checker that breaks off: its evidence is rejected, with exit status 4, and the other files get
//! their answers.
//!
//! Debug builds let the check of the evidence that `PALISADE_PLANTED_PANIC` names break off. That
//! the same holds where nothing unwinds is seen in a small program around the same source, built as
//! release builds are.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "program Open
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
end
";

/// Runs a command in which the check of this evidence breaks off.
fn palisade(folder: &Path, planted: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(arguments).current_dir(folder).env("PALISADE_PLANTED_PANIC", planted);
    command.output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..10 {
        std::fs::write(folder.path().join(format!("{number}.pal")), PROGRAM).expect("a file");
    }
    folder
}

#[test]
fn other_evidence_gets_its_answer() {
    let folder = folder();
    let programs: Vec<String> = (0..10).map(|number| format!("{number}.pal")).collect();
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let made = palisade(folder.path(), "", &[&["check", "--certificate", "out"], &programs[..]].concat());
    assert_eq!(made.status.code(), Some(1), "{made:?}");
    let evidence: Vec<String> = (0..10).map(|number| format!("out/{number}.pal.violation.json")).collect();
    let evidence: Vec<&str> = evidence.iter().map(String::as_str).collect();
    let output = palisade(folder.path(), evidence[3], &[&["verify"], &evidence[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 10, "{said}");
    for (number, line) in lines.iter().enumerate() {
        let expected = if number == 3 { ": rejected: the checker broke off: planted (" } else { ": accepted: " };
        assert!(line.contains(expected), "{said}");
    }
    assert!(output.stderr.is_empty(), "{output:?}");

    let output = palisade(folder.path(), evidence[0], &["verify", "--json", evidence[0]]);
    let document = documents::read(&output.stdout);
    assert_eq!((output.status.code(), &document["verdict"]), (Some(4), &"rejected".into()));
    assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("please report this")), "{document}");
}

#[test]
fn other_programs_get_their_verdicts() {
    let folder = folder();
    let output = palisade(folder.path(), "./3.pal", &["check", ".", "--verify", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = text(&output.stdout);
    assert_eq!(said.matches(": not robust, ").count(), 10, "{said}");
    let errors = text(&output.stderr);
    assert!(errors.starts_with("Error: ./3.pal: the verdict's own evidence is rejected"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn every_command_that_checks_evidence_ends_in_4() {
    let folder = folder();
    let net = "vars p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit p = 1, q = 0\ntarget q >= 2\n";
    std::fs::write(folder.path().join("n.spec"), net).expect("a file");
    for arguments in [
        &["witness", "1.pal"][..],
        &["fences", "1.pal"],
        &["fences", "1.pal", "--apply"],
        &["check", "1.pal", "--verify"],
        &["cover", "n.spec", "--verify"],
    ] {
        let output = palisade(folder.path(), arguments[1], arguments);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {output:?}");
        assert!(text(&output.stderr).contains("the checker broke off: planted"), "{arguments:?}: {output:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("1.pal")).expect("a file"), PROGRAM);
}

#[test]
fn a_panic_is_an_answer_where_nothing_unwinds() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/guard.rs");
    let main = format!(
        "#[path = {guard:?}]
#[allow(dead_code)]
mod guard;
#[allow(dead_code)]
mod limits {{
    pub struct StopReason;
    pub struct Limits;
    impl Limits {{
        pub fn check(&self) -> Result<(), StopReason> {{ Ok(()) }}
    }}
}}
fn run<T: Send + 'static>(name: &str, check: impl FnOnce() -> T + Send + 'static) -> Result<T, guard::Broken> {{
    guard::within(name, &limits::Limits, check).unwrap_or_else(|_| unreachable!())
}}
fn main() {{
    let numbers: Vec<usize> = std::env::args().map(|word| word.len()).collect();
    let broken = run(\"one\", move || numbers[7]).expect_err(\"it breaks off\");
    println!(\"{{broken}}\");
    let waiting = guard::start(\"two\", || {{ let empty: Option<u8> = None; empty.expect(\"a number\") }}).expect(\"a thread\");
    println!(\"{{}}\", run(\"three\", || 3).expect(\"it answers\"));
    println!(\"{{}}\", waiting.recv().expect(\"it answers\").expect_err(\"it breaks off\"));
    std::process::exit(4);
}}
"
    );
    let source = folder.path().join("main.rs");
    std::fs::write(&source, main).expect("a file");
    let program = folder.path().join("main");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(["--edition", "2024", "-C", "panic=abort", "-C", "debug-assertions=off", "-o"]);
    let built = match command.arg(&program).arg(&source).stdin(Stdio::null()).output() {
        Ok(built) => built,
        Err(error) => {
            println!("skipped: there is no compiler: {error}");
            return;
        }
    };
    assert!(built.status.success(), "{}", text(&built.stderr));
    let output = Command::new(program).env("PALISADE_PLANTED_PANIC", "three").output().expect("it runs");
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((output.status.code(), lines.len()), (Some(4), 3), "{output:?}");
    assert!(lines[0].contains("broke off: index out of bounds: the len is 1 but the index is 7 ("), "{said}");
    assert_eq!(lines[1], "3", "only debug builds plant anything");
    assert!(lines[2].contains("broke off: a number ("), "{said}");
}
