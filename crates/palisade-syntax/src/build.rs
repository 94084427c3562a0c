//! Building a thread while it is read: labels and registers by name, in order of appearance.

use palisade_model::program::{
    Action, Copies, Instruction, InstructionId, Label, LabelId, Register, RegisterId, Role, Span, Thread,
};
use rustc_hash::FxHashMap;

/// A thread under construction.
#[derive(Debug)]
pub(crate) struct ThreadBuilder<'s> {
    role: Role,
    name: &'s str,
    span: Span,
    copies: Copies,
    registers: Vec<Register>,
    register_ids: FxHashMap<&'s str, RegisterId>,
    labels: Vec<Label>,
    label_ids: FxHashMap<&'s str, LabelId>,
    instructions: Vec<Instruction>,
}

impl<'s> ThreadBuilder<'s> {
    /// A thread without registers, labels and instructions; its role can be changed.
    pub(crate) fn new(name: &'s str, span: Span, copies: Copies) -> Self {
        Self {
            role: Role::Thread,
            name,
            span,
            copies,
            registers: Vec::new(),
            register_ids: FxHashMap::default(),
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            instructions: Vec::new(),
        }
    }

    /// What starts it.
    pub(crate) fn role(&self) -> &Role {
        &self.role
    }

    /// Says what starts it.
    pub(crate) fn set_role(&mut self, role: Role) {
        self.role = role;
    }

    /// The label of a name, new at its first mention.
    pub(crate) fn label(&mut self, name: &'s str, span: Span) -> LabelId {
        *self.label_ids.entry(name).or_insert_with(|| {
            self.labels.push(Label::new(name, span));
            LabelId::from_index(self.labels.len() - 1)
        })
    }

    /// The label of a name mentioned before.
    pub(crate) fn label_named(&self, name: &str) -> Option<LabelId> {
        self.label_ids.get(name).copied()
    }

    /// A label mentioned before, to change.
    pub(crate) fn label_mut(&mut self, id: LabelId) -> &mut Label {
        &mut self.labels[id.index()]
    }

    /// The names of all labels mentioned so far.
    pub(crate) fn label_names(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|label| label.name.as_str())
    }

    /// The register of a name, new at its first mention.
    pub(crate) fn register(&mut self, name: &'s str, span: Span) -> RegisterId {
        *self.register_ids.entry(name).or_insert_with(|| {
            self.registers.push(Register { name: name.to_owned(), initial: 0, is_initialised: false, span });
            RegisterId::from_index(self.registers.len() - 1)
        })
    }

    /// The register of a name mentioned before.
    pub(crate) fn register_named(&self, name: &str) -> Option<RegisterId> {
        self.register_ids.get(name).copied()
    }

    /// A register mentioned before, to change.
    pub(crate) fn register_mut(&mut self, id: RegisterId) -> &mut Register {
        &mut self.registers[id.index()]
    }

    /// The names of all registers mentioned so far.
    pub(crate) fn register_names(&self) -> impl Iterator<Item = &str> {
        self.registers.iter().map(|register| register.name.as_str())
    }

    /// Adds an instruction.
    pub(crate) fn instruction(
        &mut self,
        source: LabelId,
        target: LabelId,
        action: Action,
        span: Span,
    ) -> InstructionId {
        self.instructions.push(Instruction::new(source, target, action, span));
        InstructionId::from_index(self.instructions.len() - 1)
    }

    /// An instruction added before, to change.
    pub(crate) fn instruction_mut(&mut self, id: InstructionId) -> &mut Instruction {
        &mut self.instructions[id.index()]
    }

    /// A label of its own for what an instruction at another one waits for.
    pub(crate) fn waiting_label(&mut self, at: LabelId, span: Span) -> LabelId {
        let name = format!("{}?", self.labels[at.index()].name);
        self.labels.push(Label::new(name, span));
        LabelId::from_index(self.labels.len() - 1)
    }

    /// Whether there is no instruction yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The thread, starting at a label.
    pub(crate) fn finish(self, initial: LabelId) -> Thread {
        Thread {
            role: self.role,
            name: self.name.to_owned(),
            span: self.span,
            copies: self.copies,
            is_daemon: false,
            registers: self.registers,
            labels: self.labels,
            initial,
            instructions: self.instructions,
        }
    }
}
