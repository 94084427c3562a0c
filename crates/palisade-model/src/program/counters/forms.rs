//! In which form each variable would hold a counter, if it holds one: guessed from the cuts along
//! which values flow.
//!
//! First as many bits as the narrowest cut on the way to a variable leaves, then the interval of
//! the first value that comes to be known. Nothing rests on the guess: `flow` asks of every value
//! that a member takes that it has the member's form.

use super::form::{Form, Setting, cut_operand};
use crate::program::{
    Action, BinaryOperator as Op, Expression, Instruction, InstructionId, Liveness, Program, RegisterId, ThreadId,
    Value,
};
use std::collections::BTreeMap;

/// Variables as the partition numbers them.
#[derive(Clone, Copy)]
pub(super) struct Numbering<'n> {
    pub(super) program: &'n Program,
    pub(super) liveness: &'n [Liveness],
    /// The number of the first variable of each thread.
    pub(super) first: &'n [usize],
    /// The variable that each instruction accesses, where that is known.
    pub(super) accessed: &'n BTreeMap<(ThreadId, InstructionId), usize>,
}

/// A thread's instruction, where its expressions are read.
#[derive(Clone, Copy)]
struct Site<'n> {
    numbering: Numbering<'n>,
    thread: ThreadId,
    id: InstructionId,
    instruction: &'n Instruction,
}

/// The form of each of so many variables: all are whole where nothing is cut.
pub(super) fn guess(numbering: Numbering<'_>, count: usize) -> Vec<Form> {
    let mut forms = vec![Form::Whole; count];
    if !has_cuts(numbering.program) {
        return forms;
    }
    // Fewer bits at each change, and then one interval for each variable.
    loop {
        let mut has_changed = false;
        each_flow(numbering, &mut |site, value, into| {
            let form = value.form(site, &forms);
            has_changed |= narrow(&mut forms[into], form);
        });
        if !has_changed {
            return forms;
        }
    }
}

/// Whether anything is cut to some bits.
pub(super) fn has_cuts(program: &Program) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    instructions.any(|own| own.action.expressions().any(|own| contains_cut(own, program.domain)))
}

/// Whether what flows into a variable tells more of its form, which is noted.
fn narrow(own: &mut Form, value: Option<Form>) -> bool {
    let Some(value @ Form::Residue { bits, low }) = value else { return false };
    let is_news = match *own {
        Form::Whole => true,
        Form::Residue { bits: before, .. } if bits != before => bits < before,
        Form::Residue { low: before, .. } => before.is_none() && low.is_some(),
    };
    if is_news {
        *own = value;
    }
    is_news
}

/// What flows into a variable.
enum Flow<'n> {
    Expression(&'n Expression),
    Variable(usize),
}

impl Flow<'_> {
    fn form(&self, site: Site<'_>, forms: &[Form]) -> Option<Form> {
        match self {
            Flow::Expression(expression) => site.form(expression, forms),
            Flow::Variable(variable) => Some(forms[*variable]),
        }
    }
}

/// Visits each value with the variable that it flows into.
fn each_flow<'n>(numbering: Numbering<'n>, visit: &mut impl FnMut(Site<'n>, Flow<'n>, usize)) {
    for (thread, template) in numbering.program.thread_ids() {
        for (id, instruction) in template.instruction_ids() {
            let site = Site { numbering, thread, id, instruction };
            let action = &instruction.action;
            let written = action.written_register();
            for register in numbering.liveness[thread.index()].at(instruction.target) {
                let into = site.register(instruction.target, register);
                if Some(register) != written {
                    visit(site, Flow::Variable(site.register(instruction.source, register)), into);
                } else if let Action::Assign { value, .. } = action {
                    visit(site, Flow::Expression(value), into);
                } else if let Some(cell) = site.cell() {
                    visit(site, Flow::Variable(cell), into);
                }
            }
            let (Action::Store { value, .. } | Action::Cas { new: value, .. } | Action::Rmw { new: value, .. }) =
                action
            else {
                continue;
            };
            if let Some(cell) = site.cell() {
                visit(site, Flow::Expression(value), cell);
            }
        }
    }
}

impl Site<'_> {
    fn register(self, label: crate::program::LabelId, register: RegisterId) -> usize {
        let registers = self.numbering.program.thread(self.thread).registers.len();
        self.numbering.first[self.thread.index()] + label.index() * registers + register.index()
    }

    fn cell(self) -> Option<usize> {
        self.numbering.accessed.get(&(self.thread, self.id)).copied()
    }

    /// The form of an expression, if all that it reads are members; nothing of what has nothing of
    /// a counter.
    fn form(self, expression: &Expression, forms: &[Form]) -> Option<Form> {
        let setting = Setting { domain: self.numbering.program.domain, is_address: false };
        if let Some((operand, cut)) = cut_operand(expression, setting.domain) {
            return self.form(operand, forms)?.cut(cut, setting);
        }
        let constant = |number: &Expression| number.is_constant().then(|| number.evaluate(&[], setting.domain).ok())?;
        match expression {
            Expression::Register(register) => Some(forms[self.register(self.instruction.source, *register)]),
            Expression::Old => self.cell().map(|cell| forms[cell]),
            Expression::Binary(Op::Add, left, right) if left.is_constant() => {
                Some(self.form(right, forms)?.plus(constant(left), setting))
            }
            Expression::Binary(Op::Add, left, right) => Some(self.form(left, forms)?.plus(constant(right), setting)),
            Expression::Binary(Op::Subtract, left, right) => {
                let number = constant(right).and_then(Value::checked_neg);
                Some(self.form(left, forms)?.plus(number, setting))
            }
            _ => None,
        }
    }
}

fn contains_cut(expression: &Expression, domain: Option<crate::program::Domain>) -> bool {
    cut_operand(expression, domain).is_some()
        || match expression {
            Expression::Unary(_, operand) => contains_cut(operand, domain),
            Expression::Binary(_, left, right) => contains_cut(left, domain) || contains_cut(right, domain),
            _ => false,
        }
}
