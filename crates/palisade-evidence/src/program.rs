//! Evidence that a program is robust: invariants of its instrumented semantics, attack by attack.
//!
//! A [`RobustCertificate`] gives, for every attack, a cut of the control flow, or the fact that
//! sets of ω-configurations, one per phase of the instrumented program, are closed under its steps
//! and meet no success, or a proof about the net of the attack. Local states and memories are kept
//! once, in tables; configurations refer to them by position. CERTIFICATE.md restates the semantics
//! in full.

use super::attack_net::AttackNetProof;
use super::state::{Attacker, Level, LocalIndex, LocalState, Tokens};
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};
use std::sync::Arc;

/// A position in [`RobustCertificate::memories`].
pub type MemoryIndex = u32;

/// Why no attack on a program is feasible.
///
/// A configuration with ω stands for all that have any number of tokens there; a set of
/// configurations stands for its downward closure, where one configuration lies below another when
/// everything but the tokens is the same and no token count is larger. Sets need not be antichains;
/// they are shorter when they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobustCertificate {
    /// For each thread and each of its labels, the registers (ascending) whose values may matter
    /// from there on: any solution of the liveness inequalities, not only the least.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// The local states of threads that configurations refer to.
    pub locals: Vec<LocalState>,
    /// The memories that configurations refer to: ascending addresses with their values. Addresses
    /// left out hold their initial value; listing one that does hold its initial value is allowed.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// Configurations of phase SC: contains every initial configuration, closed under SC steps.
    pub sc: Vec<ScConfiguration>,
    /// Configurations while an attacker delays stores, at most one set per thread and store, for
    /// stores with an attack that is not pruned: contains every start of delaying from `sc`, closed
    /// under the steps of phase Delayed. A set that is left out is empty.
    pub delayed: Vec<DelayedSet>,
    /// Configurations after the attacker's load, at most one set per thread: contains what the
    /// loads of the thread's infeasible attacks lead to, closed under the steps of phase Helped,
    /// without success. A set that is left out is empty.
    pub helped: Vec<HelpedSet>,
    /// Every attack, in order: by thread, then by store and by load in text order.
    pub attacks: Vec<AttackEvidence>,
    /// The domain, lowest and highest value, modulo whose size the sets know the program's
    /// counters, where they do: then they show the program robust for every wider domain of
    /// counters as well.
    pub modulo: Option<(Value, Value)>,
    /// What has its low bits alone: the sets are about the program that knows no more of it.
    pub low: Option<LowBitsEvidence>,
    /// The addresses that hand out tickets, each with the one that shows which is served,
    /// ascending: the sets are about the program with these tickets erased.
    pub tickets: Vec<(Value, Value)>,
    /// Addresses whose values stop at an end, ascending: the sets are about the program in which
    /// values beyond it are the end.
    pub ends: Vec<(Value, Value)>,
    /// Addresses that count what copies hold, ascending: the sets are about the program with
    /// balances.
    pub counts: Vec<CountEvidence>,
    /// Addresses of counters with distances, ascending: the sets do not tell apart what is as far
    /// behind the address's value, or farther.
    pub far: Vec<(Value, Value)>,
}

/// What has its low bits alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowBitsEvidence {
    /// How many.
    pub bits: u8,
    /// The addresses, ascending.
    pub cells: Vec<Value>,
    /// The assignments that cut what they assign, ascending.
    pub assigned: Vec<(ThreadId, InstructionId)>,
}

/// An address that counts what copies hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountEvidence {
    /// The address.
    pub address: Value,
    /// The greatest value that is told apart.
    pub few: Value,
    /// The greatest value of those that are one, for which anything is shown; nothing where that
    /// does not matter.
    pub most: Option<Value>,
    /// What each copy of a thread holds of the initial value, by thread.
    pub owned: Vec<Value>,
}

/// A configuration of phase SC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScConfiguration {
    /// The memory.
    pub memory: MemoryIndex,
    /// Whether some thread holds the lock.
    pub locked: bool,
    /// How many threads are in which local state, each local state at most once, in any order.
    pub tokens: Vec<(LocalIndex, Tokens)>,
}

/// The configurations while one thread delays stores from one store instruction on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedSet {
    /// The attacker's thread.
    pub thread: ThreadId,
    /// The store that is delayed first.
    pub store: InstructionId,
    /// The set.
    pub configurations: Vec<DelayedConfiguration>,
}

/// A configuration of phase Delayed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DelayedConfiguration {
    /// The memory, without what the attacker has delayed.
    pub memory: MemoryIndex,
    /// Whether some thread holds the lock.
    pub locked: bool,
    /// The threads other than the attacker.
    pub tokens: Vec<(LocalIndex, Tokens)>,
    /// The attacker, which many configurations share.
    pub attacker: Arc<Attacker>,
}

/// The configurations after the last load that one thread's delayed stores overstep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpedSet {
    /// The attacker's thread.
    pub thread: ThreadId,
    /// The set.
    pub configurations: Vec<HelpedConfiguration>,
}

/// A configuration of phase Helped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HelpedConfiguration {
    /// The memory, without what the attacker has delayed.
    pub memory: MemoryIndex,
    /// Whether some thread holds the lock.
    pub locked: bool,
    /// The threads other than the attacker; `true` for those on the happens-before path. Each pair
    /// of a local state and a flag at most once, in any order.
    pub tokens: Vec<(LocalIndex, bool, Tokens)>,
    /// The address of the first delayed store.
    pub store_address: Value,
    /// The strongest access on the happens-before path by address, ascending; addresses left out
    /// have none.
    pub levels: Vec<(Value, Level)>,
    /// The accesses of the open section of a thread that is not on the path, ascending by address;
    /// empty when there is no such section.
    pub section: Vec<(Value, Level)>,
}

/// Why one attack is not feasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackEvidence {
    /// The attacker's thread.
    pub thread: ThreadId,
    /// The store that would be delayed.
    pub store: InstructionId,
    /// The load it would be delayed past.
    pub load: InstructionId,
    /// The reason.
    pub reason: AttackReason,
}

/// Why an attack is not feasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttackReason {
    /// No path of instructions that leave the store buffer alone leads from the store to the load.
    Pruned {
        /// Labels (ascending), the store's target among them and the load's source not, closed
        /// under instructions that need no empty store buffer.
        reachable: Vec<LabelId>,
    },
    /// The sets of the certificate show it.
    Infeasible,
    /// A proof about its net shows it.
    Net(AttackNetProof),
}
