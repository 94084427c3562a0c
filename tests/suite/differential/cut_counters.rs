//! Programs whose counters are cut to some bits: the verdict up to turns, and for every width, is
//! the verdict without them and the oracle's.

use super::counters::{compare, compare_widths, often_not_robust, shape};
use super::{Amount, compare_generated, of_class};
use palisade::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, LabelId, Program, RegisterId, Span, UnaryOperator, Value,
};
use palisade::semantics::random::{CounterShape, program_with_counters};

/// The program of a seed, cut to 1 to 4 bits, in integers or in a domain that wraps.
fn cut(seed: u64, size: Option<Value>, copies: &[Copies]) -> Program {
    let bits = Some(1 + bits_of(seed));
    // Where nothing goes back, values that escape the cut are few, so that the oracle answers.
    let jumps = if seed.is_multiple_of(3) { 0 } else { 30 };
    let shape = CounterShape { bits, jumps, labels: 4, ..shape(size, copies.to_vec()) };
    let mut program = often_not_robust(program_with_counters(seed, &shape), seed / 2);
    cut_sums(&mut program, UnaryOperator::Truncate { bits: 1 + bits_of(seed), signed: false });
    if seed.is_multiple_of(8) { program } else { with_loads(program) }
}

fn bits_of(seed: u64) -> u8 {
    u8::try_from(seed % 4).expect("below 4")
}

/// Cuts sums that are stored as they stand, as those of store buffering are.
fn cut_sums(program: &mut Program, cut: UnaryOperator) {
    for instruction in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
        if let Action::Store { value, .. } = &mut instruction.action
            && matches!(value, Expression::Binary(BinaryOperator::Add, ..))
        {
            *value = Expression::unary(cut, value.clone());
        }
    }
}

/// The program whose threads load both counters first: what registers hold at first is whole.
fn with_loads(mut program: Program) -> Program {
    for thread in &mut program.threads {
        let first = thread.labels.len();
        let targets = [LabelId::from_index(first + 1), thread.initial];
        for (number, target) in targets.into_iter().enumerate() {
            let label = thread.labels[0].clone();
            thread.labels.push(palisade::program::Label { name: format!("load{number}").into(), ..label });
            let cell = Value::try_from(number + 1).expect("1 or 2");
            thread.instructions.push(Instruction::new(
                LabelId::from_index(first + number),
                target,
                Action::Load { register: RegisterId::from_index(number), address: Expression::Constant(cell) },
                Span::default(),
            ));
        }
        thread.initial = LabelId::from_index(first);
    }
    program
}

const FIXED: [Copies; 3] = [Copies::Exactly(1), Copies::Exactly(1), Copies::Exactly(2)];

const ANY: [Copies; 2] = [Copies::Any, Copies::Exactly(1)];

#[test]
fn verdicts_in_integers_with_fixed_copies() {
    let amount = Amount { default: 64, long: 6_000 };
    let generate = |seed| cut(seed, None, &FIXED);
    let counts = compare_generated("cut counters, integers, fixed", 5_400_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 6 && of_class(&counts, "not robust") > 6, "{counts:?}");
}

#[test]
fn verdicts_in_integers_for_any_number_of_copies() {
    let amount = Amount { default: 30, long: 4_000 };
    let generate = |seed| cut(seed, None, &ANY);
    let counts = compare_generated("cut counters, integers, any number", 5_500_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 1 && of_class(&counts, "not robust") > 2, "{counts:?}");
}

/// Domains of which the cuts are parts, multiples, and neither.
#[test]
fn verdicts_in_domains() {
    let amount = Amount { default: 20, long: 6_000 };
    let generate = |seed: u64| {
        let size = [2, 4, 8, 12, 16, 6, 8, 3][usize::try_from(seed / 4 % 8).expect("below 8")];
        cut(seed, Some(size), if seed % 3 == 1 { &ANY } else { &FIXED })
    };
    let counts = compare_generated("cut counters, domains", 5_600_000, amount, generate, compare);
    assert!(of_class(&counts, "robust") > 1 && of_class(&counts, "not robust") > 1, "{counts:?}");
}

/// What is robust modulo m with cuts is so in integers, and in domains that m divides, with the
/// same cuts.
#[test]
fn verdicts_for_every_larger_width() {
    let amount = Amount { default: 32, long: 6_000 };
    let copies = [Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
    let generate = |seed| cut(seed, if seed % 5 == 0 { None } else { Some(64) }, &copies);
    let counts = compare_generated("cut counters, widths", 5_700_000, amount, generate, compare_widths);
    assert!(of_class(&counts, "robust for every width") > 1 && of_class(&counts, "not robust") > 1, "{counts:?}");
}
