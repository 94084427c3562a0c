//! What names stand for, and what is open around a statement.

use super::Lowering;
use crate::native::again::again;
use crate::native::ast::{Head, Name};
use crate::suggest::{did_you_mean, did_you_mean_or_list};
use palisade_model::program::{AddressId, Expression, LabelId, RegisterId};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// What a name of a body stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A register.
    Register(RegisterId),
    /// A value over constants and registers that do not change: an argument, or the `old` of an
    /// update.
    Value(Expression),
    /// A place in memory, by its address: an argument.
    Place(Expression),
}

/// What a name stands for anywhere.
pub(super) enum Meaning {
    /// A name of the body.
    Bound(Binding),
    /// A declared address.
    Address(AddressId),
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Where the loop begins.
    pub(super) start: LabelId,
    /// What follows it.
    pub(super) end: LabelId,
    /// How many locked sections were open before it.
    pub(super) sections: usize,
}

/// The labels of a block, with the number of locked sections that are open there.
pub(super) type BlockLabels<'s> = FxHashMap<&'s str, (LabelId, usize)>;

/// A body that is open: that of the thread, or that of a call.
pub(super) struct Frame<'s> {
    /// The name of the procedure, empty for the thread.
    pub(super) owner: &'s str,
    /// Where the calls around it stand.
    pub(super) order: Vec<usize>,
    /// The lines of the calls that it stands in, the outermost first.
    pub(super) calls: Vec<usize>,
    /// Where `return` goes.
    pub(super) return_to: LabelId,
    /// Where the returned value goes.
    pub(super) result: Option<RegisterId>,
    /// How many locked sections were open before it.
    pub(super) sections: usize,
    /// The loops that are open, the innermost last.
    pub(super) loops: Vec<Loop>,
    /// The labels of the blocks that are open.
    pub(super) labels: Vec<BlockLabels<'s>>,
    /// All labels seen, to find those declared twice.
    pub(super) declared: FxHashMap<&'s str, Span>,
    /// The names of the blocks that are open.
    pub(super) scopes: Vec<FxHashMap<&'s str, (Binding, Span)>>,
}

impl<'s> Frame<'s> {
    /// A frame of the procedure `owner`, without loops and names.
    pub(super) fn new(owner: &'s str, order: Vec<usize>, calls: Vec<usize>, return_to: LabelId) -> Self {
        Self {
            owner,
            order,
            calls,
            return_to,
            result: None,
            sections: 0,
            loops: Vec::new(),
            labels: Vec::new(),
            declared: FxHashMap::default(),
            scopes: vec![FxHashMap::default()],
        }
    }

    /// What a name of the body stands for.
    fn binding(&self, name: &str) -> Option<&(Binding, Span)> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }
}

impl<'s> Lowering<'_, 's, '_> {
    /// What a name stands for; nothing if it means nothing, which is not reported.
    pub(super) fn meaning_if_any(&self, name: &str) -> Option<Meaning> {
        let frame = self.frames.last().expect("the thread's frame is open");
        if let Some((binding, _)) = frame.binding(name) {
            return Some(Meaning::Bound(binding.clone()));
        }
        if let Some((value, _)) = self.context.constants.get(name) {
            return Some(Meaning::Bound(Binding::Value(Expression::Constant(*value))));
        }
        if name == "self" {
            return Some(Meaning::Bound(Binding::Value(Expression::Constant(self.number.unwrap_or(0)))));
        }
        self.context.addresses.named(name).map(Meaning::Address)
    }

    /// What a name stands for, with an error if it means nothing.
    pub(super) fn meaning(&mut self, name: Name<'_>) -> Option<Meaning> {
        if name.text == "self" {
            self.note_self(name.span);
        }
        let meaning = self.meaning_if_any(name.text);
        if meaning.is_none() {
            self.unknown(name);
        }
        meaning
    }

    fn note_self(&mut self, span: Span) {
        self.uses_self = true;
        if self.number.is_none() && self.head != Head::Thread {
            let message = format!("`self` is the number of a thread's copy, and this is {}", self.head.with_article());
            self.error(message, span).help = Some("draw a number instead: `let me = fetch_add(drawn, 1);`".to_owned());
        } else if self.number.is_none() {
            let error = self.error("`self` needs a number of copies, and this thread has any number of them", span);
            error.label = String::from("which copy is this?");
            error.help = Some(
                "draw a number instead, `let me = fetch_add(drawn, 1);`, or ask for some copies: `[3]`".to_owned(),
            );
            error.notes.push(
                "copies of `[*]` are counted and not told apart; that is what makes any number of them decidable"
                    .to_owned(),
            );
        }
    }

    fn unknown(&mut self, name: Name<'_>) {
        let known = self.known_names();
        let null = matches!(name.text, "NULL" | "nullptr" | "null" | "nil" | "None");
        let null = null.then(|| "write `0`: addresses are numbered from 1".to_owned());
        let number_of_copy = matches!(name.text, "tid" | "thread_id" | "thread_num" | "pid" | "rank" | "my_id" | "me");
        let itself = number_of_copy.then(|| "the number of the copy, from 0, is `self`".to_owned());
        let help = null.or(itself).or_else(|| {
            did_you_mean(name.text, known.iter().map(String::as_str)).or_else(|| {
                let text = name.text;
                Some(format!("declare memory that threads share by `address {text}`, a register by `let {text} = …;`"))
            })
        });
        let elsewhere =
            self.frames.first().is_some_and(|frame| self.frames.len() > 1 && frame.binding(name.text).is_some());
        let message = format!("`{}` is neither a register nor an address", name.text);
        let error = self.error(message, name.span);
        error.label = String::from("unknown");
        error.help = help;
        if elsewhere {
            error.notes.push(
                "a procedure sees its parameters, its own registers and memory, not the registers of its caller"
                    .to_owned(),
            );
        }
    }

    fn known_names(&self) -> Vec<String> {
        let frame = self.frames.last().expect("the thread's frame is open");
        let bound = frame.scopes.iter().flat_map(|scope| scope.keys().map(|name| (*name).to_owned()));
        let constants = self.context.constants.keys().map(|name| (*name).to_owned());
        let mut known: Vec<String> =
            bound.chain(constants).chain(self.context.addresses.names().map(str::to_owned)).collect();
        known.sort_unstable();
        known
    }

    /// Declares a register of the body.
    pub(super) fn declare(&mut self, name: Name<'s>) -> Option<RegisterId> {
        let Name { text, span } = name;
        let source = self.context.source;
        if let Some((_, first)) = self.frame().binding(text).cloned() {
            let mut error = again(format!("`{text}` is declared already"), span, first, source);
            error.help = Some(format!("assign to it: `{text} = …;`"));
            self.found.push(error);
            return None;
        }
        if let Some((_, first)) = self.context.constants.get(text) {
            self.found.push(again(format!("`{text}` is a constant"), span, *first, source));
            return None;
        }
        if let Some(id) = self.context.addresses.named(text) {
            let first = self.context.addresses.all[id.index()].span;
            let mut error =
                again(format!("`{text}` is an address, so no register can have that name"), span, first, source);
            error.help = Some(format!("a store is `{text} = …;` without `let`"));
            self.found.push(error);
            return None;
        }
        let owner = self.frame().owner;
        let register = self.register_of(owner, name);
        let scope = self.frame().scopes.last_mut().expect("a block is open");
        scope.insert(text, (Binding::Register(register), span));
        Some(register)
    }

    /// The register of a name in a procedure, or in the thread's body if `owner` is empty.
    pub(super) fn register_of(&mut self, owner: &'s str, name: Name<'s>) -> RegisterId {
        if let Some(register) = self.registers.get(&(owner, name.text)) {
            return *register;
        }
        let base = if owner.is_empty() { name.text.to_owned() } else { format!("{owner}_{}", name.text) };
        let register = self.automaton.register(&base, name.span);
        self.registers.insert((owner, name.text), register);
        register
    }

    /// A register for a value that a statement reads, free again when the statement ends.
    pub(super) fn temporary(&mut self, base: &str, span: Span) -> RegisterId {
        let named = self.temporaries.entry(base.to_owned()).or_default();
        let register = match named.iter().find(|register| !self.in_use.contains(register)) {
            Some(register) => *register,
            None => {
                let register = self.automaton.register(&format!("{base}'"), span);
                named.push(register);
                register
            }
        };
        self.in_use.push(register);
        register
    }

    /// The label of a `goto`.
    pub(super) fn goto_label(&mut self, name: Name<'s>) -> Option<(LabelId, usize)> {
        let labels = &self.frame().labels;
        if let Some(found) = labels.iter().rev().find_map(|block| block.get(name.text)) {
            return Some(*found);
        }
        let visible: Vec<&str> = labels.iter().flat_map(|block| block.keys().copied()).collect();
        let help = did_you_mean_or_list(name.text, "label that can be seen from here", visible);
        let error = self.error(format!("there is no label `{}` here", name.text), name.span);
        error.help = help;
        error.notes.push("a `goto` stays in its block or leaves it; it enters none".to_owned());
        None
    }
}
