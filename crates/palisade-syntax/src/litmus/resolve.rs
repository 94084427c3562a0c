//! Conditions and initial states with their names resolved.

use super::Architecture;
use super::automaton::BuiltThread;
use super::initial::{CellType, InitialItem, InitialPlace, WrittenValue};
use super::layout::Layout;
use super::question::{WrittenLocation, WrittenProposition, WrittenQuestion};
use super::registers::{INSTRUCTION_POINTER, MachineRegister, Part};
use crate::Diagnostic;
use palisade_model::program::{Span, ThreadId, Value, truncate};
use palisade_semantics::{Condition, Constant, Location, Observable, Proposition, Question, View};
use std::collections::{BTreeMap, BTreeSet};

/// The values that registers and memory start with.
#[derive(Debug, Default)]
pub(super) struct InitialState {
    /// For each thread's number, the values of whole registers.
    pub(super) registers: BTreeMap<u32, BTreeMap<u8, Value>>,
    /// The types declared for whole registers.
    pub(super) register_types: BTreeMap<(u32, u8), CellType>,
    /// The values of memory that are not 0.
    pub(super) memory: BTreeMap<Value, Value>,
}

/// A number as it is kept in so many bits.
fn canonical(number: i128, bits: u8, architecture: Architecture) -> Value {
    let signed = bits == architecture.register_bits() || bits == 64;
    Value::try_from(truncate(number, bits, signed)).expect("a value of its width fits")
}

fn number(value: &WrittenValue, layout: &Layout) -> Result<i128, Diagnostic> {
    match value {
        WrittenValue::Number(number) => Ok(*number),
        WrittenValue::Address { name, element, span } => {
            let location = layout.location(name).expect("all locations are laid out");
            if *element >= location.length.unwrap_or(1) {
                return Err(Diagnostic::error(format!("`{name}` has no element {element}"), *span));
            }
            Ok(i128::from(layout.element(location, *element)))
        }
    }
}

/// A number that so many bits hold, signed or not.
pub(super) fn fitting(number: i128, bits: u8, span: Span) -> Result<i128, Diagnostic> {
    if (-(1 << (bits - 1))..1 << bits).contains(&number) {
        return Ok(number);
    }
    Err(Diagnostic::error(format!("{number} does not fit in {bits} bits"), span))
}

/// Nothing is given a value twice: neither a location nor a register, under whatever names.
fn check_once(items: &[InitialItem], architecture: Architecture) -> Result<(), Diagnostic> {
    let mut registers = BTreeSet::new();
    let mut locations = BTreeSet::new();
    for item in items.iter().filter(|item| !item.values.is_empty()) {
        let (is_new, place) = match &item.place {
            InitialPlace::Register { thread, name } => {
                let family = machine_register(name, architecture, item.span)?.family;
                let whole = MachineRegister::whole(family, architecture).name(architecture);
                (registers.insert((*thread, family)), format!("{thread}:{whole}"))
            }
            InitialPlace::Location { name, .. } => (locations.insert(name.as_str()), name.clone()),
        };
        if !is_new {
            let message = format!("`{place}` has an initial value already, whole or in part");
            return Err(Diagnostic::error(message, item.span).with_help("leave one of the two out"));
        }
    }
    Ok(())
}

/// Resolves the initial state.
pub(super) fn initial_state(
    items: &[InitialItem],
    layout: &Layout,
    architecture: Architecture,
) -> Result<InitialState, Diagnostic> {
    check_once(items, architecture)?;
    let mut state = InitialState::default();
    for item in items {
        match &item.place {
            InitialPlace::Register { thread, name } => {
                let register = machine_register(name, architecture, item.span)?;
                let whole = MachineRegister::whole(register.family, architecture);
                if register != whole && register.part.bits() < 32 {
                    let message = format!("give `{}` its value", whole.name(architecture));
                    return Err(
                        Diagnostic::error("a part of a register has no initial value", item.span).with_help(message)
                    );
                }
                if let Some(cell_type) = item.cell_type {
                    state.register_types.insert((*thread, register.family), cell_type);
                }
                let values = state.registers.entry(*thread).or_default();
                if let Some(value) = item.values.first() {
                    let bits = register.part.bits();
                    let value = fitting(number(value, layout)?, bits, item.span)?;
                    values.insert(register.family, canonical(value, bits, architecture));
                } else {
                    values.entry(register.family).or_insert(0);
                }
            }
            InitialPlace::Location { name, .. } => {
                let location = layout.location(name).expect("all locations are laid out");
                for (element, value) in (0..).zip(&item.values) {
                    let bits = location.cell_type.bits;
                    let value = canonical(fitting(number(value, layout)?, bits, item.span)?, bits, architecture);
                    state.memory.insert(layout.element(location, element), value);
                }
            }
        }
    }
    state.memory.retain(|_, value| *value != 0);
    Ok(state)
}

/// The register of a name.
pub(super) fn machine_register(
    name: &str,
    architecture: Architecture,
    span: Span,
) -> Result<MachineRegister, Diagnostic> {
    match MachineRegister::named(name) {
        Some(register) if register.part == Part::HighByte => {
            let whole = MachineRegister::whole(register.family, architecture).name(architecture);
            Err(Diagnostic::error("the high byte of a register cannot be looked at by itself", span)
                .with_help(format!("look at `{whole}`")))
        }
        // `rip` may be spoken of anywhere, as it is never used.
        Some(register) if register.exists_in(architecture) || register.family == INSTRUCTION_POINTER => Ok(register),
        Some(_) => Err(Diagnostic::error(format!("there is no register `{name}` on 32-bit x86"), span)),
        None => Err(Diagnostic::error(format!("`{name}` is no register"), span)),
    }
}

/// The registers of each thread that a question looks at.
pub(super) fn observed_registers(
    question: &WrittenQuestion,
    architecture: Architecture,
) -> Result<BTreeMap<u32, Vec<u8>>, Diagnostic> {
    let mut observed: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut look = |location: &WrittenLocation| {
        if let WrittenLocation::Register { thread, name, span } = location {
            let register = machine_register(name, architecture, *span)?;
            observed.entry(*thread).or_default().push(register.family);
        }
        Ok(())
    };
    let mut result = Ok(());
    question.locations(&mut |location| {
        if result.is_ok() {
            result = look(location);
        }
    });
    result.map(|()| observed)
}

/// Resolves questions.
pub(super) struct Resolver<'a> {
    pub(super) architecture: Architecture,
    pub(super) layout: &'a Layout,
    pub(super) initial: &'a InitialState,
    /// The threads with their numbers in the text.
    pub(super) threads: &'a [(u32, BuiltThread)],
}

/// What the locations and values of a question stand for.
pub(super) trait Meanings {
    /// What a location stands for.
    fn location(&self, written: &WrittenLocation) -> Result<Location, Diagnostic>;

    /// The number that a value stands for.
    fn number(&self, written: &WrittenValue) -> Result<i128, Diagnostic>;
}

/// Resolves everything after the program.
pub(super) fn question(written: &WrittenQuestion, meanings: &impl Meanings) -> Result<Question, Diagnostic> {
    let locations = written.locations.iter().map(|location| meanings.location(location));
    let filter = written.filter.as_ref().map(|filter| proposition(filter, meanings));
    let condition = written.condition.as_ref().map(|(quantifier, condition)| {
        Ok(Condition { quantifier: *quantifier, proposition: proposition(condition, meanings)? })
    });
    Ok(Question {
        locations: locations.collect::<Result<_, _>>()?,
        filter: filter.transpose()?,
        condition: condition.transpose()?,
    })
}

fn proposition(written: &WrittenProposition, meanings: &impl Meanings) -> Result<Proposition, Diagnostic> {
    let all = |parts: &[WrittenProposition]| -> Result<Vec<Proposition>, Diagnostic> {
        parts.iter().map(|part| proposition(part, meanings)).collect()
    };
    let boxed = |inner: &WrittenProposition| proposition(inner, meanings).map(Box::new);
    Ok(match written {
        WrittenProposition::True => Proposition::True,
        WrittenProposition::False => Proposition::False,
        WrittenProposition::Equals(location, value, text) => {
            let (WrittenLocation::Register { span, .. } | WrittenLocation::Memory { span, .. }) = location;
            let location = meanings.location(location)?;
            let value = truncate(fitting(meanings.number(value)?, location.view.bits, *span)?, 64, true);
            let value = Value::try_from(value).expect("a value of its width fits");
            Proposition::Equals(location, Constant { value, text: text.clone() })
        }
        WrittenProposition::Same(left, right) => Proposition::Same(meanings.location(left)?, meanings.location(right)?),
        WrittenProposition::Not(inner) => Proposition::Not(boxed(inner)?),
        WrittenProposition::And(parts) => Proposition::And(all(parts)?),
        WrittenProposition::Or(parts) => Proposition::Or(all(parts)?),
        WrittenProposition::Implies(premise, conclusion) => Proposition::Implies(boxed(premise)?, boxed(conclusion)?),
    })
}

impl Meanings for Resolver<'_> {
    fn number(&self, written: &WrittenValue) -> Result<i128, Diagnostic> {
        number(written, self.layout)
    }

    fn location(&self, written: &WrittenLocation) -> Result<Location, Diagnostic> {
        match written {
            WrittenLocation::Register { thread, name, span } => {
                let Some(index) = self.threads.iter().position(|(number, _)| number == thread) else {
                    return Err(Diagnostic::error(format!("there is no thread P{thread}"), *span));
                };
                let register = machine_register(name, self.architecture, *span)?;
                let declared = self.initial.register_types.get(&(*thread, register.family));
                let view = View {
                    bits: register.part.bits(),
                    signed: declared.is_none_or(|declared| declared.signed),
                    pointer: self.layout.is_in_bytes() && register.part.bits() == self.architecture.register_bits(),
                };
                let observable = Observable::Register {
                    thread: ThreadId::from_index(index),
                    register: self.threads[index].1.families[&register.family],
                };
                let name = format!("{thread}:{}", register.name(self.architecture));
                Ok(Location { observable, name, view })
            }
            WrittenLocation::Memory { name, element, span } => {
                let location = self.layout.location(name).expect("all locations are laid out");
                let view = View {
                    bits: location.cell_type.bits,
                    signed: location.cell_type.signed,
                    pointer: self.layout.is_in_bytes() && location.cell_type.bits == self.architecture.register_bits(),
                };
                match (location.length, element) {
                    (Some(length), Some(element)) if *element >= length => {
                        Err(Diagnostic::error(format!("`{name}` has no element {element}"), *span))
                    }
                    (Some(_), None) => Err(Diagnostic::error(format!("`{name}` is an array: name an element"), *span)
                        .with_expected([format!("`{name}[0]`")])),
                    (None, Some(element)) if *element > 0 => {
                        Err(Diagnostic::error(format!("`{name}` is no array"), *span))
                    }
                    _ => {
                        let element = element.unwrap_or(0);
                        let observable = Observable::Address(self.layout.element(location, element));
                        let shown = if location.length.is_some() { format!("{name}[{element}]") } else { name.clone() };
                        Ok(Location { observable, name: shown, view })
                    }
                }
            }
        }
    }
}
