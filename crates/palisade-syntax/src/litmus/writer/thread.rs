//! The rows of a thread copy.

use super::Writer;
use super::column::{ACCUMULATOR, Column, SCRATCH};
use super::expressions::{self, Emitter};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Instruction, LabelId, Span, Thread};

/// The rows of a column. Warnings are given for the first copy of a thread only.
pub(super) fn rows(thread: &Thread, column: &Column, index: usize, writer: &mut Writer<'_>, warn: bool) -> Vec<String> {
    let order = order_of_labels(thread);
    let mut blocks =
        Blocks { thread, column, index, writer, warn, lines: Vec::new(), wanted: vec![false; thread.labels.len()] };
    for (position, label) in order.iter().enumerate() {
        blocks.lines.push(Line::Label(*label));
        blocks.block(*label, order.get(position + 1).copied());
    }
    blocks.finish()
}

/// Labels that control can reach, each followed by the target of its last instruction where that is
/// still free.
fn order_of_labels(thread: &Thread) -> Vec<LabelId> {
    let by_label = thread.instructions_by_label();
    let mut seen = vec![false; thread.labels.len()];
    let mut open = vec![thread.initial];
    let mut order = Vec::new();
    while let Some(label) = open.pop() {
        if std::mem::replace(&mut seen[label.index()], true) || by_label[label.index()].is_empty() {
            continue;
        }
        order.push(label);
        open.extend(by_label[label.index()].iter().map(|id| thread.instruction(*id).target));
    }
    order
}

enum Line {
    Label(LabelId),
    Text(String),
}

struct Blocks<'w, 't, 'p> {
    thread: &'t Thread,
    column: &'t Column,
    index: usize,
    writer: &'w mut Writer<'p>,
    warn: bool,
    lines: Vec<Line>,
    /// The labels that something jumps to.
    wanted: Vec<bool>,
}

impl Blocks<'_, '_, '_> {
    fn block(&mut self, label: LabelId, next: Option<LabelId>) {
        let thread = self.thread;
        let here: Vec<&Instruction> =
            thread.instructions.iter().filter(|instruction| instruction.source == label).collect();
        match here.as_slice() {
            [Instruction { action: Action::Assume(condition), target, span, .. }] => {
                // Blocked for ever: a jump to itself.
                self.branch(condition, *target, label, *span, next);
            }
            [only] => {
                self.instruction(only);
                self.go(only.target, next);
            }
            [first, second] => match (&first.action, &second.action) {
                (Action::Assume(one), Action::Assume(other)) if are_opposite(one, other) => {
                    self.branch(one, first.target, second.target, first.span, next);
                }
                _ => self.refuse_choice(label),
            },
            _ => self.refuse_choice(label),
        }
    }

    fn refuse_choice(&mut self, label: LabelId) {
        let label = self.thread.label(label);
        let message = format!("the free choice between the instructions at `{}` cannot be expressed", label.name);
        self.writer.refuse(message, label.span);
    }

    fn label_name(&self, label: LabelId) -> String {
        format!("L{}_{}", self.index, label.index())
    }

    fn go(&mut self, target: LabelId, next: Option<LabelId>) {
        let is_end = !self.thread.instructions.iter().any(|instruction| instruction.source == target);
        if next == Some(target) || (is_end && next.is_none()) {
            return;
        }
        let name = self.label_name(target);
        self.wanted[target.index()] = true;
        self.push(format!("jmp {name}"));
    }

    fn branch(&mut self, condition: &Expression, yes: LabelId, no: LabelId, span: Span, next: Option<LabelId>) {
        let mut emitter = self.emitter(span);
        let Some(jump) = expressions::compare(&mut emitter, condition) else { return };
        let lines = emitter.lines;
        self.lines.extend(lines.into_iter().map(Line::Text));
        match jump {
            expressions::Comparison::Always(true) => self.go(yes, next),
            expressions::Comparison::Always(false) => self.go(no, next),
            expressions::Comparison::Jump { mnemonic, holds } => {
                let (jumped, fallen) = if holds { (yes, no) } else { (no, yes) };
                let name = self.label_name(jumped);
                self.wanted[jumped.index()] = true;
                self.push(format!("{mnemonic} {name}"));
                self.go(fallen, next);
            }
        }
    }

    fn emitter(&mut self, span: Span) -> Emitter<'_> {
        Emitter { column: self.column, lines: Vec::new(), span, errors: &mut self.writer.errors }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let address = instruction.action.address().map(|address| self.address(address, span));
        if address == Some(None) {
            return;
        }
        let place = address.flatten().map(|name| format!("({name})")).unwrap_or_default();
        let mut emitter = self.emitter(span);
        let mut extension = None;
        match &instruction.action {
            Action::Load { register, .. } => {
                emitter.push(format!("movq {place},%{}", emitter.column.register(*register)));
            }
            Action::Store { value, .. } => {
                let value = emitter.operand(value, SCRATCH[0], &SCRATCH[1..]);
                emitter.push(format!("movq {value},{place}"));
            }
            Action::Fence => emitter.push("mfence".into()),
            Action::StoreFence => emitter.push("sfence".into()),
            Action::Nop => emitter.push("nop".into()),
            Action::Assign { register, value } => {
                let target = emitter.column.register(*register);
                emitter.assign(target, value, &SCRATCH);
            }
            Action::Rmw { register, new, .. } => extension = emitter.read_modify_write(*register, new, &place),
            Action::Cas { register, expected, new, .. } => {
                emitter.assign(SCRATCH[0], new, &SCRATCH[1..]);
                emitter.assign(ACCUMULATOR, expected, &SCRATCH[1..]);
                emitter.push(format!("lock cmpxchgq {place},%{}", SCRATCH[0]));
                if let Some(register) = register {
                    let target = emitter.column.register(*register);
                    emitter.push(format!("movq %{ACCUMULATOR},%{target}"));
                }
            }
            Action::Ensure(_) | Action::Fail => {
                extension = Some("the property is left out".to_owned());
            }
            Action::Lock | Action::Unlock => emitter.refuse("a locked section cannot be expressed"),
            Action::Havoc { .. } => emitter.refuse("an arbitrary value cannot be expressed"),
            Action::Post { .. } => emitter.refuse("a post cannot be expressed"),
            Action::Assume(_) => unreachable!("assumptions are branches"),
        }
        let lines = emitter.lines;
        self.lines.extend(lines.into_iter().map(Line::Text));
        if let (Some(message), true) = (extension, self.warn) {
            self.writer.warnings.push(Diagnostic::warning(message, span));
        }
    }

    /// The name of the location at a constant address.
    fn address(&mut self, address: &Expression, span: Span) -> Option<String> {
        let constant = address.is_constant().then(|| address.evaluate_address(&[]).ok()).flatten();
        match constant {
            Some(address) => Some(self.writer.location(address)),
            None => {
                self.writer.refuse("an address that is computed cannot be expressed", span);
                None
            }
        }
    }

    fn push(&mut self, line: String) {
        self.lines.push(Line::Text(line));
    }

    /// The rows, with the labels that something jumps to.
    fn finish(mut self) -> Vec<String> {
        let mut rows = Vec::new();
        let lines = std::mem::take(&mut self.lines);
        for line in lines {
            match line {
                Line::Text(text) => rows.push(text),
                Line::Label(label) if self.wanted[label.index()] => {
                    self.wanted[label.index()] = false;
                    rows.push(format!("{}:", self.label_name(label)));
                }
                Line::Label(_) => {}
            }
        }
        // Labels without instructions: the end.
        for index in 0..self.wanted.len() {
            if self.wanted[index] {
                rows.push(format!("{}:", self.label_name(LabelId::from_index(index))));
            }
        }
        rows
    }
}

/// Whether one of two conditions holds exactly when the other does not.
fn are_opposite(one: &Expression, other: &Expression) -> bool {
    use palisade_model::program::UnaryOperator::Not;
    match (one, other) {
        (Expression::Unary(Not, inner), other) | (other, Expression::Unary(Not, inner)) if **inner == *other => true,
        // `r` and `r = 0`
        (Expression::Binary(Op::Equal, left, zero), other) | (other, Expression::Binary(Op::Equal, left, zero))
            if **zero == Expression::Constant(0) && **left == *other =>
        {
            true
        }
        (Expression::Binary(first, a, b), Expression::Binary(second, c, d)) => {
            let opposite = matches!(
                (first, second),
                (Op::Equal, Op::NotEqual)
                    | (Op::NotEqual, Op::Equal)
                    | (Op::Less, Op::GreaterOrEqual)
                    | (Op::GreaterOrEqual, Op::Less)
                    | (Op::Greater, Op::LessOrEqual)
                    | (Op::LessOrEqual, Op::Greater)
            );
            opposite && a == c && b == d
        }
        // What a comparison of a register with itself is read as.
        (Expression::Constant(one), Expression::Constant(other)) => (*one == 0) != (*other == 0),
        _ => false,
    }
}
