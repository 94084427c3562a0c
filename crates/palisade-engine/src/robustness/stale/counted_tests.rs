//! Programs with counters in integers, of which a proof has to hold of every number of rounds: the
//! oracle enumerates the graphs of the first ones, value by value.

use super::tests::note;
use super::{StaleCheck, StaleOptions, StaleVerdict, check_stale};
use palisade_model::limits::Limits;
use palisade_model::program::Program;
use palisade_model::text::SourceText;
use palisade_semantics::Instance;
use palisade_semantics::graphs::oracle::{Found, by_events};
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_semantics::random::Randomness;
use palisade_syntax::{Format, parse};
use palisade_verify::{check_graph_witness, check_stale_certificate};

/// What a thread does in a round; `O` is some ordering of an update, `L` of a load, `S` of a store.
const STEPS: [&str; 9] = [
    "mine = fetch_add(next, 1, O);",
    "mine = load(next, L);",
    "await load(served, L) == mine;",
    "if (load(served, L) != mine) { continue; }",
    "store(served, mine + 1, S);",
    "if (cas(next, mine, mine + 1, O) != mine) { continue; }",
    "seen = 1 - seen; data = seen;",
    "store(flag, 1, S);",
    "seen = load(flag, L);",
];

/// Locks by tickets, the first of which always order enough.
const LOCKS: [[usize; 4]; 3] = [[0, 2, 6, 4], [1, 5, 2, 4], [1, 3, 5, 8]];

/// The bodies of rounds, one for each thread, with the orderings chosen.
fn rounds(seed: u64) -> Vec<String> {
    let mut random = Randomness::new(seed);
    let shape: Vec<usize> = match random.below(3) {
        0 => (0..2 + random.below(3)).map(|_| random.below(STEPS.len())).collect(),
        _ => LOCKS[random.below(LOCKS.len())].to_vec(),
    };
    let (is_strong, same) = (random.percent(60), random.percent(70));
    let other: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(STEPS.len())).collect();
    let mut ordered = |shape: &[usize]| {
        let steps = shape.iter().map(|step| in_order(STEPS[*step], is_strong, &mut random));
        steps.collect::<Vec<_>>().join(" ")
    };
    let (body, other) = (ordered(&shape), ordered(&other));
    vec![body.clone(), if same { body } else { other }]
}

/// A step with orderings: strong ones, or any.
fn in_order(step: &str, is_strong: bool, random: &mut Randomness) -> String {
    let mut choose = |all: [&'static str; 3]| all[if is_strong { 2 } else { random.below(3) }];
    let update = choose(["relaxed", "acquire", "acq_rel"]);
    let (load, store) = (choose(["relaxed", "relaxed", "acquire"]), choose(["relaxed", "relaxed", "release"]));
    step.replace(", O)", &format!(", {update})"))
        .replace(", L)", &format!(", {load})"))
        .replace(", S)", &format!(", {store})"))
}

/// The program that goes round without end, or so many times.
fn program(rounds: &[String], times: Option<usize>) -> Program {
    let threads: String = rounds
        .iter()
        .zip(["a", "b"])
        .map(|(body, name)| {
            let own = match times {
                None => format!("loop {{ {body} }}"),
                Some(times) => format!("loop {{ {body} break; }} ").repeat(times),
            };
            format!("thread {name} {{ let mine = 0; let seen = 0; {own} }}\n")
        })
        .collect();
    let text = format!("program Counted\naddress next, served, flag\nplain data\n{threads}");
    let read = parse(SourceText::new("counted.pal", text.clone()), Format::Native);
    read.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

fn check(program: &Program) -> Option<StaleCheck> {
    let options = StaleOptions { axioms: Axioms::C11, values: 12, certifies: true, limits: Limits::none() };
    match check_stale(program, &options) {
        Ok(check) => Some(check),
        Err(fault) if fault.is_growth() => None,
        Err(fault) => panic!("{fault:?}"),
    }
}

/// How much is compared.
struct Sample {
    seeds: std::ops::Range<u64>,
    /// The most rounds of which all graphs are enumerated, and how many graphs are too many.
    enumerated: (usize, usize),
    /// The most rounds that the engine decides value by value.
    decided: usize,
}

fn sample() -> Sample {
    match std::env::var_os("PALISADE_FULL_TESTS") {
        None => Sample { seeds: 0..24, enumerated: (1, 150), decided: 2 },
        Some(_) => Sample { seeds: 0..600, enumerated: (2, 600), decided: 4 },
    }
}

#[test]
fn proofs_with_counters_hold_of_the_first_rounds() {
    let Sample { seeds, enumerated: (most_rounds, most_graphs), decided } = sample();
    let (mut proved, mut violated, mut open, mut compared, mut repeated) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let rounds = rounds(seed);
        let endless = program(&rounds, None);
        let Some(found) = check(&endless) else {
            open += 1;
            continue;
        };
        match found.verdict {
            StaleVerdict::Robust => {}
            StaleVerdict::NotRobust | StaleVerdict::Racy => {
                let violation = found.violation.expect("it is shown");
                check_graph_witness(&endless, &violation.witness()).unwrap();
                violated += 1;
                continue;
            }
            StaleVerdict::RestsOnUnknown | StaleVerdict::Unknown(_) => continue,
        }
        let certificate = found.certificate.expect("it is asked for");
        check_stale_certificate(&endless, &certificate).unwrap();
        if certificate.shifts.is_none() {
            continue;
        }
        proved += 1;
        // The set is not closed as it stands.
        let plain = palisade_evidence::StaleCertificate { shifts: None, ..certificate };
        assert!(check_stale_certificate(&endless, &plain).is_err(), "seed {seed}: it is closed as it stands");
        for times in 1..=decided {
            let few = program(&rounds, Some(times));
            let verdict = check(&few).expect("values do not grow").verdict;
            assert_eq!(verdict, StaleVerdict::Robust, "seed {seed}, {times} rounds: {}", endless.source.text);
            repeated += 1;
        }
        for times in 1..=most_rounds {
            let few = by_language(&program(&rounds, Some(times)));
            let instance = Instance::of(&few).expect("fixed copies");
            let Ok(graphs) = by_events(&few, &instance, Axioms::C11, most_graphs) else { break };
            assert_eq!(graphs, Found::default(), "seed {seed}, {times} rounds: {}", endless.source.text);
            compared += 1;
        }
    }
    note(&format!(
        "{proved} programs proved up to shifts, {violated} violated, {open} open; {repeated} of their first rounds decided \
         value by value, {compared} with all graphs"
    ));
    assert!(proved > 3 && violated > 3 && compared > 3, "{proved} {violated} {open} {compared}");
}
