//! Answers beside those of a search that knows every interleaving and no more; their evidence is
//! checked.

use super::{Answer, Proof, ProveOptions, Rung, Why, prove, targets};
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Program, RegisterId, Span, ThreadId,
    UnaryOperator,
};
use palisade_semantics::random::{self, Randomness, Shape};
use palisade_semantics::{
    Condition, Constant, CopyId, Counting, FinalStates, Instance, Location, Model, Observable, Proposition, Quantifier,
    Question, State, Target, final_states,
};
use palisade_verify::{check_property, check_property_witness};
use std::collections::BTreeSet;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

const RUNGS: [Option<Rung>; 7] = [
    None,
    Some(Rung::Values),
    Some(Rung::Sc),
    Some(Rung::Buffers),
    Some(Rung::Snapshots),
    Some(Rung::Enriched),
    Some(Rung::ScRobust),
];

/// Answers as `prove` does, with all evidence checked.
fn checked(program: &Program, question: Option<&Question>, options: &ProveOptions, what: &str) -> Proof {
    let proof = prove(program, question, options).unwrap_or_else(|fault| panic!("{what}: {fault:?}\n{program:?}"));
    if let Some(evidence) = proof.evidence() {
        let facts = check_property(program, question, &evidence);
        let facts = facts.unwrap_or_else(|failure| panic!("{what}: {failure}\n{program:?}"));
        let held = proof.answers.iter().filter(|answer| matches!(answer.answer, Answer::Holds(_)));
        let held: BTreeSet<Target> = held.map(|answer| answer.target).collect();
        assert_eq!(facts.shown.into_iter().collect::<BTreeSet<_>>(), held, "{what}");
    }
    for violation in proof.violations() {
        let checked = check_property_witness(program, question, &violation.witness());
        checked.unwrap_or_else(|failure| panic!("{what}: {failure}\n{violation:?}\n{program:?}"));
    }
    for answer in &proof.answers {
        assert!(!matches!(answer.answer, Answer::Open(Why::NotReplayed)), "{what}: {answer:?}\n{program:?}");
        // What is violated under SC already is shown with nothing in a buffer.
        if let (Answer::Violated(violation), Some(true)) = (&answer.answer, answer.under_sc) {
            assert!(violation.is_interleaving(program), "{what}: {violation:?}\n{program:?}");
        }
    }
    proof
}

/// A number below `bound`, as a value.
fn value(randomness: &mut Randomness, bound: usize) -> i64 {
    i64::try_from(randomness.below(bound)).expect("small")
}

/// A random program in which threads state that some registers do not have some values at some
/// label, mostly at an end.
pub(super) fn with_properties(seed: u64, shape: &Shape) -> Program {
    let mut program = random::program(seed, shape);
    let mut randomness = Randomness::new(seed ^ 0x5eed);
    for thread in program.threads.iter_mut().filter(|thread| !thread.registers.is_empty()) {
        let has_instructions: BTreeSet<LabelId> = thread.instructions.iter().map(|it| it.source).collect();
        let all = (0..thread.labels.len()).map(LabelId::from_index);
        let ends: Vec<LabelId> = all.filter(|label| !has_instructions.contains(label)).collect();
        let any = LabelId::from_index(randomness.below(thread.labels.len()));
        let at = if ends.is_empty() || randomness.below(4) == 0 { any } else { ends[randomness.below(ends.len())] };
        let behind = LabelId::from_index(thread.labels.len());
        thread.labels.push(Label::new("behind", Span::default()));
        for instruction in thread.instructions.iter_mut().filter(|instruction| instruction.source == at) {
            instruction.source = behind;
        }
        let mut equals = || {
            let register = RegisterId::from_index(randomness.below(thread.registers.len()));
            let constant = Expression::Constant(value(&mut randomness, 3));
            Expression::binary(BinaryOperator::Equal, Expression::Register(register), constant)
        };
        let both = Expression::binary(BinaryOperator::And, equals(), equals());
        let action = Action::Ensure(Expression::unary(UnaryOperator::Not, both));
        thread.instructions.push(Instruction::new(at, behind, action, Span::default()));
    }
    program
}

/// Whether registers and addresses can have the values together that they have in a final state.
fn question_about(program: &Program, state: &State, seed: u64) -> Question {
    let mut parts = Vec::new();
    for (thread, template) in program.thread_ids() {
        for index in 0..template.registers.len() {
            let register = RegisterId::from_index(index);
            let location = Location::whole(Observable::Register { thread, register }, "r");
            let value = state.threads()[thread.index()].registers[index];
            parts.push(Proposition::Equals(location, Constant { value, text: String::new() }));
        }
    }
    for name in &program.addresses {
        let location = Location::whole(Observable::Address(name.address), "x");
        let constant = Constant { value: state.memory(name.address), text: String::new() };
        parts.push(Proposition::Equals(location, constant));
    }
    let quantifier = if seed.is_multiple_of(2) { Quantifier::Exists } else { Quantifier::NotExists };
    let condition = Condition { quantifier, proposition: Proposition::And(parts) };
    Question { filter: None, condition: Some(condition), locations: Vec::new() }
}

/// A final state that a weaker model has and a stronger one has not, if there is one; else any.
fn telling(found: &[FinalStates], seed: u64) -> Option<&State> {
    let pairs = if seed.is_multiple_of(2) { [(0, 1), (1, 2)] } else { [(1, 2), (0, 1)] };
    let new = |(strong, weak): (usize, usize)| {
        found[weak].completed.iter().find(|state| !found[strong].completed.contains(state))
    };
    pairs.into_iter().find_map(new).or(found[0].completed.first())
}

/// The targets that some copies violate.
fn violated(found: &FinalStates) -> BTreeSet<Target> {
    let target =
        |(copy, instruction): &(CopyId, _)| Target::Instruction { thread: copy.thread, instruction: *instruction };
    found.violations.keys().map(target).collect()
}

fn says_what_is_so(program: &Program, proof: &Proof, expected: &BTreeSet<Target>, what: &str) {
    for answer in &proof.answers {
        match &answer.answer {
            Answer::Holds(_) => assert!(!expected.contains(&answer.target), "{what}: {answer:?}\n{program:?}"),
            Answer::Violated(_) => assert!(expected.contains(&answer.target), "{what}: {answer:?}\n{program:?}"),
            Answer::Open(_) => {}
        }
    }
}

fn is_open(proof: &Proof) -> bool {
    proof.answers.iter().any(|answer| matches!(answer.answer, Answer::Open(_)))
}

/// How many random programs a test looks at; more with `PALISADE_PROGRAMS`.
fn number_of_programs(default: u64) -> u64 {
    std::env::var("PALISADE_PROGRAMS").ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_without_loops() {
    let shape = Shape {
        copies: 3,
        labels: 4,
        total_labels: 8,
        rmws: 5,
        store_fences: 10,
        stores_first: 40,
        joined: 20,
        cycles: 40,
        ..Shape::default()
    };
    let mut different = [0, 0];
    for seed in 0..number_of_programs(90) {
        let program = with_properties(seed, &shape);
        let instance = Instance::of(&program).expect("random programs fix their copies");
        // A question speaks of the first copy of a thread.
        let is_single = instance.counts().iter().all(|count| *count == 1);
        let mut all = program.threads.iter().flat_map(|thread| &thread.instructions);
        let is_asked = is_single && !all.any(|instruction| instruction.action == Action::Fail);
        let found = MODELS
            .map(|model| final_states(&program, &instance, model, 4, &Limits::none()).expect("no step lacks a value"));
        let question = telling(&found, seed).filter(|_| is_asked).map(|state| question_about(&program, state, seed));
        let mut counts = Vec::new();
        for (model, found) in MODELS.into_iter().zip(&found) {
            let mut expected = violated(found);
            if let Some(question) = &question {
                let outcome = question.answer(&program, &instance, &found.completed, Counting::Rows);
                expected.extend((outcome.satisfying > 0).then_some(Target::FinalStates));
            }
            counts.push(expected.len());
            for by in RUNGS {
                for slice in [true, false] {
                    let what = format!("seed {seed} {model:?} {by:?} {slice}");
                    let options = ProveOptions { by, slice, ..ProveOptions::new(model) };
                    let proof = checked(&program, question.as_ref(), &options, &what);
                    assert_eq!(proof.answers.len(), targets(&program, question.as_ref()).len());
                    says_what_is_so(&program, &proof, &expected, &what);
                    let decides = by.is_none() || by == Some(Rung::Buffers) && model != Model::Sc;
                    assert!(!decides || !is_open(&proof), "{what}: {proof:?}\n{program:?}");
                }
            }
        }
        different[0] += usize::from(counts[1] > counts[0]);
        different[1] += usize::from(counts[2] > counts[1]);
    }
    assert!(different[0] > 0 && different[1] > 0, "the models differ: {different:?}");
}

#[test]
fn random_programs_with_loops() {
    let shape = Shape {
        copies: 2,
        labels: 4,
        total_labels: 6,
        loops: 40,
        domains: 100,
        store_fences: 10,
        stores_first: 40,
        ..Shape::default()
    };
    let mut decided = 0;
    for seed in 0..number_of_programs(200) {
        let program = with_properties(seed, &shape);
        let instance = Instance::of(&program).expect("random programs fix their copies");
        for model in MODELS {
            let Ok(found) = final_states(&program, &instance, model, 3, &Limits::none()) else { continue };
            let (expected, all_found) = (violated(&found), !found.buffers_filled);
            for by in RUNGS {
                let what = format!("seed {seed} {model:?} {by:?}");
                let options = ProveOptions { by, buffer: 8, ..ProveOptions::new(model) };
                if prove(&program, None, &options).is_err() {
                    continue;
                }
                let proof = checked(&program, None, &options, &what);
                decided += usize::from(!is_open(&proof));
                let missed = |answer: &super::TargetAnswer| {
                    expected.contains(&answer.target) && matches!(answer.answer, Answer::Holds(_))
                };
                assert!(!proof.answers.iter().any(missed), "{what}: {proof:?}\n{program:?}");
                if all_found {
                    says_what_is_so(&program, &proof, &expected, &what);
                }
            }
        }
    }
    assert!(decided > 0);
}

#[test]
fn any_number_beside_instances() {
    let shape = Shape { copies: 2, labels: 3, total_labels: 5, any: 60, domains: 100, ..Shape::default() };
    let mut asked = 0;
    for seed in 0..number_of_programs(100) {
        let program = with_properties(seed, &shape);
        if !program.is_parameterized() {
            continue;
        }
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let what = format!("seed {seed} {model:?}");
            let limits = Limits::none().with_timeout(std::time::Duration::from_secs(5));
            let options = ProveOptions { limits, ..ProveOptions::new(model) };
            if prove(&program, None, &options).is_err() {
                continue;
            }
            let proof = checked(&program, None, &options, &what);
            for copies in 1..=2 {
                let mut fixed = program.clone();
                let any = fixed.threads.iter_mut().filter(|thread| thread.copies == Copies::Any);
                any.for_each(|thread| thread.copies = Copies::Exactly(copies));
                let instance = Instance::of(&fixed).expect("all copies are fixed");
                let limits = Limits::none().with_timeout(std::time::Duration::from_secs(5));
                let Ok(found) = final_states(&fixed, &instance, model, 4, &limits) else { continue };
                asked += 1;
                let expected = violated(&found);
                for answer in &proof.answers {
                    let holds = matches!(answer.answer, Answer::Holds(_));
                    assert!(!(holds && expected.contains(&answer.target)), "{what} {copies}: {answer:?}\n{program:?}");
                    if let Answer::Violated(violation) = &answer.answer
                        && violation.instance == instance
                        && !found.buffers_filled
                    {
                        assert!(expected.contains(&answer.target), "{what} {copies}: {answer:?}\n{program:?}");
                    }
                }
            }
        }
    }
    assert!(asked > 0);
}

#[test]
fn a_thread_without_copies_violates_nothing() {
    let mut program = with_properties(3, &Shape::default());
    let asked = targets(&program, None);
    program.threads[0].copies = Copies::Exactly(0);
    let left = targets(&program, None);
    let of_first =
        |target: &Target| matches!(target, Target::Instruction { thread, .. } if *thread == ThreadId::from_index(0));
    assert!(asked.iter().any(of_first) && !left.iter().any(of_first));
}
