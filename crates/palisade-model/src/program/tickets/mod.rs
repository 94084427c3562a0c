//! Tickets: numbers that an address hands out one by one, each to one copy, and that another
//! address serves one by one.
//!
//! A *pair* is a dispenser, which nothing moves but `fetch_add` of one number, and a served
//! address, which nothing moves but the copy whose ticket it shows, to the next ticket. So all
//! tickets differ, and at most one copy's is the one that is served. [`Tickets::of`] finds pairs by
//! following through each thread what registers hold relative to the copy's own ticket
//! ([`meaning`]).
//!
//! The *erased* program does not know tickets. A copy has a *turn* instead, a register that is 1
//! once the copy has seen its ticket served, and 0 from then on when it serves the next one. At
//! most one copy has its turn: who sees its ticket served *takes* the turn, and cannot while
//! another copy has it. The served address keeps whether it is taken. THEORY.md ("Tickets") says
//! why the erased program does what the program does.

mod erasure;
mod meaning;

use super::{Action, Copies, InstructionId, Program, RegisterId, ThreadId, Value};
use crate::ordered::CollectOrdered;
use meaning::Meanings;
use std::collections::{BTreeMap, BTreeSet};

/// A dispenser of tickets with the address that shows which one is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TicketPair {
    /// Tickets are drawn from this address by `fetch_add`.
    pub dispenser: Value,
    /// The ticket at this address is served.
    pub served: Value,
    /// What each draw adds, and each service.
    pub step: Value,
}

/// A program without tickets, in which copies have turns.
#[derive(Clone, Debug)]
pub struct Tickets {
    /// The pairs, by dispenser.
    pub pairs: Vec<TicketPair>,
    /// The program with its tickets erased: the same threads, labels and instructions, for each
    /// pair one more register in each thread, and any number of copies where there are several.
    pub erased: Program,
    /// For each thread, the first of the registers that say whether a copy has its turn, one for
    /// each pair.
    pub turns: Vec<RegisterId>,
    /// The stores that serve the next ticket, with the number of their pair.
    pub services: BTreeMap<(ThreadId, InstructionId), usize>,
}

impl Tickets {
    /// A program's tickets; nothing where it has none.
    pub fn of(program: &Program) -> Option<Self> {
        if program.threads.iter().any(|thread| thread.role != super::Role::Thread) {
            return None;
        }
        let dispensers = dispensers(program);
        if dispensers.is_empty() {
            return None;
        }
        let mut pairs: Vec<TicketPair> = Vec::new();
        for (dispenser, step) in dispensers {
            for served in stored(program) {
                let pair = TicketPair { dispenser, served, step };
                let is_new = pairs.iter().all(|own| own.dispenser != dispenser && own.served != served);
                if is_new && is_wide_enough(program, pair) && Meanings::of(program, &[pair]).is_some() {
                    pairs.push(pair);
                }
            }
        }
        if pairs.is_empty() {
            return None;
        }
        let meanings = Meanings::of(program, &pairs)?;
        Some(erasure::erased(program, pairs, &meanings))
    }

    /// The register that says whether a copy has its turn of a pair.
    #[inline]
    pub fn turn(&self, thread: ThreadId, pair: usize) -> RegisterId {
        RegisterId::from_index(self.turns[thread.index()].index() + pair)
    }
}

/// Whether all tickets that copies hold at a time differ, and are seen to differ. In a domain that
/// wraps these are consecutive, and so few as there are copies.
fn is_wide_enough(program: &Program, pair: TicketPair) -> bool {
    let Some(domain) = program.domain else { return true };
    let step = i128::from(pair.step).unsigned_abs();
    let different = domain.size() / gcd(domain.size(), step);
    let copies = program.threads.iter().try_fold(0_u128, |sum, thread| match thread.copies {
        Copies::Exactly(copies) => Some(sum + u128::from(copies)),
        Copies::Any => None,
    });
    domain.wrap
        && domain.contains(0)
        && domain.contains(1)
        && program.initial_value(pair.dispenser) == program.initial_value(pair.served)
        && copies.is_some_and(|copies| copies <= different)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The address that an action accesses, where a constant names it.
fn named(action: &Action) -> Option<Value> {
    action.address().filter(|address| address.is_constant())?.evaluate_address(&[]).ok()
}

fn actions(program: &Program) -> impl Iterator<Item = &Action> {
    program.threads.iter().flat_map(|thread| &thread.instructions).map(|instruction| &instruction.action)
}

/// The addresses that nothing moves but additions of one number, with that number, and from which
/// some copy keeps what it draws.
fn dispensers(program: &Program) -> BTreeMap<Value, Value> {
    let mut steps: BTreeMap<Value, Option<Value>> = BTreeMap::new();
    for action in actions(program) {
        let Some(address) = named(action) else { continue };
        match action {
            Action::Load { .. } => {}
            Action::Rmw { .. } => {
                let step = action.addition().map(|(_, step)| step);
                steps.entry(address).and_modify(|own| *own = own.filter(|own| Some(*own) == step)).or_insert(step);
            }
            _ => {
                steps.insert(address, None);
            }
        }
    }
    // What comes after a store or another move does not make up for it.
    let moved: BTreeSet<Value> = actions(program)
        .filter(|action| matches!(action, Action::Store { .. } | Action::Cas { .. }))
        .filter_map(named)
        .collect_set();
    let kept: BTreeSet<Value> = actions(program)
        .filter(|action| matches!(action, Action::Rmw { register: Some(_), .. }))
        .filter_map(named)
        .collect_set();
    let dispenses = |address: &Value| kept.contains(address) && !moved.contains(address);
    steps.into_iter().filter(|(address, _)| dispenses(address)).filter_map(|(a, step)| Some((a, step?))).collect_map()
}

/// The addresses that stores write.
fn stored(program: &Program) -> BTreeSet<Value> {
    actions(program).filter(|action| matches!(action, Action::Store { .. })).filter_map(named).collect_set()
}
