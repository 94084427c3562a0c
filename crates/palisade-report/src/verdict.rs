//! The verdict on a program in one word.

use palisade_engine::fences::Placement;
use palisade_engine::robustness::{AttackOutcome, Verdict};
use serde::Serialize;

/// The verdict on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum VerdictWord {
    /// Every computation under TSO has the trace of an interleaving.
    Robust,
    /// Some computation has not.
    NotRobust,
    /// A limit was reached.
    Unknown,
}

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Robust => Self::Robust,
            Verdict::NotRobust => Self::NotRobust,
            Verdict::Unknown(_) => Self::Unknown,
        }
    }
}

/// The verdict on the program as it is, of which a placement of fences knows the attacks.
pub fn before_the_repair(placement: &Placement) -> VerdictWord {
    let some = |wanted: AttackOutcome| placement.attacks.iter().any(|(_, outcome)| *outcome == wanted);
    if some(AttackOutcome::Feasible) {
        VerdictWord::NotRobust
    } else if some(AttackOutcome::Unknown) {
        VerdictWord::Unknown
    } else {
        VerdictWord::Robust
    }
}

/// What has become of so many attacks, pairs of a store and a load behind it, for people.
pub fn outcome_words(outcome: AttackOutcome, pairs: usize) -> &'static str {
    match outcome {
        AttackOutcome::Feasible if pairs == 1 => "breaks robustness",
        AttackOutcome::Feasible => "break robustness",
        AttackOutcome::Infeasible => "cannot break it",
        AttackOutcome::Pruned => "ruled out by control flow",
        AttackOutcome::Unknown => "undecided",
        AttackOutcome::NotAsked => "not needed",
    }
}
