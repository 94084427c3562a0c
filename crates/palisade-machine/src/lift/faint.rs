//! Assignments that come to nothing: to registers that matter only for themselves and for others
//! like them.
//!
//! Code without optimisation copies bytes of its stack frame around. Some of what it keeps so is
//! read again only to be written back. A register is *needed* where an access, an address, a branch
//! or an assignment to a needed register reads it later; all other assignments are left out.

use palisade_model::program::{Action, Expression, LabelId, RegisterId, Thread};
use std::collections::BTreeSet;

/// Leaves out what nobody needs.
pub(crate) fn leave_out(thread: &mut Thread) {
    let needed = needed(thread);
    for own in &mut thread.instructions {
        if let Action::Assign { register, value } = &own.action
            && !value.divides()
            && !needed[own.target.index()].contains(register)
        {
            own.action = Action::Nop;
        }
    }
}

/// The registers that are needed at each label.
fn needed(thread: &Thread) -> Vec<BTreeSet<RegisterId>> {
    let mut needed = vec![BTreeSet::new(); thread.labels.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); thread.labels.len()];
    for (index, own) in thread.instructions.iter().enumerate() {
        before[own.target.index()].push(index);
    }
    let mut open: Vec<usize> = (0..thread.instructions.len()).collect();
    while let Some(index) = open.pop() {
        let own = &thread.instructions[index];
        let after: &BTreeSet<RegisterId> = &needed[own.target.index()];
        let written = own.action.written_register();
        let mut new: Vec<RegisterId> = after.iter().copied().filter(|register| Some(*register) != written).collect();
        let is_faint = match &own.action {
            Action::Assign { register, value } => !value.divides() && !after.contains(register),
            _ => false,
        };
        if !is_faint {
            let mut read = |expression: &Expression| expression.for_each_register(&mut |register| new.push(register));
            own.action.expressions().for_each(&mut read);
        }
        if add(&mut needed, own.source, new) {
            open.extend(&before[own.source.index()]);
        }
    }
    needed
}

/// Whether a register was not known to be needed at a label.
fn add(needed: &mut [BTreeSet<RegisterId>], label: LabelId, new: Vec<RegisterId>) -> bool {
    let known = &mut needed[label.index()];
    let count = known.len();
    known.extend(new);
    known.len() > count
}
