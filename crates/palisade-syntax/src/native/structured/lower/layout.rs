//! Where the parts of an automaton stand in the text, for edits that leave the rest of it as it is.

use super::automaton::Finished;
use crate::native::braced::{Block, Statement, StatementKind};
use palisade_model::program::LabelId;
use palisade_model::text::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Where the parts of a thread stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// For each label, where a fence is put; none where the text has no place for it.
    pub(crate) sites: Vec<Option<Site>>,
    /// The stores, by the numbers of their instructions.
    pub(crate) stores: FxHashMap<usize, StoreText>,
    /// The statements after `if`, `else`, `while` and the like that have no braces around them.
    pub(crate) bare: Vec<Span>,
}

impl Layout {
    /// Whether a statement cannot be put before a byte, for want of braces.
    pub(crate) fn lacks_braces(&self, at: usize) -> bool {
        self.bare.iter().any(|span| (span.start..span.end).contains(&at))
    }
}

/// Where a fence at a label is put.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Before this byte: everything that comes to the label from before passes it.
    pub(crate) before: usize,
    /// For the beginning of a loop, what comes back to it: its closing brace and its `continue`s. A
    /// fence is put before each, unless nothing is stored in the loop.
    pub(crate) back: Vec<usize>,
    /// The labels inside of the loop.
    pub(crate) inside: Vec<LabelId>,
}

/// Where a store stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreText {
    /// `target = value`.
    Assignment {
        /// What is stored to.
        target: Span,
        /// The value.
        value: Span,
    },
    /// `store(target, value, ordering)`.
    Call {
        /// Its ordering.
        ordering: Span,
    },
}

/// Where a statement stands.
#[derive(Clone, Debug)]
pub(super) struct StatementPlace {
    /// Where it begins, with its label.
    before: usize,
    /// Where it begins behind its label.
    own: usize,
    /// What comes back to it.
    back: Vec<usize>,
    /// In how many calls it stands.
    depth: usize,
    /// The labels that were made for it.
    labels: Range<usize>,
    /// Where the loop begins that it closes, which was made before.
    start: Option<LabelId>,
}

impl StatementPlace {
    /// The place of a statement inside of so many calls. A loop begins there, unless a `for` does
    /// something first.
    pub(super) fn of(statement: &Statement<'_>, depth: usize) -> Self {
        match statement.kind.loop_body() {
            Some(body) if !statement.kind.begins_before_the_loop() => Self::of_loop(statement, body, depth),
            _ => Self {
                before: statement.extent.start,
                own: statement.span.start,
                back: Vec::new(),
                depth,
                labels: 0..0,
                start: None,
            },
        }
    }

    /// The place where a loop begins, before its first time and before each further one.
    pub(super) fn of_loop(statement: &Statement<'_>, body: &Block<'_>, depth: usize) -> Self {
        let mut back = Vec::new();
        continues(body, &mut back);
        back.push(body.close());
        Self { before: statement.extent.start, own: statement.span.start, back, depth, labels: 0..0, start: None }
    }

    /// The place behind the body of a loop that begins at a label, and behind each of its
    /// `continue`s.
    pub(super) fn end_of(body: &Block<'_>, start: LabelId, depth: usize) -> Self {
        let mut back = Vec::new();
        continues(body, &mut back);
        Self { before: body.close(), own: body.close(), back, depth, labels: 0..0, start: Some(start) }
    }
}

/// Where the `continue`s of a loop's body stand.
fn continues(body: &Block<'_>, found: &mut Vec<usize>) {
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Continue => found.push(statement.extent.start),
            kind if kind.loop_body().is_some() => {}
            kind => kind.blocks().into_iter().for_each(|block| continues(block, found)),
        }
    }
}

/// The number of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatementId(usize);

/// The layout of an automaton that has no final numbers.
#[derive(Debug, Default)]
pub(super) struct Draft {
    statements: Vec<StatementPlace>,
    /// The statement before which a fence at a label is put; `None` if that would be too early.
    sites: FxHashMap<LabelId, Option<StatementId>>,
    stores: Vec<(usize, StoreText)>,
    /// The labels to which some `goto` leads.
    jumped_to: FxHashSet<LabelId>,
}

impl Draft {
    /// Notes that a statement starts at a label. Of several statements that do, the innermost one
    /// comes last, and a fence is put before it; but rather before a call than into the procedure.
    pub(super) fn statement(&mut self, label: LabelId, mut place: StatementPlace) -> StatementId {
        if let Some(StatementId(around)) = self.sites.get(&label).copied().flatten()
            && self.statements[around].depth < place.depth
        {
            let around = &self.statements[around];
            (place.before, place.own, place.depth) = (around.before, around.own, around.depth);
        }
        self.place(label, place)
    }

    /// Notes the place of a fence at a label.
    pub(super) fn place(&mut self, label: LabelId, place: StatementPlace) -> StatementId {
        self.statements.push(place);
        let id = StatementId(self.statements.len() - 1);
        self.sites.insert(label, Some(id));
        id
    }

    /// Notes which labels, by their numbers as they were made, were made for a statement.
    pub(super) fn made(&mut self, statement: StatementId, labels: Range<usize>) {
        self.statements[statement.0].labels = labels;
    }

    /// Notes a label in the middle of a statement. No store of the statement is before it, so that
    /// a fence before the statement does what one at the label does.
    pub(super) fn inside(&mut self, label: LabelId, statement: Option<StatementId>) {
        self.sites.entry(label).or_insert(statement);
    }

    /// Notes that a call goes on to a label. If that is in the middle of a statement, stores of the
    /// call come before it.
    pub(super) fn after_call(&mut self, label: LabelId, statement: Option<StatementId>) {
        if self.sites.get(&label).is_some_and(|site| *site == statement) {
            self.sites.insert(label, None);
        }
    }

    /// Notes that a `goto` leads to a label.
    pub(super) fn jumped_to(&mut self, label: LabelId) {
        self.jumped_to.insert(label);
    }

    /// Notes a store.
    pub(super) fn store(&mut self, instruction: usize, text: StoreText) {
        self.stores.push((instruction, text));
    }

    /// The layout with final numbers.
    pub(super) fn finish(self, finished: &Finished) -> Layout {
        let mut sites = vec![None; finished.labels.len()];
        for (label, id) in finished.ids.iter().enumerate() {
            let (Some(id), label) = (id, LabelId::from_index(label)) else { continue };
            let Some(StatementId(statement)) = self.sites.get(&label).copied().flatten() else { continue };
            let place = &self.statements[statement];
            let before = if self.jumped_to.contains(&label) { place.own } else { place.before };
            let is_loop = !place.back.is_empty();
            let made = finished.ids.get(place.labels.clone()).filter(|_| is_loop).unwrap_or_default();
            let start = place.start.and_then(|start| finished.ids[start.index()]);
            let inside = made.iter().flatten().copied().chain(start).collect();
            sites[id.index()] = Some(Site { before, back: place.back.clone(), inside });
        }
        let stores = self.stores.into_iter().map(|(number, text)| (finished.numbers[number], text)).collect();
        Layout { sites, stores, bare: Vec::new() }
    }
}
