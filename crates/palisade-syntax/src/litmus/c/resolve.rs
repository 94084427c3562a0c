//! What the names in the question of a test in C stand for.

use super::body::Local;
use super::locations::Locations;
use crate::Diagnostic;
use crate::litmus::initial::{CellType, WrittenValue};
use crate::litmus::question::WrittenLocation;
use crate::litmus::resolve::Meanings;
use crate::suggest::did_you_mean;
use palisade_model::program::{RegisterId, Thread, ThreadId};
use palisade_semantics::{Location, Observable, View};

/// The variables and the locations of a test.
pub(super) struct Names<'a, 's> {
    /// For each thread its number and its variables.
    pub(super) locals: &'a [(u32, Vec<Local<'s>>)],
    /// The locations.
    pub(super) locations: &'a Locations,
    /// The threads, in the same order.
    pub(super) threads: &'a [Thread],
    /// Whether addresses are values.
    pub(super) has_pointers: bool,
}

impl Names<'_, '_> {
    /// How a value of a type is shown.
    fn view(&self, cell: CellType) -> View {
        View { bits: cell.bits, signed: cell.signed, pointer: self.has_pointers && cell.bits == 64 }
    }
}

impl Meanings for Names<'_, '_> {
    fn number(&self, written: &WrittenValue) -> Result<i128, Diagnostic> {
        self.locations.number_of(written)
    }

    fn location(&self, written: &WrittenLocation) -> Result<Location, Diagnostic> {
        match written {
            WrittenLocation::Register { thread, name, span } => {
                let Some(index) = self.locals.iter().position(|(number, _)| number == thread) else {
                    return Err(Diagnostic::error(format!("there is no thread P{thread}"), *span));
                };
                let locals = &self.locals[index].1;
                let registers = &self.threads[index].registers;
                let register = registers.iter().position(|register| register.name == *name);
                let local = locals.iter().find(|local| local.name.text == name);
                let (Some(local), Some(register)) = (local, register) else {
                    let help = did_you_mean(name, locals.iter().map(|local| local.name.text));
                    let message = format!("P{thread} has no variable `{name}`");
                    return Err(Diagnostic::error(message, *span).with_help_if(help));
                };
                let observable = Observable::Register {
                    thread: ThreadId::from_index(index),
                    register: RegisterId::from_index(register),
                };
                let view = self.view(local.cell);
                Ok(Location { observable, name: format!("{thread}:{name}"), view })
            }
            WrittenLocation::Memory { name, element, span } => {
                let location = self.locations.named(name).expect("all locations are laid out");
                let number = element.unwrap_or(0);
                if number >= location.length.unwrap_or(1) {
                    return Err(Diagnostic::error(format!("`{name}` has no element {number}"), *span));
                }
                if location.length.is_some() && element.is_none() {
                    return Err(Diagnostic::error(format!("`{name}` is an array: name an element"), *span)
                        .with_expected([format!("`{name}[0]`")]));
                }
                let cell = location.cell();
                let shown = element.map_or_else(|| name.clone(), |element| format!("{name}[{element}]"));
                Ok(Location {
                    observable: Observable::Address(location.element(number)),
                    name: shown,
                    view: self.view(cell),
                })
            }
        }
    }
}
