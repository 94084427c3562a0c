//! The straight code of a thread between assembly and control-flow automaton, and its clean-up.
//!
//! Lowering writes every flag after every instruction that sets it and copies what an instruction
//! reads before it overwrites it. The clean-up puts the flags' expressions where they are tested,
//! drops what nobody reads and merges copies, so that the automaton has few registers and few local
//! steps. Only registers that the reader has added itself (flags, temporaries) are touched; those
//! of the text keep every value they are given.

use super::fold::{size, substitute};
use palisade_model::program::{Action, Expression, RegisterId, Span};

/// A label of the code, by number.
pub type CodeLabel = usize;

/// A label of a thread's text.
#[derive(Clone, Debug)]
pub struct TextLabel {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// One element of the code.
#[derive(Clone, Debug)]
pub enum Code {
    /// An action; control goes on.
    Action(Action, Span),
    /// Goes to the label when the condition is not 0.
    Branch(Expression, CodeLabel, Span),
    /// Goes to the label or on, whichever.
    Choice(CodeLabel, Span),
    /// Goes to the label.
    Jump(CodeLabel, Span),
    /// The label is here.
    Mark(CodeLabel),
    /// The thread ends.
    Stop,
}

/// The code of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadCode {
    /// The elements, one after the other.
    pub code: Vec<Code>,
    /// For each register, whether it is one of the reader's own.
    pub own: Vec<bool>,
}

/// An expression with more operators than this stays in its register.
const LARGEST_INLINED: usize = 12;

impl ThreadCode {
    /// Cleans up until nothing changes.
    pub fn clean_up(&mut self) {
        loop {
            self.inline();
            let changed = self.merge_copies() | self.drop_unread();
            if !changed {
                return;
            }
        }
    }

    fn is_own(&self, register: RegisterId) -> bool {
        self.own[register.index()]
    }

    /// Replaces own registers by what they were assigned, where its registers still have the same
    /// values.
    fn inline(&mut self) {
        let mut known: Vec<(RegisterId, Expression)> = Vec::new();
        for index in 0..self.code.len() {
            let find = |register: RegisterId| {
                known.iter().find(|(name, _)| *name == register).map(|(_, expression)| expression.clone())
            };
            match &mut self.code[index] {
                Code::Action(action, _) => {
                    replace_registers(action, &find);
                    let written = action.written_register();
                    let assigned = match action {
                        Action::Assign { register, value } => Some((*register, value.clone())),
                        _ => None,
                    };
                    if let Some(written) = written {
                        known.retain(|(name, expression)| *name != written && !mentions(expression, written));
                    }
                    if let Some((register, value)) = assigned
                        && self.own[register.index()]
                        && !mentions(&value, register)
                        && !has_old(&value)
                        && size(&value) <= LARGEST_INLINED
                    {
                        known.push((register, value));
                    }
                }
                Code::Branch(condition, ..) => *condition = substitute(condition, &find),
                // Where a choice goes, what is known is forgotten at its mark.
                Code::Choice(..) => {}
                Code::Jump(..) | Code::Mark(_) | Code::Stop => known.clear(),
            }
        }
    }

    /// `t <- …; r <- t` becomes `r <- …` where t is read nowhere else.
    fn merge_copies(&mut self) -> bool {
        let live = self.live_after();
        let mut changed = false;
        for (index, live) in live.iter().enumerate().skip(1) {
            let Code::Action(Action::Assign { register: target, value: Expression::Register(copied) }, _) =
                &self.code[index]
            else {
                continue;
            };
            let (target, copied) = (*target, *copied);
            if !self.is_own(copied) || live[copied.index()] || target == copied {
                continue;
            }
            if let Code::Action(action, _) = &mut self.code[index - 1]
                && action.written_register() == Some(copied)
            {
                redirect(action, Some(target));
                self.code[index] = Code::Action(Action::Nop, Span::default());
                changed = true;
            }
        }
        if changed {
            let dropped =
                |element: &Code| matches!(element, Code::Action(Action::Nop, span) if *span == Span::default());
            self.code.retain(|element| !dropped(element));
        }
        changed
    }

    /// Drops assignments to own registers that nobody reads, and own results of read-modify-writes.
    fn drop_unread(&mut self) -> bool {
        let live = self.live_after();
        let mut changed = false;
        let mut index = 0;
        let own = std::mem::take(&mut self.own);
        self.code.retain_mut(|element| {
            let unread = |register: RegisterId| own[register.index()] && !live[index][register.index()];
            let keep = match element {
                Code::Action(Action::Assign { register, .. }, _) => !unread(*register),
                Code::Action(action @ (Action::Rmw { .. } | Action::Cas { .. }), _) => {
                    if action.written_register().is_some_and(unread) {
                        redirect(action, None);
                        changed = true;
                    }
                    true
                }
                _ => true,
            };
            index += 1;
            changed |= !keep;
            keep
        });
        self.own = own;
        changed
    }

    /// For each element, which registers may be read after it.
    fn live_after(&self) -> Vec<Vec<bool>> {
        let count = self.code.len();
        let none = vec![false; self.own.len()];
        let mut before = vec![none.clone(); count + 1];
        let mut after = vec![none; count];
        let position = self.label_positions();
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..count).rev() {
                let mut live = match &self.code[index] {
                    Code::Stop => before[count].clone(),
                    Code::Jump(label, _) => before[position[*label]].clone(),
                    _ => before[index + 1].clone(),
                };
                if let Code::Branch(_, label, _) | Code::Choice(label, _) = &self.code[index] {
                    for (bit, other) in live.iter_mut().zip(&before[position[*label]]) {
                        *bit |= other;
                    }
                }
                after[index].clone_from(&live);
                let mut read = |expression: &Expression| {
                    expression.for_each_register(&mut |register| live[register.index()] = true);
                };
                match &self.code[index] {
                    Code::Action(action, _) => {
                        if let Some(register) = action.written_register() {
                            live[register.index()] = false;
                        }
                        for expression in action.expressions() {
                            expression.for_each_register(&mut |register| live[register.index()] = true);
                        }
                    }
                    Code::Branch(condition, ..) => read(condition),
                    Code::Choice(..) | Code::Jump(..) | Code::Mark(_) | Code::Stop => {}
                }
                if live != before[index] {
                    before[index] = live;
                    changed = true;
                }
            }
        }
        after
    }

    /// Where each label is.
    pub fn label_positions(&self) -> Vec<usize> {
        let mut positions = Vec::new();
        for (index, element) in self.code.iter().enumerate() {
            if let Code::Mark(label) = element {
                if positions.len() <= *label {
                    positions.resize(label + 1, self.code.len());
                }
                positions[*label] = index;
            }
        }
        positions
    }
}

fn mentions(expression: &Expression, register: RegisterId) -> bool {
    let mut found = false;
    expression.for_each_register(&mut |read| found |= read == register);
    found
}

/// Whether the expression reads the old value of a locked instruction.
pub fn has_old(expression: &Expression) -> bool {
    match expression {
        Expression::Old => true,
        Expression::Unary(_, operand) => has_old(operand),
        Expression::Binary(_, left, right) => has_old(left) || has_old(right),
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) => false,
    }
}

fn redirect(action: &mut Action, target: Option<RegisterId>) {
    match action {
        Action::Rmw { register, .. } | Action::Cas { register, .. } => *register = target,
        Action::Load { register, .. } | Action::Assign { register, .. } | Action::Havoc { register } => {
            *register = target.unwrap_or(*register);
        }
        _ => {}
    }
}

fn replace_registers(action: &mut Action, replacement: &impl Fn(RegisterId) -> Option<Expression>) {
    let replace = |expression: &mut Expression| *expression = substitute(expression, replacement);
    match action {
        Action::Load { address, .. } => replace(address),
        Action::Store { address, value } => {
            replace(address);
            replace(value);
        }
        Action::Assign { value, .. } => replace(value),
        Action::Assume(condition) | Action::Ensure(condition) => replace(condition),
        Action::Cas { address, expected, new, .. } => {
            replace(address);
            replace(expected);
            replace(new);
        }
        Action::Rmw { address, new, .. } => {
            replace(address);
            replace(new);
        }
        Action::Fence
        | Action::StoreFence
        | Action::Havoc { .. }
        | Action::Nop
        | Action::Lock
        | Action::Unlock
        | Action::Fail => {}
        Action::Post { arguments, .. } => arguments.iter_mut().for_each(replace),
    }
}
