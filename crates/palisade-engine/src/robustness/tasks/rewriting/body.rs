//! Templates under construction: code of several templates put together in one.

use palisade_model::program::{
    Action, Copies, Expression, Instruction, Label, LabelId, Register, RegisterId, Role, Thread, Value,
};
use palisade_model::text::Span;
use rustc_hash::FxHashSet;

/// A template under construction.
pub(super) struct Body {
    thread: Thread,
    /// The names of its labels and registers.
    names: FxHashSet<String>,
}

/// Code of a template inside another one.
pub(super) struct Graft {
    /// Where its registers begin.
    registers: usize,
    /// Its labels there.
    pub(super) labels: Vec<LabelId>,
}

impl Body {
    pub(super) fn new(name: String, role: Role, copies: Copies) -> Self {
        let initial = LabelId::from_index(0);
        let (registers, labels, instructions) = (Vec::new(), Vec::new(), Vec::new());
        let thread = Thread {
            role,
            name,
            span: Span::default(),
            copies,
            is_daemon: false,
            registers,
            labels,
            initial,
            instructions,
        };
        Self { thread, names: FxHashSet::default() }
    }

    /// A name that is not taken yet, like the one given.
    fn fresh(&mut self, like: &str) -> String {
        let mut name = like.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Another label.
    pub(super) fn label(&mut self, like: &str) -> LabelId {
        let name = self.fresh(like);
        self.thread.labels.push(Label::new(name, Span::default()));
        LabelId::from_index(self.thread.labels.len() - 1)
    }

    /// Another register.
    pub(super) fn register(&mut self, like: &str, initial: Value) -> RegisterId {
        let name = self.fresh(like);
        self.thread.registers.push(Register { name, initial, is_initialised: true, span: Span::default() });
        RegisterId::from_index(self.thread.registers.len() - 1)
    }

    /// Another instruction.
    pub(super) fn add(&mut self, source: LabelId, action: Action, target: LabelId) {
        self.thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }

    /// The end of an invocation's code leads on, unless it holds the lock there, which control flow
    /// may reach without and with it: then it stays for ever. Where both are possible, an empty
    /// section tells them apart, as one that is open cannot be opened again.
    pub(super) fn add_return(&mut self, source: LabelId, [without, with]: [bool; 2], target: LabelId) {
        if !with {
            self.add(source, Action::Nop, target);
        } else if without {
            let free = self.label("free");
            self.add(source, Action::Lock, free);
            self.add(free, Action::Unlock, target);
        }
    }

    /// Room for the code of a template: its registers and labels, whose names begin with a word.
    pub(super) fn graft(&mut self, thread: &Thread, word: &str) -> Graft {
        let registers = self.thread.registers.len();
        for register in &thread.registers {
            self.register(&format!("{word}{}", register.name), register.initial);
        }
        let labels = thread.labels.iter().map(|label| self.label(&format!("{word}{}", label.name))).collect();
        Graft { registers, labels }
    }

    /// How many labels there are.
    pub(super) fn len(&self) -> usize {
        self.thread.labels.len()
    }

    /// The template, which begins at a label.
    pub(super) fn finish(mut self, initial: LabelId) -> Thread {
        self.thread.initial = initial;
        self.thread
    }
}

impl Graft {
    /// A register of the code.
    pub(super) fn register(&self, register: RegisterId) -> RegisterId {
        RegisterId::from_index(self.registers + register.index())
    }

    /// An expression of the code.
    pub(super) fn expression(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Register(register) => Expression::Register(self.register(*register)),
            Expression::Constant(_) | Expression::Address { .. } | Expression::Old => expression.clone(),
            Expression::Unary(operator, operand) => Expression::unary(*operator, self.expression(operand)),
            Expression::Binary(operator, left, right) => {
                Expression::binary(*operator, self.expression(left), self.expression(right))
            }
        }
    }

    /// An action of the code.
    pub(super) fn action(&self, action: &Action) -> Action {
        let expression = |expression: &Expression| self.expression(expression);
        match action {
            Action::Load { register, address } => {
                Action::Load { register: self.register(*register), address: expression(address) }
            }
            Action::Store { address, value } => {
                Action::Store { address: expression(address), value: expression(value) }
            }
            Action::Assign { register, value } => {
                Action::Assign { register: self.register(*register), value: expression(value) }
            }
            Action::Havoc { register } => Action::Havoc { register: self.register(*register) },
            Action::Assume(condition) => Action::Assume(expression(condition)),
            Action::Ensure(condition) => Action::Ensure(expression(condition)),
            Action::Cas { register, address, expected, new } => Action::Cas {
                register: register.map(|register| self.register(register)),
                address: expression(address),
                expected: expression(expected),
                new: expression(new),
            },
            Action::Rmw { register, address, new } => Action::Rmw {
                register: register.map(|register| self.register(register)),
                address: expression(address),
                new: expression(new),
            },
            Action::Post { executor, task, arguments } => {
                let arguments = arguments.iter().map(expression).collect();
                Action::Post { executor: *executor, task: *task, arguments }
            }
            Action::Fence | Action::StoreFence | Action::Nop | Action::Lock | Action::Unlock | Action::Fail => {
                action.clone()
            }
        }
    }
}
