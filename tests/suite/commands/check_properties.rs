//! `palisade check` answers all questions of a file: properties first, then robustness; nothing is
//! green while one of them fails or is not decided.

use crate::documents;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Store buffering, with something to ensure of what the threads have seen.
const FLAGS: &str = "program Flags address x, y
thread t1 regs r, s init want begin
  want: mem[x] <- 1;
  look: r <- mem[y];
  tell: mem[z] <- r + 1;
end
thread t2 regs r, s init want begin
  want: mem[y] <- 1;
  look: r <- mem[x];
  ask: s <- mem[z];
  some: ensure CONDITION;
end
";

const LITMUS: &str = "X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
QUESTION
";

/// A counter that two threads increment without a lock. Its last statement is wrong under SC
/// already, and the program is robust: each thread has nothing to delay a store past.
const RACY: &str = "program RacyCounter
address n, done
thread worker [2] {
  n = n + 1;
  fetch_add(done, 1);
}
thread judge {
  await (done == 2);
  ensure n == 2;
}
";

/// Programs with what `check` says of them: the first line, the line about the property, and the
/// exit status.
fn programs() -> Vec<(&'static str, String, &'static str, &'static str, i32)> {
    let flags = |condition: &str| FLAGS.replace("CONDITION", condition);
    let never = |never: &str| FLAGS.replace("  some: ensure CONDITION;\n", "") + never;
    let litmus = |question: &str| LITMUS.replace("QUESTION", question);
    let fenced = |text: String| text.replace("look: r", "between: mfence; look: r");
    vec![
        (
            "breaks.pal",
            flags("s = 0 || r + s > 1"),
            "violated under TSO, not robust",
            "ensure   t2 some (line 11): violated, not under SC",
            1,
        ),
        (
            "fenced.pal",
            fenced(flags("s = 0 || r + s > 1")),
            "holds under TSO, robust",
            "ensure   t2 some (line 11): proved (",
            0,
        ),
        ("keeps.pal", flags("r <= s + 1"), "holds under TSO, not robust", "ensure   t2 some (line 11): proved (", 1),
        (
            "always.pal",
            fenced(flags("s = 0")),
            "violated under TSO, robust",
            "ensure   t2 some (line 11): violated, under SC already",
            1,
        ),
        (
            "never.pal",
            never("never t1 at tell, t2 at ask"),
            "violated under TSO, not robust",
            "never    t1 at tell, t2 at ask (line 12): violated, under SC already",
            1,
        ),
        (
            "unasked.pal",
            fenced(
                never("never t1 at tell, t2 at ask")
                    .replace("  want: mem[y]", "  want: lock; goto put; put: mem[y]")
                    .replace("  ask: ", "  ask: unlock; goto see; see: "),
            ),
            "unknown under TSO, robust",
            "never    t1 at tell, t2 at ask (line 12): unknown, a thread can hold the lock",
            3,
        ),
        (
            "shown.litmus",
            litmus("exists (0:EAX=0 /\\ 1:EAX=0)"),
            "Sometimes under TSO, not robust",
            "exists   (0:EAX=0 /\\ 1:EAX=0): Sometimes, not under SC",
            1,
        ),
        (
            "hidden.litmus",
            litmus("exists (0:EAX=0 /\\ [x]=2)").replace(" MOV EAX,[y]", " MFENCE | MFENCE ;\n MOV EAX,[y]"),
            "Never under TSO, robust",
            "exists   (0:EAX=0 /\\ [x]=2): Never, proved (",
            0,
        ),
        (
            "broken.litmus",
            litmus("~exists (0:EAX=0 /\\ 1:EAX=0)"),
            "violated under TSO, not robust",
            "~exists  (0:EAX=0 /\\ 1:EAX=0): violated, Sometimes, not under SC",
            1,
        ),
        // The judge awaits the workers.
        (
            "racy-counter.pal",
            RACY.to_owned(),
            "violated under TSO, nobody waits for ever, robust",
            "ensure   judge ",
            1,
        ),
    ]
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).args(arguments).output().expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, ..) in programs() {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

#[test]
fn each_question_has_its_line() {
    let folder = folder();
    for (name, _, headline, line, status) in programs() {
        let output = check(folder.path(), &["check", name]);
        let text = out(&output);
        assert_eq!(text.lines().next(), Some(format!("{name}: {headline}").as_str()), "{text}");
        let property = text.lines().position(|own| own.starts_with(&format!("  {line}"))).expect(line);
        let robust = text.lines().position(|own| own.starts_with("  robust ")).expect("robustness has a line");
        assert!(property < robust, "properties come first: {text}");
        assert_eq!(output.status.code(), Some(status), "{name}: {text}");
    }
}

#[test]
fn who_asks_for_one_question_gets_it() {
    let folder = folder();
    for (name, _, headline, ..) in programs() {
        let text = out(&check(folder.path(), &["check", "--ask", "robustness", name]));
        let robust = headline.split(", ").last().expect("two verdicts");
        assert!(text.starts_with(&format!("{name}: {robust}\n  threads ")), "{text}");
        let alone = check(folder.path(), &["check", "--ask", "properties", name]);
        let short = check(folder.path(), &["prove", name]);
        assert_eq!((out(&alone), alone.status), (out(&short), short.status), "{name}");
        assert!(out(&alone).starts_with(&format!("{name}: {}\n", headline.split(", ").next().unwrap_or_default())));
    }
    // Right code that is not robust.
    assert_eq!(check(folder.path(), &["check", "--ask", "properties", "keeps.pal"]).status.code(), Some(0));
}

/// What is wrong under SC is shown as an interleaving, without buffers.
#[test]
fn the_violation_is_the_one_that_breaks_the_property() {
    let folder = folder();
    for name in ["always.pal", "racy-counter.pal"] {
        let text = out(&check(folder.path(), &["check", name]));
        assert!(text.contains("\nviolation: `ensure ") && !text.contains("buffer of"), "{text}");
        assert!(!text.contains("happens-before"), "{text}");
    }
    let text = out(&check(folder.path(), &["check", "breaks.pal"]));
    assert!(text.contains("\nviolation: `ensure s = 0 || r + s > 1` at t2 some"), "{text}");
    assert!(text.ends_with("\n(`--all` shows 1 more violation)\n"), "{text}");
    let text = out(&check(folder.path(), &["check", "--all", "breaks.pal"]));
    assert!(text.contains("is delayed past the load at") && text.contains("happens-before cycle:"), "{text}");
}

/// The racy counter is green nowhere: text, exit status, JSON, JUnit, SARIF, page.
#[test]
fn the_racy_counter_is_green_nowhere() {
    let folder = folder();
    let outputs = ["--junit", "cases.xml", "--sarif", "log.sarif", "--report", "page.html"];
    for command in [&["check"][..], &["prove"], &["check", "--model", "sc"], &["check", "--model", "pso"]] {
        let output = check(folder.path(), &[command, &["racy-counter.pal", "--verify"], &outputs[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
        assert!(out(&output).starts_with("racy-counter.pal: violated under "), "{}", out(&output));
        let cases = std::fs::read_to_string(folder.path().join("cases.xml")).expect("it is written");
        assert!(cases.contains("failures=\"1\"") && cases.contains("`ensure n == 2` (line 9)"), "{cases}");
        let log = documents::sarif(&folder.path().join("log.sarif"));
        let results = log["runs"][0]["results"].as_array().expect("results").iter();
        let failed: Vec<&Value> = results.filter(|result| result["kind"] == "fail").collect();
        assert_eq!(failed.len(), 1, "{log}");
        assert_eq!((&failed[0]["ruleId"], &failed[0]["level"]), (&"property-violated".into(), &"error".into()));
        let page = std::fs::read_to_string(folder.path().join("page.html")).expect("it is written");
        assert!(page.contains("<header class=\"bad\">"), "{page}");
        let document =
            documents::read(out(&check(folder.path(), &[command, &["racy-counter.pal", "--json"]].concat())));
        assert_eq!(document["verdict"], "violated");
        assert_eq!(
            (&document["answers"][0]["verdict"], &document["answers"][0]["under_sc"]),
            (&"violated".into(), &true.into())
        );
    }
    let line = out(&check(folder.path(), &["check", "."]));
    assert!(line.contains("./racy-counter.pal: violated under TSO, nobody waits for ever, robust, "), "{line}");
}

#[test]
fn documents_have_each_answer() {
    let folder = folder();
    let of = |arguments: &[&str]| documents::read(out(&check(folder.path(), arguments)));
    let broken = of(&["check", "breaks.pal", "--json", "--verify"]);
    assert_eq!((&broken["verdict"], &broken["answers"][0]["model"]), (&"violated".into(), &"tso".into()));
    assert_eq!((&broken["answers"][0]["label"], &broken["answers"][0]["under_sc"]), (&"some".into(), &false.into()));
    assert_eq!(
        (&broken["answers"][1]["ask"], &broken["answers"][1]["verdict"]),
        (&"robustness".into(), &"violated".into())
    );
    for answer in broken["answers"].as_array().expect("answers") {
        assert_eq!(answer["evidence"]["verdict"], "accepted", "{answer}");
    }
    let unasked = of(&["check", "unasked.pal", "--json"]);
    assert_eq!(unasked["verdict"], "unknown");
    assert!(unasked["answers"][0]["reason"].as_str().is_some_and(|reason| reason.contains("can hold the lock")));
    // A question about final states needs fixed copies.
    let any = of(&["check", "shown.litmus", "--json", "--threads", "all=*"]);
    assert_eq!((&any["answers"][0]["verdict"], &any["answers"][1]["verdict"]), (&"unknown".into(), &"violated".into()));
}

#[test]
fn the_evidence_is_written_and_accepted() {
    let folder = folder();
    let files: Vec<&str> = programs().iter().map(|(name, ..)| *name).collect();
    check(folder.path(), &[&["check", "--certificate", "evidence"], &files[..]].concat());
    for (name, suffixes) in [
        ("breaks.pal", &["violation", "property-witness-1"][..]),
        ("fenced.pal", &["robust", "property"]),
        ("keeps.pal", &["violation", "property"]),
        ("never.pal", &["violation", "property-witness-1"]),
        ("unasked.pal", &["robust"]),
        ("hidden.litmus", &["robust", "property"]),
        ("racy-counter.pal", &["robust", "property-witness-1"]),
    ] {
        for suffix in suffixes {
            let output = check(folder.path(), &["verify", &format!("evidence/{name}.{suffix}.json")]);
            assert_eq!(output.status.code(), Some(0), "{name} {suffix}: {}", out(&output));
        }
    }
}

/// With any number of copies the explorations of this program do not end.
#[test]
fn a_long_search_is_not_asked_for() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/epoch-pin-published.pal");
    let output = check(Path::new("."), &["check", model.to_str().expect("a plain path"), "--no-prune"]);
    let text = out(&output);
    assert!(
        text.contains("  ensure   ") && text.contains(": more than 200000 configurations; `--ask properties`"),
        "{text}"
    );
}
