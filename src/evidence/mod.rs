//! Evidence: certificates, net runs and TSO witnesses, as data and as documented text (CERTIFICATE.md).
//!
//! Data only: nothing here decides whether evidence is right. [`verify`](crate::verify) does that, with code of its
//! own. This room uses `program`, `semantics` and `net` for their ids, steps and counts, and nothing else.

mod net;
mod program;

pub use net::{Invariant, NetCertificate, NetRun, OmegaMarking, PlaceWeights, Refutation, TokenMarking, WeightedTrap};
pub use program::{
    AttackEvidence, AttackReason, Attacker, DelayedConfiguration, DelayedSet, HelpedConfiguration, HelpedSet, Level,
    LocalIndex, LocalState, MemoryIndex, RobustCertificate, ScConfiguration, Tokens,
};
