//! Results that somebody has forged: `merge` says what their evidence shows of the questions that
//! were asked, or rejects them.
//!
//! Jobs of every kind are done once. A generator then swaps the evidence of results, drops pieces
//! of it and edits lines at random. Whatever it does, an answer that counts is the one that the
//! honest results have, by evidence of the same kinds.

use super::forged_inputs::{
    BROKEN, EVENTS, EXCLUSION, EXISTS, FLAGS, NET, PASSED, QUIET_EVENTS, RING, STATED, property,
};
use crate::documents::{evidence, is_json, read};
use crate::environment::{sample, seeds};
use palisade::semantics::random::Randomness;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The jobs, each of a question of its own.
const JOBS: [&str; 55] = [
    "check broken.pal",
    "check broken.pal --each --model=ra",
    "check broken.pal --each --threads=b=1",
    "check broken.pal --each --model=pso",
    "check broken.pal --each --ask=races",
    "check fenced.pal",
    "check fenced.pal --each --domain=0..3",
    "check fenced.pal --each --model=pso",
    "check fenced.pal --each --ask=races",
    "check events.pal",
    "check events.pal --each --ask=robustness",
    "check quiet.pal",
    "check flags.pal",
    "check flags.pal --each --ask=hangs",
    "check woken.pal --each --ask=hangs",
    "check flags.pal --each --ask=hopeless",
    "check woken.pal --each --ask=hopeless",
    "check woken.pal --each --model=sc",
    "check timed.pal --each --ask=hangs",
    "check timed.pal --each --ask=hangs+--ignore-timeouts",
    "check passed.pal --each --model=c11",
    "check racy.pal --each --model=c11",
    "check relaxed.pal --each --model=c11",
    "check kept.pal --each --model=c11",
    "check kept.pal --each --model=c11+--ask=properties",
    "check passed.pal --each --model=c11+--ask=hangs",
    "prove stated.pal",
    "prove stated.pal --each --model=pso",
    "prove stated.pal --each --model=sc",
    "prove exclusion.pal",
    "prove exists.litmus",
    "prove exists.litmus --each --model=sc",
    "fences broken.pal",
    "fences broken.pal --each --cost=costs.csv",
    "fences fenced.pal",
    "fences broken.pal --each --only=b.l0",
    "fences exclusion.pal --each --ask=properties",
    "fences flags.pal --each --ask=hangs",
    "fences timed.pal --each --ask=hangs+--ignore-timeouts",
    "fences racy.pal --each --model=c11",
    "fences racy.pal --each --model=c11+--only=reader.*",
    "fences relaxed.pal --each --model=c11+--all",
    "fences passed.pal --each --model=c11",
    "fences broken.pal --each --model=ra",
    "orderings strong.pal",
    "orderings racy.pal",
    "orderings wrong.pal",
    "cover covered.spec",
    "cover safe.spec",
    "cover ring.pnml --each --all",
    "cover ring.pnml --each --ask=deadlock",
    "cover ring.pnml --each --ask=one-safe",
    "cover ring.pnml --each --ask=quasi-live",
    "cover ring.pnml --each --ask=upper-bounds",
    "cover stops.pnml --each --ask=deadlock",
];

/// Jobs done honestly: their plans, their lines of results, and what `merge` says of them.
struct Honest {
    folder: tempfile::TempDir,
    jobs: Vec<Value>,
    results: Vec<Value>,
    answers: Vec<Value>,
}

fn palisade(folder: &Path, line: &str) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(line.split(' ').map(|own| own.replace('+', " ")))
        .current_dir(folder)
        .output();
    let output = output.expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 5), "{line}: {complaint}");
    (String::from_utf8(output.stdout).expect("UTF-8") + &complaint, output.status.code())
}

impl Honest {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
        write("broken.pal", BROKEN);
        write("fenced.pal", &BROKEN.replace("goto l1;", "goto f;\n  f: mfence; goto l1;"));
        write("stated.pal", STATED);
        write("exclusion.pal", EXCLUSION);
        write("flags.pal", FLAGS);
        write("timed.pal", &FLAGS.replace("await", "timed await"));
        write("woken.pal", &FLAGS.replace("= 1; if", "= 1; mfence; if"));
        write("passed.pal", PASSED);
        write("racy.pal", &PASSED.replace("release", "relaxed"));
        write(
            "relaxed.pal",
            &PASSED
                .replace("release", "relaxed")
                .replace("plain data", "address data")
                .replace("data = 1;", "store(data, 1, relaxed);")
                .replace("= data", "= load(data, relaxed)"),
        );
        let kept = PASSED.replace("let got = data;", "let got = data; ensure got == 1;");
        write("strong.pal", &kept.replace("release", "seq_cst").replace("acquire", "seq_cst"));
        write("wrong.pal", &kept.replace("got == 1", "got == 0"));
        write("kept.pal", &kept);
        write("events.pal", EVENTS);
        write("quiet.pal", QUIET_EVENTS);
        write("exists.litmus", EXISTS);
        write("costs.csv", "a,l0,1\na,l1,2\nb,l0,7\nb,l1,5\n");
        write("covered.spec", &NET.replace("TOKENS", "1"));
        write("safe.spec", &NET.replace("TOKENS", "2"));
        write("ring.pnml", RING);
        write("stops.pnml", &RING.replace("<arc id=\"4\" source=\"ba\" target=\"a\"/>", ""));
        let properties = property("one", 1, "b") + &property("two", 2, "ab") + &property("three", 1, "ab");
        write("ring.xml", &format!("<property-set>{properties}</property-set>"));
        let (mut jobs, mut results) = (Vec::new(), Vec::new());
        for line in JOBS {
            let (said, exit) = palisade(folder.path(), &format!("plan {line} -o one.jsonl"));
            assert_eq!(exit, Some(0), "{line}: {said}");
            let plan = fs::read_to_string(folder.path().join("one.jsonl")).expect("a plan");
            jobs.extend(plan.lines().map(read));
        }
        let of = jobs.len();
        let plan: Vec<String> = (1..).zip(&mut jobs).map(|(number, job)| numbered(job, number, of)).collect();
        assert_eq!(of, JOBS.len());
        write("jobs.jsonl", &plan.join("\n"));
        let (said, exit) = palisade(folder.path(), "run jobs.jsonl --output=done.jsonl");
        assert_eq!(exit, Some(0), "{said}");
        let done = fs::read_to_string(folder.path().join("done.jsonl")).expect("results");
        let done: Vec<Value> = done.lines().map(read).collect();
        for job in &jobs {
            results.push(done.iter().find(|result| result["job"] == job["job"]).expect("a result").clone());
        }
        let mut honest = Self { folder, jobs, results, answers: Vec::new() };
        honest.answers = honest.merged(&honest.results);
        honest
    }

    /// What `merge` says of results, one for each job.
    fn merged(&self, results: &[Value]) -> Vec<Value> {
        let lines: Vec<String> = results.iter().map(Value::to_string).collect();
        fs::write(self.folder.path().join("forged.jsonl"), lines.join("\n")).expect("it is written");
        let (said, _) = palisade(self.folder.path(), "merge jobs.jsonl forged.jsonl --json");
        read(&said)["answers"].as_array().unwrap_or_else(|| panic!("{said}")).clone()
    }

    /// The answer of a job whose result is replaced.
    fn with(&self, number: usize, result: Value) -> Value {
        let mut results = self.results.clone();
        results[number] = result;
        self.merged(&results)[number].clone()
    }

    fn job(&self, line: &str) -> usize {
        JOBS.iter().position(|job| *job == line).expect("a job")
    }
}

/// The line of a job with another number.
fn numbered(job: &mut Value, number: usize, of: usize) -> String {
    (job["number"], job["of"]) = (number.into(), of.into());
    job.to_string()
}

/// What an answer says.
fn said(answer: &Value) -> [&Value; 4] {
    ["exit", "verdict", "cost", "cheapest"].map(|member| &answer[member])
}

/// The kinds of evidence that an answer rests on.
fn kinds(answer: &Value) -> Vec<&Value> {
    answer["accepted"].as_array().map_or_else(Vec::new, |kinds| kinds.iter().collect())
}

fn is_rejected(answer: &Value) -> bool {
    answer["exit"] == 4 && answer["verdict"].is_null() && answer["accepted"] == serde_json::json!([])
}

/// A result of one job with the evidence of another.
fn with_evidence_of(result: &Value, other: &Value) -> Value {
    let mut forged = result.clone();
    forged["evidence"] = other["evidence"].clone();
    forged
}

/// A result that says what that of another job does.
fn said_by(result: &Value, other: &Value) -> Value {
    let mut forged = other.clone();
    forged["job"] = result["job"].clone();
    forged
}

#[test]
fn honest_results_have_their_answers() {
    let honest = Honest::new();
    let expected = [
        ("check broken.pal", 1, "not robust"),
        ("check broken.pal --each --model=pso", 1, "not robust"),
        ("check broken.pal --each --ask=races", 1, "triangular-race"),
        ("check fenced.pal", 0, "robust"),
        ("check fenced.pal --each --ask=races", 0, "race-free"),
        ("check events.pal", 1, "not robust"),
        ("check quiet.pal", 0, "robust"),
        ("check flags.pal", 1, "violated"),
        ("check flags.pal --each --ask=hangs", 1, "stuck"),
        ("check woken.pal --each --ask=hangs", 0, "free"),
        ("check woken.pal --each --model=sc", 0, "holds"),
        ("check timed.pal --each --ask=hangs", 0, "free"),
        ("check timed.pal --each --ask=hangs+--ignore-timeouts", 1, "stuck"),
        ("check broken.pal --each --model=ra", 1, "not robust"),
        ("check passed.pal --each --model=c11", 0, "robust"),
        ("check racy.pal --each --model=c11", 1, "not robust"),
        ("check relaxed.pal --each --model=c11", 1, "not robust"),
        ("check kept.pal --each --model=c11", 0, "holds"),
        ("check kept.pal --each --model=c11+--ask=properties", 0, "holds"),
        ("check passed.pal --each --model=c11+--ask=hangs", 0, "free"),
        ("fences racy.pal --each --model=c11", 0, "repaired"),
        ("fences racy.pal --each --model=c11+--only=reader.*", 1, "impossible"),
        ("fences relaxed.pal --each --model=c11+--all", 0, "repaired"),
        ("fences passed.pal --each --model=c11", 0, "robust"),
        ("fences broken.pal --each --model=ra", 0, "repaired"),
        ("orderings strong.pal", 0, "robust"),
        ("orderings racy.pal", 1, "not robust"),
        ("orderings wrong.pal", 1, "violated"),
        ("prove stated.pal", 0, "holds"),
        ("prove stated.pal --each --model=pso", 1, "violated"),
        ("prove exclusion.pal", 1, "violated"),
        ("prove exists.litmus", 0, "holds"),
        ("prove exists.litmus --each --model=sc", 0, "holds"),
        ("fences broken.pal", 0, "repaired"),
        ("fences fenced.pal", 0, "robust"),
        ("fences broken.pal --each --only=b.l0", 1, "impossible"),
        ("fences exclusion.pal --each --ask=properties", 0, "repaired"),
        ("fences flags.pal --each --ask=hangs", 0, "repaired"),
        ("fences timed.pal --each --ask=hangs+--ignore-timeouts", 0, "repaired"),
        ("cover covered.spec", 1, "coverable"),
        ("cover safe.spec", 0, "uncoverable"),
        ("cover ring.pnml --each --all", 0, "answered"),
        ("cover ring.pnml --each --ask=deadlock", 0, "answered"),
        ("cover stops.pnml --each --ask=deadlock", 0, "answered"),
        ("cover ring.pnml --each --ask=upper-bounds", 0, "answered"),
    ];
    for (line, exit, verdict) in expected {
        let answer = &honest.answers[honest.job(line)];
        assert_eq!((&answer["exit"], &answer["verdict"]), (&exit.into(), &verdict.into()), "{line}: {answer}");
    }
    for (answer, job) in honest.answers.iter().zip(&honest.jobs) {
        assert!(answer["accepted"].as_array().is_some_and(|kinds| !kinds.is_empty()), "{job}: {answer}");
        assert_ne!(answer["exit"], 4, "{answer}");
    }
    let costs = |line: &str| honest.answers[honest.job(line)]["cost"].clone();
    assert_eq!(costs("fences broken.pal"), "2");
    assert_eq!(costs("fences broken.pal --each --cost=costs.csv"), "7");
    assert_eq!(costs("fences racy.pal --each --model=c11"), "1001");
    assert_eq!(costs("orderings strong.pal"), "2");
    for line in ["fences racy.pal --each --model=c11", "orderings strong.pal"] {
        assert_eq!(honest.answers[honest.job(line)]["cheapest"], true, "{line}");
    }
}

/// The forged results that were accepted once, and their like.
#[test]
fn known_forgeries_are_rejected() {
    let honest = Honest::new();
    let of = |line: &str| honest.results[honest.job(line)].clone();
    let claiming = |mut result: Value, exit: u8, verdict: &str| {
        (result["exit"], result["document"]["headline"]) = (exit.into(), verdict.into());
        result
    };
    let swapped = |line: &str, other: &str| with_evidence_of(&of(line), &of(other));
    let only = |line: &str, wanted: &dyn Fn(&str) -> bool| {
        let mut forged = of(line);
        let pieces = forged["evidence"].as_array().expect("evidence").clone();
        assert!(pieces.len() > 1, "{line}");
        let kept = pieces.into_iter().filter(|piece| wanted(piece["text"].as_str().expect("a text")));
        forged["evidence"] = kept.collect::<Vec<_>>().into();
        forged
    };
    let mut unproved = of("fences broken.pal");
    unproved["evidence"] = serde_json::json!([]);
    unproved["document"]["cost"] = "1".into();
    let forged = [
        // A program that is not robust, by a proof of its properties; and the reverse.
        ("check broken.pal", claiming(swapped("check broken.pal", "prove stated.pal"), 0, "robust")),
        ("prove stated.pal", swapped("prove stated.pal", "check fenced.pal")),
        ("prove exclusion.pal", swapped("prove exclusion.pal", "fences exclusion.pal --each --ask=properties")),
        // Of another model.
        (
            "prove stated.pal --each --model=pso",
            claiming(swapped("prove stated.pal --each --model=pso", "prove stated.pal"), 0, "holds"),
        ),
        ("check fenced.pal --each --model=pso", swapped("check fenced.pal --each --model=pso", "check fenced.pal")),
        // Of another criterion.
        ("check fenced.pal --each --ask=races", swapped("check fenced.pal --each --ask=races", "check fenced.pal")),
        // One of two answers.
        (
            "check events.pal",
            claiming(only("check events.pal", &|text| text.contains("\"kind\":\"tso-robust\"")), 0, "robust"),
        ),
        ("check quiet.pal", only("check quiet.pal", &|text| text.contains("\"kind\":\"tso-robust\""))),
        ("check quiet.pal", only("check quiet.pal", &|text| text.contains("\"kind\":\"concurrency-robust\""))),
        // A violation of something else.
        ("check broken.pal", swapped("check broken.pal", "prove exclusion.pal")),
        // No evidence, and any cost.
        ("fences broken.pal", unproved),
        ("fences broken.pal", swapped("fences broken.pal", "fences broken.pal --each --cost=costs.csv")),
        // Of a language, one of two pieces from which it follows; a repair among fewer measures, or
        // of another language.
        (
            "check kept.pal --each --model=c11",
            only("check kept.pal --each --model=c11", &|text| text.contains("\"kind\":\"property\"")),
        ),
        (
            "check kept.pal --each --model=c11+--ask=properties",
            only("check kept.pal --each --model=c11+--ask=properties", &|text| text.contains("\"kind\":\"property\"")),
        ),
        (
            "fences racy.pal --each --model=c11",
            swapped("fences racy.pal --each --model=c11", "fences racy.pal --each --model=c11+--only=reader.*"),
        ),
        ("fences racy.pal --each --model=c11", swapped("fences racy.pal --each --model=c11", "orderings racy.pal")),
        ("fences broken.pal --each --model=ra", swapped("fences broken.pal --each --model=ra", "fences broken.pal")),
        ("orderings strong.pal", only("orderings strong.pal", &|text| !text.contains("\"kind\":\"repair\""))),
        ("orderings strong.pal", only("orderings strong.pal", &|text| !text.contains("\"kind\":\"property\""))),
        (
            "orderings wrong.pal",
            claiming(only("orderings wrong.pal", &|text| !text.contains("\"kind\":\"property-witness\"")), 0, "robust"),
        ),
        // One property of three.
        ("cover ring.pnml --each --all", only("cover ring.pnml --each --all", &|text| text.contains("one#1"))),
    ];
    for (line, result) in forged {
        let answer = honest.with(honest.job(line), result);
        assert!(is_rejected(&answer), "{line}: {answer}");
    }
    // What the line's own document says is not repeated.
    for (line, word) in [("check broken.pal", "robust"), ("check fenced.pal", "not robust")] {
        let mut forged = of(line);
        forged["document"]["headline"] = word.into();
        let answer = honest.with(honest.job(line), forged);
        assert_eq!(said(&answer), said(&honest.answers[honest.job(line)]), "{line}: {answer}");
        assert!(!answer["documents"].to_string().contains(&format!("\"verdict\":\"{word}\"")), "{answer}");
    }
}

/// Whether the evidence of one job answers another as well.
fn answers_too(own: &str, other: &str) -> bool {
    matches!(
        (own, other),
        // Both are accepted by a certificate of the program as it is.
        ("fences fenced.pal", "check fenced.pal") | ("check fenced.pal", "fences fenced.pal")
            // A part of what is asked there.
            | ("check events.pal --each --ask=robustness", "check events.pal")
            | ("check flags.pal --each --ask=hangs", "check flags.pal")
            // A violation of one of the questions is one of all.
            | ("check flags.pal", "check flags.pal --each --ask=hangs")
            // Robustness as it is: there is nothing to repair.
            | ("fences passed.pal --each --model=c11", "check passed.pal --each --model=c11")
            | ("check passed.pal --each --model=c11", "fences passed.pal --each --model=c11")
            | ("fences passed.pal --each --model=c11", "check passed.pal --each --model=c11+--ask=hangs")
            // The same two pieces.
            | ("check kept.pal --each --model=c11", "check kept.pal --each --model=c11+--ask=properties")
            | ("check kept.pal --each --model=c11+--ask=properties", "check kept.pal --each --model=c11")
    )
}

#[test]
fn swapped_evidence_is_rejected() {
    let honest = Honest::new();
    // In each round each job has the evidence of another one, and every second time says what that
    // one does.
    for round in sample((1..JOBS.len()).collect(), 5) {
        let other = |number: usize| (number + round) % JOBS.len();
        let swapped = (0..JOBS.len()).map(|number| {
            let (own, other) = (&honest.results[number], &honest.results[other(number)]);
            if round % 2 == 0 { with_evidence_of(own, other) } else { said_by(own, other) }
        });
        let answers = honest.merged(&swapped.collect::<Vec<_>>());
        for (number, answer) in answers.iter().enumerate() {
            let (own, other) = (JOBS[number], JOBS[other(number)]);
            let is_right = answers_too(own, other) && answer["exit"] == honest.answers[number]["exit"];
            assert!(is_rejected(answer) || is_right, "`{own}` by `{other}`: {answer}");
        }
    }
}

#[test]
fn edited_results_say_nothing_else() {
    let honest = Honest::new();
    let mut counts = [0; 3];
    for seed in seeds(8, 400) {
        let mut randomness = Randomness::new(seed);
        let edited: Vec<(Value, String)> =
            honest.results.iter().map(|result| edited(result, &mut randomness)).collect();
        let results: Vec<Value> = edited.iter().map(|(result, _)| result.clone()).collect();
        for (number, answer) in honest.merged(&results).iter().enumerate() {
            let (own, what) = (&honest.answers[number], &edited[number].1);
            let line = JOBS[number];
            match answer["exit"].as_u64() {
                Some(4) => {
                    assert!(is_rejected(answer), "seed {seed}, {line}, {what}: {answer}");
                    counts[0] += 1;
                }
                // A job may say that it has no answer, and no more.
                Some(2 | 3) => {
                    assert_eq!(answer["exit"], results[number]["exit"], "seed {seed}, {line}, {what}: {answer}");
                    counts[1] += 1;
                }
                // Nobody need have looked for hangs: without that piece the other question is told.
                Some(1) if line == "check flags.pal" && kinds(answer) == ["not-robust"] => {
                    assert_eq!(answer["verdict"], "not robust", "seed {seed}, {what}: {answer}");
                }
                _ => {
                    // A weaker bound shows the same repair, and not that none is cheaper.
                    let mut said = said(answer);
                    if answer["cheapest"] == false {
                        said[3] = &own["cheapest"];
                        // There are dearer orderings in the evidence as well: those that places
                        // have alone.
                        if line.starts_with("orderings") {
                            said[2] = &own["cost"];
                        }
                    }
                    assert_eq!(said, self::said(own), "seed {seed}, {line}, {what}: {answer}");
                    // That a repaired text is robust is shown twice.
                    let known = kinds(own);
                    assert!(
                        kinds(answer).iter().all(|kind| known.contains(kind)),
                        "seed {seed}, {line}, {what}: {answer}"
                    );
                    counts[2] += 1;
                }
            }
        }
    }
    println!("{} rejected, {} without an answer, {} as before", counts[0], counts[1], counts[2]);
    assert!(counts[0] > counts[2], "most edits matter: {counts:?}");
}

/// A result with something dropped or edited, and what.
fn edited(result: &Value, randomness: &mut Randomness) -> (Value, String) {
    let mut forged = result.clone();
    let pieces = forged["evidence"].as_array().map_or(0, Vec::len);
    let what = match randomness.below(6) {
        0 => {
            let exit = randomness.below(4);
            forged["exit"] = exit.into();
            format!("exit {exit}")
        }
        1 => {
            let index = randomness.below(pieces);
            forged["evidence"].as_array_mut().expect("evidence").remove(index);
            format!("without piece {index}")
        }
        2 => {
            let path = edit(&mut forged["document"], randomness);
            format!("document{path}")
        }
        _ => {
            let index = randomness.below(pieces);
            let piece = &mut forged["evidence"][index];
            let text = piece["text"].as_str().expect("a text").to_owned();
            if !is_json(&text) {
                piece["text"] = (text + "\n").into();
                return (forged, format!("text {index}"));
            }
            let mut edited: Value = evidence(&text);
            let path = edit(&mut edited, randomness);
            piece["text"] = edited.to_string().into();
            format!("evidence {index}{path}")
        }
    };
    (forged, what)
}

/// Edits something somewhere in a document; where.
fn edit(value: &mut Value, randomness: &mut Randomness) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let index = randomness.below(members.len());
            let name = members.keys().nth(index).expect("a member").clone();
            format!(".{name}{}", edit(&mut members[&name], randomness))
        }
        Value::Array(items) if !items.is_empty() => {
            let index = randomness.below(items.len());
            match randomness.below(6) {
                0 => {
                    items.remove(index);
                    format!("[-{index}]")
                }
                1 => {
                    let again = items[index].clone();
                    items.push(again);
                    format!("[+{index}]")
                }
                _ => format!("[{index}]{}", edit(&mut items[index], randomness)),
            }
        }
        Value::Number(number) => {
            let other = number.as_i64().unwrap_or(0) + if randomness.below(2) == 0 { 1 } else { -1 };
            *value = other.into();
            " moved by one".to_owned()
        }
        Value::Bool(truth) => {
            *truth = !*truth;
            " negated".to_owned()
        }
        Value::String(text) => {
            let words = ["robust", "not robust", "holds", "tso", "pso", "file", "option", "x", ""];
            *text = words[randomness.below(words.len())].to_owned();
            format!(" now `{text}`")
        }
        _ => {
            *value = 0.into();
            " now 0".to_owned()
        }
    }
}
