//! All properties of a query of the Model Checking Contest in one run.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

/// A ring in which a token goes from `a` over `b` to `c`; `d` never holds one, and `e` any number.
const NET: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><place id="c"/><place id="d"/><place id="e"/>
<transition id="ab"/><transition id="bc"/><transition id="ca"/><transition id="dd"/>
<arc id="1" source="a" target="ab"/><arc id="2" source="ab" target="b"/>
<arc id="3" source="b" target="bc"/><arc id="4" source="bc" target="c"/><arc id="5" source="bc" target="e"/>
<arc id="6" source="c" target="ca"/><arc id="7" source="ca" target="a"/>
<arc id="8" source="d" target="dd"/><arc id="9" source="dd" target="d"/>
</page></net></pnml>
"#;

/// `low ≤ tokens on these places`.
fn at_least(low: u32, places: &str) -> String {
    let places: String = places.chars().map(|place| format!("<place>{place}</place>")).collect();
    format!("<integer-le><integer-constant>{low}</integer-constant><tokens-count>{places}</tokens-count></integer-le>")
}

/// `tokens on these places ≤ high`.
fn at_most(places: &str, high: u32) -> String {
    let places: String = places.chars().map(|place| format!("<place>{place}</place>")).collect();
    format!("<integer-le><tokens-count>{places}</tokens-count><integer-constant>{high}</integer-constant></integer-le>")
}

fn ef(condition: &str) -> String {
    format!("<exists-path><finally>{condition}</finally></exists-path>")
}

fn ag(condition: &str) -> String {
    format!("<all-paths><globally>{condition}</globally></all-paths>")
}

fn both(one: &str, other: &str) -> String {
    format!("<conjunction>{one}{other}</conjunction>")
}

fn either(one: &str, other: &str) -> String {
    format!("<disjunction>{one}{other}</disjunction>")
}

fn not(one: &str) -> String {
    format!("<negation>{one}</negation>")
}

fn fireable(transition: &str) -> String {
    format!("<is-fireable><transition>{transition}</transition></is-fireable>")
}

fn query(formulas: &[String]) -> String {
    let property = |(index, formula): (usize, &String)| {
        format!("<property><id>ring-{index:02}</id><formula>{formula}</formula></property>\n")
    };
    format!("<property-set>\n{}</property-set>\n", formulas.iter().enumerate().map(property).collect::<String>())
}

/// Formulas with their values, by hand; none where they are no questions about reachable markings.
fn formulas() -> Vec<(String, Option<bool>)> {
    let upper = || at_most("a", 0);
    vec![
        (ef(&at_least(1, "b")), Some(true)),
        (ef(&both(&at_least(1, "a"), &at_least(1, "b"))), Some(false)),
        (ag(&at_most("abc", 1)), Some(true)),
        (ag(&at_most("e", 5)), Some(false)),
        (not(&ef(&at_least(1, "d"))), Some(true)),
        (ef(&fireable("dd")), Some(false)),
        (ag(&not(&fireable("bc"))), Some(false)),
        // Combinations of paths.
        (both(&ef(&at_least(1, "b")), &ag(&at_most("d", 0))), Some(true)),
        (either(&ef(&at_least(1, "d")), &not(&ag(&at_most("e", 3)))), Some(true)),
        // A part that is no lower bound, beside one that decides.
        (ef(&either(&upper(), &at_least(1, "c"))), Some(true)),
        (ef(&both(&upper(), &at_least(1, "d"))), Some(false)),
        (ag(&both(&at_least(1, "a"), &at_most("e", 2))), Some(false)),
        (ag(&either(&at_least(1, "a"), &at_most("d", 0))), Some(true)),
        // Questions of reachability.
        (ef(&upper()), Some(true)),
        (ef(&both(&upper(), &at_least(1, "c"))), Some(true)),
        (ef(&both(&upper(), &at_most("bcd", 0))), Some(false)),
        (ag(&fireable("ab")), Some(false)),
        (ef("<deadlock/>"), Some(false)),
        (ag(&not("<deadlock/>")), Some(true)),
        (
            ef(
                "<integer-eq><tokens-count><place>e</place></tokens-count><integer-constant>7</integer-constant></integer-eq>",
            ),
            Some(true),
        ),
        (
            ag(
                "<integer-ne><tokens-count><place>a</place></tokens-count><integer-constant>2</integer-constant></integer-ne>",
            ),
            Some(true),
        ),
        // Something else.
        ("<exists-path><next><deadlock/></next></exists-path>".to_owned(), None),
    ]
}

fn folder(formulas: &[(String, Option<bool>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ring.pnml"), NET).expect("it is written");
    let texts: Vec<String> = formulas.iter().map(|(formula, _)| formula.clone()).collect();
    std::fs::write(folder.path().join("ring.xml"), query(&texts)).expect("it is written");
    folder
}

#[test]
fn every_property_has_its_line() {
    let formulas = formulas();
    let folder = folder(&formulas);
    let run = palisade(folder.path(), &["cover", "ring.pnml", "--all"]);
    assert_eq!(run.status.code(), Some(3), "some are not computed: {run:?}");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), formulas.len(), "{text}");
    for (index, (formula, value)) in formulas.iter().enumerate() {
        let start = format!("FORMULA ring-{index:02} ");
        let line = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{formula}: {text}"));
        let rest = &line[start.len()..];
        match value {
            Some(value) => {
                let word = if *value { "TRUE TECHNIQUES " } else { "FALSE TECHNIQUES " };
                assert!(rest.starts_with(word), "{formula}: {line}");
            }
            None => {
                assert!(rest.strip_prefix("CANNOT_COMPUTE ").is_some_and(|why| why.len() > 20), "{formula}: {line}");
            }
        }
    }
}

#[test]
fn every_answer_has_evidence_that_is_accepted() {
    let formulas = formulas();
    let folder = folder(&formulas);
    let run =
        palisade(folder.path(), &["cover", "ring.pnml", "--all", "--json", "--verify", "--certificate", "evidence"]);
    let document = documents::read(&run.stdout);
    let properties = document["properties"].as_array().expect("properties");
    assert_eq!(properties.len(), formulas.len());
    let mut accepted = 0;
    for (property, (formula, value)) in properties.iter().zip(&formulas) {
        assert_eq!(property["holds"].as_bool(), *value, "{formula}: {property}");
        assert_eq!(property["reason"].is_string(), value.is_none(), "{property}");
        for question in property["questions"].as_array().expect("questions") {
            let Some(path) = question["certificate"].as_str() else { panic!("no evidence: {property}") };
            assert_eq!(question["accepted"], true, "{property}");
            let verified = palisade(folder.path(), &["verify", path]);
            assert_eq!(verified.status.code(), Some(0), "{path}: {verified:?}");
            accepted += 1;
        }
    }
    assert!(accepted >= 16, "{accepted}: {document}");
    // Evidence for one question is none for another.
    let path = folder.path().join("evidence/ring-00_1.json");
    let text = std::fs::read_to_string(&path).expect("evidence");
    assert!(text.contains("ring-00#1"), "{text}");
    std::fs::write(&path, text.replace("ring-00#1", "ring-01#1")).expect("it is written");
    let verified = palisade(folder.path(), &["verify", "evidence/ring-00_1.json"]);
    assert_eq!(verified.status.code(), Some(4), "{verified:?}");
}

#[test]
fn one_question_of_a_property_is_asked_by_its_number() {
    let formulas = formulas();
    let folder = folder(&formulas);
    let run = palisade(folder.path(), &["cover", "ring.pnml", "--json", "--property", "ring-08#2"]);
    let document = documents::read(&run.stdout);
    assert_eq!((&document["verdict"], &document["formula"]["holds"]), (&"coverable".into(), &false.into()));
    let run = palisade(folder.path(), &["cover", "ring.pnml", "--json", "--property", "ring-08#3"]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
}

#[test]
fn a_question_of_reachability_is_asked_alone() {
    let formulas = formulas();
    let folder = folder(&formulas);
    for (property, verdict, holds) in
        [("ring-13", "reachable", true), ("ring-15", "unreachable", false), ("ring-16#1", "reachable", false)]
    {
        let arguments = ["cover", "ring.pnml", "--json", "--verify", "--certificate", "e.json", "--property", property];
        let document = documents::read(&palisade(folder.path(), &arguments).stdout);
        let found = (&document["verdict"], &document["formula"]["holds"], &document["evidence"]["verdict"]);
        assert_eq!(found, (&verdict.into(), &holds.into(), &"accepted".into()), "{document}");
        let verified = palisade(folder.path(), &["verify", "e.json"]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
        // Evidence for one condition is none for another.
        let text = std::fs::read_to_string(folder.path().join("e.json")).expect("evidence");
        std::fs::write(folder.path().join("e.json"), text.replace(property, "ring-18")).expect("it is written");
        let verified = palisade(folder.path(), &["verify", "e.json"]);
        assert_eq!(verified.status.code(), Some(4), "{verified:?}");
    }
}

/// Questions whose ids make one name of a file have a file each; an id that is missing or there
/// twice is refused.
#[test]
fn each_question_has_a_file_of_its_own() {
    let folder = folder(&[(ef(&at_least(1, "b")), Some(true)), (ag(&at_most("a", 1)), Some(true))]);
    let plain = std::fs::read_to_string(folder.path().join("ring.xml")).expect("the query");
    let ask = |one: &str, other: &str| {
        let text = plain.replace("ring-00", one).replace("ring-01", other);
        std::fs::write(folder.path().join("ring.xml"), text).expect("it is written");
        palisade(folder.path(), &["cover", "ring.pnml", "--all", "--certificate", "files"])
    };
    assert_eq!(ask("../a/b", "../a b").status.code(), Some(0));
    let files = std::fs::read_dir(folder.path().join("files")).expect("evidence");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8")).collect();
    files.sort();
    assert_eq!(files, ["_.._a_b_1-2.json", "_.._a_b_1.json"]);
    for file in files {
        let verified = palisade(folder.path(), &["verify", &format!("files/{file}")]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    }
    for (one, other, message) in [("a", "a", "the property id `a` is used twice"), ("", "b", "the property has no id")]
    {
        let run = ask(one, other);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(message), "{run:?}");
    }
}

/// Merged answers about all properties say what each comes to.
#[test]
fn merged_jobs_say_what_each_property_comes_to() {
    let folder = folder(&[(ef(&at_least(1, "b")), Some(true)), (ag(&at_most("a", 0)), Some(false))]);
    let succeed = |arguments: &[&str]| {
        let run = palisade(folder.path(), arguments);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        run.stdout
    };
    for (each, values, line) in [
        ("--all", ["ring-00 TRUE", "ring-01 FALSE"].as_slice(), "0 hold, 0 fail, 1 answered for each property"),
        ("--ask one-safe", ["one-safe FALSE"].as_slice(), "0 hold, 0 fail, 1 answered for each property"),
        ("--ask upper-bounds", ["upper-bounds:a 1", "upper-bounds:e UNBOUNDED"].as_slice(), "0 hold, 0 fail"),
    ] {
        succeed(&["plan", "cover", "ring.pnml", "--each", each, "-o", "jobs.jsonl"]);
        succeed(&["run", "jobs.jsonl"]);
        let text = String::from_utf8(succeed(&["merge", "jobs.jsonl"])).expect("UTF-8");
        for value in values {
            assert!(text.contains(&format!("\n  {value}\n")), "{value}: {text}");
        }
        assert!(text.contains(line), "{text}");
    }
}

/// Answers to questions without a file name the transition or the marking.
#[test]
fn answers_name_what_they_are_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = "PLACE p, q, r; MARKING p: 3; TRANSITION t CONSUME p: 2; PRODUCE q: 1, r: 2; TRANSITION w CONSUME q: 2; PRODUCE r: 1;";
    std::fs::write(folder.path().join("a.lola"), net).expect("it is written");
    for (ask, lines) in [
        (
            "deadlock",
            "FORMULA deadlock TRUE TECHNIQUES EXPLICIT\n  nothing fires after 1 firing, at `p` 1, `q` 1, `r` 2\n",
        ),
        ("one-safe", "\n  `p` 3 at the beginning\n"),
        ("quasi-live", "\n  no run fires `w`\n"),
    ] {
        let run = palisade(folder.path(), &["cover", "a.lola", "--ask", ask]);
        let text = String::from_utf8(run.stdout).expect("UTF-8");
        assert!(text.contains(lines), "{ask}: {text}");
    }
}

#[test]
fn some_questions_need_no_file() {
    let folder = folder(&[]);
    for (name, value, code) in [("deadlock", "FALSE", 0), ("one-safe", "FALSE", 0), ("quasi-live", "FALSE", 0)] {
        let arguments = ["cover", "ring.pnml", "--ask", name, "--verify", "--certificate", "evidence"];
        let run = palisade(folder.path(), &arguments);
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(text.starts_with(&format!("FORMULA {name} {value} TECHNIQUES ")), "{run:?}");
        assert_eq!(run.status.code(), Some(code), "{run:?}");
    }
    for evidence in std::fs::read_dir(folder.path().join("evidence")).expect("evidence") {
        let path = evidence.expect("a file").path();
        let verified = palisade(folder.path(), &["verify", &path.to_string_lossy()]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    }
}

#[test]
fn a_benchmark_runs_each_property_and_reads_other_tools_lines() {
    let formulas: Vec<_> = formulas().into_iter().take(7).collect();
    let folder = folder(&formulas);
    let own = env!("CARGO_BIN_EXE_palisade");
    let against = format!("{own} cover {{}} --all");
    let wrong = "echo FORMULA {property} TRUE TECHNIQUES GUESS {}";
    let arguments = ["bench", "ring.pnml", "--json", "--timeout", "60s", "--against", &against, "--against", wrong];
    let run = palisade(folder.path(), &arguments);
    assert_eq!(run.status.code(), Some(1), "guesses disagree: {run:?}");
    let document = documents::read(&run.stdout);
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 3 * formulas.len());
    for (index, (formula, value)) in formulas.iter().enumerate() {
        let file = format!("ring.pnml#ring-{index:02}");
        let verdicts: Vec<&str> =
            runs.iter().filter(|run| run["file"] == file.as_str()).filter_map(|run| run["verdict"].as_str()).collect();
        // `EF` holds when a target can be covered, `AG` and `NOT EF` when none can.
        let expected =
            if value.expect("a value") == formula.starts_with("<exists") { "coverable" } else { "uncoverable" };
        let guess = if formula.starts_with("<exists") { "coverable" } else { "uncoverable" };
        assert_eq!(verdicts, [expected, expected, guess], "{file} {formula}");
    }
}

#[test]
fn a_net_of_the_contests_size_is_read_within_limits() {
    const PLACES: usize = 100_000;
    let folder = tempfile::tempdir().expect("a folder");
    let mut net = String::from(
        "<pnml><net id=\"large\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\">\n",
    );
    for place in 0..PLACES {
        let initial = if place == 0 { "<initialMarking><text>1</text></initialMarking>" } else { "" };
        net.push_str(&format!("<place id=\"p{place}\"><name><text>p{place}</text></name>{initial}</place>\n"));
        let next = place + 1;
        if next < PLACES {
            net.push_str(&format!(
                "<transition id=\"t{place}\"><name><text>t{place}</text></name></transition>\n\
                 <arc id=\"i{place}\" source=\"p{place}\" target=\"t{place}\"/><arc id=\"o{place}\" source=\"t{place}\" target=\"p{next}\"/>\n"
            ));
        }
    }
    net.push_str("</page></net></pnml>\n");
    std::fs::write(folder.path().join("large.pnml"), net).expect("it is written");
    let token = |place: usize, low: u32| {
        format!(
            "<integer-le><integer-constant>{low}</integer-constant><tokens-count><place>p{place}</place></tokens-count></integer-le>"
        )
    };
    let formulas = [ef(&token(50, 1)), ef(&token(60, 2)), ag(&not(&both(&token(3, 1), &token(4, 1))))];
    std::fs::write(folder.path().join("large.xml"), query(&formulas)).expect("it is written");
    let run =
        palisade(folder.path(), &["cover", "large.pnml", "--all", "--json", "--memory", "2G", "--timeout", "120s"]);
    let document = documents::read(&run.stdout);
    let values: Vec<_> =
        document["properties"].as_array().expect("properties").iter().map(|it| it["holds"].as_bool()).collect();
    assert_eq!(values, [Some(true), Some(false), Some(true)], "{document}");
    // The limit of memory holds while the net is read.
    let run = palisade(folder.path(), &["cover", "large.pnml", "--all", "--json", "--memory", "20M"]);
    assert_eq!(run.status.code(), Some(3), "{run:?}");
}

/// With any number of tokens in the beginning coverability alone is asked, and other questions say
/// so.
#[test]
fn many_initial_markings_are_for_coverability() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p >= 1, q = 0\ntarget\n q >= 2\n";
    std::fs::write(folder.path().join("net.spec"), net).expect("it is written");
    for ask in ["deadlock", "one-safe", "quasi-live", "upper-bounds"] {
        let run = palisade(folder.path(), &["cover", "net.spec", "--ask", ask]);
        let said = String::from_utf8(run.stdout).expect("UTF-8");
        assert!(
            said.contains("CANNOT_COMPUTE") && said.contains("reachability is decided from one initial marking"),
            "{ask}: {said}"
        );
    }
}
