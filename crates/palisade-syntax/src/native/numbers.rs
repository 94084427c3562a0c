//! Addresses whose number is fixed in the text although nothing depends on it: `address flag = 1`
//! where `initial flag = 1` may be meant.
//!
//! A number matters where a program computes with addresses: where `mem[…]` takes a register or a
//! number without the name of an address, or where a name stands for its number. A program that
//! does neither behaves alike whatever the numbers are.

use super::ast::{ExpressionKind, Item, Name, Place, RawAddress, RawExpression, RawInstruction, RawThread};
use crate::Diagnostic;
use rustc_hash::FxHashSet;

/// The warnings about the addresses of a text.
pub(super) fn warnings(items: &[Item<'_>]) -> Vec<Diagnostic> {
    let fixed = || items.iter().flat_map(Item::addresses).filter(|address| address.number.is_some());
    if fixed().next().is_none() || numbers_matter(items) {
        return Vec::new();
    }
    let mut initialised: FxHashSet<&str> = FxHashSet::default();
    for initial in items.iter().flat_map(Item::initials) {
        if let Place::Named { name, .. } = &initial.place {
            initialised.insert(name.text);
        }
    }
    fixed().filter(|address| !initialised.contains(address.name.text)).filter_map(warning).take(MOST).collect()
}

/// Warnings of this kind at most.
const MOST: usize = 100;

fn warning(address: &RawAddress<'_>) -> Option<Diagnostic> {
    let Name { text, span } = address.name;
    let number = address.number?;
    let message = format!("`address {text} = …` fixes the number of the address `{text}`, not what is stored there");
    let place = if address.length.is_none() { text.to_owned() } else { format!("{text}[0]") };
    let help = format!("the value at the start is `initial {place} = {}`; no number is needed here", number.value);
    Some(Diagnostic::warning(message, span.to(number.span)).with_label("nothing depends on it").with_help(help))
}

/// Whether something in the text may depend on the numbers of addresses.
fn numbers_matter(items: &[Item<'_>]) -> bool {
    let addresses = names_of_addresses(items);
    let is_data = |expression: &RawExpression<'_>| names_any(expression, &addresses, &FxHashSet::default());
    items.iter().any(|item| match item {
        Item::Initial(initials) => {
            initials.iter().any(|initial| matches!(initial.place, Place::Memory(_)) || is_data(&initial.value))
        }
        Item::Thread(thread) => thread_computes(thread, &addresses),
        Item::Domain { .. }
        | Item::Addresses(_)
        | Item::Braced(_)
        | Item::Daemon(_)
        | Item::Never { .. }
        | Item::Posts(_)
        | Item::Error => false,
    })
}

fn names_of_addresses<'s>(items: &[Item<'s>]) -> FxHashSet<&'s str> {
    let mut names: FxHashSet<&str> = items.iter().flat_map(Item::addresses).map(|address| address.name.text).collect();
    for thread in items.iter().filter_map(Item::thread) {
        for line in thread.lines.iter().flatten() {
            line.instruction.names_inside_memory(&mut |name| {
                names.insert(name.text);
            });
        }
        thread.names_in_guard(&mut |name| {
            names.insert(name.text);
        });
    }
    names
}

/// Whether a thread computes an address from anything but a name, or uses a name as a number.
fn thread_computes(thread: &RawThread<'_>, addresses: &FxHashSet<&str>) -> bool {
    let registers: FxHashSet<&str> = thread.register_names().map(|name| name.text).collect();
    thread.lines.iter().flatten().any(|line| {
        let (address, data) = operands(&line.instruction);
        address.is_some_and(|address| !names_any(address, addresses, &registers))
            || data.into_iter().any(|expression| names_any(expression, addresses, &registers))
    })
}

/// The address that an instruction accesses, and its other operands.
fn operands<'a, 's>(
    instruction: &'a RawInstruction<'s>,
) -> (Option<&'a RawExpression<'s>>, Vec<&'a RawExpression<'s>>) {
    match instruction {
        RawInstruction::Store { address, value } => (Some(address), vec![value]),
        RawInstruction::Assign { value, .. } => match &value.kind {
            ExpressionKind::Memory(address) => (Some(address), Vec::new()),
            _ => (None, vec![value]),
        },
        RawInstruction::Locked { address, operands, .. } => (Some(address), operands.iter().collect()),
        // Of two addresses the one that is released is the rarer one.
        RawInstruction::Sleep { address, expected, released, .. } => {
            (Some(address), expected.iter().chain(released.iter().filter(|it| !is_name(it))).collect())
        }
        RawInstruction::Wake { address, .. } => (Some(address), Vec::new()),
        RawInstruction::Assume(condition) | RawInstruction::Ensure(condition) => (None, vec![condition]),
        RawInstruction::Post { arguments, .. } => (None, arguments.iter().collect()),
        RawInstruction::Havoc { .. } | RawInstruction::Fence { .. } | RawInstruction::Plain(_) => (None, Vec::new()),
    }
}

fn is_name(expression: &RawExpression<'_>) -> bool {
    matches!(expression.kind, ExpressionKind::Name(_))
}

/// Whether an expression names an address; registers hide addresses of their name.
fn names_any(expression: &RawExpression<'_>, addresses: &FxHashSet<&str>, registers: &FxHashSet<&str>) -> bool {
    let mut found = false;
    expression.names(&mut |name| found |= addresses.contains(name.text) && !registers.contains(name.text));
    found
}
