//! The locations of a test in C: their types, and their addresses from 1 on in order of appearance.

use super::threads::Head;
use super::types::INT;
use crate::Diagnostic;
use crate::litmus::initial::{CellType, InitialItem, InitialPlace, WrittenValue};
use crate::litmus::question::{WrittenLocation, WrittenQuestion};
use crate::native::scope::Addresses;
use palisade_model::program::{AddressName, Value};
use palisade_model::text::Span;

/// A location: one cell or an array of them.
#[derive(Clone, Debug)]
pub(super) struct Location {
    /// Its name.
    pub(super) name: String,
    /// The type that a declaration gives it.
    cell: Option<CellType>,
    /// The number of elements, of an array.
    pub(super) length: Option<u32>,
    /// Where it first stands.
    span: Span,
    /// The address of its first cell.
    address: Value,
}

impl Location {
    /// Its type: `int` if nothing tells.
    pub(super) fn cell(&self) -> CellType {
        self.cell.unwrap_or(INT)
    }

    /// The address of an element.
    pub(super) fn element(&self, element: u32) -> Value {
        self.address + Value::from(element)
    }
}

/// All locations.
#[derive(Debug, Default)]
pub(super) struct Locations {
    all: Vec<Location>,
}

impl Locations {
    /// The locations of the initial state, of the threads' parameters and of the question.
    pub(super) fn new(
        items: &[InitialItem],
        heads: &[Head<'_>],
        question: &WrittenQuestion,
    ) -> Result<Self, Diagnostic> {
        let mut locations = Self::default();
        for item in items {
            for value in &item.values {
                no_address(value)?;
            }
            if let InitialPlace::Location { name, length } = &item.place {
                if name == "self" {
                    return Err(Diagnostic::error("`self` is a word of the native language", item.span)
                        .with_help("give the location another name"));
                }
                locations.add(name, item.cell_type, *length, item.span)?;
            }
        }
        for parameter in heads.iter().flat_map(|head| &head.parameters).filter(|parameter| parameter.is_address) {
            let name = parameter.name;
            let length = locations.named(name.text).and_then(|location| location.length);
            locations.add(name.text, Some(parameter.cell), length, name.span)?;
        }
        let mut found = Ok(());
        question.locations(&mut |written| {
            if let (WrittenLocation::Memory { name, span, .. }, Ok(())) = (written, &found) {
                let length = locations.named(name).and_then(|location| location.length);
                found = locations.add(name, None, length, *span);
            }
        });
        found?;
        let mut address = 1;
        for location in &mut locations.all {
            location.address = address;
            address += Value::from(location.length.unwrap_or(1));
        }
        Ok(locations)
    }

    fn add(&mut self, name: &str, cell: Option<CellType>, length: Option<u32>, span: Span) -> Result<(), Diagnostic> {
        let Some(known) = self.all.iter_mut().find(|location| location.name == name) else {
            self.all.push(Location { name: name.to_owned(), cell, length, span, address: 0 });
            return Ok(());
        };
        if known.length != length || known.cell.is_some_and(|known| cell.is_some_and(|cell| cell != known)) {
            return Err(Diagnostic::error(format!("`{name}` is declared twice, differently"), span)
                .with_help("give it one type in the initial state and in all parameters"));
        }
        known.cell = known.cell.or(cell);
        Ok(())
    }

    /// The location with a name.
    pub(super) fn named(&self, name: &str) -> Option<&Location> {
        self.all.iter().find(|location| location.name == name)
    }

    /// The addresses, for the threads.
    pub(super) fn addresses(&self) -> Addresses<'_> {
        Addresses::numbered(self.all.iter().map(|location| {
            let Location { name, span, address, length, .. } = location;
            (
                name.as_str(),
                AddressName { name: name.clone(), address: *address, length: length.unwrap_or(1), span: *span },
            )
        }))
    }
}

/// An error if a value is an address.
pub(super) fn no_address(value: &WrittenValue) -> Result<i128, Diagnostic> {
    match value {
        WrittenValue::Number(number) => Ok(*number),
        WrittenValue::Address { name, span, .. } => {
            let message = format!("`{name}` would be an address as a value, which tests in C cannot have here");
            Err(Diagnostic::error(message, *span).with_help("let locations and variables hold numbers"))
        }
    }
}
