//! What `palisade check` says of the properties of a program that is not robust: reports, lines, documents, evidence.

use crate::documents;
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

/// Programs that are not robust, with what `check` says of their properties: in a report, and in a line.
fn programs() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let flags = |condition: &str| FLAGS.replace("CONDITION", condition);
    let never = |never: &str| FLAGS.replace("  some: ensure CONDITION;\n", "") + never;
    let litmus = |question: &str| LITMUS.replace("QUESTION", question);
    vec![
        (
            "breaks.pal",
            flags("s = 0 || r + s > 1"),
            "breaks   `ensure s = 0 || r + s > 1` (line 11)",
            "breaks `ensure s = 0 || r + s > 1` (line 11)",
        ),
        ("keeps.pal", flags("r <= s + 1"), "breaks   no property: proved under TSO", "breaks no property"),
        (
            "always.pal",
            flags("s = 0"),
            "breaks   `ensure s = 0` (line 11), under SC already",
            "breaks `ensure s = 0` (line 11), under SC already",
        ),
        (
            "never.pal",
            never("never t1 at tell, t2 at ask"),
            "breaks   `never t1 at tell, t2 at ask` (line 12), under SC already",
            "breaks `never t1 at tell, t2 at ask` (line 12), under SC already",
        ),
        (
            "unasked.pal",
            never("never t1 at tell, t2 at ask")
                .replace("  want: mem[y]", "  want: lock; goto put; put: mem[y]")
                .replace("  ask: ", "  ask: unlock; goto see; see: "),
            "breaks   not decided: a thread can hold the lock where the joint control state wants it to stand",
            "breaks nothing that is known",
        ),
        (
            "shown.litmus",
            litmus("exists (0:EAX=0 /\\ 1:EAX=0)"),
            "reaches  `exists (0:EAX=0 /\\ 1:EAX=0)`",
            "reaches its `exists`",
        ),
        (
            "hidden.litmus",
            litmus("exists (0:EAX=0 /\\ [x]=2)"),
            "reaches  not `exists (0:EAX=0 /\\ [x]=2)`: proved under TSO",
            "reaches not its `exists`",
        ),
        (
            "broken.litmus",
            litmus("~exists (0:EAX=0 /\\ 1:EAX=0)"),
            "breaks   `~exists (0:EAX=0 /\\ 1:EAX=0)`",
            "breaks `~exists (0:EAX=0 /\\ 1:EAX=0)`",
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
fn the_line_follows_the_verdict() {
    let folder = folder();
    for (name, _, expected, _) in programs() {
        let output = check(folder.path(), &["check", name]);
        let text = out(&output);
        let lines: Vec<&str> = text.lines().take(2).collect();
        assert_eq!(lines, [format!("{name}: not-robust"), format!("  {expected}")], "{text}");
        assert_eq!(output.status.code(), Some(1), "{name}");
    }
}

#[test]
fn who_asks_for_robustness_alone_gets_it() {
    let folder = folder();
    for (name, ..) in programs() {
        let output = check(folder.path(), &["check", "--no-properties", name]);
        let text = out(&output);
        assert!(text.starts_with(&format!("{name}: not-robust\n  threads ")), "{text}");
        assert_eq!(output.status.code(), Some(1), "{name}");
    }
    assert!(documents::read(out(&check(folder.path(), &["check", "--no-properties", "--json", "breaks.pal"])))["properties"].is_null());
}

#[test]
fn many_programs_have_it_in_their_lines() {
    let folder = folder();
    std::fs::write(folder.path().join("nothing.pal"), FLAGS.replace("  some: ensure CONDITION;\n", ""))
        .expect("a file");
    let text = out(&check(folder.path(), &["check", "."]));
    assert_eq!(text.lines().count(), 10, "{text}");
    for (name, .., part) in programs() {
        let line = text.lines().find(|line| line.starts_with(&format!("./{name}: "))).expect(name);
        assert!(line.contains(&format!(", with 2 threads, {part} [")), "{line}");
    }
    assert!(
        text.contains("./nothing.pal: not-robust, ") && !text.contains("nothing.pal: not-robust, breaks"),
        "{text}"
    );
}

#[test]
fn documents_have_each_property() {
    let folder = folder();
    let of = |arguments: &[&str]| documents::read(out(&check(folder.path(), arguments)))["properties"].take();
    let broken = of(&["check", "breaks.pal", "--json", "--verify"]);
    assert_eq!((&broken["verdict"], &broken["model"]), (&"violated".into(), &"tso".into()));
    assert_eq!(broken["properties"][0]["label"], "some");
    assert_eq!(broken["properties"][0]["under_sc"], false);
    assert_eq!(broken["evidence"]["verdict"], "accepted");
    let kept = of(&["check", "keeps.pal", "--json"]);
    assert_eq!((&kept["verdict"], &kept["properties"][0]["verdict"]), (&"holds".into(), &"holds".into()));
    let unasked = of(&["check", "unasked.pal", "--json"]);
    assert_eq!(unasked["verdict"], "unknown");
    assert!(unasked["reason"].as_str().is_some_and(|reason| reason.contains("can hold the lock")), "{unasked}");
    // A question about final states needs fixed copies; a robust program breaks nothing.
    assert!(of(&["check", "shown.litmus", "--json", "--threads", "all=*"]).is_null());
    assert!(of(&["check", "keeps.pal", "--json", "--threads", "t1=1,t2=0"]).is_null());
}

#[test]
fn the_evidence_is_written_and_accepted() {
    let folder = folder();
    let files: Vec<&str> = programs().iter().map(|(name, ..)| *name).collect();
    check(folder.path(), &[&["check", "--certificate", "evidence"], &files[..]].concat());
    for (name, suffixes) in [
        ("breaks.pal", &["violation", "property-witness-1"][..]),
        ("keeps.pal", &["violation", "property"]),
        ("never.pal", &["violation", "property-witness-1"]),
        ("unasked.pal", &["violation"]),
        ("hidden.litmus", &["violation", "property"]),
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
    let text = out(&check(Path::new("."), &["check", model.to_str().expect("a plain path"), "--no-prune"]));
    let second = text.lines().nth(1).expect("a line");
    assert!(second.starts_with("  breaks   not decided: `ensure alive = 1` (line 32), "), "{text}");
    assert!(second.ends_with(": more than 200000 configurations"), "{text}");
}
