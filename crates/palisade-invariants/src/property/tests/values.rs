//! Values that are closed under every instruction contain what the oracle sees; and what an
//! expression can come to, by intervals and one by one.

use super::super::ranges::{Purpose, Range, Values};
use super::super::values::check_values;
use super::*;
use palisade_evidence::{AddressInterval, Interval, ValueInvariant};
use palisade_model::program::BinaryOperator as Op;
use palisade_model::program::UnaryOperator;
use std::collections::BTreeMap;

/// Values of registers by thread, and of addresses.
#[derive(Clone, Default, PartialEq)]
struct Sets {
    registers: Vec<Vec<BTreeSet<Value>>>,
    memory: BTreeMap<Value, BTreeSet<Value>>,
}

impl Sets {
    fn at(&self, program: &Program, address: Value) -> BTreeSet<Value> {
        self.memory.get(&address).cloned().unwrap_or_else(|| BTreeSet::from([program.initial_value(address)]))
    }

    fn put(&mut self, program: &Program, address: Value, value: Value) {
        let initial = program.initial_value(address);
        self.memory.entry(address).or_insert_with(|| BTreeSet::from([initial])).insert(value);
    }

    fn size(&self) -> usize {
        self.registers.iter().flatten().map(BTreeSet::len).sum::<usize>()
            + self.memory.values().map(BTreeSet::len).sum::<usize>()
    }

    fn invariant(&self) -> ValueInvariant {
        let of = |set: &BTreeSet<Value>| {
            let points: Vec<(i128, i128)> = set.iter().map(|own| (i128::from(*own), i128::from(*own))).collect();
            let value = |value: i128| Value::try_from(value).expect("a value");
            Range::of(points)
                .intervals()
                .iter()
                .map(|(low, high)| Interval { low: value(*low), high: value(*high) })
                .collect::<Vec<_>>()
        };
        let at = |(address, set): (&Value, &BTreeSet<Value>)| AddressInterval {
            addresses: Interval { low: *address, high: *address },
            values: of(set),
        };
        ValueInvariant {
            registers: self.registers.iter().map(|thread| thread.iter().map(of).collect()).collect(),
            memory: self.memory.iter().map(at).collect(),
        }
    }
}

/// The least sets that contain the initial values and are closed; nothing when they grow.
fn closed(program: &Program) -> Option<Sets> {
    let mut sets = Sets {
        registers: program
            .threads
            .iter()
            .map(|thread| thread.registers.iter().map(|register| BTreeSet::from([register.initial])).collect())
            .collect(),
        memory: BTreeMap::new(),
    };
    loop {
        let before = sets.clone();
        for (id, thread) in program.thread_ids() {
            let id = id.index();
            let choices: Vec<[Value; 2]> = before.registers[id][0]
                .iter()
                .flat_map(|one| before.registers[id][1].iter().map(move |other| [*one, *other]))
                .collect();
            for own in &thread.instructions {
                // Addresses and values each by themselves, as the checker takes them.
                let all = |value: &dyn Fn(&[Value; 2]) -> Option<Value>| -> BTreeSet<Value> {
                    choices.iter().filter_map(value).collect()
                };
                let address = own.action.address();
                let addresses = address.map(|own| all(&|registers| own.evaluate_address(registers).ok()));
                let addresses = addresses.unwrap_or_default();
                let loaded: BTreeSet<Value> =
                    addresses.iter().flat_map(|address| before.at(program, *address)).collect();
                let data = |own: &Expression, old: Value| {
                    all(&|registers| own.evaluate_with_old(registers, old, program.domain).ok())
                };
                let (stored, assigned) = match &own.action {
                    Action::Load { .. } => (BTreeSet::new(), loaded),
                    Action::Store { value, .. } => (data(value, 0), BTreeSet::new()),
                    Action::Cas { new, .. } => (data(new, 0), loaded),
                    Action::Rmw { new, .. } => (loaded.iter().flat_map(|old| data(new, *old)).collect(), loaded),
                    Action::Assign { value, .. } => (BTreeSet::new(), data(value, 0)),
                    Action::Havoc { .. } => (BTreeSet::new(), program.domain?.values().collect()),
                    _ => continue,
                };
                for address in addresses {
                    stored.iter().for_each(|value| sets.put(program, address, *value));
                }
                if let Some(register) = own.action.written_register() {
                    sets.registers[id][register.index()].extend(assigned);
                }
            }
        }
        if sets == before {
            return Some(sets);
        }
        if sets.size() > 60 {
            return None;
        }
    }
}

#[test]
fn closed_values_contain_what_is_reached() {
    let (mut accepted, mut smaller, mut shown) = (0, 0, 0);
    for seed in seeds(300) {
        let program = with_properties(seed, true);
        let Some((states, violated)) = all_states(&program, Model::Pso) else { continue };
        let Some(sets) = closed(&program) else { continue };
        let mut random = Randomness::new(seed);
        let mut less = sets.clone();
        let thread = random.below(less.registers.len());
        let register = &mut less.registers[thread][random.below(2)];
        if register.len() > 1 {
            let last = *register.last().expect("there are two");
            register.remove(&last);
        }
        for (sets, is_least) in [(&sets, true), (&less, false)] {
            let checked = check_values(&program, &sets.invariant());
            if is_least {
                assert!(checked.is_ok(), "seed {seed}: {:?}\n{program:?}", checked.err());
            }
            let Ok(bounds) = checked else {
                smaller += 1;
                continue;
            };
            accepted += 1;
            let copies: Vec<usize> =
                Instance::of(&program).expect("fixed").copies().map(|own| own.thread.index()).collect();
            for state in states.iter().collect::<std::collections::BTreeSet<_>>() {
                for (address, value) in state.nonzero_memory() {
                    assert!(sets.at(&program, *address).contains(value), "seed {seed}\n{program:?}");
                }
                for (own, thread) in state.threads().iter().zip(&copies) {
                    for (value, set) in own.registers.iter().zip(&sets.registers[*thread]) {
                        assert!(set.contains(value), "seed {seed}\n{program:?}");
                    }
                }
            }
            for target in all_targets(&program) {
                let Target::Instruction { thread, instruction } = target else { continue };
                if let Action::Ensure(condition) = &program.thread(thread).instruction(instruction).action
                    && !bounds.can_be_false(&program, thread, condition)
                {
                    assert!(!violated.contains(&target), "seed {seed}: {target:?}\n{program:?}");
                    shown += 1;
                }
            }
        }
    }
    assert!(accepted > 50 && smaller > 20 && shown > 20, "{accepted} {smaller} {shown}");
}

/// A random expression over two registers and the old value.
fn expression(random: &mut Randomness, depth: usize) -> Expression {
    if depth == 0 || random.percent(25) {
        return match random.below(4) {
            0 => Expression::Constant([-3, 0, 1, 2, 7][random.below(5)]),
            1 => Expression::Old,
            _ => Expression::Register(RegisterId::from_index(random.below(2))),
        };
    }
    if random.percent(20) {
        let operator = [
            UnaryOperator::Not,
            UnaryOperator::Negate,
            UnaryOperator::Complement,
            UnaryOperator::Truncate { bits: 8, signed: true },
            UnaryOperator::Truncate { bits: 3, signed: false },
        ][random.below(5)];
        return Expression::unary(operator, expression(random, depth - 1));
    }
    let operator = Op::ALL[random.below(Op::ALL.len())];
    Expression::binary(operator, expression(random, depth - 1), expression(random, depth - 1))
}

/// Sets with so many values that bounds are computed contain the value of every choice.
#[test]
fn bounds_of_expressions_contain_their_values() {
    use palisade_model::program::{Domain, DomainOrigin};
    let mut inside = 0;
    for seed in seeds(1500) {
        let mut random = Randomness::new(seed);
        let low = -i128::try_from(random.below(40)).expect("small");
        let wide = Range::of(vec![(low, low + 150 + i128::try_from(random.below(300)).expect("small"))]);
        let domain = Domain { low: -20, high: 50, wrap: random.percent(50), origin: DomainOrigin::File };
        let domain = random.percent(50).then_some(domain);
        let wide = if domain.is_some() { Range::of(vec![(-20, 50)]) } else { wide };
        let registers = [wide.clone(), wide.clone()];
        let values = Values { registers: &registers, old: &wide, domain };
        let expression = expression(&mut random, 3);
        for purpose in [Purpose::Data, Purpose::Address, Purpose::Condition] {
            let all = values.of(&expression, purpose);
            for _ in 0..40 {
                let (low, high) = wide.intervals()[0];
                let width = usize::try_from(high - low + 1).expect("small");
                let mut any =
                    || Value::try_from(low).expect("small") + Value::try_from(random.below(width)).expect("small");
                let (chosen, old) = ([any(), any()], any());
                let value = match purpose {
                    Purpose::Data => expression.evaluate_with_old(&chosen, old, domain),
                    // Only locked instructions read the old value, and not in addresses or
                    // conditions.
                    Purpose::Address if !format!("{expression:?}").contains("Old") => {
                        expression.evaluate_address(&chosen)
                    }
                    Purpose::Condition if !format!("{expression:?}").contains("Old") => {
                        expression.holds(&chosen, domain).map(Value::from)
                    }
                    _ => continue,
                };
                if let Ok(value) = value {
                    assert!(
                        all.contains(i128::from(value)),
                        "{value} of {expression:?} at {chosen:?}, {old} not in {all:?}"
                    );
                    inside += 1;
                }
            }
        }
    }
    assert!(inside > 40_000, "{inside}");
}
