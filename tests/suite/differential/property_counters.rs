//! Properties of programs with counters: what is proved up to what counters tell is reached by no
//! search that knows all values, and not to the oracle, with few copies; where it is proved for
//! every width, in domains of up to 64 values and in integers as well.

use super::dice::Dice;
use super::far::counters_by_order;
use super::tickets::nearly_a_ticket_lock;
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::prove;
use palisade::evidence::{PropertyProof, PropertyReason, RobustCertificate};
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator as Op, Copies, Domain, DomainOrigin, Expression, Instruction, LabelId, Program, RegisterId,
    Span, UnaryOperator, Value,
};
use palisade::properties::{Answer, ProveOptions, Rung};
use palisade::semantics::property_oracle::{Effort, reached};
use palisade::semantics::random::{CounterShape, program_with_counters};
use palisade::semantics::{Instance, Model, Target};
use std::time::Duration;

/// How far the oracle goes.
const EFFORT: Effort = Effort { capacity: 3, states: 8_000 };

/// Searches that know all values have so many configurations at most; what counters tell is asked
/// of more.
const MOST_CONFIGURATIONS: u64 = 8_000;

/// The options of a rung that is asked alone.
fn by(rung: Rung, model: Model) -> ProveOptions {
    let limits = Limits::none().with_timeout(Duration::from_secs(20));
    let options = ProveOptions::new(model);
    let most = if rung == Rung::Counters { u64::MAX } else { MOST_CONFIGURATIONS };
    ProveOptions { by: Some(rung), buffer: 4, values: 8, most, shorten: false, limits, ..options }
}

/// The program with conditions to ensure on some of its registers, behind some of its instructions.
pub(super) fn with_properties(mut program: Program, seed: u64) -> Program {
    let mut dice = Dice(seed ^ 0x5eed);
    let threads = program.threads.len();
    for _ in 0..=dice.below(2) {
        let thread = &mut program.threads[dice.place(threads)];
        let register = |number: usize| Expression::Register(RegisterId::from_index(number));
        let registers = thread.registers.len();
        let (one, other) = (register(dice.place(registers)), register(dice.place(registers)));
        let number = Expression::Constant([0, 0, 1, 2][dice.place(4)]);
        let condition = match dice.below(9) {
            0 => Expression::binary(Op::Equal, one, other),
            1 => Expression::binary(Op::NotEqual, one, other),
            2 => Expression::binary(Op::Equal, Expression::binary(Op::Subtract, one, other), number),
            3 => Expression::unary(UnaryOperator::Not, Expression::binary(Op::Equal, one, other)),
            4 => Expression::binary(Op::LessOrEqual, one, other),
            5 => Expression::binary(
                Op::Equal,
                Expression::binary(Op::BitAnd, one, Expression::Constant(1)),
                Expression::Constant(0),
            ),
            6 | 7 => Expression::binary(Op::NotEqual, register(registers - 1), number),
            _ => Expression::binary(Op::Equal, register(registers - 1), number),
        };
        let (length, place) = (thread.labels.len(), dice.place(thread.instructions.len()));
        let name = format!("kept{length}");
        thread.labels.push(palisade::program::Label { name: name.into(), ..thread.labels[0].clone() });
        let source = LabelId::from_index(length);
        let target = std::mem::replace(&mut thread.instructions[place].target, source);
        let action = Action::Ensure(condition);
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }
    program
}

/// The program whose first thread ensures that no other copy is where it serves the next ticket, if
/// it does so.
fn with_exclusion(mut program: Program) -> Program {
    const INSIDE: Value = 99;
    const PLAIN: usize = 3;
    let serves = |own: &Instruction| {
        let address = own.action.address().and_then(|address| address.evaluate_address(&[]).ok());
        let is_store = matches!(own.action, Action::Store { .. });
        is_store && address.is_some_and(|address| program.address_name(address) == "serving")
    };
    let Some(place) = program.threads[0].instructions.iter().position(serves) else { return program };
    let thread = &mut program.threads[0];
    let (register, inside) = (RegisterId::from_index(PLAIN), Expression::Constant(INSIDE));
    let is_out = Expression::binary(Op::Equal, Expression::Register(register), Expression::Constant(0));
    let store = |value| Action::Store { address: inside.clone(), value: Expression::Constant(value) };
    let load = Action::Load { register, address: inside.clone() };
    for action in [load, Action::Ensure(is_out), store(1), store(0)] {
        let target = LabelId::from_index(thread.labels.len());
        let name = format!("inside{}", thread.labels.len());
        thread.labels.push(palisade::program::Label { name: name.into(), ..thread.labels[0].clone() });
        let source = std::mem::replace(&mut thread.instructions[place].source, target);
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }
    program
}

/// What a set of interleavings knows of counters.
fn known(sc: &RobustCertificate) -> &'static str {
    match () {
        () if sc.modulo.is_some() => "proved by residues",
        () if !sc.tickets.is_empty() => "proved without tickets",
        () if !sc.ends.is_empty() => "proved with ends",
        () if !sc.far.is_empty() => "proved where far is one value",
        () => "proved up to turns",
    }
}

/// The programs that a proof is about besides its own: it is about every multiple of its residues,
/// and integers.
fn wider(program: &Program, proof: &PropertyProof) -> Vec<Program> {
    let PropertyReason::Counters { certificate, sc } = &proof.reason else { panic!("{:?}", proof.reason) };
    let residues = |own: &RobustCertificate| own.modulo.map(|(low, high)| high - low + 1);
    let (Some(size), true) = (residues(sc), proof.bounds.is_none()) else { return Vec::new() };
    let size = match certificate {
        None => size,
        Some(certificate) => match residues(certificate) {
            Some(other) => size.max(other),
            None => return Vec::new(),
        },
    };
    let sizes = [1, 2, 3, 5, 8, 16, 32].map(|factor| factor * size).into_iter().filter(|size| *size <= 64);
    let domain = |size: Value| Domain { low: 0, high: size - 1, wrap: true, origin: DomainOrigin::File };
    sizes.map(|size| Some(domain(size))).chain([None]).map(|domain| Program { domain, ..program.clone() }).collect()
}

/// The program with one copy of each replicated thread, and with two.
fn with_few_copies(program: &Program) -> Vec<Program> {
    let few = |copies: u64| {
        let mut few = program.clone();
        for thread in few.threads.iter_mut().filter(|thread| thread.copies == Copies::Any) {
            thread.copies = Copies::Exactly(copies);
        }
        few
    };
    if program.is_parameterized() { vec![few(1), few(2)] } else { vec![program.clone()] }
}

/// What reaches one of these targets, if anything does.
fn reached_by(program: &Program, model: Model, held: &[Target]) -> Option<&'static str> {
    for rung in if model == Model::Sc { vec![Rung::Sc] } else { vec![Rung::Sc, Rung::Buffers] } {
        if let Ok(proof) = prove(program, None, &by(rung, model))
            && proof.violations().any(|violation| held.contains(&violation.target))
        {
            return Some("a search that knows all values");
        }
    }
    let instance = Instance::of(program)?;
    let found = reached(program, &instance, None, model, EFFORT).ok()?;
    held.iter().any(|target| found.targets.contains(target)).then_some("the oracle")
}

pub(super) fn compare(program: &Program) -> Compared {
    let mut class = "not proved";
    for model in [Model::Sc, Model::Tso] {
        let Ok(proof) = prove(program, None, &by(Rung::Counters, model)) else { return Ok("a fault") };
        for (number, own) in proof.proofs.iter().enumerate() {
            let PropertyReason::Counters { sc, .. } = &own.reason else {
                return Err("another rung answers".to_owned());
            };
            let held: Vec<Target> = proof
                .answers
                .iter()
                .filter(|answer| matches!(answer.answer, Answer::Holds(position) if position == number))
                .map(|answer| answer.target)
                .collect();
            for wider in std::iter::once(program.clone()).chain(wider(program, own)) {
                for few in with_few_copies(&wider) {
                    if let Some(by) = reached_by(&few, model, &held) {
                        let what = known(sc);
                        return Err(format!("{model:?}: {what}, but reached by {by}: {:?}, {:?}", few.domain, held));
                    }
                }
            }
            class = known(sc);
        }
    }
    Ok(class)
}

#[test]
fn what_residues_prove_holds_for_every_width() {
    let amount = Amount { default: 40, long: 6_000 };
    let generate = |seed: u64| {
        let copies = vec![Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
        let size = if seed.is_multiple_of(3) { None } else { Some(64) };
        let shape = CounterShape { size, low: 0, copies, threads: 2, labels: 5, jumps: 30, bits: None };
        with_properties(program_with_counters(seed, &shape), seed)
    };
    let counts = compare_generated("property counters", 6_700_000, amount, generate, compare);
    assert!(of_class(&counts, "proved by residues") > 0 && of_class(&counts, "not proved") > 2, "{counts:?}");
}

#[test]
fn what_holds_without_tickets_holds_with_them() {
    let amount = Amount { default: 32, long: 10_000 };
    let generate = |seed: u64| {
        let lock = nearly_a_ticket_lock(seed);
        if seed.is_multiple_of(4) { with_properties(lock, seed) } else { with_exclusion(lock) }
    };
    let counts = compare_generated("property tickets", 6_800_000, amount, generate, compare);
    assert!(of_class(&counts, "proved without tickets") > 0 && of_class(&counts, "not proved") > 2, "{counts:?}");
}

#[test]
fn what_holds_where_far_is_one_value_holds() {
    let amount = Amount { default: 25, long: 6_000 };
    let generate = |seed| with_properties(counters_by_order(seed), seed);
    let counts = compare_generated("property far", 6_900_000, amount, generate, compare);
    assert!(
        of_class(&counts, "proved where far is one value") > 1 && of_class(&counts, "not proved") > 5,
        "{counts:?}"
    );
}
