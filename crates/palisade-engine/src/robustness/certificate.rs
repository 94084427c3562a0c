//! The certificate of a robust program: the explored sets, in the terms of the checker.

use super::check::{AttackReport, Check};
use crate::robustness::{AttackOutcome, Verdict};
use palisade_evidence::{AttackEvidence, AttackNetProof, AttackReason, RobustCertificate};
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, DelayRange, SharedTables};
use palisade_exploration::lazy::Exploration;
use palisade_model::program::{LabelId, Program};
use std::collections::BTreeMap;

/// The certificate of a check that found the program robust.
pub fn certificate(program: &Program, check: &Check<'_>) -> Option<RobustCertificate> {
    if check.verdict != Verdict::Robust {
        return None;
    }
    Some(check.abstraction.as_ref().map_or_else(|| reasons(program, check), |own| own.certificate().clone()))
}

/// A set of interleavings of a system's program, as a certificate that says nothing about attacks.
pub(super) fn interleavings(system: &System<'_>, sc: &Exploration) -> RobustCertificate {
    let mut tables = SharedTables::default();
    let mut certificate = SharedTables::certificate(system.program());
    certificate.sc = tables.sc(system, sc);
    tables.finish(&mut certificate);
    certificate
}

/// Why the attacks that a check was about are not feasible.
pub(super) fn reasons(program: &Program, check: &Check<'_>) -> RobustCertificate {
    let mut tables = SharedTables::default();
    let mut certificate = SharedTables::certificate(program);
    if let Some(proof) = &check.proof {
        if let Some(thread) = proof.threads.first() {
            certificate.sc = tables.sc(&thread.system, &proof.sc);
        }
        for thread in &proof.threads {
            tables.thread(thread, &mut certificate);
        }
    }
    tables.finish(&mut certificate);
    let proofs: BTreeMap<Attack, &AttackNetProof> = check.net_proofs.iter().map(|(proved, it)| (*proved, it)).collect();
    for reports in check.attacks.chunk_by(|a, b| (a.attack.thread, a.attack.store) == (b.attack.thread, b.attack.store))
    {
        // All loads that a store's range does not reach have the same cut.
        let Attack { thread, store, .. } = reports[0].attack;
        let mut range: Option<Vec<LabelId>> = None;
        for AttackReport { attack, outcome, .. } in reports {
            let reason = match (outcome, proofs.get(attack)) {
                (AttackOutcome::Pruned, _) => {
                    let own = || DelayRange::of(program.thread(thread), store).labels().collect();
                    AttackReason::Pruned { reachable: range.get_or_insert_with(own).clone() }
                }
                (_, Some(proof)) => AttackReason::Net((*proof).clone()),
                (_, None) => AttackReason::Infeasible,
            };
            certificate.attacks.push(AttackEvidence { thread, store, load: attack.load, reason });
        }
    }
    certificate
}
