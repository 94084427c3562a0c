//! Evidence: certificates, net runs, TSO witnesses, repairs, proofs and violations of properties,
//! races and hangs, as data and as documented text (CERTIFICATE.md).
//!
//! Data only: nothing here decides whether evidence is right. `palisade-verify` does that, with
//! code of its own. This room uses `program`, `semantics` and `net` for their ids, steps and
//! counts, and nothing else.

mod attack_net;
mod concurrency;
mod hangs;
mod net;
mod program;
mod property;
mod pso;
mod race;
mod reach;
mod repair;
mod stale;
mod state;
mod subject;
mod tasks;
mod text;
mod witness;

pub use attack_net::{AttackNetProof, Fact};
pub use concurrency::{
    AccessLevels, ConcurrencyCertificate, ConcurrencyReason, ConcurrencyWitness, PendingTask, PivotAccess, PivotStage,
    SerialRun, SerialState,
};
pub use hangs::{FreeCertificate, StuckGraph, StuckWitness, WaitingLocal, WaitingRow, WaitingSet, WhyRobust};
pub use net::{
    Invariant, NetCertificate, NetRun, OmegaMarking, PlaceWeights, Refutation, RunStep, TokenMarking, WeightedTrap,
};
pub use program::{
    AttackEvidence, AttackReason, CountEvidence, DelayedConfiguration, DelayedSet, HelpedConfiguration, HelpedSet,
    LowBitsEvidence, MemoryIndex, RobustCertificate, ScConfiguration,
};
pub use property::{
    AddressInterval, BufferConfiguration, BufferEntry, BufferInvariant, BufferedLocal, Interval, PropertyEvidence,
    PropertyProof, PropertyReason, PropertyWitness, ValueInvariant,
};
pub use pso::{PsoAttack, PsoCertificate, PsoConfiguration};
pub use race::RaceWitness;
pub use reach::{
    Complement, Contradiction, GoalShape, LinearCase, LinearProof, MarkingSet, ObservedProof, Observer,
    ReachCertificate,
};
pub use repair::{Block, Case, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet};
pub use stale::{
    Forgotten, GraphWitness, StaleAttack, StaleCertificate, StaleClaim, StaleConfiguration, StaleGoal, StaleLocation,
    StaleView,
};
pub use state::{Attacker, Level, LocalIndex, LocalState, Tokens};
pub use subject::{AddressSubject, CopiesOrigin, InputFile, NetSubject, ProgramSubject, ThreadSubject, sha256};
pub use tasks::{MainState, TaskCertificate, TaskConfiguration, TaskPhase, TaskToken, TaskWitness};
pub use text::{About, Evidence, MAX_EVIDENCE_BYTES, MalformedEvidence};
pub use witness::Witness;
