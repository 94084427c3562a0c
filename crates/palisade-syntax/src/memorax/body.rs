//! A process's text while it becomes instructions: labels, registers and places by name.

use super::ast::{Condition, Expression as Raw, Name, Place, PlaceKind, Process, Range, Statement};
use super::memory::{Memory, for_each_statement};
use super::values::{Fit, Interval, opposite};
use crate::Diagnostic;
use crate::suggest::did_you_mean_or_list;
use palisade_model::program::{
    Action, BinaryOperator, Expression, Instruction, Label, LabelId, NameSpace, Register, RegisterId, UnaryOperator,
    Value,
};
use palisade_model::text::{SourceText, Span};
use rustc_hash::FxHashMap;

/// What a place is: an address, when it is one, and the variables that it can be.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The address.
    pub(super) address: Expression,
    /// Whether there is a variable at it.
    pub(super) exists: Fit,
    /// Which variables can be there, by number, with their domains.
    pub(super) cells: Vec<(usize, Option<Range>)>,
}

/// A process under construction.
pub(super) struct Body<'a, 's> {
    pub(super) memory: &'a Memory<'s>,
    pub(super) process: &'a Process<'s>,
    /// The process's number, that of its first copy.
    number: usize,
    source: &'a SourceText,
    pub(super) found: &'a mut Vec<Diagnostic>,
    pub(super) labels: Vec<Label>,
    label_names: NameSpace,
    label_ids: FxHashMap<&'s str, LabelId>,
    pub(super) registers: Vec<Register>,
    register_ids: FxHashMap<&'s str, RegisterId>,
    /// The domains of the registers.
    pub(super) domains: Vec<Option<Range>>,
    /// The register for values that are looked at and not kept.
    pub(super) seen: Option<RegisterId>,
    pub(super) instructions: Vec<Instruction>,
    /// The labels of blocks that need an empty buffer in order to be a locked section, with what to
    /// say where it may not be.
    pub(super) drained: Vec<(LabelId, Diagnostic)>,
}

impl<'a, 's> Body<'a, 's> {
    /// A process with its labels and registers, without instructions.
    pub(super) fn new(
        memory: &'a Memory<'s>,
        process: &'a Process<'s>,
        number: usize,
        source: &'a SourceText,
        found: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let mut body = Self {
            memory,
            process,
            number,
            source,
            found,
            labels: Vec::new(),
            label_names: NameSpace::default(),
            label_ids: FxHashMap::default(),
            registers: Vec::new(),
            register_ids: FxHashMap::default(),
            domains: Vec::new(),
            seen: None,
            instructions: Vec::new(),
            drained: Vec::new(),
        };
        body.declare_labels();
        body.declare_registers();
        body
    }

    /// Gives the labels of the text their names, before others get one.
    fn declare_labels(&mut self) {
        let mut names = Vec::new();
        super::labels::for_each_label(&self.process.text, &mut |name| names.push(name));
        for name in names {
            if self.label_ids.contains_key(name.text) {
                let message = format!("there is already a label `{}` in this process", name.text);
                self.found.push(Diagnostic::error(message, name.span));
                continue;
            }
            let id = self.label(name.text, name.span);
            self.label_ids.insert(name.text, id);
        }
    }

    fn declare_registers(&mut self) {
        let names = self.process.registers.iter().map(|register| register.name.text.trim_start_matches('$'));
        let mut space = NameSpace::with_taken(names);
        for register in &self.process.registers {
            super::memory::initial_value(register, self.found);
            let Name { text, span } = register.name;
            let name = text.trim_start_matches('$').to_owned();
            let initial = register.initial.unwrap_or(0);
            self.domains.push(register.domain);
            self.registers.push(Register { name, initial, is_initialised: true, span });
            let id = RegisterId::from_index(self.registers.len() - 1);
            if self.register_ids.insert(text, id).is_some() {
                let error = Diagnostic::error(format!("`{text}` is declared twice"), span);
                self.found.push(error.with_label("declared again here"));
            }
        }
        let mut looks = false;
        for_each_statement(&self.process.text, &mut |statement| {
            looks |= matches!(statement, Statement::Read { .. } | Statement::Await { .. } | Statement::Cas { .. });
        });
        if looks || self.memory.cells.iter().any(|cell| cell.initial.is_none()) {
            let name = space.fresh("seen");
            self.domains.push(None);
            let span = self.process.span;
            self.registers.push(Register { name, initial: 0, is_initialised: false, span });
            self.seen = Some(RegisterId::from_index(self.registers.len() - 1));
        }
    }

    /// A new label of a name, or of one like it.
    fn label(&mut self, name: &str, span: Span) -> LabelId {
        let name = self.label_names.fresh(name);
        self.labels.push(Label::new(name, span));
        LabelId::from_index(self.labels.len() - 1)
    }

    /// A new label for something that has none in the text, named after its line.
    pub(super) fn fresh(&mut self, span: Span) -> LabelId {
        let line = self.source.position(span.start).line;
        self.label(&format!("line{line}"), span)
    }

    /// The label at which the process ends.
    pub(super) fn end(&mut self) -> LabelId {
        let is_like_another = self.label_ids.keys().any(|name| name.eq_ignore_ascii_case("end"));
        self.label(if is_like_another { "stopped" } else { "end" }, self.process.span)
    }

    /// The label of a name in the text.
    pub(super) fn label_named(&mut self, name: Name<'s>) -> Option<LabelId> {
        let id = self.label_ids.get(name.text).copied();
        if id.is_none() {
            let mut names: Vec<&str> = self.label_ids.keys().copied().collect();
            names.sort_unstable();
            let help = did_you_mean_or_list(name.text, "label", names);
            let message = format!("this process has no label `{}`", name.text);
            self.found.push(Diagnostic::error(message, name.span).with_help_if(help));
        }
        id
    }

    /// The register of a name in the text.
    pub(super) fn register_named(&mut self, name: Name<'s>) -> Option<RegisterId> {
        let id = self.register_ids.get(name.text).copied();
        if id.is_none() {
            let names = self.process.registers.iter().map(|register| register.name.text);
            let help = did_you_mean_or_list(name.text, "register", names);
            let message = format!("this process has no register `{}`", name.text);
            self.found.push(Diagnostic::error(message, name.span).with_help_if(help));
        }
        id
    }

    /// The register for values that are looked at and not kept.
    pub(super) fn seen(&self) -> RegisterId {
        self.seen.expect("there is such a register wherever something is read")
    }

    /// Adds an instruction.
    pub(super) fn emit(&mut self, source: LabelId, action: Action, target: LabelId, span: Span) {
        self.instructions.push(Instruction::new(source, target, action, span));
    }

    /// An expression of the text.
    pub(super) fn expression(&mut self, raw: &Raw<'s>) -> Option<Expression> {
        Some(match raw {
            Raw::Register(name) => Expression::Register(self.register_named(*name)?),
            Raw::Number(number) => Expression::Constant(*number),
            Raw::Negated(operand) => match self.expression(operand)? {
                Expression::Constant(value) if value != Value::MIN => Expression::Constant(-value),
                operand => Expression::unary(UnaryOperator::Negate, operand),
            },
            Raw::Binary(operator, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                let (left, right) = (left?, right?);
                let all = Expression::binary(*operator, left, right);
                match all.is_constant().then(|| all.evaluate(&[], None)) {
                    Some(Ok(value)) => Expression::Constant(value),
                    _ => all,
                }
            }
        })
    }

    /// A condition of the text.
    pub(super) fn condition(&mut self, raw: &Condition<'s>) -> Option<Expression> {
        Some(match raw {
            Condition::Constant(value) => Expression::Constant((*value).into()),
            Condition::Compare(operator, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                Expression::binary(*operator, left?, right?)
            }
            Condition::Not(operand) => opposite(self.condition(operand)?),
            Condition::And(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Expression::binary(BinaryOperator::And, left?, right?)
            }
            Condition::Or(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Expression::binary(BinaryOperator::Or, left?, right?)
            }
        })
    }

    /// The values that an expression can have.
    pub(super) fn values(&self, expression: &Expression) -> Interval {
        Interval::of_expression(expression, &self.domains, None)
    }

    /// What a place of the text is.
    pub(super) fn target(&mut self, place: &Place<'s>) -> Option<Target> {
        if let PlaceKind::Pointer(pointer) = &place.kind {
            let pointer = self.expression(pointer)?;
            return Some(self.pointed(pointer));
        }
        match self.memory.named(place, self.number) {
            Ok(index) => {
                let cell = &self.memory.cells[index];
                Some(Target { address: cell.place(), exists: Fit::Always, cells: vec![(index, cell.domain)] })
            }
            Err(error) => {
                self.found.push(error);
                None
            }
        }
    }

    /// What a pointer points to: global variables count from 0, as their addresses do where there
    /// are pointers.
    fn pointed(&self, pointer: Expression) -> Target {
        let count = self.memory.globals_count;
        let last = Value::try_from(count).expect("a text has few variables") - 1;
        let values = self.values(&pointer);
        let exists =
            if count == 0 { Fit::Never } else { Fit::of(&pointer, values, Some(Range { low: 0, high: last })) };
        let can_be = |index: &usize| {
            let value = Value::try_from(*index).expect("a text has few variables");
            !values.is_outside(Interval::of(Some(Range { low: value, high: value })))
        };
        let cells: Vec<(usize, Option<Range>)> =
            (0..count).filter(can_be).map(|index| (index, self.memory.cells[index].domain)).collect();
        let address = match (&pointer, cells.as_slice()) {
            (Expression::Constant(_), [(index, _)]) => self.memory.cells[*index].place(),
            _ => pointer,
        };
        Target { address, exists, cells }
    }

    /// Whether a value fits the variable at a place.
    pub(super) fn fits(&self, value: &Expression, target: &Target) -> Fit {
        self.fits_with(value, self.values(value), target)
    }

    /// Whether a value, which lies in `values`, fits the variable at a place.
    pub(super) fn fits_with(&self, value: &Expression, values: Interval, target: &Target) -> Fit {
        let Some((_, first)) = target.cells.first() else { return Fit::Never };
        if target.cells.iter().all(|(_, domain)| domain == first) {
            return Fit::of(value, values, *first);
        }
        let one = |(index, domain): &(usize, Option<Range>)| {
            let number = Expression::Constant(self.memory.cells[*index].address);
            let here = Expression::binary(BinaryOperator::Equal, target.address.clone(), number);
            Fit::When(here).and(Fit::of(value, values, *domain))
        };
        let fits: Vec<Fit> = target.cells.iter().map(one).collect();
        let inside = |(_, domain): &(usize, Option<Range>)| values.is_inside(Interval::of(*domain));
        if target.cells.iter().all(inside) { Fit::Always } else { Fit::any(fits) }
    }
}
