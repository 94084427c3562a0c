//! The variables of a test and the addresses they get.
//!
//! Global variables have consecutive addresses in the order of declaration, as pointers want it; a
//! process's own variables follow. They are shared memory like all others, one for each process,
//! named after it: `flag_P1`.

use super::ast::{Name, Place, PlaceKind, Range, Sequence, Statement, Test, Variable};
use crate::Diagnostic;
use crate::suggest::{did_you_mean, did_you_mean_or_list};
use palisade_model::program::{AddressId, AddressName, Expression, NameSpace, Value};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// One variable in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Its place among all names of addresses.
    id: AddressId,
    /// Its address.
    pub(super) address: Value,
    /// The values it can hold; nothing for all integers.
    pub(super) domain: Option<Range>,
    /// Its value at the start; nothing for any of the domain.
    pub(super) initial: Option<Value>,
    /// Where it is declared.
    pub(super) span: Span,
}

impl Cell {
    /// Its address as an expression.
    pub(super) fn place(&self) -> Expression {
        Expression::Address { id: self.id, value: self.address }
    }
}

/// All variables.
pub(super) struct Memory<'s> {
    /// The names of their addresses, in order of the addresses.
    pub(super) names: Vec<AddressName>,
    /// The variables, in the same order.
    pub(super) cells: Vec<Cell>,
    globals: FxHashMap<&'s str, usize>,
    /// For each process, its own variables.
    own: Vec<FxHashMap<&'s str, usize>>,
    /// How many global variables there are; they come first.
    pub(super) globals_count: usize,
    /// Which variables some process may write.
    pub(super) written: Vec<bool>,
}

impl<'s> Memory<'s> {
    /// The variables of a test, whose processes are counted out.
    pub(super) fn of(test: &Test<'s>, found: &mut Vec<Diagnostic>) -> Self {
        // Pointers count from 0. Elsewhere 0 is nobody's address, as in other languages.
        let first = i64::from(!test.processes.iter().any(|process| has_pointer(&process.text)));
        let mut memory = Self {
            names: Vec::new(),
            cells: Vec::new(),
            globals: FxHashMap::default(),
            own: Vec::new(),
            globals_count: test.globals.len(),
            written: Vec::new(),
        };
        let mut names = NameSpace::with_taken(test.globals.iter().map(|variable| variable.name.text));
        for variable in &test.globals {
            let index = memory.add(variable, variable.name.text.to_owned(), first, found);
            if memory.globals.insert(variable.name.text, index).is_some() {
                found.push(twice(variable.name));
            }
        }
        for process in &test.processes {
            for copy in 0..process.count {
                let number = memory.own.len();
                let mut own = FxHashMap::default();
                for variable in &process.variables {
                    let name = names.fresh(&format!("{}_P{number}", variable.name.text));
                    let mut ignored = Vec::new();
                    let found = if copy == 0 { &mut *found } else { &mut ignored };
                    let index = memory.add(variable, name, first, found);
                    if own.insert(variable.name.text, index).is_some() {
                        found.push(twice(variable.name));
                    }
                }
                memory.own.push(own);
            }
        }
        memory.note_writes(test);
        memory
    }

    /// Notes which variables some process may write.
    fn note_writes(&mut self, test: &Test<'s>) {
        let mut written = vec![false; self.cells.len()];
        let mut number = 0;
        for process in &test.processes {
            for _ in 0..process.count {
                for_each_statement(&process.text, &mut |statement| match statement {
                    Statement::Write { place, .. } | Statement::Cas { place, .. } => match place.kind {
                        PlaceKind::Pointer(_) => written[..self.globals_count].fill(true),
                        // What names nothing is found fault with elsewhere.
                        _ => self.named(place, number).into_iter().for_each(|index| written[index] = true),
                    },
                    _ => {}
                });
                number += 1;
            }
        }
        self.written = written;
    }

    fn add(&mut self, variable: &Variable<'s>, name: String, first: Value, found: &mut Vec<Diagnostic>) -> usize {
        initial_value(variable, found);
        let index = self.cells.len();
        let address = first + Value::try_from(index).expect("a text has few variables");
        let Variable { initial, domain, name: Name { span, .. } } = *variable;
        self.cells.push(Cell { id: AddressId::from_index(index), address, domain, initial, span });
        self.names.push(AddressName { name, address, length: 1, span });
        index
    }

    /// The variable that a place of a process names.
    pub(super) fn named(&self, place: &Place<'s>, process: usize) -> Result<usize, Diagnostic> {
        match place.kind {
            PlaceKind::Global(name) => self.globals.get(name).copied().ok_or_else(|| self.no_global(name, place.span)),
            PlaceKind::Own(name) => {
                self.own[process].get(name).copied().ok_or_else(|| self.not_own(name, process, place.span))
            }
            PlaceKind::Other(name, number) => {
                let number = usize::try_from(number).unwrap_or(usize::MAX);
                let other = if number < process { number } else { number.saturating_add(1) };
                let Some(own) = self.own.get(other) else {
                    let message = format!("there is no other process with the number {number}");
                    let others = self.own.len() - 1;
                    let note = format!("process {process} has {others} others, counted from 0");
                    return Err(Diagnostic::error(message, place.span).with_note(note));
                };
                own.get(name).copied().ok_or_else(|| self.not_own(name, other, place.span))
            }
            PlaceKind::Pointer(_) => unreachable!("a pointer names no variable"),
        }
    }

    fn no_global(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error(format!("there is no global variable `{name}`"), span);
        if self.own.iter().any(|own| own.contains_key(name)) {
            let help = format!("the own variable of a process is `{name}[my]`, that of another one `{name}[0]`");
            return error.with_help(help);
        }
        error.with_help_if(did_you_mean_or_list(name, "variable", self.global_names()))
    }

    fn not_own(&self, name: &str, process: usize, span: Span) -> Diagnostic {
        let error = Diagnostic::error(format!("process {process} has no variable `{name}` of its own"), span);
        if self.globals.contains_key(name) {
            return error.with_help(format!("the global variable is `{name}`"));
        }
        let own = sorted(self.own[process].keys().copied());
        error.with_help_if(did_you_mean(name, own))
    }

    fn global_names(&self) -> impl Iterator<Item = &str> {
        self.names[..self.globals_count].iter().map(|entry| entry.name.as_str())
    }
}

/// Finds fault with a value at the start that lies outside of the domain.
pub(super) fn initial_value(variable: &Variable<'_>, found: &mut Vec<Diagnostic>) {
    let Name { text, span } = variable.name;
    if let (Some(value), Some(Range { low, high })) = (variable.initial, variable.domain)
        && !(low..=high).contains(&value)
    {
        let message = format!("`{text}` starts at {value}, outside of its domain [{low}:{high}]");
        found.push(Diagnostic::error(message, span));
    }
}

fn twice(name: Name<'_>) -> Diagnostic {
    Diagnostic::error(format!("`{}` is declared twice", name.text), name.span).with_label("declared again here")
}

fn sorted<'s>(names: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

/// Whether a sequence of statements uses a pointer.
fn has_pointer(sequence: &Sequence<'_>) -> bool {
    places(sequence).iter().any(|place| matches!(place.kind, PlaceKind::Pointer(_)))
}

/// All places that statements read or write, in order of the text.
pub(super) fn places<'a, 's>(sequence: &'a Sequence<'s>) -> Vec<&'a Place<'s>> {
    let mut all = Vec::new();
    for_each_statement(sequence, &mut |statement| match statement {
        Statement::Read { place, .. }
        | Statement::Await { place, .. }
        | Statement::Write { place, .. }
        | Statement::Cas { place, .. } => all.push(place),
        _ => {}
    });
    all
}

/// Calls `visit` with every statement, those inside of others included.
pub(super) fn for_each_statement<'a, 's>(sequence: &'a Sequence<'s>, visit: &mut impl FnMut(&'a Statement<'s>)) {
    let mut open: Vec<_> = sequence.iter().rev().collect();
    while let Some(labelled) = open.pop() {
        visit(&labelled.statement);
        match &labelled.statement {
            Statement::If { then, otherwise, .. } => {
                open.extend(otherwise.as_deref());
                open.push(then);
            }
            Statement::While { body, .. } => open.push(body),
            Statement::Either(alternatives) | Statement::Locked(alternatives) => {
                open.extend(alternatives.iter().flatten().rev());
            }
            Statement::Block(sequence) => open.extend(sequence.iter().rev()),
            _ => {}
        }
    }
}
