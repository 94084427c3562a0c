//! Evidence about robustness against PSO: an invariant of the instrumented semantics.

use crate::{Level, LocalIndex, LocalState, MemoryIndex, Tokens};
use palisade_model::program::{RegisterId, Value};

/// Why a program is robust against PSO: a set of configurations of its instrumented semantics that
/// contains the initial ones, is closed under all steps and has no success. CERTIFICATE.md restates
/// the semantics in full.
///
/// ω and downward closure are as in [`RobustCertificate`](crate::RobustCertificate).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PsoCertificate {
    /// For each thread and each of its labels, the registers (ascending) whose values may matter
    /// from there on.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// The local states that configurations refer to.
    pub locals: Vec<LocalState>,
    /// The memories that configurations refer to.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// The set.
    pub configurations: Vec<PsoConfiguration>,
}

/// A configuration: under SC, or with an attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PsoConfiguration {
    /// The memory, without the delayed store.
    pub memory: MemoryIndex,
    /// The attack.
    pub attack: Option<PsoAttack>,
    /// How many copies are in which local state, on the happens-before path or not; each at most
    /// once.
    pub tokens: Vec<(LocalIndex, bool, Tokens)>,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PsoAttack {
    /// The address of the delayed store.
    pub store_address: Value,
    /// The attacker's local state with the value that it has delayed; nothing once it accesses no
    /// further address.
    pub attacker: Option<(LocalIndex, Value)>,
    /// The strongest access on the happens-before path by address, ascending; none before the path
    /// begins.
    pub levels: Vec<(Value, Level)>,
}
