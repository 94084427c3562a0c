//! Loads that are hints: whatever they find is checked later, so that any value will do that their
//! cells may hold.
//!
//! Each such load becomes a choice of one of these values. They are found by executions, and
//! nothing rests on these: what is stored to such a cell is divided by whether it is one of the
//! values, so that any other one is an error, which the search under SC reports.
//!
//! Every execution of the code under TSO is one of the code so weakened. By induction: the first
//! load of a hint that finds a value out of the set finds one that a store before it has written,
//! in an execution of the weakened code; if that is robust, some interleaving of it writes the same
//! value, which is an error. So if it is robust and without errors, what the code does under TSO
//! the weakened code does under SC.

use super::discover::{self, Access, Initial};
use super::refusal::Objection;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Instruction, Span, Thread, Value};
use std::collections::{BTreeMap, BTreeSet};

/// More values than this multiply states beyond use.
const MOST_VALUES: usize = 64;

/// The cells that an instruction of a thread may access.
type Addresses<'a> = dyn Fn(usize, &Instruction) -> Vec<u64> + 'a;

/// The values that cells of hints take.
type Values = BTreeMap<u64, BTreeSet<Value>>;

/// Why a load is refused as a hint: the thread, the place.
type Refused = (usize, Span, Objection);

/// Memory as it is at first.
struct Cells(BTreeMap<u64, Value>);

impl Initial for Cells {
    fn value(&self, _: usize, _: Span, address: u64) -> Option<Value> {
        self.0.get(&address).copied()
    }
}

/// Weakens the loads of the threads that stand at these places.
pub(super) fn weaken(
    threads: &mut [&mut Thread],
    copies: &[u64],
    cells: &[(u64, u8, Value)],
    hints: &[BTreeSet<usize>],
    addresses: &Addresses<'_>,
) -> Result<(), Refused> {
    let initial = Cells(cells.iter().map(|(address, _, value)| (*address, *value)).collect());
    let is_hint = |thread: usize, own: &Instruction| {
        matches!(own.action, Action::Load { .. }) && hints[thread].contains(&own.span.start)
    };
    let mut first: BTreeMap<u64, (usize, Span)> = BTreeMap::new();
    for (index, thread) in threads.iter().enumerate() {
        for own in thread.instructions.iter().filter(|own| is_hint(index, own)) {
            for address in addresses(index, own) {
                first.entry(address).or_insert((index, own.span));
            }
        }
    }
    let mut values: Values = first.keys().map(|at| (*at, initial.0.get(at).copied().into_iter().collect())).collect();
    let chosen = |threads: &[&mut Thread], values: &Values| -> Vec<Thread> {
        let of_thread = |(index, thread): (usize, &&mut Thread)| {
            let is_hint = |own: &Instruction| is_hint(index, own);
            with_choices(thread, &is_hint, &|own| addresses(index, own), values)
        };
        threads.iter().enumerate().map(of_thread).collect()
    };
    loop {
        let before: usize = values.values().map(BTreeSet::len).sum();
        let counted: Vec<(Thread, u64)> = chosen(threads, &values).into_iter().zip(copies.iter().copied()).collect();
        let mut visit = |access: Access| {
            if let (Some(written), Some(known)) = (access.written, values.get_mut(&access.address))
                && known.len() <= MOST_VALUES
            {
                known.insert(written);
            }
        };
        discover::run(&counted, &initial, &mut visit);
        discover::explore(&counted, &initial, &mut visit);
        if let Some((address, _)) = values.iter().find(|(_, known)| known.len() > MOST_VALUES) {
            let (thread, span) = first[address];
            let objection = Objection::new(format!("this hint has more than {MOST_VALUES} values to choose from"))
                .with_help("hints are for cells that take few values; `narrow` counts in fewer bits");
            return Err((thread, span, objection));
        }
        if values.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let weakened = chosen(threads, &values);
    for (index, (thread, with_choices)) in threads.iter_mut().zip(weakened).enumerate() {
        **thread = with_choices;
        for own in &mut thread.instructions {
            let hinted: Vec<u64> = addresses(index, own).into_iter().filter(|at| values.contains_key(at)).collect();
            hold(&mut own.action, &hinted, &values);
        }
    }
    Ok(())
}

/// The thread with a choice of values in place of each hint.
fn with_choices(
    thread: &Thread,
    is_hint: &dyn Fn(&Instruction) -> bool,
    addresses: &dyn Fn(&Instruction) -> Vec<u64>,
    values: &Values,
) -> Thread {
    let choices = |own: &Instruction| -> Vec<Instruction> {
        let Action::Load { register, .. } = own.action else { return vec![own.clone()] };
        if !is_hint(own) {
            return vec![own.clone()];
        }
        let all: BTreeSet<Value> = addresses(own).iter().filter_map(|at| values.get(at)).flatten().copied().collect();
        let choice = |value: Value| Instruction {
            action: Action::Assign { register, value: Expression::Constant(value) },
            ..own.clone()
        };
        all.into_iter().map(choice).collect()
    };
    Thread { instructions: thread.instructions.iter().flat_map(choices).collect(), ..thread.clone() }
}

/// Holds what an action stores to cells of hints to their values.
fn hold(action: &mut Action, hinted: &[u64], values: &Values) {
    let (address, stored) = match action {
        Action::Store { address, value } => (address, value),
        Action::Cas { address, new, .. } | Action::Rmw { address, new, .. } => (address, new),
        _ => return,
    };
    for at in hinted {
        let is_other = Expression::binary(Op::NotEqual, address.clone(), Expression::Constant(at.cast_signed()));
        let is_known = |value: &Value| Expression::binary(Op::Equal, stored.clone(), Expression::Constant(*value));
        let known = values[at].iter().map(is_known);
        let valid = known.fold(is_other, |valid, known| Expression::binary(Op::Or, valid, known));
        let check = Expression::binary(Op::Divide, Expression::Constant(0), valid);
        *stored = Expression::binary(Op::Add, stored.clone(), check);
    }
}
