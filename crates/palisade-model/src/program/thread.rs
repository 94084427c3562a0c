//! Threads: templates of control flow with a number of copies.

use super::by_label::ByLabel;
use super::domain::Value;
use super::ids::{InstructionId, LabelId, RegisterId};
use super::instruction::{Action, Instruction};
use super::role::Role;
use crate::text::Span;
use smol_str::SmolStr;

/// How many copies of a thread there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Exactly so many; 1 unless the text says otherwise, 0 leaves the thread out.
    Exactly(u64),
    /// Any number, `[*]`.
    Any,
}

impl Copies {
    /// The most copies that a number may give: every reader of JSON takes this as an integer, and
    /// so many copies of each of 18 000 threads can be counted in 64 bits.
    pub const MOST: u64 = 1_000_000_000_000_000;
}

impl std::fmt::Display for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(count) => write!(f, "{count}"),
            Self::Any => write!(f, "*"),
        }
    }
}

/// A label of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The name, different from those of the thread's other labels.
    pub name: SmolStr,
    /// How it got its name.
    pub naming: Naming,
    /// Where it first stands.
    pub span: Span,
    /// The cost of a fence here, from an `@cost(x)` annotation.
    pub fence_cost: Option<f64>,
}

/// How a label got its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The text gives it.
    Given,
    /// The reader of bodies in braces made it: `L30`, `L35_L30` in a call on line 35.
    InBraces {
        /// The name that the text has here, if it has one.
        text: Option<SmolStr>,
        /// The lines of the calls around it, the outermost first.
        calls: Vec<usize>,
    },
    /// It belongs to what watches joint control states
    /// ([`Program::monitored`](super::Program::monitored)).
    Watch,
}

impl Label {
    /// A label without a cost whose name the text gives.
    pub fn new(name: impl Into<SmolStr>, span: Span) -> Self {
        Self { name: name.into(), naming: Naming::Given, span, fence_cost: None }
    }

    /// The name that the text has for it, if it has one.
    pub fn written(&self) -> Option<&str> {
        match &self.naming {
            Naming::Given => Some(&self.name),
            Naming::InBraces { text, .. } => text.as_deref(),
            Naming::Watch => None,
        }
    }

    /// The lines of the calls around it, the outermost first.
    pub fn calls(&self) -> &[usize] {
        if let Naming::InBraces { calls, .. } = &self.naming { calls } else { &[] }
    }
}

/// A register of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name as written.
    pub name: String,
    /// Its value at the start, 0 unless the text says otherwise.
    pub initial: Value,
    /// Whether the text gives that value.
    pub is_initialised: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A thread, the handler of an event, or a task: a control-flow automaton over labels.
#[derive(Clone, Debug)]
pub struct Thread {
    /// What starts it.
    pub role: Role,
    /// The thread's name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// How many copies run; how often an event may occur. A task has none.
    pub copies: Copies,
    /// Whether its copies may wait for ever, wherever they wait.
    pub is_daemon: bool,
    /// Its registers.
    pub registers: Vec<Register>,
    /// Its labels, in order of appearance.
    pub labels: Vec<Label>,
    /// Where it starts.
    pub initial: LabelId,
    /// Its instructions, in program order of the text.
    pub instructions: Vec<Instruction>,
}

impl Thread {
    /// The label with the given id.
    #[inline]
    pub fn label(&self, id: LabelId) -> &Label {
        &self.labels[id.index()]
    }

    /// The instruction with the given id.
    #[inline]
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// Which way of a condition of the text an instruction takes: whether it holds. Nothing where
    /// the instruction is no such way.
    ///
    /// Readers put the two ways at one label, with the text of the condition, that where it holds
    /// first.
    pub fn branch(&self, id: InstructionId) -> Option<bool> {
        let own = self.instruction(id);
        let is_way = |other: &&Instruction| {
            matches!(other.action, Action::Assume(_)) && (other.source, other.span) == (own.source, own.span)
        };
        if !matches!(own.action, Action::Assume(_)) || self.instructions.iter().filter(is_way).count() != 2 {
            return None;
        }
        Some(self.instructions.iter().find(is_way).is_some_and(|first| std::ptr::eq(first, own)))
    }

    /// Whether it is not of the text, and watches a joint control state
    /// ([`Program::monitored`](super::Program::monitored)).
    pub fn is_watch(&self) -> bool {
        self.label(self.initial).naming == Naming::Watch
    }

    /// Whether a copy that executes an instruction stays at its label for what watches joint
    /// control states.
    pub fn is_freeze(&self, id: InstructionId) -> bool {
        let own = self.instruction(id);
        !self.is_watch() && self.label(own.target).naming == Naming::Watch
    }

    /// All instructions with their ids, in text order.
    #[inline]
    pub fn instruction_ids(&self) -> impl Iterator<Item = (InstructionId, &Instruction)> {
        self.instructions.iter().enumerate().map(|(index, instruction)| (InstructionId::from_index(index), instruction))
    }

    /// For each label, the instructions that stand at it, in text order.
    #[inline]
    pub fn instructions_by_label(&self) -> ByLabel {
        ByLabel::of(self.labels.len(), &self.instructions, |instruction| instruction.source)
    }

    /// For each label, the instructions that lead to it, in text order.
    #[inline]
    pub fn instructions_by_target(&self) -> ByLabel {
        ByLabel::of(self.labels.len(), &self.instructions, |instruction| instruction.target)
    }

    /// The instructions that a path from the initial label leads to, whatever the values, in text
    /// order.
    pub fn reachable_instructions(&self) -> impl Iterator<Item = &Instruction> {
        let by_label = self.instructions_by_label();
        let mut reached = vec![false; self.labels.len()];
        let mut open = vec![self.initial];
        reached[self.initial.index()] = true;
        while let Some(label) = open.pop() {
            for id in &by_label[label.index()] {
                let own = self.instruction(*id);
                for target in [Some(own.target), own.spurious()].into_iter().flatten() {
                    if !std::mem::replace(&mut reached[target.index()], true) {
                        open.push(target);
                    }
                }
            }
        }
        self.instructions.iter().filter(move |instruction| reached[instruction.source.index()])
    }

    /// The label with the given name.
    pub fn label_named(&self, name: &str) -> Option<LabelId> {
        self.labels.iter().position(|label| label.name == name).map(LabelId::from_index)
    }

    /// The register with the given name.
    pub fn register_named(&self, name: &str) -> Option<RegisterId> {
        self.registers.iter().position(|register| register.name == name).map(RegisterId::from_index)
    }

    /// The registers' initial values.
    #[inline]
    pub fn initial_registers(&self) -> Vec<Value> {
        self.registers.iter().map(|register| register.initial).collect()
    }
}
