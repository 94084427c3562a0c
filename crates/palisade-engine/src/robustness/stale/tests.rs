//! Random programs against the oracles.

use super::{StaleOptions, StaleVerdict, check_stale};
use crate::robustness::{CheckOptions, Verdict, check};
use palisade_evidence::StaleGoal;
use palisade_exploration::instrumented::stale::StaleSystem;
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::lazy::{Exploration, Mode};
use palisade_model::limits::{Budget, Limits, StopReason};
use palisade_model::program::{Copies, Domain, DomainOrigin, Program, Value};
use palisade_semantics::graphs::oracle::{Found, by_events, ends, naive};
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_semantics::random::{LanguageShape, language_program, shrink};
use palisade_semantics::{Instance, LOOP_CAPACITY, Model, ThreadState, final_states};
use palisade_verify::{check_graph_witness, check_stale_certificate};
use std::collections::BTreeMap;
use std::io::Write;

/// A family of programs with the axioms that they are asked about.
fn families() -> Vec<(&'static str, Axioms, LanguageShape)> {
    let shape = LanguageShape::default();
    vec![
        ("ra", Axioms::Ra, LanguageShape { strong_fences: 100, ..shape.clone() }),
        ("ra, plain data", Axioms::Ra, LanguageShape { plain: 70, strong_fences: 100, ..shape.clone() }),
        ("c11", Axioms::C11, shape.clone()),
        (
            "c11, fences",
            Axioms::C11,
            LanguageShape { fences: 30, strong_fences: 80, synchronised: 30, ..shape.clone() },
        ),
        ("c11, plain data", Axioms::C11, LanguageShape { plain: 70, ..shape.clone() }),
        ("sc accesses", Axioms::WeakC11, LanguageShape { seq_cst: 60, ..shape.clone() }),
        ("sc accesses and plain data", Axioms::WeakC11, LanguageShape { seq_cst: 60, plain: 50, ..shape }),
    ]
}

/// The verdict, with its evidence checked. Weakened C11 is not what users ask about, and has none.
fn verdict(program: &Program, axioms: Axioms) -> StaleVerdict {
    let certifies = Axioms::LANGUAGES.contains(&axioms);
    let options = StaleOptions { axioms, values: 50, certifies, limits: Limits::none() };
    let check = match check_stale(program, &options) {
        Ok(check) => check,
        // Where values grow without end there is no verdict.
        Err(fault) if fault.is_growth() => return StaleVerdict::Unknown(StopReason::Inconclusive),
        Err(fault) => panic!("{fault:?}: {}", show(program)),
    };
    if let Some(certificate) = &check.certificate {
        check_stale_certificate(program, certificate).unwrap();
    }
    if let Some(violation) = check.violation.filter(|_| certifies) {
        check_graph_witness(program, &violation.witness()).unwrap();
    }
    check.verdict
}

/// Whether a verdict says what an oracle has found.
fn agrees(verdict: StaleVerdict, found: Found) -> bool {
    match verdict {
        StaleVerdict::Robust => found == Found::default(),
        StaleVerdict::NotRobust => found.beyond_sc,
        StaleVerdict::Racy => found.racy,
        StaleVerdict::RestsOnUnknown | StaleVerdict::Unknown(_) => false,
    }
}

fn oracle(program: &Program, axioms: Axioms) -> Option<Found> {
    let stated = by_language(program);
    by_events(&stated, &Instance::of(&stated).unwrap(), axioms, 4_000).ok()
}

/// How many programs of each family, the first of which has this seed.
const PROGRAMS: u64 = 40;

/// The seeds: all of them with `PALISADE_FULL_TESTS=1`, the second eighth with `2/8`.
fn seeds() -> std::ops::Range<u64> {
    const LONG: u64 = 16_700;
    let Ok(wanted) = std::env::var("PALISADE_FULL_TESTS") else { return 0..PROGRAMS };
    let number = |text: &str| text.parse::<u64>().expect("PALISADE_FULL_TESTS is 1, or a piece like 2/8");
    let (piece, of) = wanted.split_once('/').map_or((1, 1), |(piece, of)| (number(piece), number(of)));
    LONG * (piece - 1) / of..LONG * piece / of
}

/// Adds a line to the file that `PALISADE_NOTES` names.
pub(crate) fn note(line: &str) {
    let Some(path) = std::env::var_os("PALISADE_NOTES") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    writeln!(file.expect("the file can be written"), "{line}").expect("the file can be written");
}

#[test]
fn random_programs_have_the_verdict_of_the_oracle() {
    for (name, axioms, shape) in families() {
        let mut verdicts = [0; 3];
        for seed in seeds() {
            let program = language_program(seed, &shape);
            let Some(found) = oracle(&program, axioms) else { continue };
            let own = verdict(&program, axioms);
            verdicts[usize::from(own != StaleVerdict::Robust) + usize::from(own == StaleVerdict::Racy)] += 1;
            if !agrees(own, found) {
                let is_wrong = |program: &Program| {
                    oracle(program, axioms).is_some_and(|found| !agrees(verdict(program, axioms), found))
                };
                let small = shrink(&program, is_wrong);
                let (own, found) = (verdict(&small, axioms), oracle(&small, axioms));
                panic!("{name}, seed {seed}: {own:?}, but the oracle has found {found:?}\n{}", show(&small));
            }
            if seed % 20 == 0 && program.threads.iter().all(|thread| thread.labels.len() <= 4) {
                let stated = by_language(&program);
                if let Ok(other) = naive(&stated, &Instance::of(&stated).unwrap(), axioms, 20_000) {
                    assert_eq!(found, other, "{name}, seed {seed}: {}", show(&program));
                }
            }
        }
        let [robust, beyond, racy] = verdicts;
        let compared = robust + beyond + racy;
        note(&format!("{name}: {compared} programs compared, {robust} robust, {beyond} not, {racy} racy"));
        assert!(robust > 0 && beyond + racy > 0, "{name}: {robust} robust, {beyond} not, {racy} racy");
    }
}

/// The instrumented program alone, without evidence: it notes a letter for each program, by which
/// runs without one of its rules are told from runs with all.
#[test]
fn the_instrumented_program_succeeds_for_some_programs() {
    for (name, axioms, shape) in families() {
        let letters: String = seeds().map(|seed| said(&language_program(seed, &shape), axioms)).collect();
        note(&format!("family {name}: {letters}"));
        assert!(letters.contains('r') && letters.trim_matches('r').len() > 1, "{name}: {letters}");
    }
}

/// What the first success is: beyond interleavings, or a race; or that there is none.
fn said(program: &Program, axioms: Axioms) -> char {
    let stated = by_language(program);
    let mut system = StaleSystem::new(&stated, axioms, Growth::Fault(50), None);
    let mut explored = Exploration::new(Mode::Exact);
    for root in system.roots().expect("it begins").expect("there are few") {
        explored.add_root(root.control, &root.entries, 0);
    }
    match system.explore(&mut explored, &Budget::within(&Limits::none())) {
        Ok(None) => 'r',
        Ok(Some(success)) => match system.attack(system.control(explored.control(success))).map(|attack| attack.goal) {
            Some(StaleGoal::Race { .. }) => 'x',
            _ => 'n',
        },
        Err(_) => '-',
    }
}

/// What is robust for any number of copies is so for one and two of each replicated thread. What is
/// not has a witness, which `verdict` checks.
#[test]
fn any_number_of_copies_agrees_with_instances() {
    let (mut instances, mut wrong) = (0, 0);
    for (name, axioms, shape) in families() {
        let shape = LanguageShape { any: 60, labels: 3, total_labels: 5, twins: 0, ..shape };
        for seed in seeds().step_by(5) {
            let mut program = language_program(seed, &shape);
            // What any number of copies add up to stays finite.
            program.domain = Some(Domain { low: 0, high: 3, wrap: true, origin: DomainOrigin::File });
            if !program.is_parameterized() {
                continue;
            }
            let own = verdict(&program, axioms);
            if own != StaleVerdict::Robust {
                wrong += usize::from(matches!(own, StaleVerdict::NotRobust | StaleVerdict::Racy));
                continue;
            }
            for copies in 1..=2 {
                let mut instance = program.clone();
                for thread in &mut instance.threads {
                    if thread.copies == Copies::Any {
                        thread.copies = Copies::Exactly(copies);
                    }
                }
                if let Some(found) = oracle(&instance, axioms) {
                    assert_eq!(found, Found::default(), "{name}, seed {seed}, {copies} copies: {}", show(&program));
                    instances += 1;
                }
            }
        }
    }
    note(&format!("{instances} instances of robust programs with any number of copies, {wrong} programs not robust"));
    assert!(instances > 10 && wrong > 0, "{instances} instances of robust programs, {wrong} programs not robust");
}

/// Robust against C11, robust against TSO by the usual mapping to x86. Awaits are left out: on x86
/// they are loops, which these programs lack.
#[test]
fn robust_against_c11_is_robust_against_tso() {
    let shape = LanguageShape { awaits: 0, fences: 20, seq_cst: 30, ..LanguageShape::default() };
    let mut robust = 0;
    for seed in seeds().take(10_000) {
        let program = language_program(seed, &shape);
        if verdict(&program, Axioms::C11) == StaleVerdict::Robust {
            let check = check(&program, &CheckOptions::default()).unwrap();
            assert_eq!(check.verdict, Verdict::Robust, "seed {seed}: {}", show(&program));
            robust += 1;
        }
    }
    assert!(robust > 0);
}

/// What the usual mapping to x86 does, the language does. Awaits are left out, as above.
#[test]
fn ends_on_x86_are_ends_of_the_language() {
    let shape = LanguageShape { awaits: 0, fences: 15, seq_cst: 30, ..LanguageShape::default() };
    let (mut compared, mut beyond) = (0, 0);
    for (axioms, seed) in seeds().flat_map(|seed| Axioms::LANGUAGES.map(|axioms| (axioms, seed))) {
        let program = language_program(seed, &shape);
        let (stated, instance) = (by_language(&program), Instance::of(&program).unwrap());
        let Ok(all) = ends(&stated, &instance, axioms, 4_000) else { continue };
        let of_model = |model| final_states(&program, &instance, model, LOOP_CAPACITY, &Limits::none()).unwrap();
        let (sc, x86) = (of_model(Model::Sc), of_model(Model::Tso));
        for state in &x86.completed {
            let is_it = |(registers, memory): &(Vec<Vec<Value>>, BTreeMap<Value, Value>)| {
                let begins = |(own, all): (&ThreadState, &Vec<Value>)| all.starts_with(&own.registers);
                state.threads().iter().zip(registers).all(begins)
                    && memory.iter().all(|(address, value)| state.memory(*address) == *value)
            };
            assert!(all.iter().any(is_it), "{}, seed {seed}: {state:?}\n{}", axioms.name(), show(&program));
        }
        compared += 1;
        beyond += usize::from(x86.completed.len() > sc.completed.len());
    }
    note(&format!("ends on x86: {compared} programs compared, {beyond} with more ends than under SC"));
    assert!(compared > 20 && beyond > 0, "{compared} compared, {beyond} beyond SC");
}

fn show(program: &Program) -> String {
    let thread = |thread: &palisade_model::program::Thread| {
        let own = |own: &palisade_model::program::Instruction| {
            format!("  {} {:?} {:?} -> {}\n", own.source, own.operation(), own.action, own.target)
        };
        format!("{}\n{}", thread.name, thread.instructions.iter().map(own).collect::<String>())
    };
    program.threads.iter().map(thread).collect()
}
