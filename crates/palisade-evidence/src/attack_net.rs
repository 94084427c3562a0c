//! Evidence that one attack is not feasible: a proof about its net
//! (docs/certificate/attack-nets.md).

use super::net::NetCertificate;
use super::state::{Attacker, Level, LocalState};
use palisade_model::program::{ThreadId, Value};

/// What a place of the net of an attack stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// Memory holds the value at the address.
    Memory(Value, Value),
    /// Whether some thread holds the lock.
    Locked(bool),
    /// Whether the attack's load has happened.
    Loaded(bool),
    /// No thread has begun to delay.
    Idle,
    /// The attacker, delaying.
    Attacker(Attacker),
    /// The attacker is gone; the address of its first delayed store.
    Gone(Value),
    /// The strongest access to the address on the happens-before path, if any.
    Level(Value, Option<Level>),
    /// The accesses of the open section of a thread that is not on the path, ascending by address.
    Section(Vec<(Value, Level)>),
    /// A thread in this state; whether it is on the path.
    Thread(LocalState, bool),
    /// A copy that has not settled yet, of a thread with a fixed number of copies that can settle
    /// to several states.
    Start(ThreadId),
    /// The happens-before cycle is closed.
    Success,
}

/// A proof that `success` cannot be marked in the net of an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackNetProof {
    /// What the proof's places stand for: place `p` of the proof is `places[p]`. Every one is a
    /// place of the net, and none is listed twice; places of the net that the proof does not
    /// mention may be left out.
    pub places: Vec<Fact>,
    /// The proof.
    pub certificate: NetCertificate,
}
