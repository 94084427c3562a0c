//! `palisade fences` stopped on the way: the best valid set found is reported as such.

use crate::documents;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// More configurations than anybody waits for. Its register that is never written is warned of
/// before the search begins.
const ENDLESS: &str = "program endless
domain 0..999 wrap
thread counter [9] regs r, s init a begin
  a: r <- mem[x]; goto b;
  b: mem[x] <- r + 1; goto c;
  c: r <- mem[y]; goto d;
  d: mem[y] <- r + 1; goto a;
  d: mem[z] <- s; goto nowhere;
end
";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    std::fs::write(folder.join("endless.pal"), ENDLESS).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).args(["fences", "endless.pal"]).args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    command(folder.path(), arguments).output().expect("the command runs")
}

/// The output of a run that the user interrupts once it has begun.
#[cfg(unix)]
fn interrupted(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = command(folder.path(), arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    // The warning comes when interruptions are heard already.
    let mut warnings = BufReader::new(child.stderr.take().expect("a pipe"));
    warnings.read_line(&mut String::new()).expect("a warning");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    warnings.read_to_string(&mut String::new()).expect("the rest of it");
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    (child.wait().expect("it ends").code(), text)
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_the_best_valid_set() {
    let (status, text) = interrupted(&[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("2 fences valid, not known to be optimal, cost 2"), "{text}");
    assert!(text.contains("interrupted; this is the best valid set found"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_interruption_without_a_valid_set_is_unknown() {
    // Whether a fence at `a` alone will do takes a search.
    let (status, text) = interrupted(&["--only", "a"]);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("no valid set is known: interrupted"), "{text}");
}

#[test]
fn limits_leave_the_best_valid_set() {
    for (limit, reason) in
        [("--timeout=100ms", "the time limit was reached"), ("--memory=1M", "the memory limit was reached")]
    {
        let output = run(&[limit, "--json"]);
        let document = documents::read(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{document}");
        assert_eq!(document["verdict"], "unknown");
        assert_eq!(document["optimal"], false);
        assert_eq!(document["cost"], 2.0);
        assert_eq!(document["reason"], reason);
        assert_eq!(document["fences"].as_array().map(Vec::len), Some(2));
        assert_eq!(run(&[limit, "--only", "a"]).status.code(), Some(3));
    }
}
