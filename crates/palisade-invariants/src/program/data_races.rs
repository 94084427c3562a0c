//! That no two threads access data without atomics at once, of which one stores.

use super::configuration::{Configuration, DownSet};
use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{LocalState, Tokens};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, InstructionId, ThreadId, Value};
use std::collections::BTreeSet;

/// An access that a thread makes next: its instruction, its address, and whether it may store.
type Next = (ThreadId, InstructionId, Value, bool);

/// Checks that no configuration of the closed set of interleavings has two threads at accesses to
/// one address, of which one stores and one is among the plain ones. `erased` are addresses whose
/// accesses the program of the sets need not have.
pub(super) fn check_no_data_race(
    model: &Model<'_>,
    plain: &BTreeSet<(ThreadId, InstructionId)>,
    erased: &BTreeSet<Value>,
    sc: &DownSet,
) -> Result<(), CheckFailure> {
    for (thread, id) in plain {
        if model.instruction(*thread, *id).action.address().is_none() {
            reject!(Safe, "{} is no access in the program of the sets", model.instruction_in_words(*thread, *id));
        }
    }
    for configuration in sc.configurations() {
        let all = accesses(model, configuration);
        for (index, (one, is_shared)) in all.iter().enumerate() {
            if plain.contains(&(one.0, one.1)) && erased.contains(&one.2) {
                reject!(Safe, "{} has an address of tickets", model.instruction_in_words(one.0, one.1));
            }
            // A thread races with another one in the same local state.
            let first = if *is_shared { index } else { index + 1 };
            if let Some((other, _)) = all[first..].iter().find(|(other, _)| do_race(plain, one, other)) {
                reject!(
                    Safe,
                    "{} may happen at once with {}, at {}, in {}",
                    model.instruction_in_words(one.0, one.1),
                    model.instruction_in_words(other.0, other.1),
                    model.program.address_name(one.2),
                    model.in_words(configuration)
                );
            }
        }
    }
    Ok(())
}

fn do_race(plain: &BTreeSet<(ThreadId, InstructionId)>, one: &Next, other: &Next) -> bool {
    let is_plain = |next: &Next| plain.contains(&(next.0, next.1));
    one.2 == other.2 && (one.3 || other.3) && (is_plain(one) || is_plain(other))
}

/// What the threads of a configuration access next, each with whether several threads do.
fn accesses(model: &Model<'_>, configuration: &Configuration) -> Vec<(Next, bool)> {
    let mut all = Vec::new();
    for (token, count) in &configuration.tokens {
        let LocalState { thread, label, registers, .. } = model.local(token.local);
        for id in model.instructions_at(*thread, *label) {
            let action = &model.instruction(*thread, *id).action;
            // The closed set has no step without an address.
            if let Some(Ok(address)) = action.address().map(|address| address.evaluate_address(registers)) {
                let stores = !matches!(action, Action::Load { .. });
                all.push(((*thread, *id, address, stores), *count != Tokens::Finite(1)));
            }
        }
    }
    all
}

/// Addresses that a certificate's tickets are drawn from and served at.
pub(super) fn addresses_of_tickets(tickets: &[(Value, Value)]) -> BTreeSet<Value> {
    tickets.iter().flat_map(|(next, served)| [*next, *served]).collect_set()
}
