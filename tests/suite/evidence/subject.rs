//! `palisade verify` says of what evidence is: copies, domain and wrapping of a program, the
//! question of a net; and where it is about something else, about what. `check` says the same of
//! each program of a folder.

use crate::documents;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "program Open
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b [2] regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
end
";

/// A lock that one of two takes; two questions.
const NET: &str = "PLACE idle, free, held;
MARKING idle: 2, free: 1;
TRANSITION take CONSUME idle: 1, free: 1; PRODUCE held: 1;
TRANSITION give CONSUME held: 1; PRODUCE idle: 1, free: 1;
";

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// What `verify --json` says of evidence, and its exit status.
fn verified(folder: &Path, evidence: &str) -> (Option<i32>, Value) {
    let output = palisade(folder, &["verify", "--json", evidence]);
    (output.status.code(), documents::read(&output.stdout))
}

#[test]
fn copies_domain_and_wrapping_are_said_with_their_origin() {
    let folder = folder(&[("p.pal", PROGRAM), ("q.pal", &PROGRAM.replace("thread a", "domain 0..3\nthread a"))]);
    let path = folder.path();
    for (program, options, words, threads, domain) in [
        (
            "p.pal",
            &["--threads", "b=0"][..],
            "robust [a × 1, b × 0 (option); no domain]",
            json!([{"name": "a", "copies": 1, "origin": "file"}, {"name": "b", "copies": 0, "origin": "option"}]),
            json!({"low": null, "high": null, "wrap": false, "origin": "none"}),
        ),
        (
            "p.pal",
            &["--threads", "all=*", "--domain", "0..7", "--wrap"],
            "not robust [a × * (option), b × * (option); domain 0..7, arithmetic wraps (option)]",
            json!([{"name": "a", "copies": "*", "origin": "option"}, {"name": "b", "copies": "*", "origin": "option"}]),
            json!({"low": 0, "high": 7, "wrap": true, "origin": "option"}),
        ),
        (
            "q.pal",
            &[],
            "not robust [a × 1, b × 2; domain 0..3]",
            json!([{"name": "a", "copies": 1, "origin": "file"}, {"name": "b", "copies": 2, "origin": "file"}]),
            json!({"low": 0, "high": 3, "wrap": false, "origin": "file"}),
        ),
    ] {
        let checked = palisade(path, &[&["check", program, "--json", "--certificate", "out"], options].concat());
        let document = documents::read(&checked.stdout);
        let evidence = document["certificates"][0].as_str().expect("evidence").to_owned();
        let text = out(&palisade(path, &["verify", &evidence]));
        assert_eq!(text, format!("{evidence}: accepted: {program} is {words}\n"));
        let (status, document) = verified(path, &evidence);
        assert_eq!((status, &document["verdict"]), (Some(0), &json!("accepted")));
        assert_eq!((&document["threads"], &document["domain"]), (&threads, &domain), "{document}");
        assert_eq!((&document["format"], &document["input"]), (&json!("native"), &json!(program)));
        assert_eq!(document["sha256"].as_str().map(str::len), Some(64));
        std::fs::remove_file(path.join(&evidence)).expect("it was written");
    }
    // A format that the name does not tell decides what the text means.
    std::fs::copy(path.join("p.pal"), path.join("p.prog")).expect("a copy");
    palisade(path, &["check", "p.prog", "--from", "native", "--threads", "b=0", "--certificate", "out"]);
    let text = out(&palisade(path, &["verify", "out/p.prog.robust.json"]));
    assert!(text.ends_with("p.prog is robust [a × 1, b × 0 (option); no domain; read as native]\n"), "{text}");
}

#[test]
fn folders_say_of_what_each_verdict_is() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..9 {
        std::fs::write(folder.path().join(format!("{number}.pal")), PROGRAM).expect("a file");
    }
    let lines = |options: &[&str]| {
        let text = out(&palisade(folder.path(), &[&["check", "."], options].concat()));
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let left_out = lines(&["--threads", "b=0", "--domain", "0..7", "--wrap"]);
    let about = "[a × 1, b × 0 (option); domain 0..7, arithmetic wraps (option)]";
    assert_eq!(left_out[0], format!("./0.pal: robust, for the values of `--domain` alone {about}"));
    let plain = lines(&[]);
    assert!(
        plain[8]
            .starts_with("./8.pal: not robust, the store at a l0 (line 3) is delayed past the load at a l1 (line 4), "),
        "{plain:?}"
    );
    assert!(plain[8].ends_with(" [a × 1, b × 2; no domain]"), "{plain:?}");
}

#[test]
fn questions_are_said_with_their_property() {
    let questions = |bound: u32| {
        let property = |id: &str, bound: u32| {
            format!(
                "<property><id>{id}</id><formula><exists-path><finally><integer-le><integer-constant>{bound}\
                 </integer-constant><tokens-count><place>held</place></tokens-count></integer-le></finally>\
                 </exists-path></formula></property>"
            )
        };
        let properties = property("first", bound) + &property("second", bound + 1);
        format!("<property-set xmlns=\"http://mcc.lip6.fr/\">{properties}</property-set>")
    };
    let folder = folder(&[
        ("lock.lola", NET),
        ("lock.formula", "EF (held >= 1)"),
        ("other.formula", "EF (held >= 2)"),
        ("lock.xml", &questions(1)),
        ("self.spec", "vars p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit p = 1, q = 0\ntarget q >= 2\n"),
    ]);
    let path = folder.path();
    for (options, verdict, about, query, property) in [
        (&["lock.lola"][..], "coverable", "[question in lock.formula]", json!("lock.formula"), json!(null)),
        (
            &["lock.lola", "--query", "other.formula"],
            "uncoverable",
            "[question in other.formula]",
            json!("other.formula"),
            json!(null),
        ),
        (
            &["lock.lola", "--query", "lock.xml", "--property", "second"],
            "uncoverable",
            "[question in lock.xml, property second]",
            json!("lock.xml"),
            json!("second"),
        ),
        (&["self.spec"], "uncoverable", "[question in the net's file]", json!(null), json!(null)),
    ] {
        let output = palisade(path, &[&["cover", "--certificate", "e.json"], options].concat());
        let said = out(&output);
        assert!(said.starts_with(&format!("{}: {verdict}\n", options[0])), "{output:?}");
        if let Some(query) = query.as_str() {
            let property = property.as_str().map(|id| format!(", property {id}")).unwrap_or_default();
            assert!(said.contains(&format!("  question     {query}{property}\n")), "{said}");
        }
        let text = out(&palisade(path, &["verify", "e.json"]));
        assert_eq!(text, format!("e.json: accepted: {} is {verdict} {about}\n", options[0]));
        let (status, document) = verified(path, "e.json");
        assert_eq!((status, &document["property"]), (Some(0), &property));
        assert_eq!(document["query"]["path"], query, "{document}");
        let searched = palisade(path, &[&["cover", "--json"], options].concat());
        let searched = documents::read(&searched.stdout);
        assert_eq!((&searched["query"], &searched["property"]), (&query, &property));
    }
    // A question that the evidence is not about.
    let other = palisade(path, &["verify", "e.json", "--query", "lock.formula"]);
    assert_eq!(other.status.code(), Some(4), "{other:?}");
    assert!(out(&other).contains("the evidence is about the question in the net's file"), "{other:?}");
}

#[test]
fn evidence_about_another_input_says_about_which() {
    let folder = folder(&[("p.pal", PROGRAM), ("other.pal", &PROGRAM.replace("Open", "Other"))]);
    let path = folder.path();
    palisade(path, &["check", "p.pal", "--threads", "b=0", "--certificate", "."]);
    let rejection = |arguments: &[&str]| {
        let output = palisade(path, &[&["verify", "p.pal.robust.json"], arguments].concat());
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        out(&output)
    };
    let text = rejection(&["--program", "other.pal"]);
    assert!(text.contains("rejected: about something else: the evidence is about `p.pal` with SHA-256 "), "{text}");
    assert!(text.contains(", and `other.pal` has SHA-256 "), "{text}");
    let evidence = std::fs::read_to_string(path.join("p.pal.robust.json")).expect("evidence");
    for (from, to, words) in [
        ("\"copies\":1", "\"copies\":3", "about 3 copies of thread `a`, not 1"),
        (
            "\"domain\":null",
            "\"domain\":{\"low\":0,\"high\":3,\"wrap\":true,\"origin\":\"file\"}",
            "about the domain 0..3 with wrapping, the program has no domain",
        ),
        ("\"name\":\"a\"", "\"name\":\"c\"", "says something else about thread `a`"),
    ] {
        let changed = evidence.replacen(from, to, 1);
        assert_ne!(changed, evidence, "{from}");
        std::fs::write(path.join("p.pal.robust.json"), changed).expect("a file");
        let text = rejection(&[]);
        assert!(text.contains("rejected: about something else: ") && text.contains(words), "{text}");
    }
    std::fs::write(path.join("p.pal.robust.json"), &evidence).expect("a file");
    std::fs::write(path.join("p.pal"), PROGRAM.replace("mem[x]", "mem[z]")).expect("a file");
    let text = rejection(&[]);
    assert!(text.contains("the evidence is about `p.pal` with other content: SHA-256 "), "{text}");
}

/// Every thread left out by hand: what nobody runs is not said to be robust.
#[test]
fn nothing_is_not_robust() {
    let folder = folder(&[("p.pal", PROGRAM)]);
    let path = folder.path();
    palisade(path, &["check", "p.pal", "--threads", "b=0", "--certificate", "."]);
    let evidence = std::fs::read_to_string(path.join("p.pal.robust.json")).expect("evidence");
    let mut document: Value = documents::evidence(&evidence);
    for thread in document["program"]["threads"].as_array_mut().expect("threads") {
        thread["copies"] = json!(0);
        thread["origin"] = json!("option");
    }
    for part in ["locals", "memories", "sc", "delayed", "helped", "attacks"] {
        document["robust"][part] = json!([]);
    }
    std::fs::write(path.join("nothing.json"), document.to_string()).expect("a file");
    let output = palisade(path, &["verify", "nothing.json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(out(&output).contains("no thread has copies"), "{output:?}");
}
