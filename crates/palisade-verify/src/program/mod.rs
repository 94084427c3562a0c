//! Checks that a program is robust, from its text and a certificate alone.
//!
//! The program is robust when no attack is feasible [ESOP13, Theorem 1] (Theorem 4 for any number of threads), and an
//! attack is feasible exactly when the instrumented program reaches success [ESOP13, Theorem 2]. So the checker lists
//! the attacks itself ([`attacks`]), follows the instrumented semantics itself ([`model`] for one thread, [`steps`] for
//! configurations), and asks of the certificate's sets of configurations ([`configuration`]) what CERTIFICATE.md says:
//!
//! 1. its live registers solve the liveness inequalities, and every state and configuration is well formed;
//! 2. it answers every attack, and the cuts of pruned ones are cuts;
//! 3. `sc` contains the initial configurations and is closed under the steps of phase SC (where control flow rules
//!    every attack out, it does not matter what can be reached);
//! 4. for every store with an infeasible attack, `delayed` contains each start of delaying it from `sc` and is closed
//!    under the steps of phase Delayed;
//! 5. for every infeasible attack, `helped` contains what its load leads to from `delayed`;
//! 6. every `helped` set is closed under the steps of phase Helped and contains no success;
//! 7. for every attack answered by a proof about its net, the proof is one about the net that the checker derives
//!    itself ([`attack_net`]), and shows that success cannot be marked in it.

mod attack_net;
mod attacks;
mod configuration;
mod decode;
mod model;
mod steps;
mod tasks;
mod words;

pub use attack_net::attack_net;
pub use tasks::check_task_certificate;

use crate::CheckFailure;
use crate::failure::reject;
use configuration::{Configuration, DownSet, Phase};
use model::Model;
use palisade_evidence::{AttackEvidence, AttackReason, RobustCertificate};
use palisade_model::program::{Copies, InstructionId, Program, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use steps::Successor;

/// Checks that `certificate` shows `program` (with its copies and domain) to be robust against TSO.
pub fn check_robust_certificate(program: &Program, certificate: &RobustCertificate) -> Result<(), CheckFailure> {
    if program.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the certificate is about nothing");
    }
    let mut model = Model::new(program, certificate)?;
    attacks::check(program, &certificate.attacks)?;
    check_nets(&mut model, &certificate.attacks)?;

    let infeasible: Vec<(ThreadId, InstructionId, InstructionId)> = certificate
        .attacks
        .iter()
        .filter(|attack| attack.reason == AttackReason::Infeasible)
        .map(|attack| (attack.thread, attack.store, attack.load))
        .collect();
    let sc = DownSet::new(model.decode_sc(&certificate.sc)?);
    for initial in if infeasible.is_empty() { Vec::new() } else { model.initial_configurations()? } {
        if !sc.contains(&initial) {
            reject!(Initial, "no configuration of `sc` covers the initial {}", model.in_words(&initial));
        }
    }
    check_closed(&mut model, "`sc`", &sc, Model::token_successors)?;

    let mut delayed: BTreeMap<(ThreadId, InstructionId), DownSet> = BTreeMap::new();
    for set in &certificate.delayed {
        let decoded = DownSet::new(model.decode_delayed(set)?);
        if delayed.insert((set.thread, set.store), decoded).is_some() {
            reject!(Form, "there are two `delayed` sets for store {} of thread {}", set.store, set.thread);
        }
    }
    let mut helped: BTreeMap<ThreadId, DownSet> = BTreeMap::new();
    for set in &certificate.helped {
        let decoded = DownSet::new(model.decode_helped(set)?);
        if helped.insert(set.thread, decoded).is_some() {
            reject!(Form, "there are two `helped` sets for thread {}", set.thread);
        }
    }

    let stores: BTreeSet<(ThreadId, InstructionId)> =
        infeasible.iter().map(|(thread, store, _)| (*thread, *store)).collect();
    let nothing = DownSet::default();
    if let Some((thread, store)) = delayed.keys().find(|key| !stores.contains(*key)) {
        reject!(Form, "a `delayed` set for store {store} of thread {thread}, which has no infeasible attack");
    }
    if let Some(thread) = helped.keys().find(|thread| infeasible.iter().all(|attack| attack.0 != **thread)) {
        reject!(Form, "a `helped` set for thread {thread}, which has no infeasible attack");
    }

    for (thread, store) in &stores {
        let set = delayed.get(&(*thread, *store)).unwrap_or(&nothing);
        let name = format!("`delayed` of store {store} of thread {thread}");
        for configuration in sc.configurations() {
            for start in model.starts_of_delaying(configuration, *thread, *store)? {
                if !set.contains(&start) && !model.is_hopeless(*thread, &start) {
                    reject!(
                        Inductive,
                        "{name} does not cover {}, where delaying starts from {}",
                        model.in_words(&start),
                        model.in_words(configuration)
                    );
                }
            }
        }
        check_closed(&mut model, &name, set, |model, configuration| {
            let mut successors = model.delayed_successors(configuration, *thread)?;
            successors.retain(|successor| !model.is_hopeless(*thread, &successor.configuration));
            Ok(successors)
        })?;
    }

    for (thread, store, load) in &infeasible {
        let set = helped.get(thread).unwrap_or(&nothing);
        let before = delayed.get(&(*thread, *store)).unwrap_or(&nothing);
        for configuration in before.configurations() {
            if let Some(after) = model.overstepped_load(configuration, *thread, *load)?
                && !set.contains(&after)
            {
                reject!(
                    Inductive,
                    "`helped` of thread {thread} does not cover {}, where load {load} leads from {}",
                    model.in_words(&after),
                    model.in_words(configuration)
                );
            }
        }
    }

    for (thread, set) in &helped {
        let name = format!("`helped` of thread {thread}");
        for configuration in set.configurations() {
            if let Phase::Helped(path) = &configuration.control.phase
                && path.levels.contains_key(&path.store_address)
                && !configuration.control.locked
            {
                reject!(Safe, "{name} contains the success {}", model.in_words(configuration));
            }
        }
        check_closed(&mut model, &name, set, Model::token_successors)?;
    }
    Ok(())
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
    name: &str,
    set: &DownSet,
    successors: impl Fn(&mut Model<'a>, &Configuration) -> Result<Vec<Successor>, CheckFailure>,
) -> Result<(), CheckFailure> {
    for configuration in set.configurations() {
        for successor in successors(model, configuration)? {
            if !set.contains(&successor.configuration) {
                reject!(
                    Inductive,
                    "{name} does not cover {}, where {} leads from {}",
                    model.in_words(&successor.configuration),
                    model.instruction_in_words(successor.thread, successor.instruction),
                    model.in_words(configuration)
                );
            }
        }
    }
    Ok(())
}
