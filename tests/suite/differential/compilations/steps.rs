//! What compilers do to a thread: each step is one that its accesses' orderings allow.

use super::super::dice::Dice;
use super::source::{ATOMICS, Access, DATA, Item, Kind, Order, Source, Value};

/// A program after so many random steps, as far as they apply.
pub(super) fn compiled(source: &Source, dice: &mut Dice, steps: u64) -> Source {
    let mut compiled = source.clone();
    let mut registers = 0;
    for _ in 0..steps {
        let thread = dice.place(compiled.threads.len());
        step(&mut compiled.threads[thread], dice, &mut registers);
    }
    compiled
}

/// One step somewhere in a block, or in one inside of it.
fn step(block: &mut Vec<Item>, dice: &mut Dice, registers: &mut usize) {
    let inner: Vec<usize> = (0..block.len()).filter(|at| matches!(block[*at], Item::If(..))).collect();
    if !inner.is_empty() && dice.below(2) == 0 {
        if let Item::If(_, _, inside) = &mut block[inner[dice.place(inner.len())]] {
            step(inside, dice, registers);
        }
        return;
    }
    let at = dice.place(block.len() + 1);
    match dice.below(8) {
        0..3 if at + 1 < block.len() && may_be_exchanged(&block[at], &block[at + 1]) => block.swap(at, at + 1),
        3 if at + 1 < block.len() => {
            if let Some(merged) = merged(&block[at], &block[at + 1]) {
                block.splice(at..at + 2, merged);
            }
        }
        4 if at < block.len() => vanish(block, at, dice),
        // A load that nobody asked for, of data or even of an atomic's memory.
        5 => {
            let all = [ATOMICS.as_slice(), &DATA].concat();
            let address = all[dice.place(all.len())];
            block.insert(at, Item::Access(Access { kind: Kind::Load(fresh(registers)), address, order: Order::Plain }));
        }
        6 if at < block.len() => hoist(block, at, registers),
        // A plain store once more.
        7 if at < block.len() => {
            if let Item::Access(Access { kind: Kind::Store(_), order: Order::Plain, .. }) = &block[at] {
                block.insert(at, block[at].clone());
            }
        }
        _ => {}
    }
}

/// A register that the source has not.
fn fresh(registers: &mut usize) -> String {
    *registers += 1;
    format!("t{registers}")
}

/// (R): neighbours of different addresses, unless the first acquires, or the second releases, or
/// one is a fence; and sequentially consistent ones stay in order.
fn may_be_exchanged(first: &Item, second: &Item) -> bool {
    if do_depend(first, second) {
        return false;
    }
    match (first, second) {
        (Item::Access(first), Item::Access(second)) => {
            let is_fence = [first, second].iter().any(|own| own.kind == Kind::Fence);
            let are_strong = first.order == Order::SeqCst && second.order == Order::SeqCst;
            first.address != second.address && !first.acquires() && !second.releases() && !is_fence && !are_strong
        }
        (Item::Vanished(order, address), Item::Access(own)) => {
            own.kind != Kind::Fence && own.address != *address && !order.acquires() && !own.releases()
        }
        (Item::Access(own), Item::Vanished(order, address)) => {
            own.kind != Kind::Fence && own.address != *address && !own.acquires() && !order.releases()
        }
        (Item::Copy(..), Item::If(..)) | (Item::If(..), Item::Copy(..)) => false,
        (Item::Copy(..), _) | (_, Item::Copy(..)) => true,
        _ => false,
    }
}

/// Whether one needs a register that the other one writes.
fn do_depend(first: &Item, second: &Item) -> bool {
    let needs = |item: &Item, register: &str| match item {
        Item::Access(Access { kind: Kind::Store(Value::Register(own)), .. }) | Item::Copy(_, Value::Register(own)) => {
            own == register
        }
        Item::If(own, _, _) => own == register,
        _ => false,
    };
    let is_needed = |one: &Item, other: &Item| written(one).is_some_and(|register| needs(other, register));
    is_needed(first, second) || is_needed(second, first)
}

fn written(item: &Item) -> Option<&str> {
    match item {
        Item::Access(Access { kind: Kind::Load(own) | Kind::Add(own, _) | Kind::Take(own), .. }) => Some(own),
        Item::Copy(own, _) => Some(own),
        _ => None,
    }
}

/// The stronger of the orderings of two accesses that become one.
fn stronger(one: Order, other: Order) -> Order {
    match (one, other) {
        (Order::Acquire, Order::Release) | (Order::Release, Order::Acquire) => Order::AcqRel,
        _ if rank(one) >= rank(other) => one,
        _ => other,
    }
}

fn rank(order: Order) -> usize {
    [Order::Plain, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst]
        .iter()
        .position(|own| *own == order)
        .expect("all are listed")
}

/// (E): neighbours of one address that become one access.
fn merged(first: &Item, second: &Item) -> Option<Vec<Item>> {
    let (Item::Access(one), Item::Access(other)) = (first, second) else { return None };
    if one.address != other.address {
        return None;
    }
    let known = |kind: &Kind| match kind {
        Kind::Load(register) => Some(Value::Register(register.clone())),
        Kind::Store(value) => Some(value.clone()),
        _ => None,
    };
    match (&one.kind, &other.kind) {
        (Kind::Load(_), Kind::Load(register)) => {
            let order = stronger(one.order, other.order);
            let kept = Access { order, ..one.clone() };
            Some(vec![Item::Access(kept), Item::Copy(register.clone(), known(&one.kind)?)])
        }
        (Kind::Store(value), Kind::Load(register)) => {
            Some(vec![first.clone(), Item::Copy(register.clone(), value.clone())])
        }
        (Kind::Store(_), Kind::Store(_)) => {
            let order = stronger(one.order, other.order);
            Some(vec![Item::Access(Access { order, ..other.clone() })])
        }
        _ => None,
    }
}

/// (V): a read-modify-write that changes nothing becomes a load, or nothing if nobody uses what it
/// loads. Its ordering still counts.
fn vanish(block: &mut Vec<Item>, at: usize, dice: &mut Dice) {
    let Item::Access(access @ Access { kind: Kind::Add(register, 0), order, address }) = &block[at] else { return };
    let mut left = vec![Item::Vanished(*order, address)];
    if register.starts_with('r') || dice.below(2) == 0 {
        left.push(Item::Access(Access { kind: Kind::Load(register.clone()), ..access.clone() }));
    }
    block.splice(at..=at, left);
}

/// A plain load that is first behind a condition comes before the condition: what it finds counts
/// only if the condition holds.
fn hoist(block: &mut Vec<Item>, at: usize, registers: &mut usize) {
    let Item::If(_, _, inside) = &mut block[at] else { return };
    let Some(Item::Access(Access { kind: Kind::Load(register), order: Order::Plain, address })) =
        inside.first().cloned()
    else {
        return;
    };
    let early = fresh(registers);
    inside[0] = Item::Copy(register, Value::Register(early.clone()));
    block.insert(at, Item::Access(Access { kind: Kind::Load(early), order: Order::Plain, address }));
}
