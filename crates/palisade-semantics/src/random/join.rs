//! A property of all threads together, at the end of random programs.

use super::{REGISTERS, Randomness, instruction};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, Program, Register, RegisterId, Span, Value,
};

/// Where copies that have come to their end count themselves.
const JOIN: Value = 100;

/// What violates the property.
pub(super) struct Meeting {
    /// For each thread, the values of its registers at its end, by their indices.
    pub(super) registers: Vec<Vec<(usize, Value)>>,
    /// Values at addresses when all copies have come to their end and their buffers are empty.
    pub(super) memory: Vec<(Value, Value)>,
}

impl Meeting {
    /// Some values for all registers, 0 for those that a thread does not write.
    pub(super) fn random(program: &Program, random: &mut Randomness) -> Self {
        let mut registers = Vec::new();
        for thread in &program.threads {
            let mut value = |index: usize| {
                let register = Some(RegisterId::from_index(index));
                let is_written = |own: &Instruction| own.action.written_register() == register;
                let value = if thread.instructions.iter().any(is_written) { [0, 0, 1][random.below(3)] } else { 0 };
                (index, value)
            };
            registers.push((0..REGISTERS).map(&mut value).collect());
        }
        Self { registers, memory: Vec::new() }
    }
}

/// Adds to each thread: `assert r1 = v1 && …; n <- fetch_add(mem[JOIN], 1); q <- mem[a]; assert q =
/// v; …; ensure n != copies − 1`. The last copy to count itself violates it.
pub(super) fn join(program: &mut Program, meeting: &Meeting) {
    let count = |copies: Copies| match copies {
        Copies::Exactly(count) => Value::try_from(count).expect("few copies"),
        Copies::Any => 1,
    };
    let others = program.threads.iter().map(|thread| count(thread.copies)).sum::<Value>() - 1;
    // A domain must be able to count them.
    if program.domain.is_some_and(|domain| domain.high <= others) {
        return;
    }
    for (thread, values) in program.threads.iter_mut().zip(&meeting.registers) {
        let end = thread.labels.len() - 1;
        let [number, seen] = ["number", "seen"].map(|name| {
            thread.registers.push(Register {
                name: name.to_owned(),
                initial: 0,
                is_initialised: false,
                span: Span::default(),
            });
            RegisterId::from_index(thread.registers.len() - 1)
        });
        let mut actions = Vec::new();
        let all = values.iter().map(|(register, value)| equals(RegisterId::from_index(*register), *value));
        actions.extend(all.reduce(|all, own| Expression::binary(BinaryOperator::And, all, own)).map(Action::Assume));
        let sum = Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1));
        actions.push(Action::Rmw { register: Some(number), address: Expression::Constant(JOIN), new: sum });
        for (address, value) in &meeting.memory {
            actions.push(Action::Load { register: seen, address: Expression::Constant(*address) });
            actions.push(Action::Assume(equals(seen, *value)));
        }
        let last = Expression::Constant(others);
        let is_not_last = Expression::binary(BinaryOperator::NotEqual, Expression::Register(number), last);
        actions.push(Action::Ensure(is_not_last));
        for (index, action) in actions.into_iter().enumerate() {
            thread.labels.push(Label::new(format!("join{index}"), Span::default()));
            thread.instructions.push(instruction(end + index, end + index + 1, action));
        }
    }
}

fn equals(register: RegisterId, value: Value) -> Expression {
    Expression::binary(BinaryOperator::Equal, Expression::Register(register), Expression::Constant(value))
}
