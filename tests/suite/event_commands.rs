//! The commands with event-driven programs: what `check` answers, what others refuse, evidence from file to file.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

const SEARCH: &str = "program SearchAsYouType
domain 0..1
address query, list
event onText [*] regs q init a begin
  a: q <- *;
  b: mem[query] <- q;
  c: post any search();
end
task search() regs s init a begin
  a: s <- mem[query];
  b: post main show(s);
end
task show(s) begin
  a: mem[list] <- s;
end
";

const GUARDED: &str = "program Guarded
address busy
event start [*] when mem[busy] = 0 begin
  a: mem[busy] <- 1;
  b: post any work();
end
task work() begin
  a: mem[busy] <- 0;
end
";

const MIXED: &str = "program Mixed address x
event e begin a: mem[x] <- 1; end
thread t init a begin a: mem[x] <- 2; end
";

const THREADS: &str = "program Threads address x thread t init a begin a: mem[x] <- 2; end";

const GROWING: &str = "program Growing address x
event e [1] begin a: post any count(1); end
task count(n) begin a: mem[x] <- n; b: post any count(n + 1); end
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files =
        [("search", SEARCH), ("guarded", GUARDED), ("mixed", MIXED), ("threads", THREADS), ("growing", GROWING)];
    for (name, text) in files {
        std::fs::write(folder.path().join(format!("{name}.pal")), text).expect("a file");
    }
    folder
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).args(arguments).output().expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn check_answers_and_its_evidence_is_verified() {
    let folder = folder();
    let run = palisade(folder.path(), &["check", "--certificate", "evidence", "search.pal"]);
    assert_eq!(run.status.code(), Some(1), "{}{}", out(&run), err(&run));
    let text = out(&run);
    assert!(text.starts_with("search.pal: not robust against concurrency\n  events   onText × *\n"), "{text}");
    assert!(text.contains("cycle: onText#") && text.contains("(query: "), "{text}");
    let run =
        palisade(folder.path(), &["check", "--certificate", "evidence", "--against", "concurrency", "guarded.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
    assert!(out(&run).starts_with("guarded.pal: robust against concurrency\n"), "{}", out(&run));
    let files = ["evidence/search.pal.concurrency-violation.json", "evidence/guarded.pal.concurrency-robust.json"];
    for file in files {
        let run = palisade(folder.path(), &["verify", file]);
        assert_eq!(run.status.code(), Some(0), "{file}: {}{}", out(&run), err(&run));
    }
}

#[test]
fn the_document_says_what_the_text_says() {
    let folder = folder();
    let run = palisade(folder.path(), &["check", "--json", "search.pal"]);
    let document = documents::read(&run.stdout);
    assert_eq!(document["verdict"], "not-robust");
    assert_eq!(document["concurrency"]["kind"], "serializability");
    assert_eq!(document["events"]["onText"], "*");
    let run = palisade(folder.path(), &["check", "--json", "--events", "onText=1", "search.pal"]);
    let document = documents::read(&run.stdout);
    assert_eq!((&document["verdict"], &document["events"]["onText"]), (&"robust".into(), &1.into()));
}

#[test]
fn what_is_not_asked_of_events_is_refused() {
    let folder = folder();
    let refused = |arguments: &[&str], words: &str| {
        let run = palisade(folder.path(), arguments);
        let text = err(&run);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}{text}", out(&run));
        assert!(text.contains(words), "{arguments:?}: {text}");
    };
    let alone = "this command knows threads alone, and `onText` is an event";
    for command in ["fences", "witness", "simulate", "prove"] {
        refused(&[command, "search.pal"], alone);
    }
    refused(&["net", "search.pal", "--attack", "1"], alone);
    refused(
        &["check", "mixed.pal"],
        "robustness against concurrency is about events, and the thread `t` belongs to none",
    );
    refused(&["check", "--against", "concurrency", "threads.pal"], "the thread `t` belongs to none");
    refused(&["check", "--events", "onTxet=2", "search.pal"], "did you mean `onText`?");
    refused(&["check", "--threads", "onText=2", "search.pal"], "`onText` is an event: say `--events onText=…`");
    refused(&["check", "--events", "t=2", "mixed.pal"], "`t` is a thread: say `--threads t=…`");
    refused(
        &["convert", "--to", "litmus", "search.pal"],
        "a litmus test knows threads alone, and `onText` is an event",
    );
    refused(&["convert", "--to", "trencher", "search.pal"], "this format knows threads alone, and `search` is a task");
    refused(&["check", "growing.pal"], "`n` of");
    let run = palisade(folder.path(), &["check", "--threads", "t=0", "mixed.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
}
