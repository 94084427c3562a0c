//! Checks that a program is robust, from its text and a certificate alone.
//!
//! The program is robust when no attack is feasible [ESOP13, Theorem 1] (Theorem 4 for any number
//! of threads), and an attack is feasible exactly when the instrumented program reaches success
//! [ESOP13, Theorem 2]. So the checker lists the attacks itself ([`attacks`]), follows the
//! instrumented semantics itself ([`model`] for one thread, [`steps`] for configurations), and asks
//! of the certificate's sets of configurations ([`configuration`]) what docs/certificate/robust.md
//! says:
//!
//! 1. its live registers solve the liveness inequalities, and every state and configuration is well
//!    formed;
//! 2. it answers every attack, and the cuts of pruned ones are cuts;
//! 3. `sc` contains the initial configurations and is closed under the steps of phase SC (where
//!    control flow rules every attack out, it does not matter what can be reached);
//! 4. for every store with an infeasible attack, `delayed` contains each start of delaying it from
//!    `sc` and is closed under the steps of phase Delayed;
//! 5. for every infeasible attack, `helped` contains what its load leads to from `delayed`;
//! 6. every `helped` set is closed under the steps of phase Helped and contains no success;
//! 7. for every attack answered by a proof about its net, the proof is one about the net that the
//!    checker derives itself ([`attack_net`]), and shows that success cannot be marked in it.

mod attack_net;
mod attacks;
mod carried;
mod closed;
mod configuration;
mod counted;
mod counters;
mod counts;
mod data_races;
mod decode;
mod far;
mod known;
mod low_bits;
mod low_told;
mod model;
mod modulo;
mod pso;
mod regions;
mod rewritten;
mod saturation;
mod shifts;
mod spans;
mod stale;
mod steps;
mod tasks;
mod tickets;
mod turns;
mod words;

pub use attack_net::attack_net;
pub use pso::check_pso_certificate;
pub(crate) use shifts::Shifts;
pub use stale::check_stale_certificate;
pub use tasks::check_task_certificate;

use crate::failure::reject;
use crate::listing::rests_on_sets;
use crate::liveness::checked_liveness;
use crate::{CheckFailure, Obligation};
use configuration::{Configuration, DownSet, Phase};
use counters::Counters;
use data_races::{addresses_of_tickets, check_no_data_race};
use model::Model;
use modulo::Watch;
use palisade_evidence::{AttackEvidence, AttackReason, DelayedSet, HelpedSet, RobustCertificate};
use palisade_model::program::{Copies, InstructionId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use steps::Successor;

/// What the sets of a certificate are to show.
#[derive(Clone, Copy)]
enum Claim<'a> {
    /// That no attack is feasible.
    Robust,
    /// That no interleaving comes to any of these instructions, each a `fail`.
    Never(&'a BTreeSet<(ThreadId, InstructionId)>),
    /// That no interleaving comes to a race of these accesses with others.
    WithoutRaces(&'a BTreeSet<(ThreadId, InstructionId)>),
}

/// Checks that the set of interleavings in `certificate` shows that `program` never comes to some
/// instructions under SC, each a `fail`. What the certificate says of counters counts as for
/// robustness; nothing is asked of attacks.
pub fn check_interleavings(
    program: &Program,
    never: &BTreeSet<(ThreadId, InstructionId)>,
    certificate: &RobustCertificate,
) -> Result<(), CheckFailure> {
    let RobustCertificate { delayed, helped, attacks, .. } = certificate;
    if !delayed.is_empty() || !helped.is_empty() || !attacks.is_empty() {
        reject!(Form, "a set of interleavings says nothing about attacks");
    }
    check_claim(program, certificate, Claim::Never(never))
}

/// Checks that the set of interleavings in a certificate of robustness has no race of data without
/// atomics: no configuration in which two copies are about to access one address, of which one may
/// store and one is at an access in `plain`.
pub fn check_without_races(
    program: &Program,
    plain: &BTreeSet<(ThreadId, InstructionId)>,
    certificate: &RobustCertificate,
) -> Result<(), CheckFailure> {
    check_claim(program, certificate, Claim::WithoutRaces(plain))
}

/// Checks that `certificate` shows `program` (with its copies and domain) to be robust against TSO.
///
/// The sets of a program with counters ([`counters`]) need to be closed up to shifts of these only.
/// Proof: let every successor of an element, shifted in some way, be covered. Then what is
/// reachable is covered by elements, shifted: initially by no shift, and if `c` is below the
/// element `e` shifted by s, then each successor of `c` is below a successor of `e` shifted by s,
/// as shifts by s commute with steps and keep what is below, and this successor is below an element
/// shifted. Success is the same in `c` and `c` shifted.
pub fn check_robust_certificate(program: &Program, certificate: &RobustCertificate) -> Result<(), CheckFailure> {
    check_claim(program, certificate, Claim::Robust)
}

/// Whether a certificate is about a program that knows less of its counters than the one that is
/// asked about.
fn knows_less(certificate: &RobustCertificate) -> bool {
    let RobustCertificate { modulo, low, tickets, ends, counts, far, .. } = certificate;
    low.is_some()
        || modulo.is_some()
        || !tickets.is_empty()
        || !ends.is_empty()
        || !counts.is_empty()
        || !far.is_empty()
}

/// Checks that a certificate shows what is claimed, of what it says of counters in place of the
/// program.
fn check_claim(program: &Program, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    if program.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the certificate is about nothing");
    }
    // Who knows less of values does not know what is waited for, and tries again.
    let spinning = knows_less(certificate).then(|| program.spinning());
    let program = spinning.as_ref().unwrap_or(program);
    if let Some(low) = &certificate.low {
        let lowered = low_bits::lowered(program, low)?;
        return check_claim(&lowered, &RobustCertificate { low: None, ..certificate.clone() }, claim);
    }
    if !certificate.ends.is_empty() {
        let saturated = saturation::saturate(program, &certificate.ends)?;
        return check_claim(&saturated, &RobustCertificate { ends: Vec::new(), ..certificate.clone() }, claim);
    }
    if !certificate.counts.is_empty() {
        return check_counts(program, certificate, claim);
    }
    if !certificate.tickets.is_empty() {
        return check_tickets(program, certificate, claim);
    }
    if let Some(ends) = certificate.modulo {
        return check_modulo(program, certificate, ends, claim);
    }
    if !certificate.far.is_empty() {
        return check_far(program, certificate, claim);
    }
    let mut model = Model::new(program, certificate)?;
    check_attacks(program, certificate, claim)?;
    check_nets(&mut model, &certificate.attacks)?;
    match check_sets(&mut model, certificate, claim) {
        Err(failure) if failure.obligation == Obligation::Inductive && model.count() => {
            check_sets(&mut model, certificate, claim)
        }
        checked => checked,
    }
}

/// Checks that the attacks answered are the program's, where they are what is claimed.
fn check_attacks(program: &Program, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    match claim {
        Claim::Robust => attacks::check(program, &certificate.attacks),
        Claim::Never(_) | Claim::WithoutRaces(_) => Ok(()),
    }
}

/// Whether a certificate's sets, and those of its proofs about nets, are closed as they stand, and
/// not only up to shifts of counters.
pub fn is_closed_without_counters(program: &Program, certificate: &RobustCertificate) -> Result<bool, CheckFailure> {
    if knows_less(certificate) {
        return Ok(false);
    }
    let mut model = Model::new(program, certificate)?;
    let are_closed = |model: &mut Model<'_>| {
        certificate.attacks.iter().all(|attack| match &attack.reason {
            AttackReason::Net(proof) => {
                let own = (attack.thread, attack.store, attack.load);
                attack_net::check_without_counters(model, own, proof).is_ok()
            }
            _ => true,
        })
    };
    Ok(check_sets(&mut model, certificate, Claim::Robust).is_ok() && are_closed(&mut model))
}

/// The program that a certificate's sets are about: with values that stop at their ends, and with
/// conditions on counters loosened where these are known modulo a number. Nothing where tickets are
/// erased, as turns are taken by a rule that is no program's, where copies have balances, as one
/// says who stays, and where what is far behind is one value, as values are put together by one.
pub fn plain_program(program: &Program, certificate: &RobustCertificate) -> Result<Option<Program>, CheckFailure> {
    if !certificate.tickets.is_empty() || !certificate.counts.is_empty() || !certificate.far.is_empty() {
        return Ok(None);
    }
    let mut plain = if knows_less(certificate) { program.spinning() } else { program.clone() };
    if let Some(low) = &certificate.low {
        plain = low_bits::lowered(&plain, low)?;
    }
    if !certificate.ends.is_empty() {
        plain = saturation::saturate(&plain, &certificate.ends)?;
    }
    match certificate.modulo {
        Some(ends) => loosened(&plain, certificate, ends).map(|(loosened, _)| Some(loosened)),
        None => Ok(Some(plain)),
    }
}

/// The program with its conditions on counters loosened, and its counters before.
fn loosened(
    program: &Program,
    certificate: &RobustCertificate,
    (low, high): (Value, Value),
) -> Result<(Program, Counters), CheckFailure> {
    let domain = modulo::admitted(program, low, high)?;
    let mut narrow = program.clone();
    narrow.domain = Some(domain);
    let live = checked_liveness(&narrow, &certificate.live)?;
    let Some(counters) = Counters::of(&narrow, &live) else {
        reject!(Form, "there are no counters to be known modulo a number");
    };
    Ok((modulo::loosened(&narrow, &counters)?, counters))
}

/// Checks a certificate about the program without its tickets.
fn check_tickets(program: &Program, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    if certificate.modulo.is_some()
        || !certificate.far.is_empty()
        || certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_)))
    {
        reject!(Form, "counters of which less is known, or a proof about a net, in a certificate without tickets");
    }
    let tickets = tickets::erase(program, &certificate.tickets)?;
    let mut model = Model::new(&tickets.erased, certificate)?;
    check_attacks(&tickets.erased, certificate, claim)?;
    model.change_terms(|terms| terms.turns = Some(tickets.turns()));
    check_sets(&mut model, certificate, claim)
}

/// Checks a certificate about the program with balances.
fn check_counts(program: &Program, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    let RobustCertificate { modulo, tickets, far, attacks, .. } = certificate;
    let knows_less = modulo.is_some() || !tickets.is_empty() || !far.is_empty();
    if knows_less || attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_))) {
        reject!(Form, "counters of which less is known, or a proof about a net, in a certificate with counts");
    }
    let (counted, counts) = counts::counted(program, &certificate.counts)?;
    let mut model = Model::new(&counted, certificate)?;
    check_attacks(&counted, certificate, claim)?;
    model.change_terms(|terms| terms.counts = counts);
    check_sets(&mut model, certificate, claim)
}

/// Checks a certificate that does not tell apart what is far behind.
fn check_far(program: &Program, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    if certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_))) {
        reject!(Form, "a proof about a net in a certificate that does not tell apart what is far behind");
    }
    let mut model = Model::new(program, certificate)?;
    check_attacks(program, certificate, claim)?;
    let Some(mut counters) = model.found_counters() else {
        reject!(Form, "there are no counters that could be far behind")
    };
    counters.forget_far(program, &certificate.far)?;
    model.change_terms(|terms| terms.counters = Some(Rc::new(counters)));
    check_sets(&mut model, certificate, claim)
}

/// Checks a certificate that knows counters modulo the size of a domain.
fn check_modulo(
    program: &Program,
    certificate: &RobustCertificate,
    ends: (Value, Value),
    claim: Claim<'_>,
) -> Result<(), CheckFailure> {
    let has_net = certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_)));
    if has_net || !certificate.far.is_empty() {
        reject!(
            Form,
            "a proof about a net, or what is far behind, in a certificate that knows counters modulo a number"
        );
    }
    let (loosened, counters) = loosened(program, certificate, ends)?;
    let mut model = Model::new(&loosened, certificate)?;
    check_attacks(&loosened, certificate, claim)?;
    if !model.count() || model.terms().counters.as_ref().map(|own| &own.members) != Some(&counters.members) {
        reject!(Form, "the loosened program has other counters");
    }
    model.change_terms(|terms| terms.watch = Some(Watch { counters, range: ends }));
    check_sets(&mut model, certificate, claim)
}

/// Checks the sets of configurations.
fn check_sets(model: &mut Model<'_>, certificate: &RobustCertificate, claim: Claim<'_>) -> Result<(), CheckFailure> {
    if let Claim::Never(never) = claim {
        model.change_terms(|terms| terms.never.clone_from(never));
        return check_sc(model, certificate, false).map(drop);
    }
    if let Claim::WithoutRaces(plain) = claim {
        let sc = check_sc(model, certificate, false)?;
        return check_no_data_race(model, plain, &addresses_of_tickets(&certificate.tickets), &sc);
    }
    let infeasible: Vec<(ThreadId, InstructionId, InstructionId)> = certificate
        .attacks
        .iter()
        .filter(|attack| attack.reason == AttackReason::Infeasible)
        .map(|attack| (attack.thread, attack.store, attack.load))
        .collect();
    // Where the reading of machine code rests on the set, it has to be there whatever the attacks;
    // nets have no step without a value.
    let has_net = certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_)));
    let is_needed = !infeasible.is_empty() || !has_net && rests_on_sets(model.program);
    let sc = check_sc(model, certificate, !is_needed)?;

    let mut delayed: BTreeMap<(ThreadId, InstructionId), &DelayedSet> = BTreeMap::new();
    for set in &certificate.delayed {
        if delayed.insert((set.thread, set.store), set).is_some() {
            reject!(Form, "there are two `delayed` sets for store {} of thread {}", set.store, set.thread);
        }
    }
    let mut helped: BTreeMap<ThreadId, &HelpedSet> = BTreeMap::new();
    for set in &certificate.helped {
        if helped.insert(set.thread, set).is_some() {
            reject!(Form, "there are two `helped` sets for thread {}", set.thread);
        }
    }

    let mut loads: BTreeMap<ThreadId, BTreeMap<InstructionId, Vec<InstructionId>>> = BTreeMap::new();
    for (thread, store, load) in infeasible {
        loads.entry(thread).or_default().entry(store).or_default().push(load);
    }
    let stores_of = |thread: &ThreadId| loads.get(thread);
    let is_store = |(thread, store): &&(ThreadId, InstructionId)| {
        stores_of(thread).is_some_and(|stores| stores.contains_key(store))
    };
    if let Some((thread, store)) = delayed.keys().find(|key| !is_store(key)) {
        reject!(Form, "a `delayed` set for store {store} of thread {thread}, which has no infeasible attack");
    }
    if let Some(thread) = helped.keys().find(|thread| stores_of(thread).is_none()) {
        reject!(Form, "a `helped` set for thread {thread}, which has no infeasible attack");
    }

    // Each set is read when it is its turn, and dropped after it: all of them together take many
    // times as much.
    for (thread, stores) in &loads {
        let decoded = helped.get(thread).map(|set| model.decode_helped(set)).transpose()?;
        let after = down_set(model, *thread, decoded.unwrap_or_default())?;
        for (store, loads) in stores {
            let decoded = delayed.get(&(*thread, *store)).map(|set| model.decode_delayed(set)).transpose()?;
            let before = down_set(model, *thread, decoded.unwrap_or_default())?;
            check_delayed(model, (*thread, *store), &sc, &before)?;
            for load in loads {
                check_load(model, (*thread, *load), &before, &after)?;
            }
        }
        check_helped(model, *thread, &after)?;
    }
    Ok(())
}

/// A set of configurations, each in the form that stands for all that are it shifted.
fn down_set(
    model: &mut Model<'_>,
    thread: ThreadId,
    configurations: Vec<Configuration>,
) -> Result<DownSet, CheckFailure> {
    let unshifted: Result<_, _> = configurations.into_iter().map(|own| model.unshifted(thread, own)).collect();
    Ok(DownSet::new(unshifted?))
}

/// Checks that `sc` contains what is there initially, where that matters, and is closed.
fn check_sc(model: &mut Model<'_>, certificate: &RobustCertificate, is_pruned: bool) -> Result<DownSet, CheckFailure> {
    let nobody = ThreadId::from_index(0);
    let decoded = model.decode_sc(&certificate.sc)?;
    let sc = down_set(model, nobody, decoded)?;
    for initial in if is_pruned { Vec::new() } else { model.initial_configurations()? } {
        let initial = model.unshifted(nobody, initial)?;
        if !sc.contains(&initial) {
            reject!(Initial, "no configuration of `sc` covers the initial {}", model.in_words(&initial));
        }
    }
    check_closed(model, nobody, "`sc`", &sc, Model::token_successors)?;
    Ok(sc)
}

/// Checks that a set of a store contains each start of delaying it, and is closed.
fn check_delayed(
    model: &mut Model<'_>,
    (thread, store): (ThreadId, InstructionId),
    sc: &DownSet,
    set: &DownSet,
) -> Result<(), CheckFailure> {
    let name = format!("`delayed` of store {store} of thread {thread}");
    // Most configurations have no thread there, and all are gone through once for each store.
    let can_start = model.places_of_delaying(thread, store);
    let has_start = |own: &&Configuration| own.tokens.iter().any(|(token, _)| can_start[token.local as usize]);
    for configuration in sc.configurations().iter().filter(has_start) {
        for start in model.starts_of_delaying(configuration, thread, store)? {
            let start = model.unshifted(thread, start)?;
            if !set.contains(&start) && !model.is_hopeless(thread, &start) {
                reject!(
                    Inductive,
                    "{name} does not cover {}, where delaying starts from {}",
                    model.in_words(&start),
                    model.in_words(configuration)
                );
            }
        }
    }
    check_closed(model, thread, &name, set, |model, configuration| {
        let mut successors = model.delayed_successors(configuration, thread)?;
        successors.retain(|successor| !model.is_hopeless(thread, &successor.configuration));
        Ok(successors)
    })
}

/// Checks that a thread's set contains what a load leads to from another set.
fn check_load(
    model: &mut Model<'_>,
    (thread, load): (ThreadId, InstructionId),
    before: &DownSet,
    set: &DownSet,
) -> Result<(), CheckFailure> {
    for configuration in before.configurations() {
        let Some(after) = model.overstepped_load(configuration, thread, load)? else { continue };
        let after = model.unshifted(thread, after)?;
        if !set.contains(&after) {
            reject!(
                Inductive,
                "`helped` of thread {thread} does not cover {}, where load {load} leads from {}",
                model.in_words(&after),
                model.in_words(configuration)
            );
        }
    }
    Ok(())
}

/// Checks that a thread's set contains no success, and is closed.
fn check_helped(model: &mut Model<'_>, thread: ThreadId, set: &DownSet) -> Result<(), CheckFailure> {
    let name = format!("`helped` of thread {thread}");
    for configuration in set.configurations() {
        if let Phase::Helped(path) = model.phase(&configuration.control)
            && path.levels.contains_key(&path.store_address)
            && !configuration.control.locked
        {
            reject!(Safe, "{name} contains the success {}", model.in_words(configuration));
        }
    }
    check_closed(model, thread, &name, set, Model::token_successors)
}

/// Checks the proofs about nets of attacks.
fn check_nets(model: &mut Model, attacks: &[AttackEvidence]) -> Result<(), CheckFailure> {
    for (number, attack) in (1..).zip(attacks) {
        if let AttackReason::Net(proof) = &attack.reason {
            attack_net::check(model, (attack.thread, attack.store, attack.load), proof)
                .map_err(|failure| failure.within(format_args!("the net of attack {number}")))?;
        }
    }
    Ok(())
}

/// Checks that every successor of every configuration of `set` is covered by one of `set`.
fn check_closed<'a>(
    model: &mut Model<'a>,
    thread: ThreadId,
    name: &str,
    set: &DownSet,
    successors: impl Fn(&mut Model<'a>, &Configuration) -> Result<Vec<Successor>, CheckFailure>,
) -> Result<(), CheckFailure> {
    for configuration in set.configurations() {
        for Successor { thread: own, instruction, configuration: successor } in successors(model, configuration)? {
            let successor = model.unshifted(thread, successor)?;
            if !set.contains(&successor) {
                reject!(
                    Inductive,
                    "{name} does not cover {}, where {} leads from {}",
                    model.in_words(&successor),
                    model.instruction_in_words(own, instruction),
                    model.in_words(configuration)
                );
            }
        }
    }
    Ok(())
}
