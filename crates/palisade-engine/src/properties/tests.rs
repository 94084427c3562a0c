//! Answers beside those of a search that knows every interleaving and no more.

use super::{Answer, Proof, ProveOptions, Rung, Why, prove, targets};
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, BinaryOperator, Expression, Instruction, Label, LabelId, Program, RegisterId, Span, UnaryOperator,
};
use palisade_model::semantics::random::{self, Randomness, Shape};
use palisade_model::semantics::{CopyId, FinalStates, Instance, Model, Target, final_states};
use std::collections::BTreeSet;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// A random program in which some threads state that some registers do not have some values.
fn with_properties(seed: u64, shape: &Shape) -> Program {
    let mut program = random::program(seed, shape);
    let mut randomness = Randomness::new(seed ^ 0x5eed);
    for thread in &mut program.threads {
        for _ in 0..1 + randomness.below(2) {
            if thread.registers.is_empty() {
                continue;
            }
            // At an end, mostly: what was read is known there.
            let has_instructions: BTreeSet<LabelId> = thread.instructions.iter().map(|it| it.source).collect();
            let ends: Vec<LabelId> =
                (0..thread.labels.len()).map(LabelId::from_index).filter(|it| !has_instructions.contains(it)).collect();
            let any = LabelId::from_index(randomness.below(thread.labels.len()));
            let at = if ends.is_empty() || randomness.below(4) == 0 { any } else { ends[randomness.below(ends.len())] };
            let behind = LabelId::from_index(thread.labels.len());
            thread.labels.push(Label {
                name: format!("behind{}", behind.index()),
                span: Span::default(),
                fence_cost: None,
            });
            for instruction in thread.instructions.iter_mut().filter(|instruction| instruction.source == at) {
                instruction.source = behind;
            }
            let mut equals = || {
                let register = RegisterId::from_index(randomness.below(thread.registers.len()));
                let value = i64::try_from(randomness.below(3)).unwrap();
                Expression::binary(BinaryOperator::Equal, Expression::Register(register), Expression::Constant(value))
            };
            let both = Expression::binary(BinaryOperator::And, equals(), equals());
            let action = Action::Ensure(Expression::unary(UnaryOperator::Not, both));
            thread.instructions.push(Instruction { source: at, target: behind, action, span: Span::default() });
        }
    }
    program
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
            Answer::Violated(violation) => {
                assert!(expected.contains(&answer.target), "{what}: {answer:?}\n{program:?}");
                assert!(!violation.events.is_empty());
            }
            Answer::Open(why) => assert_ne!(*why, Why::NotReplayed, "{what}: {answer:?}\n{program:?}"),
        }
    }
}

fn number_of_programs(default: u64) -> u64 {
    std::env::var("PALISADE_PROGRAMS").ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_without_loops() {
    let shape = Shape { copies: 3, labels: 4, total_labels: 8, overtaken: 70, ..Shape::default() };
    let mut different = 0;
    for seed in 0..number_of_programs(300) {
        let program = with_properties(seed, &shape);
        let instance = Instance::of(&program).expect("random programs fix their copies");
        let mut counts = Vec::new();
        for model in MODELS {
            let found = final_states(&program, &instance, model, 4, &Limits::none()).expect("no step lacks a value");
            let expected = violated(&found);
            counts.push(expected.len());
            for by in [None, Some(Rung::Sc), Some(Rung::Buffers), Some(Rung::ScRobust)] {
                for slice in [true, false] {
                    let options = ProveOptions { by, slice, ..ProveOptions::new(model) };
                    let proof = prove(&program, None, &options).expect("no step lacks a value");
                    assert_eq!(proof.answers.len(), targets(&program, None).len());
                    says_what_is_so(&program, &proof, &expected, &format!("seed {seed} {model:?} {by:?} {slice}"));
                    if by.is_none() {
                        let is_open = |it: &super::TargetAnswer| matches!(it.answer, Answer::Open(_));
                        assert!(!proof.answers.iter().any(is_open), "seed {seed} {model:?} {proof:?}\n{program:?}");
                    }
                }
            }
        }
        different += usize::from(counts[1] > counts[0]) + usize::from(counts[2] > counts[1]);
    }
    assert!(different > 0, "the models differ somewhere");
}
