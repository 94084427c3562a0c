//! Threads do the same with their registers cut and without.

use super::cut;
use palisade_model::program::{
    Action, BinaryOperator as Op, Copies, Expression, Instruction, Label, LabelId, Register, RegisterId, Role, Span,
    Thread, UnaryOperator, Value,
};
use palisade_semantics::random::Randomness;

const REGISTERS: usize = 3;

/// An expression over the registers, as machine code has them: all are numbers of 64 bits.
fn expression(random: &mut Randomness, depth: usize) -> Expression {
    let leaf = depth == 0 || random.percent(20);
    if leaf {
        return match random.below(4) {
            0 => Expression::Constant([0, 1, -1, 255, 256, 4_294_967_295, -256][random.below(7)]),
            _ => Expression::Register(RegisterId::from_index(random.below(REGISTERS))),
        };
    }
    let operand = |random: &mut Randomness| expression(random, depth - 1);
    if random.percent(45) {
        let cut = UnaryOperator::Truncate { bits: [8, 8, 16, 32, 32, 64][random.below(6)], signed: random.percent(25) };
        let operand = operand(random);
        return Expression::unary(cut, operand);
    }
    let operators = [Op::Add, Op::Add, Op::Subtract, Op::BitOr, Op::BitAnd, Op::BitXor, Op::Equal, Op::Less];
    let operator = operators[random.below(operators.len())];
    let left = operand(random);
    let right = match operator {
        Op::BitAnd => Expression::Constant([1, 255, -256, 65_535, 4_294_967_295][random.below(5)]),
        _ => operand(random),
    };
    Expression::binary(operator, left, right)
}

/// A value that fits a register.
fn word(value: Expression) -> Expression {
    Expression::unary(UnaryOperator::Truncate { bits: 64, signed: true }, value)
}

/// A line of assignments with stores and conditions between them, which sometimes goes back.
fn thread(random: &mut Randomness) -> Thread {
    let length = 3 + random.below(6);
    let mut instructions = Vec::new();
    for label in 0..length {
        let value = word(expression(random, 3));
        let mut push = |action: Action, target: usize| {
            let (source, target) = (LabelId::from_index(label), LabelId::from_index(target));
            instructions.push(Instruction::new(source, target, action, Span::default()));
        };
        match random.below(5) {
            0 => push(Action::Store { address: Expression::Constant(1), value }, label + 1),
            1 => {
                push(Action::Assume(value.clone()), random.below(length + 1));
                push(Action::Assume(Expression::unary(UnaryOperator::Not, value)), label + 1);
            }
            _ => push(Action::Assign { register: RegisterId::from_index(random.below(REGISTERS)), value }, label + 1),
        }
    }
    let label = |index: usize| Label::new(format!("l{index}"), Span::default());
    let register =
        |index: usize| Register { name: format!("r{index}"), initial: 0, is_initialised: false, span: Span::default() };
    Thread {
        name: "t".to_owned(),
        copies: Copies::Exactly(1),
        is_daemon: false,
        role: Role::Thread,
        registers: (0..REGISTERS).map(register).collect(),
        labels: (0..=length).map(label).collect(),
        initial: LabelId::from_index(0),
        instructions,
        span: Span::default(),
    }
}

/// The labels that a thread passes and the values that it stores, for so many steps.
fn run(thread: &Thread, mut registers: Vec<Value>) -> Vec<(LabelId, Value)> {
    let (mut at, mut seen) = (thread.initial, Vec::new());
    for _ in 0..40 {
        let here = thread.instructions.iter().filter(|own| own.source == at);
        let mut open = here.filter(|own| match &own.action {
            Action::Assume(condition) => condition.holds(&registers, None).expect("it has a value"),
            _ => true,
        });
        let Some(next) = open.next_back() else { break };
        let value = |value: &Expression| value.evaluate(&registers, None).expect("it has a value");
        match &next.action {
            Action::Store { value: stored, .. } => seen.push((at, value(stored))),
            Action::Assign { register, value: assigned } => {
                let assigned = value(assigned);
                registers[register.index()] = assigned;
                seen.push((at, 0));
            }
            _ => seen.push((at, 0)),
        }
        at = next.target;
    }
    seen
}

#[test]
fn random_threads_do_the_same() {
    let mut changed = 0;
    for seed in 0..4_000 {
        let mut random = Randomness::new(seed);
        let whole = thread(&mut random);
        let mut own = whole.clone();
        cut(&mut own);
        changed += usize::from(own.instructions != whole.instructions);
        for _ in 0..20 {
            let values = [0, 1, 255, 256, 65_535, 4_294_967_295, -1, 511];
            let registers: Vec<Value> = (0..REGISTERS).map(|_| values[random.below(values.len())]).collect();
            assert_eq!(run(&own, registers.clone()), run(&whole, registers), "seed {seed}: {whole:#?}");
        }
    }
    assert!(changed > 400, "{changed}");
}
