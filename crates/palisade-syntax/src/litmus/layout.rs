//! Locations: their widths and their addresses.
//!
//! Locations are numbered from 1 as they appear. A test that treats addresses as values (in
//! registers, in memory, in operands with a base register) gets a layout in bytes instead, cells at
//! multiples of 8, so that its address arithmetic is the machine's. 0 is the address of nothing
//! either way.

use super::assembly::{AssemblyInstruction, AssemblyItem, Column, OperandKind};
use super::initial::{CellType, InitialItem, InitialPlace, WrittenValue};
use super::question::{WrittenLocation, WrittenProposition, WrittenQuestion};
use crate::Diagnostic;
use crate::x86::Operation;
use palisade_model::program::{AddressId, AddressName, Expression, Span, Value};

/// A location: one cell or an array of them.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) name: String,
    /// The type declared or taken from the first access.
    pub(super) cell_type: CellType,
    /// The number of elements, when it is an array.
    pub(super) length: Option<u32>,
    /// Where it first stands.
    span: Span,
    /// The address of its first cell.
    address: Value,
    /// The name of its first cell's address.
    id: AddressId,
}

/// Where all locations are.
#[derive(Debug)]
pub(super) struct Layout {
    locations: Vec<Location>,
    /// Whether addresses count bytes.
    in_bytes: bool,
}

/// A location on the way: its type may not be known yet.
struct Found {
    name: String,
    cell_type: Option<CellType>,
    length: Option<u32>,
    span: Span,
}

/// The type of a location about which nothing says otherwise.
const DEFAULT_TYPE: CellType = CellType { bits: 32, signed: true };

impl Location {
    /// The whole cell of so many bits at a byte offset into the location, as an element's number.
    pub(super) fn element_at(&self, offset: i128, bits: u8, span: Span) -> Result<u32, Diagnostic> {
        if self.cell_type.bits != bits {
            let message =
                format!("this accesses {bits} bits of `{}`, whose cells have {}", self.name, self.cell_type.bits);
            return Err(Diagnostic::error(message, span)
                .with_help("only whole cells can be accessed: declare the type or change the size"));
        }
        let bytes = i128::from(bits / 8);
        let element = u32::try_from(offset / bytes).ok().filter(|_| offset % bytes == 0);
        element.filter(|element| *element < self.length.unwrap_or(1)).ok_or_else(|| {
            let message = format!("there is no cell {offset} bytes into `{}`", self.name);
            Diagnostic::error(message, span)
        })
    }
}

impl Layout {
    /// Lays out every location that appears anywhere in a test.
    pub(super) fn new(
        initial: &[InitialItem],
        columns: &[Column],
        question: &WrittenQuestion,
    ) -> Result<Self, Diagnostic> {
        let mut finder = Finder { found: Vec::new(), in_bytes: false };
        for item in initial {
            finder.initial_item(item)?;
        }
        for item in columns.iter().flat_map(|column| &column.items) {
            if let AssemblyItem::Instruction(instruction) = item {
                finder.instruction(instruction);
            }
        }
        finder.question(question);
        Ok(Self::place(finder))
    }

    fn place(finder: Finder) -> Self {
        let in_bytes = finder.in_bytes;
        let mut address: Value = if in_bytes { 8 } else { 1 };
        let mut names = 0;
        let mut locations = Vec::new();
        for found in finder.found {
            let cell_type = found.cell_type.unwrap_or(DEFAULT_TYPE);
            let elements = found.length.unwrap_or(1);
            let id = AddressId::from_index(names);
            locations.push(Location {
                name: found.name,
                cell_type,
                length: found.length,
                span: found.span,
                address,
                id,
            });
            if in_bytes {
                let bytes = Value::from(elements) * Value::from(cell_type.bits / 8);
                address += (bytes + 7) / 8 * 8;
                names += elements as usize;
            } else {
                address += Value::from(elements);
                names += 1;
            }
        }
        Self { locations, in_bytes }
    }

    /// Whether addresses count bytes, because the test treats them as values.
    pub(super) fn is_in_bytes(&self) -> bool {
        self.in_bytes
    }

    /// The location with the given name.
    pub(super) fn location(&self, name: &str) -> Option<&Location> {
        self.locations.iter().find(|location| location.name == name)
    }

    /// The address of an element of a location.
    pub(super) fn element(&self, location: &Location, element: u32) -> Value {
        location.address + Value::from(element) * self.stride(location)
    }

    fn stride(&self, location: &Location) -> Value {
        if self.in_bytes { Value::from(location.cell_type.bits / 8) } else { 1 }
    }

    /// The address of an element, by name.
    pub(super) fn address_expression(&self, location: &Location, element: u32) -> Expression {
        let index = location.id.index();
        if self.in_bytes {
            let id = AddressId::from_index(index + element as usize);
            return Expression::Address { id, value: self.element(location, element) };
        }
        let first = Expression::Address { id: location.id, value: location.address };
        match element {
            0 => first,
            _ => Expression::binary(
                palisade_model::program::BinaryOperator::Add,
                first,
                Expression::Constant(Value::from(element)),
            ),
        }
    }

    /// The addresses of all cells of so many bits.
    pub(super) fn cells(&self, bits: u8) -> Vec<Value> {
        let matching = self.locations.iter().filter(|location| location.cell_type.bits == bits);
        matching
            .flat_map(|location| (0..location.length.unwrap_or(1)).map(|element| self.element(location, element)))
            .collect()
    }

    /// The location and element at an address.
    pub(super) fn cell_at(&self, address: Value) -> Option<(&Location, u32)> {
        self.locations.iter().find_map(|location| {
            let offset = address.checked_sub(location.address).filter(|offset| *offset >= 0)?;
            let stride = self.stride(location);
            let element = u32::try_from(offset / stride).ok().filter(|_| offset % stride == 0)?;
            (element < location.length.unwrap_or(1)).then_some((location, element))
        })
    }

    /// The names of all addresses, for the program.
    pub(super) fn address_names(&self) -> Vec<AddressName> {
        let mut names = Vec::new();
        for location in &self.locations {
            let Location { name, span, address, .. } = location;
            let length = location.length.unwrap_or(1);
            if self.in_bytes && location.length.is_some() {
                names.extend((0..length).map(|element| AddressName {
                    name: format!("{name}[{element}]"),
                    address: self.element(location, element),
                    length: 1,
                    span: *span,
                }));
            } else {
                names.push(AddressName { name: name.clone(), address: *address, length, span: *span });
            }
        }
        names
    }
}

struct Finder {
    found: Vec<Found>,
    in_bytes: bool,
}

impl Finder {
    fn add(&mut self, name: &str, cell_type: Option<CellType>, span: Span) -> &mut Found {
        let index = self.found.iter().position(|found| found.name == name).unwrap_or_else(|| {
            self.found.push(Found { name: name.to_owned(), cell_type: None, length: None, span });
            self.found.len() - 1
        });
        let found = &mut self.found[index];
        found.cell_type = found.cell_type.or(cell_type);
        found
    }

    fn initial_item(&mut self, item: &InitialItem) -> Result<(), Diagnostic> {
        if let InitialPlace::Location { name, length } = &item.place {
            let found = self.add(name, item.cell_type, item.span);
            let twice = (found.length.is_some() && *length != found.length)
                || (item.cell_type.is_some() && found.cell_type != item.cell_type);
            if twice {
                let message = format!("`{name}` is declared twice, differently");
                return Err(Diagnostic::error(message, item.span));
            }
            found.length = *length;
        }
        for value in &item.values {
            self.value(value);
        }
        Ok(())
    }

    fn value(&mut self, value: &WrittenValue) {
        if let WrittenValue::Address { name, span, .. } = value {
            self.in_bytes = true;
            self.add(name, None, *span);
        }
    }

    fn instruction(&mut self, instruction: &AssemblyInstruction) {
        if instruction.operation == Operation::Nop {
            return;
        }
        let bits = access_bits(instruction);
        for operand in &instruction.operands {
            match &operand.kind {
                OperandKind::Memory(memory) => {
                    self.in_bytes |= memory.base.is_some() || memory.index.is_some();
                    if let Some(symbol) = &memory.symbol {
                        let cell_type = bits.map(|bits| CellType { bits, signed: true });
                        self.add(symbol, cell_type, operand.span);
                    }
                }
                OperandKind::Address(name) => {
                    self.in_bytes = true;
                    self.add(name, None, operand.span);
                }
                OperandKind::Register(_) | OperandKind::Number(_) => {}
            }
        }
    }

    fn question(&mut self, question: &WrittenQuestion) {
        question.locations.iter().for_each(|location| self.written_location(location));
        for proposition in question.filter.iter().chain(question.condition.iter().map(|(_, proposition)| proposition)) {
            self.proposition(proposition);
        }
    }

    fn proposition(&mut self, proposition: &WrittenProposition) {
        match proposition {
            WrittenProposition::True | WrittenProposition::False => {}
            WrittenProposition::Equals(location, value, _) => {
                self.written_location(location);
                self.value(value);
            }
            WrittenProposition::Same(left, right) => {
                self.written_location(left);
                self.written_location(right);
            }
            WrittenProposition::Not(inner) => self.proposition(inner),
            WrittenProposition::And(parts) | WrittenProposition::Or(parts) => {
                parts.iter().for_each(|part| self.proposition(part));
            }
            WrittenProposition::Implies(premise, conclusion) => {
                self.proposition(premise);
                self.proposition(conclusion);
            }
        }
    }

    fn written_location(&mut self, location: &WrittenLocation) {
        if let WrittenLocation::Memory { name, span, .. } = location {
            self.add(name, None, *span);
        }
    }
}

/// The bits an instruction accesses, as its suffix or its register operands tell.
pub(super) fn access_bits(instruction: &AssemblyInstruction) -> Option<u8> {
    if instruction.bits.is_some() {
        return instruction.bits;
    }
    let telling = match instruction.operation {
        operation if operation.has_count() => instruction.operands.get(..1).unwrap_or_default(),
        _ => &instruction.operands,
    };
    telling.iter().find_map(|operand| match operand.kind {
        OperandKind::Register(register) => Some(register.part.bits()),
        _ => None,
    })
}
