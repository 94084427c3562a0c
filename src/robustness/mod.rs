//! Robustness: attacks, the instrumented program, search, verdicts and witnesses [ESOP13].

mod attack_net;
mod attacks;
mod certificate;
mod check;
mod fault;
pub mod hardware;
mod nets;
mod search;
mod shape;
pub mod system;
mod witness;

pub use attack_net::{NoNet, attack_net, attack_net_with_facts};
pub use attacks::{Attack, DelayRange, attacks, is_pruned};
pub use certificate::certificate;
pub use check::{AttackReport, Check, CheckOptions, DEFAULT_VALUES, Outcome, Verdict, check};
pub use fault::{Fault, FaultKind, Growing};
pub use search::{AttackAnswer, Found, Route, Search, ThreadSearch};
pub(crate) use search::{LoadStarts, explore_sc, mode_of};
pub use shape::{Shape, ShapeAction, ShapeError, ShapeThread};
pub use witness::{Violation, witness_evidence};
