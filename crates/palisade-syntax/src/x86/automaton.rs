//! From the code of a thread to its control-flow automaton.

use super::Architecture;
use super::code::Code;
use super::lowerer::{LoweredThread, Slot};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Register, RegisterId, Role, Span, Thread,
    Value,
};
use std::collections::BTreeMap;

/// A thread with the registers of the machine it has.
#[derive(Debug)]
pub struct BuiltThread {
    /// The thread.
    pub thread: Thread,
    /// For each family of machine registers, the register of the thread.
    pub families: BTreeMap<u8, RegisterId>,
}

/// Builds the automaton. Registers of `observed` families exist even where no instruction names
/// them.
pub fn build(
    name: String,
    span: Span,
    lowered: &LoweredThread,
    architecture: Architecture,
    initial: &BTreeMap<u8, Value>,
    observed: &[u8],
) -> BuiltThread {
    let positions = Positions::new(lowered);
    let mut labels = Labels::new(lowered, &positions);
    let registers = RegisterMap::new(lowered, initial, observed);
    let mut instructions = Vec::new();
    let initial_label = labels.at(positions.resolve(0));
    for (index, element) in lowered.code.code.iter().enumerate() {
        let next = || positions.resolve(index + 1);
        match element {
            Code::Action(action, span) => {
                let source = labels.at(index);
                let target = labels.at(next());
                instructions.push(Instruction::new(source, target, registers.action(action), *span));
            }
            Code::Branch(condition, label, span) => {
                let source = labels.at(index);
                let (taken, skipped) = (positions.of_label(*label), next());
                let condition = registers.expression(condition);
                let mut go = |action, position| {
                    let target = labels.at(position);
                    instructions.push(Instruction::new(source, target, action, *span));
                };
                if taken == skipped {
                    go(Action::Nop, taken);
                } else {
                    go(Action::Assume(condition.clone()), taken);
                    go(Action::Assume(super::fold::not(condition)), skipped);
                }
            }
            Code::Choice(label, span) => {
                let source = labels.at(index);
                for position in [positions.of_label(*label), next()] {
                    let target = labels.at(position);
                    instructions.push(Instruction::new(source, target, Action::Nop, *span));
                }
            }
            // A jump to itself: the thread goes on for ever.
            Code::Jump(_, span) if positions.resolve(index) == index => {
                let source = labels.at(index);
                instructions.push(Instruction::new(source, source, Action::Nop, *span));
            }
            Code::Jump(..) | Code::Mark(_) | Code::Stop => {}
        }
    }
    let thread = Thread {
        name,
        span,
        role: Role::Thread,
        copies: Copies::Exactly(1),
        is_daemon: false,
        registers: registers.declared(architecture, initial, span),
        labels: labels.finish(),
        initial: initial_label,
        instructions,
    };
    BuiltThread { thread, families: registers.families }
}

/// Where control goes from each element of the code.
struct Positions {
    resolved: Vec<usize>,
    labels: Vec<usize>,
}

impl Positions {
    fn new(lowered: &LoweredThread) -> Self {
        let code = &lowered.code.code;
        let labels = lowered.code.label_positions();
        let resolved = (0..=code.len()).map(|start| Self::follow(code, &labels, start)).collect();
        Self { resolved, labels }
    }

    /// The element that is executed when control comes to `start`; a jump when it never leaves a
    /// circle of jumps.
    fn follow(code: &[Code], labels: &[usize], start: usize) -> usize {
        let mut at = start;
        for _ in 0..=code.len() {
            at = match code.get(at) {
                Some(Code::Mark(_)) => at + 1,
                Some(Code::Jump(label, _)) => labels[*label],
                Some(Code::Stop) => code.len(),
                Some(Code::Action(..) | Code::Branch(..) | Code::Choice(..)) | None => return at,
            };
        }
        // A circle: stay at its first jump in the text.
        let mut circle = at;
        let mut first = usize::MAX;
        for _ in 0..=code.len() {
            circle = match &code[circle] {
                Code::Jump(label, _) => {
                    first = first.min(circle);
                    labels[*label]
                }
                _ => circle + 1,
            };
        }
        first
    }

    fn resolve(&self, index: usize) -> usize {
        self.resolved[index]
    }

    fn of_label(&self, label: usize) -> usize {
        self.resolve(self.labels[label])
    }
}

/// The labels of the automaton, made as they are met.
struct Labels {
    made: Vec<Label>,
    by_position: Vec<Option<LabelId>>,
    /// The name of the text for a position, where it has one.
    names: BTreeMap<usize, (String, Span)>,
    spans: Vec<Span>,
}

impl Labels {
    fn new(lowered: &LoweredThread, positions: &Positions) -> Self {
        let mut names = BTreeMap::new();
        for (label, text) in lowered.labels.iter().enumerate() {
            names.entry(positions.of_label(label)).or_insert_with(|| (text.name.clone(), text.span));
        }
        let code = &lowered.code.code;
        let mut spans: Vec<Span> = code
            .iter()
            .map(|element| match element {
                Code::Action(_, span) | Code::Branch(_, _, span) | Code::Choice(_, span) | Code::Jump(_, span) => *span,
                Code::Mark(_) | Code::Stop => Span::default(),
            })
            .collect();
        spans.push(spans.last().map_or(Span::default(), |last| Span { start: last.end, end: last.end }));
        Self { made: Vec::new(), by_position: vec![None; code.len() + 1], names, spans }
    }

    fn at(&mut self, position: usize) -> LabelId {
        if let Some(label) = self.by_position[position] {
            return label;
        }
        let id = LabelId::from_index(self.made.len());
        // The end is no label of the text, even where the text has one there: nothing can be
        // misspelt in it.
        let is_end = position + 1 == self.by_position.len();
        let named = self.names.get(&position).filter(|_| !is_end).cloned();
        let (name, span) = named.unwrap_or_else(|| {
            let name = if is_end { "end".to_owned() } else { format!("l{}", id.index()) };
            (self.fresh_name(name), self.spans[position])
        });
        self.made.push(Label::new(name, span));
        self.by_position[position] = Some(id);
        id
    }

    fn fresh_name(&self, wanted: String) -> String {
        let mut name = wanted;
        while self.names.values().any(|(taken, _)| *taken == name) {
            name.push('_');
        }
        name
    }

    fn finish(self) -> Vec<Label> {
        self.made
    }
}

/// From the registers of the code to those of the thread: the machine's first, then the reader's
/// own that are left.
struct RegisterMap {
    new: Vec<Option<RegisterId>>,
    slots: Vec<Slot>,
    families: BTreeMap<u8, RegisterId>,
}

impl RegisterMap {
    fn new(lowered: &LoweredThread, initial: &BTreeMap<u8, Value>, observed: &[u8]) -> Self {
        let mut used = vec![false; lowered.slots.len()];
        for element in &lowered.code.code {
            let mut mark = |expression: &Expression| {
                expression.for_each_register(&mut |register| used[register.index()] = true);
            };
            match element {
                Code::Action(action, _) => {
                    action.expressions().for_each(&mut mark);
                    if let Some(register) = action.written_register() {
                        used[register.index()] = true;
                    }
                }
                Code::Branch(condition, ..) => mark(condition),
                Code::Choice(..) | Code::Jump(..) | Code::Mark(_) | Code::Stop => {}
            }
        }
        let is_family = |slot: Slot| matches!(slot, Slot::Family(_));
        let mut slots: Vec<Slot> =
            (0..used.len()).filter(|index| used[*index]).map(|index| lowered.slots[index]).collect();
        let more = initial.keys().chain(observed).map(|family| Slot::Family(*family));
        for slot in more {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        slots.sort_by_key(|slot| !is_family(*slot));
        let position = |slot: Slot| slots.iter().position(|other| *other == slot).map(RegisterId::from_index);
        let new = lowered.slots.iter().map(|slot| position(*slot)).collect();
        let mut families = BTreeMap::new();
        for (index, slot) in slots.iter().enumerate() {
            if let Slot::Family(family) = slot {
                families.insert(*family, RegisterId::from_index(index));
            }
        }
        Self { new, slots, families }
    }

    fn declared(&self, architecture: Architecture, initial: &BTreeMap<u8, Value>, span: Span) -> Vec<Register> {
        let value = |slot: Slot| match slot {
            Slot::Family(family) => initial.get(&family).copied(),
            _ => None,
        };
        let register = |slot: &Slot| {
            let (name, given) = (slot.name(architecture), value(*slot));
            Register { name, initial: given.unwrap_or(0), is_initialised: given.is_some(), span }
        };
        self.slots.iter().map(register).collect()
    }

    fn register(&self, register: RegisterId) -> RegisterId {
        self.new[register.index()].expect("every register that is used is kept")
    }

    fn expression(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Register(register) => Expression::Register(self.register(*register)),
            Expression::Constant(_) | Expression::Address { .. } | Expression::Old => expression.clone(),
            Expression::Unary(operator, operand) => Expression::unary(*operator, self.expression(operand)),
            Expression::Binary(operator, left, right) => {
                let operator: BinaryOperator = *operator;
                Expression::binary(operator, self.expression(left), self.expression(right))
            }
        }
    }

    fn action(&self, action: &Action) -> Action {
        let expression = |expression: &Expression| self.expression(expression);
        let optional = |register: &Option<RegisterId>| register.map(|register| self.register(register));
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
            Action::Cas { register, address, expected, new } => Action::Cas {
                register: optional(register),
                address: expression(address),
                expected: expression(expected),
                new: expression(new),
            },
            Action::Rmw { register, address, new } => {
                Action::Rmw { register: optional(register), address: expression(address), new: expression(new) }
            }
            Action::Assume(condition) => Action::Assume(expression(condition)),
            Action::Ensure(condition) => Action::Ensure(expression(condition)),
            Action::Havoc { register } => Action::Havoc { register: self.register(*register) },
            Action::Fence | Action::StoreFence | Action::Nop | Action::Lock | Action::Unlock | Action::Fail => {
                action.clone()
            }
            Action::Post { .. } => unreachable!("machine code posts no tasks"),
        }
    }
}
