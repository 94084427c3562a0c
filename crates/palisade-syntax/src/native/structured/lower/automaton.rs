//! The automaton of a thread under construction. Its labels get names and an order at the end, when
//! all of them are known.

use palisade_model::program::{
    Action, Instruction, Label, LabelId, NameSpace, Naming, Register, RegisterId, SourceText, Value,
};
use palisade_model::text::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A label before it has a name.
#[derive(Clone, Debug)]
struct Draft {
    /// Where the calls around it stand, and where it stands itself: the order of labels.
    order: Vec<usize>,
    /// The lines of the calls around it, the outermost first.
    calls: Vec<usize>,
    /// The name that the text gives it.
    name: Option<String>,
    /// The text it stands for.
    span: Span,
    /// What a fence there costs.
    cost: Option<f64>,
}

impl Draft {
    /// What the calls around it begin its name with.
    fn prefix(&self) -> String {
        self.calls.iter().map(|line| format!("L{line}_")).collect()
    }
}

/// A thread's automaton.
#[derive(Debug, Default)]
pub(super) struct Automaton {
    drafts: Vec<Draft>,
    /// Its registers.
    pub(super) registers: Vec<Register>,
    /// Its instructions.
    pub(super) instructions: Vec<Instruction>,
    /// The names of registers.
    register_names: NameSpace,
}

/// An automaton with names, in the order of the text.
pub(super) struct Finished {
    /// Its labels.
    pub(super) labels: Vec<Label>,
    /// Its instructions.
    pub(super) instructions: Vec<Instruction>,
    /// For each instruction as it was added, its number.
    pub(super) numbers: Vec<usize>,
    /// For each label as it was made, its number; none if nothing leads to it and nothing stands
    /// there.
    pub(super) ids: Vec<Option<LabelId>>,
}

impl Automaton {
    /// An automaton whose registers may not have some names.
    pub(super) fn new(reserved: Arc<FxHashSet<String>>) -> Self {
        Self { register_names: NameSpace::with_reserved(reserved), ..Self::default() }
    }

    /// A new label.
    pub(super) fn label(&mut self, mut order: Vec<usize>, calls: &[usize], name: Option<&str>, span: Span) -> LabelId {
        order.push(span.start);
        let name = name.map(str::to_owned);
        self.drafts.push(Draft { order, calls: calls.to_vec(), name, span, cost: None });
        LabelId::from_index(self.drafts.len() - 1)
    }

    /// How many labels were made.
    pub(super) fn label_count(&self) -> usize {
        self.drafts.len()
    }

    /// Gives a label the name that the text has for it, in calls on some lines, unless it has one;
    /// whether it had none.
    pub(super) fn name_label(&mut self, label: LabelId, calls: &[usize], name: &str) -> bool {
        let draft = &mut self.drafts[label.index()];
        let is_free = draft.name.is_none();
        if is_free {
            (draft.calls, draft.name) = (calls.to_vec(), Some(name.to_owned()));
        }
        is_free
    }

    /// Sets what a fence at a label costs; whether nothing was set before.
    pub(super) fn set_cost(&mut self, label: LabelId, cost: f64) -> bool {
        self.drafts[label.index()].cost.replace(cost).is_none()
    }

    /// A new register, named like `base`.
    pub(super) fn register(&mut self, base: &str, span: Span) -> RegisterId {
        let name = self.register_names.fresh(base);
        self.registers.push(Register { name, initial: 0, is_initialised: false, span });
        RegisterId::from_index(self.registers.len() - 1)
    }

    /// Gives a register a value at the start.
    pub(super) fn initialise(&mut self, register: RegisterId, value: Value) {
        let register = &mut self.registers[register.index()];
        (register.initial, register.is_initialised) = (value, true);
    }

    /// Adds an instruction; its number as it was added.
    pub(super) fn instruction(&mut self, source: LabelId, target: LabelId, action: Action, span: Span) -> usize {
        self.instructions.push(Instruction::new(source, target, action, span));
        self.instructions.len() - 1
    }

    /// Names and orders everything. `initial` stays even if nothing leads to it.
    pub(super) fn finish(self, initial: LabelId, source: &SourceText) -> Finished {
        let mut used = vec![false; self.drafts.len()];
        used[initial.index()] = true;
        for instruction in &self.instructions {
            used[instruction.source.index()] = true;
            used[instruction.target.index()] = true;
            if let Some(label) = instruction.spurious() {
                used[label.index()] = true;
            }
        }
        let mut order: Vec<usize> = (0..self.drafts.len()).filter(|index| used[*index]).collect();
        order.sort_by(|one, other| self.drafts[*one].order.cmp(&self.drafts[*other].order).then(one.cmp(other)));
        let mut ranks = vec![0; self.drafts.len()];
        for (rank, index) in order.iter().enumerate() {
            ranks[*index] = rank;
        }
        let mut sorted: Vec<(usize, Instruction)> = self.instructions.into_iter().enumerate().collect();
        sorted.sort_by_key(|(number, instruction)| (ranks[instruction.source.index()], *number));
        // Labels count by first mention, as where a text has the automaton itself.
        let labels = |instruction: &Instruction| [instruction.source, instruction.target];
        let mentioned = sorted.iter().flat_map(|(_, own)| labels(own).into_iter().chain(own.spurious()));
        let mut ids = vec![None; self.drafts.len()];
        let mut by_number = Vec::with_capacity(order.len());
        for label in mentioned.chain([initial]) {
            ids[label.index()].get_or_insert_with(|| {
                by_number.push(label.index());
                LabelId::from_index(by_number.len() - 1)
            });
        }
        let mut names = NameSpace::default();
        let mut named: Vec<Option<String>> = vec![None; self.drafts.len()];
        for index in &order {
            let draft = &self.drafts[*index];
            named[*index] = draft.name.as_ref().map(|name| names.fresh(&(draft.prefix() + name)));
        }
        let mut label = |index: &usize| {
            let draft = &self.drafts[*index];
            let line = source.position(draft.span.start).line;
            let name = named[*index].take().unwrap_or_else(|| names.fresh(&format!("{}L{line}", draft.prefix())));
            let naming = Naming::InBraces { text: draft.name.as_deref().map(Into::into), calls: draft.calls.clone() };
            Label { naming, fence_cost: draft.cost, ..Label::new(name, draft.span) }
        };
        let mut in_text_order: Vec<Option<Label>> = vec![None; ranks.len()];
        for index in &order {
            in_text_order[*index] = Some(label(index));
        }
        let labels = by_number.iter().map(|index| in_text_order[*index].take().expect("it is used")).collect();
        let place = |label: LabelId| ids[label.index()].expect("labels of instructions are used");
        for (_, instruction) in &mut sorted {
            instruction.relabel(place);
        }
        let mut numbers = vec![0; sorted.len()];
        for (place, (number, _)) in sorted.iter().enumerate() {
            numbers[*number] = place;
        }
        let instructions = sorted.into_iter().map(|(_, instruction)| instruction).collect();
        Finished { labels, instructions, numbers, ids }
    }
}
