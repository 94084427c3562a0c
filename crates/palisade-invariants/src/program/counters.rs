//! Counters, as the checker finds them: classes of addresses and live registers to which one number
//! can be added without any step of the program noticing.
//!
//! The checker says which variables *shift* by reading each instruction as an equation: if the
//! members of every class are shifted, by a multiple of the class's grain, then what the
//! instruction computes, compares and writes is what it was, shifted. A variable that an equation
//! does not hold for is *fixed*. Equations are gone through until no variable becomes fixed and no
//! two classes become one.

use super::regions::Regions;
use super::spans::{Place, Span, Spans, Variable, low_bits, number, size};
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::Live;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{
    Action, BinaryOperator, Domain, Expression, InstructionId, LabelId, Program, RegisterId, Role, ThreadId, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// The classes of a program.
#[derive(Debug)]
pub(super) struct Counters {
    /// The class of each variable that shifts, and what the variable tells of its counter.
    pub(super) members: BTreeMap<Variable, (usize, Span)>,
    /// What instructions access that shifts.
    pub(super) accesses: BTreeMap<(ThreadId, InstructionId), (usize, Span)>,
    /// For each class an address in it, and what it is shifted by multiples of.
    pub(super) classes: Vec<(Value, i128)>,
    pub(super) domain: Option<Domain>,
    /// For each class the greatest value that stands for all that are less, if there is one.
    pub(super) ends: Vec<Option<Value>>,
}

/// What shifting does to a value.
#[derive(Clone, Copy)]
enum Kind {
    /// Nothing.
    Fixed,
    /// It is shifted with a class, of whose counter it tells so much.
    Shifted(usize, Span),
    /// It is a difference of a class, of which shifts change nothing modulo 2 to this power.
    Difference(usize, u8),
}

/// Equations in progress.
struct Equations<'p> {
    program: &'p Program,
    live: &'p Live,
    spans: Spans,
    regions: Regions,
    /// The class of each variable that shifts, as far as is known.
    class: BTreeMap<Variable, usize>,
    /// What masks see of classes, by any variable of the class.
    masks: BTreeSet<(usize, i128)>,
    /// The classes to which numbers are added.
    moved: BTreeSet<usize>,
    has_changed: bool,
}

/// The reader of an expression at an instruction.
#[derive(Clone, Copy)]
struct Site {
    thread: ThreadId,
    label: LabelId,
    /// What the instruction loads, where that is known.
    loaded: Option<Variable>,
    /// Whether the expression is an address: computed in integers, whatever the domain.
    is_address: bool,
}

impl Counters {
    /// The classes of a program with live registers; nothing where there are none.
    pub(super) fn of(program: &Program, live: &Live) -> Option<Self> {
        const MOST_VALUES: u128 = 1 << 62;
        let shifts = program.domain.is_none_or(|domain| domain.wrap && domain.size() <= MOST_VALUES);
        if !shifts || program.threads.iter().any(|thread| thread.role != Role::Thread) {
            return None;
        }
        let mut equations = Equations::new(program, live);
        while std::mem::take(&mut equations.has_changed) {
            equations.go_through();
        }
        equations.solved()
    }

    /// A value of a member with this span, shifted.
    pub(super) fn shifted(&self, span: Span, value: Value, by: i128) -> Result<Value, CheckFailure> {
        if span != Span::Whole {
            return span.shifted(value, by);
        }
        let sum = i128::from(value) + by;
        match self.domain {
            Some(domain) => Ok(domain.wrapped(sum)),
            None => match Value::try_from(sum) {
                Ok(sum) => Ok(sum),
                Err(_) => reject!(Form, "a counter does not fit 64 bits"),
            },
        }
    }

    /// The class of an address.
    pub(super) fn cell(&self, address: Value) -> Option<usize> {
        self.members.get(&Variable::Cell(address)).map(|(class, _)| *class)
    }

    /// Whether an instruction that accesses an address keeps to what is known of it: to the slots
    /// of its counter, or to what is no counter's.
    pub(super) fn keeps_to(&self, thread: ThreadId, instruction: InstructionId, address: Value) -> bool {
        self.members.get(&Variable::Cell(address)) == self.accesses.get(&(thread, instruction))
    }
}

impl<'p> Equations<'p> {
    fn new(program: &'p Program, live: &'p Live) -> Self {
        let regions = Regions::of(program);
        let mut variables: Vec<Variable> = regions.accesses().map(|(_, least)| Variable::Cell(least)).collect();
        for (id, thread) in program.thread_ids() {
            for label in (0..thread.labels.len()).map(LabelId::from_index) {
                let registers = (0..thread.registers.len()).map(RegisterId::from_index);
                let is_live = |register: &RegisterId| live[id.index()][label.index()][register.index()];
                variables.extend(registers.filter(is_live).map(|register| Variable::Register(id, label, register)));
            }
        }
        let variables: BTreeSet<Variable> = variables.into_iter().collect_set();
        let class = variables.into_iter().zip(0..).collect_map();
        let spans = Spans::of(program, live, &regions);
        let (masks, moved) = (BTreeSet::new(), BTreeSet::new());
        let mut equations = Self { program, live, spans, regions, class, masks, moved, has_changed: true };
        equations.fix_what_starts_outside();
        equations
    }

    /// Values outside of a domain cannot be shifted in it, nor residues outside of their window.
    fn fix_what_starts_outside(&mut self) {
        let mut outside = Vec::new();
        for variable in self.class.keys() {
            let values: Vec<Value> = match variable {
                Variable::Cell(least) => {
                    self.regions.joined(*least).map(|address| self.program.initial_value(address)).collect()
                }
                Variable::Register(thread, label, register) => {
                    let thread = self.program.thread(*thread);
                    if *label != thread.initial {
                        continue;
                    }
                    vec![thread.registers[register.index()].initial]
                }
            };
            let is_inside = |value: &Value| self.program.domain.is_none_or(|domain| domain.contains(*value));
            if !values.iter().all(|value| is_inside(value) && self.spans.at(*variable).has(*value)) {
                outside.push(*variable);
            }
        }
        outside.into_iter().for_each(|variable| self.fix(self.kind_of(variable)));
    }

    fn kind_of(&self, variable: Variable) -> Kind {
        self.class.get(&variable).map_or(Kind::Fixed, |class| Kind::Shifted(*class, self.spans.at(variable)))
    }

    /// A value must not shift.
    fn fix(&mut self, kind: Kind) {
        if let Kind::Shifted(class, _) | Kind::Difference(class, _) = kind {
            self.class.retain(|_, own| *own != class);
            self.has_changed = true;
        }
    }

    /// A value must be the same after shifts. A residue of few bits is, where shifts go around.
    fn keep(&mut self, kind: Kind) {
        match kind {
            Kind::Shifted(class, Span::Residue(bits, Some(_))) if bits <= 16 => {
                self.has_changed |= self.masks.insert((class, 1 << bits));
            }
            kind => self.fix(kind),
        }
    }

    /// Two values must shift alike, and tell the same of one counter.
    fn alike(&mut self, one: Kind, other: Kind) {
        match (one, other) {
            (Kind::Fixed, Kind::Fixed) => {}
            (Kind::Shifted(first, span), Kind::Shifted(second, others)) => {
                self.unite(first, second);
                if span != others || !span.is_exact() {
                    self.fix(Kind::Shifted(first, span));
                }
            }
            (one, other) => {
                self.fix(one);
                self.fix(other);
            }
        }
    }

    /// Two classes become one, the first.
    fn unite(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        self.class.values_mut().filter(|class| **class == other).for_each(|class| *class = one);
        let masks = std::mem::take(&mut self.masks).into_iter();
        self.masks = masks.map(|(class, n)| (if class == other { one } else { class }, n)).collect_set();
        if self.moved.remove(&other) {
            self.moved.insert(one);
        }
        self.has_changed = true;
    }

    fn go_through(&mut self) {
        let program = self.program;
        for (thread, template) in program.thread_ids() {
            for (id, _) in template.instruction_ids() {
                self.read(thread, id);
            }
        }
    }

    /// The equations of one instruction.
    fn read(&mut self, thread: ThreadId, id: InstructionId) {
        let program = self.program;
        let template = program.thread(thread);
        let instruction = template.instruction(id);
        let action = &instruction.action;
        let mut site = Site { thread, label: instruction.source, loaded: None, is_address: false };
        if let Some(address) = action.address().filter(|address| !address.is_constant()) {
            let kind = self.kind(Site { is_address: true, ..site }, address);
            self.keep(kind);
        }
        site.loaded = self.regions.accessed(thread, id).map(Variable::Cell);
        for register in (0..template.registers.len()).map(RegisterId::from_index) {
            if self.live[thread.index()][instruction.target.index()][register.index()]
                && action.written_register() != Some(register)
            {
                let before = self.kind_of(Variable::Register(thread, instruction.source, register));
                let after = self.kind_of(Variable::Register(thread, instruction.target, register));
                self.alike(before, after);
            }
        }
        if let Some(until) = instruction.until() {
            let kind = self.kind(site, until);
            self.keep(kind);
        }
        match action {
            Action::Assume(condition) => {
                let kind = self.kind(site, condition);
                self.keep(kind);
            }
            Action::Store { value, .. } | Action::Rmw { new: value, .. } => self.stores(site, value),
            Action::Cas { expected, new, .. } => {
                self.stores(site, expected);
                self.stores(site, new);
            }
            _ => {}
        }
        let is_live = |register: &RegisterId| self.live[thread.index()][instruction.target.index()][register.index()];
        if let Some(register) = action.written_register().filter(is_live) {
            let after = Variable::Register(thread, instruction.target, register);
            let value = match action {
                Action::Assign { value, .. } => self.kind(site, value),
                Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. } => self.kind(site, &Expression::Old),
                _ => Kind::Fixed,
            };
            self.alike(value, self.kind_of(after));
        } else if let Action::Assign { value, .. } = action {
            let _ = self.kind(site, value);
        }
    }

    /// What an instruction stores or compares with memory shifts with the address. What goes nobody
    /// knows where does not shift.
    fn stores(&mut self, site: Site, value: &Expression) {
        let kind = self.kind(site, value);
        if site.loaded.is_none() {
            return self.keep(kind);
        }
        let cell = self.kind(site, &Expression::Old);
        // One of them may have been of the class of the other.
        let kind = if matches!(cell, Kind::Fixed) { self.kind(site, value) } else { kind };
        self.alike(kind, cell);
    }

    /// How an expression's value shifts. What does not shift by one class alone is made fixed.
    fn kind(&mut self, site: Site, expression: &Expression) -> Kind {
        if let Some((operand, bits, signed)) = low_bits(expression, self.program.domain) {
            let kind = self.kind(site, operand);
            return self.low_bits_of(site, kind, bits, signed);
        }
        match expression {
            Expression::Constant(_) | Expression::Address { .. } => Kind::Fixed,
            Expression::Register(register) => self.kind_of(Variable::Register(site.thread, site.label, *register)),
            Expression::Old => site.loaded.map_or(Kind::Fixed, |variable| self.kind_of(variable)),
            Expression::Unary(_, operand) => {
                let operand = self.kind(site, operand);
                self.keep(operand);
                Kind::Fixed
            }
            Expression::Binary(operator, left, right) => {
                if let Some((operand, modulus)) = self.without_low_bits(*operator, left, right)
                    && let kind @ Kind::Shifted(class, Span::Whole) = self.kind(site, operand)
                {
                    self.has_changed |= self.masks.insert((class, modulus));
                    return kind;
                }
                if let Some((operand, modulus)) = self.mask(site, *operator, left, right) {
                    match self.kind(site, operand) {
                        // What is masked must be told.
                        Kind::Shifted(class, span) if span.residues().is_none_or(|all| all % modulus == 0) => {
                            self.has_changed |= self.masks.insert((class, modulus));
                            return Kind::Fixed;
                        }
                        Kind::Difference(_, bits) if (1 << bits) % modulus == 0 => return Kind::Fixed,
                        _ => {}
                    }
                }
                self.binary(site, *operator, left, right)
            }
        }
    }

    /// How the low bits of a value shift.
    fn low_bits_of(&mut self, site: Site, kind: Kind, bits: u8, signed: bool) -> Kind {
        match kind {
            Kind::Fixed => Kind::Fixed,
            Kind::Difference(_, steady) if bits <= steady => Kind::Fixed,
            Kind::Difference(..) => kind,
            Kind::Shifted(class, span) => match span.truncated(bits, signed, self.place(site)) {
                Some(span) => Kind::Shifted(class, span),
                None => {
                    self.fix(kind);
                    Kind::Fixed
                }
            },
        }
    }

    fn place(&self, site: Site) -> Place {
        Place { domain: self.program.domain, is_address: site.is_address }
    }

    fn binary(&mut self, site: Site, operator: BinaryOperator, left: &Expression, right: &Expression) -> Kind {
        use BinaryOperator as Op;
        let wraps = self.program.domain.is_some();
        let (one, other) = (self.kind(site, left), self.kind(site, right));
        // Where nothing wraps, only small numbers are added: counters must not leave 64 bits for
        // that alone.
        let is_small = |number: &Expression| {
            let number = number.is_constant().then(|| number.evaluate(&[], None));
            wraps || number.is_some_and(|number| number.is_ok_and(|number| number.abs() <= 1 << 32))
        };
        match (operator, one, other) {
            (_, Kind::Fixed, Kind::Fixed) => {}
            (Op::Add, Kind::Shifted(class, span), Kind::Fixed) if is_small(right) => {
                return self.moved(site, (class, span), right, 1);
            }
            (Op::Add, Kind::Fixed, Kind::Shifted(class, span)) if is_small(left) => {
                return self.moved(site, (class, span), left, 1);
            }
            (Op::Subtract, Kind::Shifted(class, span), Kind::Fixed) if is_small(right) => {
                return self.moved(site, (class, span), right, -1);
            }
            // Modulo the size of a domain, or what both tell, differences are as they were.
            (Op::Subtract, Kind::Shifted(class, span), Kind::Shifted(second, others))
                if !(wraps && site.is_address) =>
            {
                self.unite(class, second);
                let least = [span, others].into_iter().filter_map(|span| match span {
                    Span::Whole => None,
                    Span::Residue(bits, _) => Some(bits),
                });
                return least.min().map_or(Kind::Fixed, |bits| Kind::Difference(class, bits));
            }
            // So is whether values are equal of which each tells the same of its counter.
            (Op::Equal | Op::NotEqual, Kind::Shifted(class, span), Kind::Shifted(second, others))
                if !(wraps && site.is_address) && span == others && !matches!(span, Span::Residue(_, None)) =>
            {
                self.unite(class, second);
            }
            // In integers so is order.
            (
                Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual,
                Kind::Shifted(class, Span::Whole),
                Kind::Shifted(second, Span::Whole),
            ) if !wraps => self.unite(class, second),
            _ => {
                self.keep(one);
                // The second may have been of the class of the first.
                let other = self.kind(site, right);
                self.keep(other);
            }
        }
        Kind::Fixed
    }

    /// A value of a class, moved by a number so many times; by 0 it stays where it is.
    fn moved(&mut self, site: Site, (class, span): (usize, Span), by: &Expression, times: i128) -> Kind {
        if *by == Expression::Constant(0) {
            return Kind::Shifted(class, span);
        }
        self.has_changed |= self.moved.insert(class);
        let place = self.place(site);
        Kind::Shifted(class, span.added(number(by, place).map(|number| number * times), place))
    }

    /// The operand and the number n when an expression is the next multiple of n below its operand,
    /// in integers.
    fn without_low_bits<'e>(
        &self,
        operator: BinaryOperator,
        left: &'e Expression,
        right: &Expression,
    ) -> Option<(&'e Expression, i128)> {
        if operator != BinaryOperator::BitAnd || !right.is_constant() || self.program.domain.is_some() {
            return None;
        }
        let modulus = -i128::from(right.evaluate(&[], None).ok()?);
        (modulus > 0 && modulus.count_ones() == 1).then_some((left, modulus))
    }

    /// The operand and the number n when an expression depends on its operand modulo n alone.
    fn mask<'e>(
        &self,
        site: Site,
        operator: BinaryOperator,
        left: &'e Expression,
        right: &Expression,
    ) -> Option<(&'e Expression, i128)> {
        use BinaryOperator as Op;
        let Expression::Constant(constant) = *right else { return None };
        let (operand, modulus, is_mask) = match (operator, left, self.program.domain) {
            (Op::BitAnd, _, _) if constant > 0 => {
                let modulus = i128::from(constant) + 1;
                (left, modulus, modulus.count_ones() == 1)
            }
            // The remainder of what is never negative.
            (Op::Remainder, _, Some(domain)) if constant > 0 => {
                let in_domain = !site.is_address || matches!(left, Expression::Register(_));
                (left, i128::from(constant), domain.low == 0 && in_domain)
            }
            // Whether n divides the value, whatever its sign: multiples of n stay such. In a domain
            // n must not be wrapped.
            (Op::Equal | Op::NotEqual, Expression::Binary(Op::Remainder, operand, divisor), domain)
                if constant == 0 =>
            {
                let Expression::Constant(divisor) = **divisor else { return None };
                let is_itself = domain.is_none_or(|domain| domain.contains(divisor));
                (&**operand, i128::from(divisor), divisor > 0 && is_itself)
            }
            _ => return None,
        };
        let divides = |domain: Domain| domain.contains(constant) && size(domain) % modulus == 0;
        (is_mask && self.program.domain.is_none_or(divides)).then_some((operand, modulus))
    }

    /// The classes with an address that move and can be shifted by less than all the way round.
    /// Shifts are told by the first address that tells all of its counter, or by the first one.
    fn solved(self) -> Option<Counters> {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut classes: Vec<(Value, i128)> = Vec::new();
        for (variable, class) in &self.class {
            let Variable::Cell(address) = *variable else { continue };
            if let Some(number) = numbers.get(class) {
                let teller = &mut classes[*number].0;
                if self.spans.at(Variable::Cell(*teller)) != Span::Whole && self.spans.at(*variable) == Span::Whole {
                    *teller = address;
                }
            } else if let Some(grain) = self.grain(*class) {
                numbers.insert(*class, classes.len());
                classes.push((address, grain));
            }
        }
        let member = |variable: &Variable| Some((*numbers.get(self.class.get(variable)?)?, self.spans.at(*variable)));
        let mut members = BTreeMap::new();
        for (variable, own) in self.class.keys().filter_map(|variable| Some((*variable, member(variable)?))) {
            match variable {
                Variable::Cell(least) => {
                    members.extend(self.regions.joined(least).map(|address| (Variable::Cell(address), own)));
                }
                Variable::Register(..) => {
                    members.insert(variable, own);
                }
            }
        }
        let accesses =
            self.regions.accesses().filter_map(|(at, least)| Some((at, member(&Variable::Cell(least))?))).collect_map();
        let ends = vec![None; classes.len()];
        (!classes.is_empty()).then_some(Counters { members, accesses, classes, domain: self.program.domain, ends })
    }

    /// What a class is shifted by multiples of, if it moves and shifts take each of its addresses
    /// to other values, and back where these come around.
    fn grain(&self, class: usize) -> Option<i128> {
        let mut moduli = self.masks.iter().filter(|(own, _)| *own == class).map(|(_, modulus)| *modulus);
        let grain = moduli.try_fold(1, least_common_multiple)?;
        let fits = |size: i128| size % grain == 0 && grain < size;
        let mut cells =
            self.class.iter().filter(|(variable, own)| **own == class && matches!(variable, Variable::Cell(_)));
        let shifts = self.program.domain.map(size).is_none_or(fits)
            && cells.all(|(cell, _)| self.spans.at(*cell).residues().is_none_or(fits));
        (shifts && self.moved.contains(&class)).then_some(grain)
    }
}

/// The least common multiple, if it is small.
fn least_common_multiple(a: i128, b: i128) -> Option<i128> {
    const LARGEST: i128 = 1 << 16;
    (a..=LARGEST).step_by(usize::try_from(a).ok()?).find(|multiple| multiple % b == 0)
}
