//! Questions as formulas: `EF` and `AG`, names and ids, the choice among properties; against the
//! markings that can be reached.

use crate::checked::solve;
use crate::documents;
use crate::environment::is_long_run;
use palisade::coverability::{Options, Outcome, ReachOutcome, reach_all};
use palisade::net::{Document, Formula as Condition, Net, Quantifier, read_question, read_reach_question};
use palisade::semantics::random::Randomness;
use palisade::verify::{check_reaching_run, check_unreachable};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const NET: &str = "PLACE p1, p2;\nMARKING p1: 2;\nTRANSITION t CONSUME p1; PRODUCE p2;\n";

fn palisade(folder: &Path, line: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(line).current_dir(folder).output().expect("it runs")
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// The exit status and the document of `palisade cover` about a net.
fn cover(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = palisade(folder, &[&["cover", "--json"], arguments].concat());
    (output.status.code(), documents::read(output.stdout))
}

/// The message of a refused net, and what was expected.
fn refusal(folder: &Path, arguments: &[&str]) -> (String, Vec<String>) {
    let (status, document) = cover(folder, arguments);
    assert_eq!(status, Some(2), "{document}");
    let expected = document["error"]["expected"].as_array().expect("an array");
    let words = expected.iter().map(|word| word.as_str().expect("a text").to_owned()).collect();
    (document["error"]["message"].as_str().expect("a message").to_owned(), words)
}

#[test]
fn invariants_are_coverability_questions() {
    for (formula, status, holds) in [
        ("AG (p2 <= 1)", 1, false),
        ("AG (p2 <= 2)", 0, true),
        ("AG p2 < 3", 0, true),
        ("AG (2 >= p2 AND p1 + p2 <= 2)", 0, true),
        ("AG (p1 <= 1 OR p2 <= 0)", 0, true),
        ("AG (NOT (p1 >= 1 AND p2 >= 1))", 1, false),
        ("AG (NOT FIREABLE(t))", 1, false),
        ("INVARIANT p1 <= 2 AND p2 <= 2", 0, true),
        ("EF (p2 >= 2)", 1, true),
        ("EF (NOT (p2 <= 1))", 1, true),
        ("EF (p2 >= 3)", 0, false),
        ("AG (p2 = 0)", 1, false),
        ("AG (0 = p2 OR p1 <= 1)", 0, true),
        ("AG (NOT (p2 != 0))", 1, false),
        ("EF (p1 + p2 != 0)", 1, true),
        ("EF (NOT (p2 + 1 = 1))", 1, true),
        ("AG (p2 + 3 = 2)", 1, false),
        ("AG (p2 >= 0)", 0, true),
        ("EF (p2 < 0)", 0, false),
        ("NOT EF (p2 >= 3)", 0, true),
        ("NOT EF (p2 != 0)", 1, false),
        ("NOT AG (p2 <= 1)", 1, true),
        ("NOT NOT AG (p2 <= 2)", 0, true),
        ("AG TRUE", 0, true),
        ("AG FALSE", 1, false),
    ] {
        let folder = folder(&[("a.lola", NET), ("a.formula", formula)]);
        let (found, document) = cover(folder.path(), &["a.lola", "--certificate", "evidence.json"]);
        assert_eq!(found, Some(status), "{formula}: {document}");
        assert_eq!(document["verdict"], if status == 0 { "uncoverable" } else { "coverable" }, "{formula}");
        let eventually = formula.starts_with("EF") || formula.starts_with("NOT AG");
        assert_eq!(document["formula"]["quantifier"], if eventually { "EF" } else { "AG" });
        assert_eq!(document["formula"]["holds"], holds, "{formula}");
        let text = palisade(folder.path(), &["cover", "a.lola"]).stdout;
        let words = if holds { "holds" } else { "does not hold" };
        let quantifier = document["formula"]["quantifier"].as_str().expect("a word").to_owned();
        let line = format!("\n  formula      {quantifier} {words}\n");
        assert!(String::from_utf8_lossy(&text).contains(&line), "{formula}: {}", String::from_utf8_lossy(&text));
        // The evidence is about this formula and no other.
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(0), "{formula}");
        std::fs::write(folder.path().join("a.formula"), format!("{formula} ;")).expect("a file");
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(4), "{formula}");
    }
}

#[test]
fn what_is_no_coverability_question_is_one_of_reachability() {
    for (formula, status, holds) in [
        ("AG (p2 >= 1)", 1, false),
        ("AG (p1 <= p2)", 1, false),
        ("AG FIREABLE(t)", 1, false),
        ("EF (NOT FIREABLE(t))", 1, true),
        ("AG (NOT (p2 <= 1))", 1, false),
        ("EF (p2 <= 1)", 1, true),
        ("AG (p2 = 1)", 1, false),
        ("EF (p2 = 0)", 1, true),
        ("AG (p2 != 0)", 1, false),
        ("AG (p1 = p2)", 1, false),
        ("AG (p1 >= p2)", 1, false),
        ("NOT EF (p2 <= 1)", 1, false),
        ("AG (p1 + p2 = 2)", 0, true),
        ("EF (p1 = 1 AND p2 != 1)", 0, false),
        ("EF DEADLOCK", 1, true),
        ("EF (DEADLOCK AND p1 >= 1)", 0, false),
        ("AG (NOT DEADLOCK OR p2 = 2)", 0, true),
    ] {
        let folder = folder(&[("a.lola", NET), ("a.formula", formula)]);
        let (found, document) = cover(folder.path(), &["a.lola", "--certificate", "evidence.json"]);
        assert_eq!(found, Some(status), "{formula}: {document}");
        assert_eq!(document["verdict"], if status == 0 { "unreachable" } else { "reachable" }, "{formula}");
        assert_eq!(document["formula"]["holds"], holds, "{formula}");
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(0), "{formula}");
        std::fs::write(folder.path().join("a.formula"), format!("{formula} ;")).expect("a file");
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(4), "{formula}");
    }
}

#[test]
fn what_is_no_question_about_markings_is_refused() {
    for (formula, message) in [
        ("AG p2 <= 1 AND p1 <= 1", "it is not clear whether `AG` reaches beyond this `AND`"),
        ("AF (p2 >= 1)", "`AF` is not supported here: the formula asks more than coverability"),
    ] {
        let folder = folder(&[("a.lola", NET), ("a.formula", formula)]);
        assert_eq!(refusal(folder.path(), &["a.lola"]).0, message, "{formula}");
    }
}

/// A net in which names and ids are crossed: `b` is the name of one place and the id of another.
const CROSSED: &str = "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>
<place id='a'><name><text>b</text></name><initialMarking><text>1</text></initialMarking></place>
<place id='b'><name><text>c</text></name></place>
<place id='d'><name><text>d</text></name></place>
<place id='x'><name><text>same</text></name></place>
<place id='y'><name><text>same</text></name><initialMarking><text>5</text></initialMarking></place>
<transition id='t'><name><text>go</text></name></transition><transition id='u'><name><text>go</text></name></transition>
<arc id='e' source='a' target='t'/><arc id='f' source='t' target='d'/><arc id='g1' source='b' target='u'/>
</page></net></pnml>";

#[test]
fn formulas_call_places_by_name_or_id() {
    for (formula, status) in [
        ("EF (a >= 1)", 1),
        ("EF (d >= 1)", 1),
        ("EF (c >= 1)", 0),
        ("AG (a + d <= 1)", 0),
        ("EF FIREABLE(t)", 1),
        ("EF FIREABLE(u)", 0),
        ("AG (x <= 1)", 0),
        ("AG (y <= 1)", 1),
    ] {
        let folder = folder(&[("a.pnml", CROSSED), ("q.formula", formula)]);
        let (found, document) = cover(folder.path(), &["a.pnml", "--query", "q.formula"]);
        assert_eq!(found, Some(status), "{formula}: {document}");
    }
    let ask = |formula: &str| {
        let folder = folder(&[("a.pnml", CROSSED), ("q.formula", formula)]);
        refusal(folder.path(), &["a.pnml", "--query", "q.formula"]).0
    };
    assert_eq!(ask("EF (b >= 1)"), "`b` is the name of a place and the id of another one");
    assert_eq!(ask("AG (same <= 1)"), "the net has several places of the name `same`");
    assert_eq!(ask("EF FIREABLE(go)"), "the net has several transitions of the name `go`");
    assert_eq!(ask("EF (z >= 1)"), "the net has no place `z`");
}

#[test]
fn the_choice_among_properties_names_its_option() {
    let property = |id: usize| {
        let bound = "<integer-le><tokens-count><place>p2</place></tokens-count><integer-constant>BOUND</integer-constant></integer-le>";
        let bound = bound.replace("BOUND", &id.to_string());
        format!(
            "<property><id>Q-{id}</id><formula><all-paths><globally>{bound}</globally></all-paths></formula></property>"
        )
    };
    let properties: String = (0..8).map(property).collect();
    let query = format!("<property-set>{properties}</property-set>");
    let folder = folder(&[("a.lola", NET), ("q.xml", &query)]);
    let (message, expected) = refusal(folder.path(), &["a.lola", "--query", "q.xml"]);
    assert_eq!(message, "the file holds 8 properties: choose one with `--property ID`");
    assert_eq!(expected, (0..8).map(|id| format!("`Q-{id}`")).collect::<Vec<_>>());
    for (id, status) in [("Q-1", 1), ("Q-2", 0)] {
        let chosen = ["a.lola", "--query", "q.xml", "--property", id, "--certificate", "evidence.json"];
        let (found, document) = cover(folder.path(), &chosen);
        assert_eq!((found, &document["formula"]["holds"]), (Some(status), &(status == 0).into()), "{document}");
        // The same evidence said to be about the other property is rejected.
        let path = folder.path().join("evidence.json");
        let evidence = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(0));
        let other = if status == 0 { "Q-1" } else { "Q-2" };
        assert!(evidence.contains(&format!("\"property\":\"{id}\"")), "{evidence}");
        std::fs::write(&path, evidence.replace(id, other)).expect("it is written");
        assert_eq!(palisade(folder.path(), &["verify", "evidence.json"]).status.code(), Some(4));
    }
}

/// A formula over places by their numbers.
enum Formula {
    Constant(bool),
    AtMost(Side, Side),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

/// A side of a comparison.
enum Side {
    Number(usize),
    Places(Vec<usize>),
}

const PLACES: usize = 3;

impl Formula {
    /// A formula, most of whose comparisons bound sums from above, or from below when `lower`.
    fn random(random: &mut Randomness, depth: usize, lower: bool) -> Self {
        let parts = |random: &mut Randomness| {
            (0..=random.below(2)).map(|_| Self::random(random, depth - 1, lower)).collect::<Vec<_>>()
        };
        match random.below(if depth == 0 { 4 } else { 8 }) {
            0 if random.percent(20) => Self::Constant(random.percent(50)),
            4 => Self::All(parts(random)),
            5 => Self::Any(parts(random)),
            6 | 7 => Self::Not(Box::new(Self::random(random, depth - 1, !lower))),
            _ => {
                let number = Side::Number(random.below(4));
                let places = Side::Places((0..=random.below(2)).map(|_| random.below(PLACES)).collect());
                if lower == random.percent(95) { Self::AtMost(number, places) } else { Self::AtMost(places, number) }
            }
        }
    }

    fn holds(&self, marking: &[usize]) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::AtMost(left, right) => left.value(marking) <= right.value(marking),
            Self::Not(part) => !part.holds(marking),
            Self::All(parts) => parts.iter().all(|part| part.holds(marking)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(marking)),
        }
    }

    /// In LoLA's syntax, each comparison in one of its spellings.
    fn lola(&self, random: &mut Randomness) -> String {
        let joined = |parts: &[Self], word: &str, random: &mut Randomness| {
            let parts: Vec<String> = parts.iter().map(|part| part.lola(random)).collect();
            format!("({})", parts.join(word))
        };
        match self {
            Self::Constant(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
            Self::AtMost(left, right) => {
                let spelled = (left, right);
                let (left, right) = (left.lola(), right.lola());
                match random.below(4) {
                    3 if matches!(spelled, (_, Side::Number(0))) => format!("{left} = {right}"),
                    3 if matches!(spelled, (Side::Number(1), _)) => format!("{right} != 0"),
                    0 => format!("{left} <= {right}"),
                    1 => format!("{right} >= {left}"),
                    2 => format!("{left} < {right} + 1"),
                    _ => format!("(NOT ({left} > {right}))"),
                }
            }
            Self::Not(part) => format!("NOT ({})", part.lola(random)),
            Self::All(parts) => joined(parts, " AND ", random),
            Self::Any(parts) => joined(parts, " OR ", random),
        }
    }

    /// As the Model Checking Contest writes it.
    fn xml(&self) -> String {
        let element = |name: &str, parts: &[Self]| {
            let parts: String = parts.iter().map(Self::xml).collect();
            format!("<{name}>{parts}</{name}>")
        };
        match self {
            Self::Constant(value) => format!("<{value}/>"),
            Self::AtMost(left, right) => format!("<integer-le>{}{}</integer-le>", left.xml(), right.xml()),
            Self::Not(part) => format!("<negation>{}</negation>", part.xml()),
            Self::All(parts) => element("conjunction", parts),
            Self::Any(parts) => element("disjunction", parts),
        }
    }
}

impl Side {
    fn value(&self, marking: &[usize]) -> usize {
        match self {
            Self::Number(number) => *number,
            Self::Places(places) => places.iter().map(|place| marking[*place]).sum(),
        }
    }

    fn lola(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Places(places) => places.iter().map(|place| format!("p{place}")).collect::<Vec<_>>().join(" + "),
        }
    }

    fn xml(&self) -> String {
        match self {
            Self::Number(number) => format!("<integer-constant>{number}</integer-constant>"),
            Self::Places(places) => {
                let places: String = places.iter().map(|place| format!("<place>p{place}</place>")).collect();
                format!("<tokens-count>{places}</tokens-count>")
            }
        }
    }
}

/// A net of transitions that move one token, in LoLA's format, and the markings that it reaches.
fn random_net(random: &mut Randomness) -> (String, BTreeSet<Vec<usize>>) {
    let initial: Vec<usize> = (0..PLACES).map(|_| random.below(3)).collect();
    let moves: Vec<(usize, usize)> =
        (0..random.below(4)).map(|_| (random.below(PLACES), random.below(PLACES))).collect();
    let marked: Vec<String> = initial.iter().enumerate().map(|(place, count)| format!("p{place}: {count}")).collect();
    let mut text = format!("PLACE p0, p1, p2;\nMARKING {};\n", marked.join(", "));
    for (number, (from, to)) in moves.iter().enumerate() {
        text += &format!("TRANSITION t{number} CONSUME p{from}; PRODUCE p{to};\n");
    }
    let mut reached = BTreeSet::from([initial.clone()]);
    let mut open = vec![initial];
    while let Some(marking) = open.pop() {
        for (from, to) in moves.iter().filter(|(from, _)| marking[*from] > 0) {
            let mut next = marking.clone();
            next[*from] -= 1;
            next[*to] += 1;
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (text, reached)
}

/// Whether a marking that satisfies a condition can be reached, with its evidence checked.
fn is_reachable(net: &Net, goal: &Condition) -> bool {
    let mut found = None;
    let options = Options { deterministic: true, jobs: 1, ..Options::default() };
    reach_all(net, std::slice::from_ref(goal), &options, |_, answer| {
        let checked = match &answer.outcome {
            ReachOutcome::Reachable(run) => check_reaching_run(net, goal, run),
            ReachOutcome::Unreachable(certificate) => check_unreachable(net, goal, certificate),
            ReachOutcome::Unknown(reason) => panic!("{reason}"),
        };
        checked.unwrap_or_else(|failure| panic!("{failure}"));
        found = answer.outcome.is_reachable();
    });
    found.expect("there is an answer")
}

#[test]
fn formulas_hold_where_the_markings_say_so() {
    let rounds = if is_long_run() { 50_000 } else { 600 };
    let mut random = Randomness::new(20);
    let mut counts = [[0_usize; 2]; 2];
    let mut reached_conditions = 0;
    for round in 0..rounds {
        let (net, reached) = random_net(&mut random);
        let quantifier = if random.percent(65) { Quantifier::Always } else { Quantifier::Eventually };
        let formula = Formula::random(&mut random, 3, quantifier == Quantifier::Eventually);
        let holds = match quantifier {
            Quantifier::Always => reached.iter().all(|marking| formula.holds(marking)),
            Quantifier::Eventually => reached.iter().any(|marking| formula.holds(marking)),
        };
        let (outer, inner) = match quantifier {
            Quantifier::Always => ("all-paths", "globally"),
            Quantifier::Eventually => ("exists-path", "finally"),
        };
        let mut lola = format!("{} ({})", quantifier.name(), formula.lola(&mut random));
        let mut xml = format!("<{outer}><{inner}>{}</{inner}></{outer}>", formula.xml());
        let is_negated = random.percent(20);
        if is_negated {
            lola = format!("NOT {lola}");
            xml = format!("<negation>{xml}</negation>");
        }
        let holds = holds != is_negated;
        let quantifier = if is_negated { quantifier.contrary() } else { quantifier };
        let xml = format!("<p><property><id>x</id><formula>{xml}</formula></property></p>");
        let ask = |name: &str, text: &str| {
            let net = Document { name: "a.lola", bytes: net.as_bytes(), format: None };
            read_question(net, Some(Document { name, bytes: text.as_bytes(), format: None }), None)
        };
        let (Ok((problem, asked)), Ok((same, also_asked))) = (ask("a.formula", &lola), ask("a.xml", &xml)) else {
            let refused = (ask("a.formula", &lola), ask("a.xml", &xml));
            assert!(matches!(refused, (Err(_), Err(_))), "round {round}: one of {lola} and {xml} is refused");
            let reach = |name: &str, text: &str| {
                let net = Document { name: "a.lola", bytes: net.as_bytes(), format: None };
                read_reach_question(net, Document { name, bytes: text.as_bytes(), format: None }, None)
            };
            let (read, question) = reach("a.formula", &lola).expect("it is a question of reachability");
            let (_, same) = reach("a.xml", &xml).expect("it is a question of reachability");
            assert_eq!(question.quantifier, quantifier);
            for goal in [question.goal, same.goal] {
                assert_eq!(quantifier.holds(is_reachable(&read, &goal)), holds, "round {round}: {lola} in\n{net}");
            }
            reached_conditions += 1;
            continue;
        };
        assert_eq!((&problem.query, asked), (&same.query, also_asked), "round {round}: {lola}");
        assert_eq!(asked, Some(quantifier));
        let answer = solve(&problem, &Options::default());
        let coverable = match answer.outcome {
            Outcome::Coverable(_) => true,
            Outcome::Uncoverable(_) => false,
            Outcome::Unknown(reason) => panic!("round {round}: {reason}"),
        };
        assert_eq!(quantifier.holds(coverable), holds, "round {round}: {lola} in\n{net}");
        counts[usize::from(quantifier == Quantifier::Always)][usize::from(holds)] += 1;
    }
    assert!(reached_conditions > rounds / 50, "{reached_conditions} questions of reachability");
    assert!(counts.iter().flatten().all(|count| *count > rounds / 20), "both quantifiers, both answers: {counts:?}");
}
