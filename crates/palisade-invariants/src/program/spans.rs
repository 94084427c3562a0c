//! What a variable tells of a counter: all of it, or its residue modulo a power of two.
//!
//! A residue is told by whichever number of a *window*, an interval as long as there are residues,
//! is congruent to it; shifts go around in the window. The window of a variable is where the values
//! that flow into it lie. [`Spans`] notes for each variable what the narrowest of them tell;
//! [`super::counters`] holds every instruction to it and fixes what does not keep to one window.

use super::regions::Regions;
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::Live;
use palisade_model::program::{
    Action, BinaryOperator as Op, Domain, Expression, InstructionId, LabelId, Program, RegisterId, ThreadId,
    UnaryOperator, Value,
};
use std::collections::BTreeMap;

/// What can be shifted: a register at a label, or an address; of addresses that are joined, the
/// least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    Cell(Value),
    Register(ThreadId, LabelId, RegisterId),
}

/// What a value tells of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// All of it, or all modulo the size of the domain.
    Whole,
    /// Its residue modulo 2^bits: the number of the window from the first to the last that is
    /// congruent to it. Without a window some congruent number.
    Residue(u8, Option<(i128, i128)>),
}

/// Where a value is computed.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The domain, which wraps what is computed, unless that is an address.
    pub(super) domain: Option<Domain>,
    pub(super) is_address: bool,
}

impl Span {
    /// The number of residues, where a value tells no more.
    pub(super) fn residues(self) -> Option<i128> {
        match self {
            Span::Whole => None,
            Span::Residue(bits, _) => Some(1 << bits),
        }
    }

    /// Whether the value tells the counter, or its residue, and 64 bits hold it.
    pub(super) fn is_exact(self) -> bool {
        match self {
            Span::Whole => true,
            Span::Residue(_, window) => {
                window.is_some_and(|(first, last)| Value::try_from(first).is_ok() && Value::try_from(last).is_ok())
            }
        }
    }

    /// Whether a value can be one of a variable with this span.
    pub(super) fn has(self, value: Value) -> bool {
        match self {
            Span::Whole => true,
            Span::Residue(_, window) => window.is_some_and(|(first, last)| (first..=last).contains(&i128::from(value))),
        }
    }

    /// A value of the window, shifted around in it.
    pub(super) fn shifted(self, value: Value, by: i128) -> Result<Value, CheckFailure> {
        let Span::Residue(bits, Some((first, _))) = self else { reject!(Form, "a counter has no window") };
        if !self.has(value) {
            reject!(Form, "{value} is no residue of {bits} bits of a counter");
        }
        let around = (i128::from(value) - first + by).rem_euclid(1 << bits);
        match Value::try_from(first + around) {
            Ok(value) => Ok(value),
            Err(_) => reject!(Form, "a counter does not fit 64 bits"),
        }
    }

    /// What is told when a number is added.
    pub(super) fn added(self, number: Option<i128>, place: Place) -> Span {
        match self {
            Span::Whole => Span::Whole,
            Span::Residue(bits, window) => {
                let moved = window.zip(number).map(|((first, last), number)| (first + number, last + number));
                Span::Residue(bits, moved.filter(|moved| place.keeps(*moved)))
            }
        }
    }

    /// What is told when the low bits alone are kept; nothing where that does not shift with the
    /// counter.
    pub(super) fn truncated(self, bits: u8, signed: bool, place: Place) -> Option<Span> {
        let residues = 1_i128 << bits;
        let first = if signed { -(residues / 2) } else { 0 };
        let all = (first, first + residues - 1);
        match self {
            // A longer cut changes only what does not lie in its range.
            Span::Residue(own, window) if own < bits => {
                Some(Span::Residue(own, window.filter(|window| all.0 <= window.0 && window.1 <= all.1)))
            }
            Span::Residue(..) => Some(Span::Residue(bits, Some(all).filter(|all| place.keeps(*all)))),
            Span::Whole => match place.domain.map(size) {
                None => Some(Span::Residue(bits, Some(all))),
                Some(size) if residues < size => {
                    (size % residues == 0 && place.keeps(all)).then_some(Span::Residue(bits, Some(all)))
                }
                // What is cut off is a multiple of the domain's size, and comes back as it wraps.
                Some(size) => (residues % size == 0 && !place.is_address).then_some(Span::Whole),
            },
        }
    }
}

impl Place {
    /// Whether numbers of a window stay what they are.
    fn keeps(self, (first, last): (i128, i128)) -> bool {
        self.is_address
            || self.domain.is_none_or(|domain| i128::from(domain.low) <= first && last <= i128::from(domain.high))
    }
}

/// The low bits that an expression keeps of an operand: a function says so, or a mask of a byte,
/// two or four, where these are as many as a domain's values or a multiple.
pub(super) fn low_bits(expression: &Expression, domain: Option<Domain>) -> Option<(&Expression, u8, bool)> {
    match expression {
        Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => Some((operand, *bits, *signed)),
        Expression::Binary(Op::BitAnd, operand, mask) => {
            let bits = match **mask {
                Expression::Constant(0xff) => 8,
                Expression::Constant(0xffff) => 16,
                Expression::Constant(0xffff_ffff) => 32,
                _ => return None,
            };
            let is_all = domain.is_none_or(|domain| (1 << bits) % size(domain) == 0);
            is_all.then_some((operand, bits, false))
        }
        _ => None,
    }
}

/// An instruction, and what it accesses.
#[derive(Clone, Copy)]
struct Site {
    thread: ThreadId,
    id: InstructionId,
    cell: Option<Variable>,
}

/// The spans of variables, those that are not whole.
#[derive(Debug, Default)]
pub(super) struct Spans(BTreeMap<Variable, Span>);

impl Spans {
    /// What the values that flow into each variable tell.
    pub(super) fn of(program: &Program, live: &Live, regions: &Regions) -> Self {
        let mut spans = Self::default();
        while spans.go_through(program, live, regions) {}
        spans
    }

    /// What a variable tells of a counter.
    pub(super) fn at(&self, variable: Variable) -> Span {
        self.0.get(&variable).copied().unwrap_or(Span::Whole)
    }

    /// Whether any span became narrower, or got its window.
    fn go_through(&mut self, program: &Program, live: &Live, regions: &Regions) -> bool {
        let mut has_changed = false;
        for (thread, template) in program.thread_ids() {
            for (id, instruction) in template.instruction_ids() {
                let site = Site { thread, id, cell: regions.accessed(thread, id).map(Variable::Cell) };
                let target = instruction.target;
                let written = instruction.action.written_register();
                for register in (0..template.registers.len()).map(RegisterId::from_index) {
                    if !live[thread.index()][target.index()][register.index()] {
                        continue;
                    }
                    let value = match &instruction.action {
                        _ if written != Some(register) => {
                            Some(self.at(Variable::Register(thread, instruction.source, register)))
                        }
                        Action::Assign { value, .. } => self.told(program, site, value),
                        _ => self.told(program, site, &Expression::Old),
                    };
                    has_changed |= self.note(Variable::Register(thread, target, register), value);
                }
                if let Action::Store { value, .. } | Action::Rmw { new: value, .. } | Action::Cas { new: value, .. } =
                    &instruction.action
                    && let Some(cell) = site.cell
                {
                    let value = self.told(program, site, value);
                    has_changed |= self.note(cell, value);
                }
            }
        }
        has_changed
    }

    fn note(&mut self, variable: Variable, value: Option<Span>) -> bool {
        let Some(value @ Span::Residue(bits, window)) = value else { return false };
        let says_more = match self.at(variable) {
            Span::Whole => true,
            Span::Residue(before, known) => bits < before || bits == before && known.is_none() && window.is_some(),
        };
        says_more && {
            self.0.insert(variable, value);
            true
        }
    }

    /// What an expression's value tells, if it is a variable's with numbers added and cut to low
    /// bits.
    fn told(&self, program: &Program, site: Site, expression: &Expression) -> Option<Span> {
        let place = Place { domain: program.domain, is_address: false };
        if let Some((operand, bits, signed)) = low_bits(expression, program.domain) {
            return self.told(program, site, operand)?.truncated(bits, signed, place);
        }
        match expression {
            Expression::Register(register) => {
                let label = program.thread(site.thread).instruction(site.id).source;
                Some(self.at(Variable::Register(site.thread, label, *register)))
            }
            Expression::Old => site.cell.map(|cell| self.at(cell)),
            Expression::Binary(operator @ (Op::Add | Op::Subtract), left, right) => {
                let (counter, number) = match operator {
                    Op::Add if left.is_constant() => (right, number(left, place)),
                    Op::Subtract => (left, number(right, place).map(|number| -number)),
                    _ => (left, number(right, place)),
                };
                Some(self.told(program, site, counter)?.added(number, place))
            }
            _ => None,
        }
    }
}

/// The value of a constant.
pub(super) fn number(expression: &Expression, place: Place) -> Option<i128> {
    let domain = if place.is_address { None } else { place.domain };
    if expression.is_constant() { expression.evaluate(&[], domain).ok().map(i128::from) } else { None }
}

/// The number of values of a domain with counters, at most 2⁶².
pub(super) fn size(domain: Domain) -> i128 {
    i128::try_from(domain.size()).expect("a domain of 64-bit values has at most 2⁶⁴ values")
}
