//! Runs of the roles that find out which cells computed addresses are of.
//!
//! A few interleavings of one or two copies of each role are run, chosen by a fixed sequence of random numbers. What they
//! miss is not lost: an address that no run has shown is an error where the search comes to it.

use palisade_model::program::{Action, Expression, LabelId, Span, Thread, Value};
use std::collections::HashMap;

/// An access of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The thread.
    pub(crate) thread: usize,
    /// The span of its instruction.
    pub(crate) span: Span,
    /// The address.
    pub(crate) address: u64,
}

/// What memory holds at first.
pub(crate) trait Initial {
    /// The value at an address for an instruction of a thread; nothing where it may not access it.
    fn value(&self, thread: usize, span: Span, address: u64) -> Option<Value>;
}

/// How many runs there are.
const RUNS: u64 = 36;
/// How many steps a copy takes in a row at most, run by run: in long rows, copies come to their ends one after the other.
const ROWS: [usize; 3] = [12, 150, 2000];
/// How many steps each of them has at most.
const STEPS: usize = 30_000;
/// How many copies of a role run at most.
const COPIES: u64 = 3;

/// A copy on its way.
struct Copy {
    thread: usize,
    label: LabelId,
    registers: Vec<Value>,
}

/// Runs the threads; calls `visit` with each access, which says whether to go on.
pub(crate) fn run(threads: &[(Thread, u64)], initial: &impl Initial, visit: &mut impl FnMut(Access) -> bool) -> bool {
    let by_label: Vec<_> = threads.iter().map(|(thread, _)| thread.instructions_by_label()).collect();
    for number in 0..RUNS {
        let mut random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % below.max(1) as u64).expect("less than a usize")
        };
        let row = ROWS[usize::try_from(number % 3).expect("less than 3")];
        let mut memory: HashMap<u64, Value> = HashMap::new();
        let mut copies: Vec<Copy> = threads
            .iter()
            .enumerate()
            .flat_map(|(index, (thread, count))| {
                let wanted = (*count).min(COPIES.min(number + 1));
                (0..wanted).map(move |_| Copy {
                    thread: index,
                    label: thread.initial,
                    registers: thread.initial_registers(),
                })
            })
            .collect();
        let mut steps = 0;
        while steps < STEPS && !copies.is_empty() {
            let chosen = next(copies.len());
            for _ in 0..=next(row) {
                steps += 1;
                let copy = &mut copies[chosen];
                let thread = &threads[copy.thread].0;
                let open: Vec<_> = by_label[copy.thread][copy.label.index()]
                    .iter()
                    .map(|id| thread.instruction(*id))
                    .filter(|it| match &it.action {
                        Action::Assume(condition) => condition.holds(&copy.registers, None).unwrap_or(false),
                        _ => true,
                    })
                    .collect();
                if open.is_empty() {
                    copies.swap_remove(chosen);
                    break;
                }
                let instruction = open[next(open.len())];
                let address = match instruction.action.address().map(|it| it.evaluate_address(&copy.registers)) {
                    None => None,
                    Some(Ok(address)) => Some(address.cast_unsigned()),
                    Some(Err(_)) => {
                        copies.swap_remove(chosen);
                        break;
                    }
                };
                let mut old = 0;
                if let Some(address) = address {
                    let access = Access { thread: copy.thread, span: instruction.span, address };
                    if !visit(access) {
                        return false;
                    }
                    let Some(value) =
                        memory.get(&address).copied().or_else(|| initial.value(copy.thread, instruction.span, address))
                    else {
                        copies.swap_remove(chosen);
                        break;
                    };
                    old = value;
                }
                if step(copy, &instruction.action, address, old, &mut memory).is_none() {
                    copies.swap_remove(chosen);
                    break;
                }
                copies[chosen].label = instruction.target;
            }
        }
    }
    true
}

/// Takes a step; nothing where it has no value, or is the last one.
fn step(
    copy: &mut Copy,
    action: &Action,
    address: Option<u64>,
    old: Value,
    memory: &mut HashMap<u64, Value>,
) -> Option<()> {
    let value = |expression: &Expression, registers: &[Value]| expression.evaluate_with_old(registers, old, None).ok();
    let address = address.unwrap_or_default();
    match action {
        Action::Load { register, .. } => copy.registers[register.index()] = old,
        Action::Store { value: stored, .. } => {
            memory.insert(address, value(stored, &copy.registers)?);
        }
        Action::Assign { register, value: assigned } => {
            copy.registers[register.index()] = value(assigned, &copy.registers)?;
        }
        Action::Cas { register, expected, new, .. } => {
            let (expected, new) = (value(expected, &copy.registers)?, value(new, &copy.registers)?);
            if old == expected {
                memory.insert(address, new);
            }
            if let Some(register) = register {
                copy.registers[register.index()] = old;
            }
        }
        Action::Rmw { register, new, .. } => {
            memory.insert(address, value(new, &copy.registers)?);
            if let Some(register) = register {
                copy.registers[register.index()] = old;
            }
        }
        Action::Fail => return None,
        _ => {}
    }
    Some(())
}
