//! What may keep a question about a program with counters open, in sentences: values that are
//! explored one by one, and why.

use palisade_model::program::{
    Action, BinaryOperator, Counters, Expression, Instruction, KeptOut, Program, RegisterId, Thread, Value,
};

/// With fewer values than this in a domain, all of them are explored soon enough.
const MANY_VALUES: u128 = 32;

/// What is missing where a limit ends a check of the program: nothing where its domain is small, or
/// nothing counts.
pub fn sentences(program: &Program) -> Vec<String> {
    if program.domain.is_some_and(|domain| domain.size() <= MANY_VALUES) {
        return Vec::new();
    }
    let counters = Counters::of(program);
    let far = match program.domain {
        Some(domain) => format!("as far as {} values reach", domain.size()),
        None => "ever further".to_owned(),
    };
    let class = |cells: &[Value]| {
        let names: Vec<String> = cells.iter().map(|cell| format!("`{}`", program.address_name(*cell))).collect();
        format!(
            "{} and registers with their values are explored relative to each other, as counters, but old ones may come apart from them {far}",
            names.join(", ")
        )
    };
    let kept_out = |out: &KeptOut| {
        format!(
            "`{}` counts and is explored value by value: the instruction at {} keeps it from being a counter",
            program.address_name(out.address),
            program.place(out.thread, out.instruction)
        )
    };
    let counting = counters.kept_out().iter().filter(|out| counts(program, out.address));
    counters.classes().iter().map(|own| class(&own.cells)).chain(counting.map(kept_out)).collect()
}

/// Whether some thread stores to an address what it has loaded from there with a number added.
fn counts(program: &Program, address: Value) -> bool {
    let is_at = |action: &Action| {
        let own = action.address().filter(|own| own.is_constant());
        own.is_some_and(|own| own.evaluate_address(&[]) == Ok(address))
    };
    program.threads.iter().any(|thread| {
        let moves = |instruction: &Instruction| {
            let value = match &instruction.action {
                Action::Store { value, .. } => value,
                Action::Cas { new, .. } | Action::Rmw { new, .. } => new,
                _ => return false,
            };
            let is_locked = !matches!(instruction.action, Action::Store { .. });
            is_at(&instruction.action) && is_moved(thread, value, &|action| is_at(action), is_locked && has_old(value))
        };
        thread.instructions.iter().any(moves)
    })
}

/// Whether a value comes from such loads, or from memory itself, with a number added on the way, in
/// any order of assignments.
fn is_moved(thread: &Thread, value: &Expression, loads: &impl Fn(&Action) -> bool, from_memory: bool) -> bool {
    let (mut moved, mut loaded) = (adds_number(value), from_memory);
    let mut registers: Vec<RegisterId> = Vec::new();
    value.for_each_register(&mut |register| registers.push(register));
    let mut next = 0;
    while let Some(register) = registers.get(next).copied() {
        next += 1;
        let writers = thread.instructions.iter().filter(|own| own.action.written_register() == Some(register));
        for writer in writers {
            match &writer.action {
                Action::Assign { value, .. } => {
                    moved |= adds_number(value);
                    value.for_each_register(&mut |register| {
                        if !registers.contains(&register) {
                            registers.push(register);
                        }
                    });
                }
                action => loaded |= loads(action),
            }
        }
    }
    moved && loaded
}

/// Whether an expression adds a number to something, or takes one away.
fn adds_number(expression: &Expression) -> bool {
    let is_number = |operand: &Expression| matches!(operand, Expression::Constant(number) if *number != 0);
    match expression {
        Expression::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
            is_number(left) || is_number(right) || adds_number(left) || adds_number(right)
        }
        Expression::Binary(_, left, right) => adds_number(left) || adds_number(right),
        Expression::Unary(_, operand) => adds_number(operand),
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) | Expression::Old => false,
    }
}

/// Whether the value in memory is part of an expression.
fn has_old(expression: &Expression) -> bool {
    match expression {
        Expression::Old => true,
        Expression::Binary(_, left, right) => has_old(left) || has_old(right),
        Expression::Unary(_, operand) => has_old(operand),
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) => false,
    }
}
