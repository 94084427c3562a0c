//! The program without its tickets.

use super::meaning::{Meanings, Part};
use super::{TicketPair, Tickets};
use crate::program::{Action, BinaryOperator, Copies, Expression, Program, Register, RegisterId, ThreadId};
use std::collections::BTreeMap;

/// Erases tickets.
pub(super) fn erased(program: &Program, pairs: Vec<TicketPair>, meanings: &Meanings) -> Tickets {
    let mut erased = program.clone();
    let mut services = BTreeMap::new();
    for pair in &pairs {
        erased.initial_memory.remove(&pair.dispenser);
        erased.initial_memory.remove(&pair.served);
    }
    let turns: Vec<RegisterId> =
        program.threads.iter().map(|thread| RegisterId::from_index(thread.registers.len())).collect();
    // What any number of copies keep to, so many do.
    for thread in erased.threads.iter_mut().filter(|thread| matches!(thread.copies, Copies::Exactly(2..))) {
        thread.copies = Copies::Any;
    }
    for (number, thread) in erased.threads.iter_mut().enumerate() {
        let id = ThreadId::from_index(number);
        let span = thread.span;
        thread.registers.extend((1..=pairs.len()).map(|pair| Register {
            name: format!("turn {pair}"),
            initial: 0,
            is_initialised: false,
            span,
        }));
        for (index, instruction) in thread.instructions.iter_mut().enumerate() {
            let instruction_id = crate::program::InstructionId::from_index(index);
            let turn = |pair: usize| RegisterId::from_index(turns[number].index() + pair);
            match (meanings.part(id, instruction_id), &mut instruction.action) {
                (Part::Draws(pair), Action::Rmw { register, new, .. }) => {
                    *register = Some(turn(pair));
                    *new = Expression::Constant(0);
                }
                (Part::Sees(pair), action) => {
                    let value = Expression::binary(BinaryOperator::Add, none_of(turn(pair)), Expression::Constant(1));
                    *action = Action::Assign { register: turn(pair), value };
                }
                (Part::Serves(pair), Action::Store { value, .. }) => {
                    *value = none_of(turn(pair));
                    services.insert((id, instruction_id), pair);
                }
                (Part::Computes, Action::Assign { value, .. }) => *value = Expression::Constant(0),
                (Part::Asks, action) => *action = Action::Nop,
                _ => {}
            }
        }
    }
    Tickets { pairs, erased, turns, services }
}

/// 0, which keeps a register live that says whether the copy has its turn.
fn none_of(turn: RegisterId) -> Expression {
    Expression::binary(BinaryOperator::Multiply, Expression::Register(turn), Expression::Constant(0))
}
