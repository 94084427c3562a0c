//! Loads that wait: a loop that does nothing but load one value again until a condition holds.
//!
//! From the load there are local steps alone to one branch. One side of it comes back to the load
//! by local steps, and all registers that are live there hold what they held. So a try that fails
//! leaves nothing behind, and the language says of the loop what it says of `await`.

use super::loops::{LONGEST, Search, Values, applied, assign};
use palisade_model::program::{Action, Expression, InstructionId, LabelId, Liveness, RegisterId, Thread};
use palisade_syntax::x86::fold::rebuilt;
use std::collections::BTreeMap;

/// What loads wait for: conditions over the registers before each, with [`Expression::Old`] for the
/// value that it loads.
pub(crate) fn conditions(thread: &Thread) -> BTreeMap<InstructionId, Expression> {
    let (by_label, liveness) = (thread.instructions_by_label(), Liveness::of(thread));
    let guess = RegisterId::from_index(thread.registers.len());
    let search = Search { thread, by_label: &by_label, liveness: &liveness, guess };
    thread.instruction_ids().filter_map(|(id, _)| Some((id, awaited(&search, id)?))).collect()
}

/// What a load waits for.
fn awaited(search: &Search<'_>, id: InstructionId) -> Option<Expression> {
    let load = search.thread.instruction(id);
    let Action::Load { register, address } = &load.action else { return None };
    search.only(load.source)?;
    let mut reads_own = false;
    address.for_each_register(&mut |read| reads_own |= read == *register);
    if reads_own {
        return None;
    }
    let mut values = Values::from([(*register, Expression::Register(search.guess))]);
    let (one, two) = search.branch(load.target, &mut values)?;
    let (one, two) = (search.thread.instruction(one), search.thread.instruction(two));
    let back = |target: LabelId| search.returns(target, values.clone(), load.source);
    let (stays, goes) = match (back(one.target), back(two.target)) {
        (true, false) => (one, two),
        (false, true) => (two, one),
        _ => return None,
    };
    let (Action::Assume(_), Action::Assume(condition)) = (&stays.action, &goes.action) else { return None };
    let condition = applied(condition, &values);
    let old = |leaf: &Expression| (*leaf == Expression::Register(search.guess)).then_some(Expression::Old);
    Some(rebuilt(&condition, &old))
}

impl Search<'_> {
    /// The branch that local steps from a label lead to, with the registers as they are there.
    fn branch(&self, from: LabelId, values: &mut Values) -> Option<(InstructionId, InstructionId)> {
        let mut label = from;
        for _ in 0..LONGEST {
            if let [one, two] = &self.by_label[label.index()] {
                return Some((*one, *two));
            }
            label = self.local(label, values)?;
        }
        None
    }

    /// Whether local steps from a label lead to another one, with all that is live there as it was.
    fn returns(&self, from: LabelId, mut values: Values, to: LabelId) -> bool {
        let mut label = from;
        for _ in 0..LONGEST {
            if label == to {
                let is_same = |register| values.get(&register).is_none_or(|own| *own == Expression::Register(register));
                return self.liveness.at(to).all(is_same);
            }
            let Some(next) = self.local(label, &mut values) else { return false };
            label = next;
        }
        false
    }

    /// Takes the only instruction at a label, if it is local.
    fn local(&self, label: LabelId, values: &mut Values) -> Option<LabelId> {
        let instruction = self.only(label)?;
        match &instruction.action {
            Action::Assign { register, value } => assign(values, *register, value)?,
            Action::Nop => {}
            _ => return None,
        }
        Some(instruction.target)
    }
}
