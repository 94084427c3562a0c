//! The commands with event-driven programs: what `check` answers, what others refuse, evidence from
//! file to file.

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

/// Store buffering between the background tasks of two events.
const BUFFERING: &str = "program Buffering
address x, y
event ea [*] begin a: post any p(); end
task p() regs r begin
  a: mem[x] <- 1;
  b: r <- mem[y];
end
event eb [*] begin a: post any q(); end
task q() regs s begin
  a: mem[y] <- 1;
  b: s <- mem[x];
  c: ensure s = 0 || s = 1;
end
";

const THREADS: &str = "program Threads address x thread t init a begin a: mem[x] <- 2; end";

const GROWING: &str = "program Growing address x
event e [1] begin a: post any count(1); end
task count(n) begin a: mem[x] <- n; b: post any count(n + 1); end
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("search", SEARCH),
        ("guarded", GUARDED),
        ("mixed", MIXED),
        ("threads", THREADS),
        ("growing", GROWING),
        ("buffering", BUFFERING),
    ];
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
    assert!(
        text.starts_with(
            "search.pal: not robust against concurrency, robust against TSO\n  events   onText × *; posts drain\n"
        ),
        "{text}"
    );
    assert!(text.contains("cycle: onText#") && text.contains("(query: "), "{text}");
    let run = palisade(folder.path(), &["check", "--certificate", "evidence", "--ask", "concurrency", "guarded.pal"]);
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
    assert_eq!((&document["verdict"], &document["answers"][0]["ask"]), (&"violated".into(), &"concurrency".into()));
    let phrase = document["answers"][0]["phrase"].as_str().expect("a phrase");
    assert!(phrase.ends_with("(serializability)"), "{document}");
    assert_eq!(document["threads"]["onText"], "*");
    let run = palisade(folder.path(), &["check", "--json", "--events", "onText=1", "search.pal"]);
    let document = documents::read(&run.stdout);
    assert_eq!((&document["verdict"], &document["threads"]["onText"]), (&"holds".into(), &1.into()));
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
    let run = palisade(folder.path(), &["prove", "search.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
    assert!(out(&run).starts_with("search.pal: nothing is stated: there is no `ensure`"), "{}", out(&run));
    refused(&["witness", "--litmus", "search.pal"], "`--litmus`, `--dot` and `--run` know threads alone");
    refused(&["witness", "--ask", "concurrency", "threads.pal"], "about events, and the program has none");
    refused(&["fences", "--redundant", "search.pal"], "finds the cheapest fences for robustness against TSO alone");
    refused(&["simulate", "search.pal"], "`onText` has any number of copies");
    refused(&["simulate", "--model", "pso", "search.pal"], "serially, under SC or under TSO");
    refused(&["simulate", "--model", "serial", "threads.pal"], "`serial` runs one event after the other");
    refused(&["net", "search.pal", "--attack", "1"], alone);
    refused(
        &["check", "--ask", "concurrency", "mixed.pal"],
        "robustness against concurrency is about events, and the thread `t` belongs to none",
    );
    refused(&["check", "--ask", "concurrency", "threads.pal"], "the thread `t` belongs to none");
    refused(&["check", "--events", "onTxet=2", "search.pal"], "did you mean `onText`?");
    refused(&["check", "--threads", "onText=2", "search.pal"], "`onText` is an event: say `--events onText=…`");
    refused(&["check", "--events", "t=2", "mixed.pal"], "`t` is a thread: say `--threads t=…`");
    refused(
        &["convert", "--to", "litmus", "search.pal"],
        "a litmus test knows threads alone, and `onText` is an event",
    );
    refused(&["convert", "--to", "trencher", "search.pal"], "this format knows threads alone, and `search` is a task");
    let run = palisade(folder.path(), &["check", "growing.pal"]);
    assert_eq!(run.status.code(), Some(3), "{}{}", out(&run), err(&run));
    assert!(out(&run).contains("`n` of"), "{}", out(&run));
    let run = palisade(folder.path(), &["check", "--threads", "t=0", "mixed.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
}

#[test]
fn fences_are_placed_in_tasks_and_shown_to_be_the_fewest() {
    let folder = folder();
    let run = palisade(folder.path(), &["fences", "--certificate", "evidence", "buffering.pal"]);
    let text = out(&run);
    assert_eq!(run.status.code(), Some(0), "{text}{}", err(&run));
    assert!(text.starts_with("buffering.pal: 2 changes for robustness against TSO, cost 2, none cheaper\n"), "{text}");
    assert!(text.contains("change   p b (line 6)") && text.contains("change   q b (line 11)"), "{text}");
    assert!(text.contains("  evidence verified\n"), "{text}");
    for file in ["evidence/evidence_buffering.repaired.pal.tso-robust.json", "evidence/buffering.pal.repair.json"] {
        let run = palisade(folder.path(), &["verify", file]);
        assert_eq!(run.status.code(), Some(0), "{file}: {}{}", out(&run), err(&run));
    }
    let run = palisade(folder.path(), &["verify", "evidence/buffering.pal.repair.json"]);
    assert!(out(&run).contains("and with none cheaper"), "{}", out(&run));
    let run = palisade(folder.path(), &["check", "--ask", "robustness", "evidence/buffering.repaired.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
    let run = palisade(folder.path(), &["fences", "--json", "--never", "q.*", "buffering.pal"]);
    assert_eq!(run.status.code(), Some(1), "{}{}", out(&run), err(&run));
    let document = documents::read(&run.stdout);
    assert_eq!((&document["verdict"], &document["evidence"]), (&"not-robust".into(), &"accepted".into()));
    let run = palisade(folder.path(), &["fences", "--json", "--with", "xchg=0.5", "buffering.pal"]);
    let document = documents::read(&run.stdout);
    assert_eq!((&document["exact_cost"], &document["optimal"]), (&"1".into(), &true.into()), "{document}");
    let run = palisade(folder.path(), &["fences", "search.pal"]);
    assert!(out(&run).starts_with("search.pal: robust against TSO: no fence is needed\n"), "{}", out(&run));
}

/// Evidence about a repair that is not about the program's events, or says too much, is rejected.
#[test]
fn corrupted_repairs_are_rejected() {
    let folder = folder();
    palisade(folder.path(), &["fences", "--certificate", "evidence", "buffering.pal"]);
    let path = folder.path().join("evidence/buffering.pal.repair.json");
    let whole = std::fs::read_to_string(&path).expect("it was written");
    let mut rejected = 0;
    let changes = [
        ("\"least\":\"1\"", "\"least\":\"2\""),
        ("\"computation\"", "\"witness\""),
        ("\"tasks\"", "\"robust\""),
        ("[\"flush\",", "[\"return\","),
        ("\"set\":[", "\"set\":[0,"),
    ];
    for (from, to) in changes {
        for (place, _) in whole.match_indices(from) {
            let changed = format!("{}{to}{}", &whole[..place], &whole[place + from.len()..]);
            std::fs::write(&path, changed).expect("a file");
            let run = palisade(folder.path(), &["verify", "evidence/buffering.pal.repair.json"]);
            assert_eq!(run.status.code(), Some(4), "{from} at {place}: {}{}", out(&run), err(&run));
            rejected += 1;
        }
    }
    assert!(rejected >= 6, "{rejected}");
}

#[test]
fn violations_are_shown_in_all_forms() {
    let folder = folder();
    let run = palisade(folder.path(), &["witness", "search.pal"]);
    let text = out(&run);
    assert_eq!(run.status.code(), Some(1), "{text}{}", err(&run));
    assert!(text.starts_with("not robust against concurrency: events cannot be seen as atomic"), "{text}");
    assert!(text.contains("       main ") && text.contains("cycle: onText#"), "{text}");
    let run = palisade(folder.path(), &["witness", "--ask", "robustness", "buffering.pal"]);
    assert!(
        out(&run).starts_with("not robust against TSO: happens-before is cyclic\nwith: ea × 1, eb × 1; posts drain\n"),
        "{}",
        out(&run)
    );
    let run = palisade(folder.path(), &["witness", "--svg", "search.pal"]);
    assert!(out(&run).starts_with("<svg ") && out(&run).trim_end().ends_with("</svg>"), "{}", out(&run));
    let run = palisade(folder.path(), &["witness", "--mermaid", "--ask", "robustness", "buffering.pal"]);
    assert!(out(&run).starts_with("sequenceDiagram\n  participant T0 as main\n"), "{}", out(&run));
    let run = palisade(folder.path(), &["witness", "--json", "--svg", "search.pal"]);
    let document = documents::read(&run.stdout);
    assert_eq!((&document["format"], &document["answers"][0]["verdict"]), (&"svg".into(), &"violated".into()));
    let run = palisade(folder.path(), &["witness", "--ask", "robustness", "search.pal"]);
    assert_eq!(run.status.code(), Some(0), "{}", out(&run));
    assert!(err(&run).contains("robust against TSO: there is no violation to show"), "{}", err(&run));
}

#[test]
fn final_states_are_listed_serially_and_under_memory_models() {
    let folder = folder();
    let states = |model: &str| {
        let run =
            palisade(folder.path(), &["simulate", "--json", "--model", model, "--events", "all=1", "buffering.pal"]);
        assert_eq!(run.status.code(), Some(0), "{}{}", out(&run), err(&run));
        documents::read(&run.stdout)
    };
    for model in ["serial", "sc", "tso"] {
        let document = states(model);
        assert_eq!(document["states"], serde_json::json!([{ "x": 1, "y": 1 }]), "{model}");
        assert_eq!((&document["model"], &document["stuck"]), (&model.into(), &0.into()));
    }
    let text = "program Late address x, y, seen
event ea [1] begin a: post any p(); end
task p() regs r begin a: mem[x] <- 1; b: r <- mem[y]; c: mem[seen] <- r + 1; end
event eb [1] begin a: post any q(); end
task q() regs s begin a: mem[y] <- 1; b: s <- mem[x]; c: assume s = 0; d: mem[seen] <- 7; e: ensure s = 1; end";
    std::fs::write(folder.path().join("late.pal"), text).expect("a file");
    let run = palisade(folder.path(), &["simulate", "--model", "serial", "late.pal"]);
    assert_eq!(run.status.code(), Some(1), "{}", out(&run));
    assert!(out(&run).contains("  violated q e (line 5): ensure s = 1\n"), "{}", out(&run));
    assert!(out(&run).contains("  stuck    in 1 configuration, for instance after\n"), "{}", out(&run));
}
