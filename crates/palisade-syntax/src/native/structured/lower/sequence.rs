//! Sequences of statements: each starts at a label and goes on to that of the next.
//!
//! Statements that only go elsewhere – `break`, `continue`, a `goto` – have no label of their own
//! unless the text gives them one: what leads to them leads to where they go.

use super::Lowering;
use super::scope::BlockLabels;
use crate::native::again::again;
use crate::native::ast::{Name, Target};
use crate::native::braced::{Statement, StatementKind};
use palisade_model::program::{Action, LabelId};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// The statements of a block with the labels between them.
pub(super) struct Sequence<'a, 's> {
    /// The statements, each with its label, if it has one, and with that of the next.
    steps: Vec<(&'a Statement<'s>, Option<LabelId>, LabelId)>,
    /// Where the sequence begins; what follows it if it is empty.
    pub(super) entry: LabelId,
    /// The labels that the text gives.
    labels: BlockLabels<'s>,
}

impl<'a, 's> Lowering<'a, 's, '_> {
    /// Gives the statements of a block their labels. The first one stands at `first`, if that is
    /// given.
    pub(super) fn plan(
        &mut self,
        statements: &'a [Statement<'s>],
        to: LabelId,
        first: Option<LabelId>,
    ) -> Sequence<'a, 's> {
        let mut own: Vec<Option<LabelId>> = vec![None; statements.len()];
        let mut labels: BlockLabels<'s> = FxHashMap::default();
        for (index, statement) in statements.iter().enumerate() {
            if let (0, Some(label)) = (index, first) {
                let calls = self.frames.last().map_or(&[][..], |frame| &frame.calls);
                let automaton = &mut self.automaton;
                let is_free = statement.label.is_none_or(|name| automaton.name_label(label, calls, name.text));
                own[index] = is_free.then_some(label);
            }
            let Some(name) = statement.label else { continue };
            let label = match own[index] {
                Some(label) => label,
                None => self.label(Some(name.text), statement.span),
            };
            own[index] = Some(label);
            self.declare_label(name);
            labels.insert(name.text, (label, self.sections));
        }
        self.frame().labels.push(labels);
        let mut next = to;
        let mut steps = Vec::with_capacity(statements.len());
        for (statement, own) in statements.iter().zip(own).rev() {
            let own = match own {
                Some(label) => Some(label),
                None if self.passes(statement, next).is_some() => None,
                None => Some(self.label(None, naming_span(statement))),
            };
            steps.push((statement, own, next));
            next = own.or_else(|| self.passes(statement, next)).unwrap_or(next);
        }
        steps.reverse();
        let labels = self.frame().labels.pop().expect("it was just pushed");
        Sequence { steps, entry: next, labels }
    }

    /// Lowers the statements of a block.
    pub(super) fn run(&mut self, sequence: &Sequence<'a, 's>) {
        self.frame().scopes.push(FxHashMap::default());
        self.run_open(sequence);
        self.frame().scopes.pop();
    }

    /// Lowers the statements of a block whose names are those of the block around it.
    pub(super) fn run_open(&mut self, sequence: &Sequence<'a, 's>) {
        self.frame().labels.push(sequence.labels.clone());
        for (statement, own, next) in &sequence.steps {
            match own {
                Some(from) => self.statement(statement, *from, *next),
                None => self.note_jump(statement),
            }
        }
        self.frame().labels.pop();
    }

    /// Lowers the statements of a block between two labels.
    pub(super) fn sequence(&mut self, statements: &'a [Statement<'s>], from: LabelId, to: LabelId, span: Span) {
        let sequence = self.plan(statements, to, Some(from));
        // A loop without statements goes on for ever, too.
        if sequence.entry != from || statements.is_empty() {
            self.jump(from, sequence.entry, span);
        }
        self.run(&sequence);
    }

    /// A step that only goes elsewhere.
    pub(super) fn jump(&mut self, from: LabelId, to: LabelId, span: Span) {
        self.automaton.instruction(from, to, Action::Nop, span);
    }

    /// A label of the body that is open.
    pub(super) fn label(&mut self, name: Option<&str>, span: Span) -> LabelId {
        let frame = self.frames.last().expect("the thread's frame is open");
        self.automaton.label(frame.order.clone(), &frame.calls, name, span)
    }

    fn declare_label(&mut self, name: Name<'s>) {
        if let Some(first) = self.frame().declared.insert(name.text, name.span) {
            let source = self.context.source;
            self.found.push(again(format!("there is already a label `{}`", name.text), name.span, first, source));
        }
    }

    /// Where a statement goes that does nothing else; `next` is what follows it.
    fn passes(&mut self, statement: &Statement<'s>, next: LabelId) -> Option<LabelId> {
        if !statement.annotations.is_empty() {
            return None;
        }
        let sections = self.sections;
        let frame = self.frames.last().expect("the thread's frame is open");
        let (label, outside) = match &statement.kind {
            StatementKind::Empty | StatementKind::Pause => (next, sections),
            StatementKind::Block(block) if block.statements.is_empty() => (next, sections),
            StatementKind::Break => frame.loops.last().map(|it| (it.end, it.sections))?,
            StatementKind::Continue => frame.loops.last().map(|it| (it.start, it.sections))?,
            StatementKind::Return(None) => (frame.return_to, frame.sections),
            StatementKind::Goto(Target::Label(name)) => {
                *frame.labels.iter().rev().find_map(|block| block.get(name.text))?
            }
            StatementKind::Goto(Target::End(_)) => (self.frames.first()?.return_to, 0),
            _ => return None,
        };
        (outside == sections).then_some(label)
    }
}

/// The text that a statement's label is called after: the first statement inside for a loop or a
/// block, which starts there too.
fn naming_span(statement: &Statement<'_>) -> Span {
    match &statement.kind {
        StatementKind::Loop(body) | StatementKind::Block(body) | StatementKind::DoWhile { body, .. } => {
            match body.statements.first() {
                Some(first) if first.label.is_none() => naming_span(first),
                _ => statement.span,
            }
        }
        _ => statement.span,
    }
}
