//! Counters, as the checker finds them: classes of addresses and live registers to which one number can be added without any step
//! of the program noticing.
//!
//! The checker says which variables *shift* by reading each instruction as an equation: if the members of every class are shifted, by a multiple of the
//! class's grain, then what the instruction computes, compares and writes is what it was, shifted. A variable that an
//! equation does not hold for is *fixed*. Equations are gone through until no variable becomes fixed and no two classes become one.

use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::Live;
use palisade_model::program::{
    Action, BinaryOperator, Domain, Expression, InstructionId, LabelId, Program, RegisterId, Role, ThreadId, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// What can be shifted: a register at a label, or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    Cell(Value),
    Register(ThreadId, LabelId, RegisterId),
}

/// The classes of a program.
#[derive(Debug)]
pub(super) struct Counters {
    /// The class of each variable that shifts.
    pub(super) members: BTreeMap<Variable, usize>,
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
    /// It is shifted with a class.
    Shifted(usize),
}

/// Equations in progress.
struct Equations<'p> {
    program: &'p Program,
    live: &'p Live,
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
    /// The address whose value the instruction loads, where that is a constant.
    loaded: Option<Value>,
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

    /// A member's value, shifted.
    pub(super) fn shifted(&self, value: Value, by: i128) -> Result<Value, CheckFailure> {
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
        self.members.get(&Variable::Cell(address)).copied()
    }

    /// Whether an address belongs to a class.
    pub(super) fn has(&self, address: Value) -> bool {
        self.cell(address).is_some()
    }
}

impl<'p> Equations<'p> {
    fn new(program: &'p Program, live: &'p Live) -> Self {
        let mut variables: Vec<Variable> = Vec::new();
        for (id, thread) in program.thread_ids() {
            for instruction in &thread.instructions {
                let address = instruction.action.address().filter(|address| address.is_constant());
                variables.extend(address.and_then(|own| own.evaluate_address(&[]).ok()).map(Variable::Cell));
            }
            for label in (0..thread.labels.len()).map(LabelId::from_index) {
                let registers = (0..thread.registers.len()).map(RegisterId::from_index);
                let is_live = |register: &RegisterId| live[id.index()][label.index()][register.index()];
                variables.extend(registers.filter(is_live).map(|register| Variable::Register(id, label, register)));
            }
        }
        let variables: BTreeSet<Variable> = variables.into_iter().collect();
        let class = variables.into_iter().zip(0..).collect();
        let mut equations =
            Self { program, live, class, masks: BTreeSet::new(), moved: BTreeSet::new(), has_changed: true };
        equations.fix_what_starts_outside();
        equations
    }

    /// Values outside of a domain cannot be shifted in it.
    fn fix_what_starts_outside(&mut self) {
        let Some(domain) = self.program.domain else { return };
        let mut outside = Vec::new();
        for variable in self.class.keys() {
            let value = match variable {
                Variable::Cell(address) => self.program.initial_value(*address),
                Variable::Register(thread, label, register) => {
                    let thread = self.program.thread(*thread);
                    if *label == thread.initial { thread.registers[register.index()].initial } else { 0 }
                }
            };
            if !domain.contains(value) {
                outside.push(*variable);
            }
        }
        outside.into_iter().for_each(|variable| self.fix(self.kind_of(variable)));
    }

    fn kind_of(&self, variable: Variable) -> Kind {
        self.class.get(&variable).map_or(Kind::Fixed, |class| Kind::Shifted(*class))
    }

    /// A value must not shift.
    fn fix(&mut self, kind: Kind) {
        if let Kind::Shifted(class) = kind {
            self.class.retain(|_, own| *own != class);
            self.has_changed = true;
        }
    }

    /// Two values must shift alike.
    fn alike(&mut self, one: Kind, other: Kind) {
        match (one, other) {
            (Kind::Fixed, Kind::Fixed) => {}
            (Kind::Shifted(one), Kind::Shifted(other)) if one == other => {}
            (Kind::Shifted(one), Kind::Shifted(other)) => {
                self.class.values_mut().filter(|class| **class == other).for_each(|class| *class = one);
                let masks = std::mem::take(&mut self.masks).into_iter();
                self.masks = masks.map(|(class, n)| (if class == other { one } else { class }, n)).collect();
                if self.moved.remove(&other) {
                    self.moved.insert(one);
                }
                self.has_changed = true;
            }
            (fixed, Kind::Fixed) | (Kind::Fixed, fixed) => self.fix(fixed),
        }
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
        if let Some(address) = action.address() {
            if address.is_constant() {
                site.loaded = address.evaluate_address(&[]).ok();
            } else {
                let kind = self.kind(Site { is_address: true, ..site }, address);
                self.fix(kind);
            }
        }
        for register in (0..template.registers.len()).map(RegisterId::from_index) {
            if self.live[thread.index()][instruction.target.index()][register.index()]
                && action.written_register() != Some(register)
            {
                let before = self.kind_of(Variable::Register(thread, instruction.source, register));
                let after = self.kind_of(Variable::Register(thread, instruction.target, register));
                self.alike(before, after);
            }
        }
        match action {
            Action::Assume(condition) => {
                let kind = self.kind(site, condition);
                self.fix(kind);
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

    /// What an instruction stores or compares with memory shifts with the address.
    fn stores(&mut self, site: Site, value: &Expression) {
        let kind = self.kind(site, value);
        let cell = self.kind(site, &Expression::Old);
        self.alike(kind, cell);
    }

    /// How an expression's value shifts. What does not shift by one class alone is made fixed.
    fn kind(&mut self, site: Site, expression: &Expression) -> Kind {
        match expression {
            Expression::Constant(_) | Expression::Address { .. } => Kind::Fixed,
            Expression::Register(register) => self.kind_of(Variable::Register(site.thread, site.label, *register)),
            Expression::Old => site.loaded.map_or(Kind::Fixed, |address| self.kind_of(Variable::Cell(address))),
            Expression::Unary(_, operand) => {
                let operand = self.kind(site, operand);
                self.fix(operand);
                Kind::Fixed
            }
            Expression::Binary(operator, left, right) => {
                if let Some((operand, modulus)) = self.mask(site, *operator, left, right)
                    && let Kind::Shifted(class) = self.kind(site, operand)
                {
                    self.has_changed |= self.masks.insert((class, modulus));
                    return Kind::Fixed;
                }
                self.binary(site, *operator, left, right)
            }
        }
    }

    fn binary(&mut self, site: Site, operator: BinaryOperator, left: &Expression, right: &Expression) -> Kind {
        use BinaryOperator as Op;
        let wraps = self.program.domain.is_some();
        let (one, other) = (self.kind(site, left), self.kind(site, right));
        // Where nothing wraps, only small numbers are added: counters must not leave 64 bits for that alone.
        let is_small = |number: &Expression| {
            let number = number.is_constant().then(|| number.evaluate(&[], None));
            wraps || number.is_some_and(|number| number.is_ok_and(|number| number.abs() <= 1 << 32))
        };
        match (operator, one, other) {
            (_, Kind::Fixed, Kind::Fixed) => return Kind::Fixed,
            (Op::Add | Op::Subtract, Kind::Shifted(class), Kind::Fixed) if is_small(right) => {
                return self.moved(class, right);
            }
            (Op::Add, Kind::Fixed, Kind::Shifted(class)) if is_small(left) => return self.moved(class, left),
            // Modulo the size of a domain differences and equality are as they were; in integers so is order.
            (Op::Subtract | Op::Equal | Op::NotEqual, Kind::Shifted(_), Kind::Shifted(_))
                if !(wraps && site.is_address) =>
            {
                self.alike(one, other);
            }
            (Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, Kind::Shifted(_), Kind::Shifted(_))
                if !wraps =>
            {
                self.alike(one, other);
            }
            _ => {
                self.fix(one);
                // The second may have been of the class of the first.
                let other = self.kind(site, right);
                self.fix(other);
            }
        }
        Kind::Fixed
    }

    /// A value of a class, moved by a number; by 0 it stays where it is.
    fn moved(&mut self, class: usize, number: &Expression) -> Kind {
        if *number != Expression::Constant(0) {
            self.has_changed |= self.moved.insert(class);
        }
        Kind::Shifted(class)
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
            // Whether n divides the value, whatever its sign: multiples of n stay such. In a domain n must not be wrapped.
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
    fn solved(self) -> Option<Counters> {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut classes: Vec<(Value, i128)> = Vec::new();
        for (variable, class) in &self.class {
            let Variable::Cell(address) = *variable else { continue };
            let mut moduli = self.masks.iter().filter(|(own, _)| own == class).map(|(_, modulus)| *modulus);
            let Some(grain) = moduli.try_fold(1, least_common_multiple) else {
                continue;
            };
            let fits = self.program.domain.map(size);
            let turns = self.moved.contains(class) && fits.is_none_or(|size| size % grain == 0 && grain < size);
            if turns && !numbers.contains_key(class) {
                numbers.insert(*class, classes.len());
                classes.push((address, grain));
            }
        }
        let members = self.class.iter().filter_map(|(variable, class)| Some((*variable, *numbers.get(class)?)));
        let members = members.collect();
        let ends = vec![None; classes.len()];
        (!classes.is_empty()).then_some(Counters { members, classes, domain: self.program.domain, ends })
    }
}

/// The number of values of a domain with counters, at most 2⁶².
pub(super) fn size(domain: Domain) -> i128 {
    i128::try_from(domain.size()).expect("a domain of 64-bit values has at most 2⁶⁴ values")
}

/// The least common multiple, if it is small.
fn least_common_multiple(a: i128, b: i128) -> Option<i128> {
    const LARGEST: i128 = 1 << 16;
    (a..=LARGEST).step_by(usize::try_from(a).ok()?).find(|multiple| multiple % b == 0)
}
