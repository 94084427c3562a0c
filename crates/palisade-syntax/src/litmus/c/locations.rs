//! The locations of a test in C: their types, and their addresses from 1 on in order of appearance.

use super::graces::Grace;
use super::threads::Head;
use super::types::{INT, Pointers};
use crate::Diagnostic;
use crate::litmus::FAR_ADDRESS;
use crate::litmus::initial::{CellType, InitialItem, InitialPlace, WrittenValue};
use crate::litmus::question::{WrittenLocation, WrittenQuestion};
use crate::native::scope::Addresses;
use crate::suggest::did_you_mean;
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
    /// The grace periods, with the hidden locations among all.
    pub(super) graces: Vec<Grace>,
}

/// The type of a location of which nothing is known but its address.
const UNKNOWN: CellType = CellType { bits: 64, signed: true };

impl Locations {
    /// The locations of the initial state, of the threads' parameters and of the question.
    pub(super) fn new(
        items: &[InitialItem],
        heads: &[Head<'_>],
        question: &WrittenQuestion,
        graces: Vec<Grace>,
    ) -> Result<Self, Diagnostic> {
        let mut locations = Self { all: Vec::new(), graces };
        for item in items {
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
        for item in items.iter().filter(|item| item.values.iter().any(WrittenValue::is_address)) {
            if let InitialPlace::Location { name, .. } = &item.place
                && let Some(location) = locations.all.iter_mut().find(|location| location.name == *name)
            {
                location.cell.get_or_insert(UNKNOWN);
            }
        }
        // Of these nothing is known but that their addresses are values.
        for value in items.iter().flat_map(|item| &item.values) {
            if let WrittenValue::Address { name, span, .. } = value
                && locations.named(name).is_none()
            {
                locations.add(name, Some(UNKNOWN), None, *span)?;
            }
        }
        let hidden: Vec<(String, Span)> = {
            let span = |thread: u32| heads.iter().find(|head| head.number == thread).map(|head| head.name.span);
            let readers = locations.graces.iter().flat_map(|grace| &grace.readers);
            readers.map(|(thread, name)| (name.clone(), span(*thread).unwrap_or_default())).collect()
        };
        for (name, span) in hidden {
            locations.add(&name, Some(INT), None, span)?;
        }
        Ok(locations)
    }

    /// Gives all locations their addresses, far from small numbers where addresses are values.
    pub(super) fn number(&mut self, has_pointers: bool) {
        let mut address = if has_pointers { FAR_ADDRESS } else { 1 };
        for location in &mut self.all {
            location.address = address;
            address += Value::from(location.length.unwrap_or(1));
        }
    }

    /// Refuses integers and locations that may be the addresses of locations of other sizes than
    /// what they are said to point to.
    pub(super) fn fit(&self, items: &[InitialItem], heads: &[Head<'_>], pointers: &Pointers) -> Result<(), Diagnostic> {
        let mut given = Vec::new();
        for item in items {
            let InitialPlace::Location { name: own, .. } = &item.place else { continue };
            let parameters = || heads.iter().flat_map(|head| &head.parameters);
            let object = parameters().find(|parameter| parameter.is_address && parameter.name.text == own);
            let points = object.and_then(|parameter| parameter.object.further());
            for value in &item.values {
                let WrittenValue::Address { name, span, .. } = value else { continue };
                given.push(name);
                let target = self.named(name).map_or(INT, Location::cell);
                if points.is_some_and(|points| points.cell().bits != target.bits) {
                    return Err(other_size(name, *span));
                }
            }
        }
        for name in given.into_iter().chain(&pointers.taken) {
            let Some(location) = self.named(name) else { continue };
            let other = pointers.guessed.iter().find(|(cell, _)| cell.bits != location.cell().bits);
            if let Some((_, span)) = other {
                return Err(other_size(name, *span));
            }
        }
        Ok(())
    }

    /// A value as a number.
    pub(super) fn number_of(&self, value: &WrittenValue) -> Result<i128, Diagnostic> {
        match value {
            WrittenValue::Number(number) => Ok(*number),
            WrittenValue::Address { name, element, span } => {
                let Some(location) = self.named(name) else {
                    let help = did_you_mean(name, self.all.iter().map(|location| location.name.as_str()));
                    return Err(Diagnostic::error(format!("there is no location `{name}`"), *span).with_help_if(help));
                };
                if *element >= location.length.unwrap_or(1) {
                    return Err(Diagnostic::error(format!("`{name}` has no element {element}"), *span));
                }
                Ok(i128::from(location.element(*element)))
            }
        }
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

fn other_size(name: &str, span: Span) -> Diagnostic {
    let message = format!("this may be the address of `{name}`, whose type has another size");
    Diagnostic::error(message, span)
        .with_help("give all locations whose addresses are values one type, such as `intptr_t`")
}
