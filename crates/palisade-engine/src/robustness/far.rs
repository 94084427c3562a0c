//! Counters in integers of which those that have fallen far behind are not told apart.
//!
//! Sequence numbers, epochs and indices grow without end, and threads that were stopped long ago
//! hold old ones. What has fallen behind never meets again what goes on: how far it is behind does
//! not matter. So each class gets an *end*, some distance below one of its addresses, which only
//! grows: values at most the end are one value for each residue that masks see (`system::turning`).
//! Conditions are *loosened*: they hold where they may hold for some values that far ones stand
//! for. What the program does, the loosened one does; that values far behind do not come near, and
//! that nothing but conditions looks at them, is left to the reader of the certificate, which has
//! to accept it before it counts.

use palisade_exploration::instrumented::system::Counting;
use palisade_model::program::{
    Action, BinaryOperator as Op, Counters, Expression, LabelId, Program, ThreadId, UnaryOperator, Value,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The distances that are tried.
const DISTANCES: [Value; 2] = [1, 4];

/// From where on counters are far behind, and what the program does that does not tell these apart.
pub(in crate::robustness) struct Horizon {
    /// The address of each class that its other members are behind, ascending, with the distance.
    pub(in crate::robustness) behind: Vec<(Value, Value)>,
    /// The program with loosened conditions.
    pub(in crate::robustness) loosened: Program,
    /// Its counters.
    pub(in crate::robustness) counting: Counting,
}

/// The horizons of a program without a domain: near ones first, relative to each address of its
/// classes.
pub(in crate::robustness) fn horizons(program: &Program) -> Vec<Horizon> {
    let counters = Arc::new(Counters::of(program));
    // What is cut to some bits comes around.
    if program.domain.is_some() || counters.is_empty() || !counters.are_whole() {
        return Vec::new();
    }
    let slots = slots(program, &counters);
    // Slots of a ring follow what indexes it, as far behind as it is long.
    let is_named = |cell: &Value| !slots.contains(cell);
    let addresses: Vec<Vec<Value>> = counters
        .classes()
        .iter()
        .map(|class| {
            let named: Vec<Value> = class.cells.iter().copied().filter(is_named).collect();
            if named.is_empty() { class.cells.clone() } else { named }
        })
        .collect();
    let most = addresses.iter().map(Vec::len).max().unwrap_or(0);
    let rings = counters.classes().iter().filter(|class| !class.cells.iter().all(is_named));
    let lap = rings.map(|class| class.step).max().filter(|lap| 2 * lap > DISTANCES[1]);
    let distances: Vec<Value> = DISTANCES.into_iter().chain(lap.map(|lap| 2 * lap)).collect();
    let horizon = |(distance, number): (Value, usize)| {
        let reference = |cells: &Vec<Value>| cells[number.min(cells.len() - 1)];
        let references: Vec<Value> = addresses.iter().map(reference).collect();
        let end = |reference: &Value| program.initial_value(*reference).checked_sub(distance);
        let ends: Vec<Value> = references.iter().map(end).collect::<Option<_>>()?;
        let loosened = loosened(program, &counters, &ends);
        let mut behind: Vec<(Value, Value)> = references.iter().map(|reference| (*reference, distance)).collect();
        behind.sort_unstable();
        let counting = Counting::of(counters.clone())?.with_ends(references, ends);
        Some(Horizon { behind, loosened, counting })
    };
    let numbers = distances.into_iter().flat_map(|distance| (0..most).map(move |number| (distance, number)));
    numbers.filter_map(horizon).collect()
}

/// The addresses of classes that no constant names.
fn slots(program: &Program, counters: &Counters) -> BTreeSet<Value> {
    let mut slots: BTreeSet<Value> = counters.classes().iter().flat_map(|class| class.cells.iter().copied()).collect();
    for instruction in program.threads.iter().flat_map(|thread| &thread.instructions) {
        let constant = instruction.action.address().filter(|address| address.is_constant());
        if let Some(Ok(address)) = constant.map(|address| address.evaluate_address(&[])) {
            slots.remove(&address);
        }
    }
    slots
}

/// The program in which conditions hold where they may.
fn loosened(program: &Program, counters: &Counters, ends: &[Value]) -> Program {
    let mut loosened = program.clone();
    for (thread, template) in program.thread_ids() {
        for (id, instruction) in template.instruction_ids() {
            let own = &mut loosened.threads[thread.index()].instructions[id.index()];
            if let Action::Assume(condition) = &instruction.action {
                let site = Site { counters, ends, thread, label: instruction.source };
                own.action = Action::Assume(site.loosened(condition, true));
            }
            if let (Action::Load { register, .. }, Some(until)) = (&instruction.action, instruction.until()) {
                // Behind the read its register holds what is waited for.
                let read = Expression::Register(*register);
                let site = Site { counters, ends, thread, label: instruction.target };
                let behind = until.replaced(&|part: &Expression| (*part == Expression::Old).then(|| read.clone()));
                let may = site.loosened(&behind, true);
                own.set_waiting(may.replaced(&|part: &Expression| (*part == read).then_some(Expression::Old)));
            }
        }
    }
    loosened
}

/// Where a condition stands.
struct Site<'c> {
    counters: &'c Counters,
    ends: &'c [Value],
    thread: ThreadId,
    label: LabelId,
}

impl Site<'_> {
    /// A condition that holds (or, where `to` is false, fails) where it may.
    fn loosened(&self, condition: &Expression, to: bool) -> Expression {
        match condition {
            Expression::Unary(UnaryOperator::Not, operand) => {
                Expression::unary(UnaryOperator::Not, self.loosened(operand, !to))
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) => {
                Expression::binary(*operator, self.loosened(left, to), self.loosened(right, to))
            }
            Expression::Binary(operator, left, right) => {
                let asked = if to { Some(*operator) } else { operator.contrary() };
                let may = asked.and_then(|asked| self.may(asked, left, right));
                match may {
                    Some(may) if to => Expression::binary(Op::Or, condition.clone(), may),
                    Some(may) => {
                        let fails = Expression::unary(UnaryOperator::Not, may);
                        Expression::binary(Op::And, condition.clone(), fails)
                    }
                    None => condition.clone(),
                }
            }
            _ => condition.clone(),
        }
    }

    /// When a comparison of counters, or of their difference with a number, may hold besides: where
    /// a far one may be less.
    fn may(&self, operator: Op, left: &Expression, right: &Expression) -> Option<Expression> {
        let (left, right) = match (left, right) {
            (Expression::Binary(Op::Subtract, one, other), _) if self.member(other).is_some() => {
                ((**one).clone(), Expression::binary(Op::Add, (**other).clone(), right.clone()))
            }
            (_, Expression::Binary(Op::Subtract, one, other)) if self.member(other).is_some() => {
                (Expression::binary(Op::Add, left.clone(), (**other).clone()), (**one).clone())
            }
            _ => (left.clone(), right.clone()),
        };
        let (is_left_far, is_right_far) = (self.is_far(&left)?, self.is_far(&right)?);
        let both = |operator, one, other| Expression::binary(operator, one, other);
        Some(match operator {
            Op::Less | Op::LessOrEqual => is_left_far,
            Op::Greater | Op::GreaterOrEqual => is_right_far,
            Op::NotEqual => both(Op::Or, is_left_far, is_right_far),
            Op::Equal => {
                let falls_left = both(Op::And, is_left_far, both(Op::Less, right.clone(), left.clone()));
                let falls_right = both(Op::And, is_right_far, both(Op::Less, left, right));
                both(Op::Or, falls_left, falls_right)
            }
            _ => return None,
        })
    }

    /// Whether what a counter is, but for numbers added to it, is far; nothing for what is none.
    fn is_far(&self, value: &Expression) -> Option<Expression> {
        let (member, class) = self.member(value)?;
        Some(Expression::binary(Op::LessOrEqual, member.clone(), Expression::Constant(self.ends[class])))
    }

    /// The register of a counter to which numbers are added, and its class.
    fn member<'e>(&self, value: &'e Expression) -> Option<(&'e Expression, usize)> {
        match value {
            Expression::Register(register) => {
                let members = self.counters.registers_at(self.thread, self.label);
                members.iter().find(|(member, _)| member == register).map(|(_, member)| (value, member.class))
            }
            Expression::Binary(Op::Add, left, right) => self.member(left).or_else(|| self.member(right)),
            Expression::Binary(Op::Subtract, left, right) if right.is_constant() => self.member(left),
            _ => None,
        }
    }
}
