//! What registers hold relative to a copy's own ticket, label by label.

use super::{TicketPair, named};
use crate::program::{
    Action, BinaryOperator, Expression, InstructionId, LabelId, Program, RegisterId, Thread, ThreadId, UnaryOperator,
    Value,
};

/// What a register holds. Numbers of pairs are positions in the list of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing that has to do with tickets.
    Plain,
    /// The copy's own ticket of a pair, and a number more.
    Ticket(usize, Value),
    /// What the pair's served address held at some time since the copy drew its ticket, and a
    /// number more.
    Served(usize, Value),
    /// What has to do with tickets in a way that is not followed.
    Mixed,
}

/// What is known of a copy's ticket of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// The copy has none.
    Nothing,
    /// It has one.
    Ticket,
    /// It has one, and this is the one that is served.
    Turn,
    /// It may have one.
    Perhaps,
}

/// What is known at a label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    registers: Vec<Meaning>,
    holding: Vec<Holding>,
}

/// What an instruction does in terms of tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing.
    None,
    /// Draws a ticket of a pair.
    Draws(usize),
    /// Sees that the copy's ticket is served.
    Sees(usize),
    /// Serves the next ticket.
    Serves(usize),
    /// Asks what the erased program cannot tell, and takes it for true.
    Asks,
    /// Computes what the erased program cannot tell, and does not need.
    Computes,
}

/// What the instructions of a program do in terms of tickets, thread by thread.
#[derive(Debug)]
pub(super) struct Meanings {
    parts: Vec<Vec<Part>>,
}

impl Meanings {
    /// What instructions do, if these pairs hand out and serve tickets, and the program does not
    /// depend on these in other ways.
    pub(super) fn of(program: &Program, pairs: &[TicketPair]) -> Option<Self> {
        let parts: Option<Vec<Vec<Part>>> = program.threads.iter().map(|thread| parts(thread, pairs)).collect();
        let parts = parts?;
        let all = || parts.iter().flatten();
        let is_used =
            |pair| all().any(|part| *part == Part::Sees(pair)) && all().any(|part| *part == Part::Serves(pair));
        (0..pairs.len()).all(is_used).then_some(Self { parts })
    }

    pub(super) fn part(&self, thread: ThreadId, instruction: InstructionId) -> Part {
        self.parts[thread.index()][instruction.index()]
    }
}

/// What the instructions of a thread do, by following what is known from its first label on.
fn parts(thread: &Thread, pairs: &[TicketPair]) -> Option<Vec<Part>> {
    let mut known: Vec<Option<Known>> = vec![None; thread.labels.len()];
    known[thread.initial.index()] = Some(Known {
        registers: vec![Meaning::Plain; thread.registers.len()],
        holding: vec![Holding::Nothing; pairs.len()],
    });
    let by_label = thread.instructions_by_label();
    let mut open: Vec<LabelId> = vec![thread.initial];
    while let Some(label) = open.pop() {
        let before = known[label.index()].clone()?;
        for id in &by_label[label.index()] {
            let instruction = thread.instruction(*id);
            // A step that is not understood may yet be one after what later turns out to be less
            // known: both end the search.
            let (after, _) = before.after(&instruction.action, pairs)?;
            let target = &mut known[instruction.target.index()];
            let joined = target.as_ref().map_or_else(|| after.clone(), |own| own.joined(&after));
            if target.as_ref() != Some(&joined) {
                *target = Some(joined);
                open.push(instruction.target);
            }
        }
    }
    let part = |(_, instruction): (_, &crate::program::Instruction)| match &known[instruction.source.index()] {
        Some(known) => known.after(&instruction.action, pairs).map(|(_, part)| part),
        // No path leads there.
        None => Some(Part::None),
    };
    thread.instruction_ids().map(part).collect()
}

impl Known {
    /// What is known where two paths meet.
    fn joined(&self, other: &Self) -> Self {
        let holding = self.holding.iter().zip(&other.holding).map(|(a, b)| match (a, b) {
            (a, b) if a == b => *a,
            (Holding::Ticket, Holding::Turn) | (Holding::Turn, Holding::Ticket) => Holding::Ticket,
            _ => Holding::Perhaps,
        });
        let registers = self.registers.iter().zip(&other.registers);
        let registers = registers.map(|(a, b)| if a == b { *a } else { Meaning::Mixed });
        let mut joined = Known { registers: registers.collect(), holding: holding.collect() };
        for pair in 0..joined.holding.len() {
            if matches!(joined.holding[pair], Holding::Nothing | Holding::Perhaps) {
                joined.forget(pair);
            }
        }
        joined
    }

    /// What registers hold of a ticket that the copy no longer has means nothing.
    fn forget(&mut self, pair: usize) {
        for own in &mut self.registers {
            if matches!(own, Meaning::Ticket(of, _) | Meaning::Served(of, _) if *of == pair) {
                *own = Meaning::Mixed;
            }
        }
    }

    /// What is known after an action, and what it does; nothing where it does what tickets do not
    /// survive.
    fn after(&self, action: &Action, pairs: &[TicketPair]) -> Option<(Self, Part)> {
        let mut after = self.clone();
        if action.address().is_some_and(|address| self.mentions(address)) {
            return None;
        }
        let cell = named(action);
        let dispenses = pairs.iter().position(|pair| Some(pair.dispenser) == cell);
        let serves = pairs.iter().position(|pair| Some(pair.served) == cell);
        let part = match action {
            Action::Load { register, .. } => {
                after.registers[register.index()] = match (dispenses, serves) {
                    (Some(_), _) => Meaning::Mixed,
                    (_, Some(pair)) => match self.holding[pair] {
                        Holding::Turn => Meaning::Ticket(pair, 0),
                        Holding::Ticket => Meaning::Served(pair, 0),
                        Holding::Nothing | Holding::Perhaps => Meaning::Mixed,
                    },
                    _ => Meaning::Plain,
                };
                Part::None
            }
            Action::Rmw { register, .. } if dispenses.is_some() => {
                let pair = dispenses?;
                if self.holding[pair] != Holding::Nothing {
                    return None;
                }
                after.holding[pair] = Holding::Ticket;
                if let Some(register) = register {
                    after.registers[register.index()] = Meaning::Ticket(pair, 0);
                }
                Part::Draws(pair)
            }
            Action::Store { value, .. } if serves.is_some() => {
                let pair = serves?;
                if self.holding[pair] != Holding::Turn || self.meaning(value) != Meaning::Ticket(pair, pairs[pair].step)
                {
                    return None;
                }
                after.holding[pair] = Holding::Nothing;
                after.forget(pair);
                Part::Serves(pair)
            }
            Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. } => {
                let is_mixed = action.expressions().any(|own| self.mentions(own));
                if is_mixed || dispenses.is_some() || serves.is_some() {
                    return None;
                }
                if let Some(register) = action.written_register() {
                    after.registers[register.index()] = Meaning::Plain;
                }
                Part::None
            }
            Action::Assign { register, value } => {
                let meaning = self.meaning(value);
                after.registers[register.index()] = meaning;
                if meaning == Meaning::Plain { Part::None } else { Part::Computes }
            }
            Action::Havoc { register } => {
                after.registers[register.index()] = Meaning::Plain;
                Part::None
            }
            Action::Assume(condition) if self.mentions(condition) => match self.seen(condition, true) {
                Some((pair, served)) => {
                    after.holding[pair] = Holding::Turn;
                    if let Some((register, offset)) = served {
                        after.registers[register.index()] = Meaning::Ticket(pair, offset);
                    }
                    Part::Sees(pair)
                }
                None => Part::Asks,
            },
            Action::Ensure(condition) if self.mentions(condition) => Part::Asks,
            Action::Post { .. } => return None,
            _ => Part::None,
        };
        Some((after, part))
    }

    fn mentions(&self, expression: &Expression) -> bool {
        let mut found = false;
        expression.for_each_register(&mut |register| found |= self.registers[register.index()] != Meaning::Plain);
        found
    }

    /// What a value is.
    fn meaning(&self, value: &Expression) -> Meaning {
        use Expression::{Binary, Constant, Register};
        let moved = |meaning: Meaning, by: Option<Value>| match (meaning, by) {
            (Meaning::Ticket(pair, own), Some(by)) => own.checked_add(by).map(|sum| Meaning::Ticket(pair, sum)),
            (Meaning::Served(pair, own), Some(by)) => own.checked_add(by).map(|sum| Meaning::Served(pair, sum)),
            _ => None,
        };
        let followed = match value {
            Register(register) => Some(self.registers[register.index()]),
            Binary(BinaryOperator::Add, left, right) => match (&**left, &**right) {
                (own, Constant(by)) | (Constant(by), own) => moved(self.meaning(own), Some(*by)),
                _ => None,
            },
            Binary(BinaryOperator::Subtract, left, right) => match &**right {
                Constant(by) => moved(self.meaning(left), by.checked_neg()),
                _ => None,
            },
            _ => None,
        };
        followed.unwrap_or(if self.mentions(value) { Meaning::Mixed } else { Meaning::Plain })
    }

    /// Whether a condition, or its contrary, says that the copy's ticket is served: of which pair,
    /// and the register that holds what was served, a number added.
    fn seen(&self, condition: &Expression, holds: bool) -> Option<(usize, Option<(RegisterId, Value)>)> {
        use Expression::{Binary, Unary};
        let (left, right) = match condition {
            Unary(UnaryOperator::Not, operand) => return self.seen(operand, !holds),
            Binary(BinaryOperator::Equal, left, right) if holds => (left, right),
            Binary(BinaryOperator::NotEqual, left, right) if !holds => (left, right),
            _ => return None,
        };
        let register = |side: &Expression| match side {
            Expression::Register(register) => Some(*register),
            _ => None,
        };
        match (self.meaning(left), self.meaning(right)) {
            (Meaning::Ticket(a, own), Meaning::Served(b, served)) if (a, own) == (b, served) => {
                Some((a, register(right).map(|register| (register, served))))
            }
            (Meaning::Served(a, served), Meaning::Ticket(b, own)) if (a, own) == (b, served) => {
                Some((a, register(left).map(|register| (register, served))))
            }
            _ => None,
        }
    }
}
