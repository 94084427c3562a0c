//! Robustness: attacks, the instrumented program, search, verdicts and witnesses [ESOP13].

mod attacks;
mod check;
mod fault;
mod search;
pub mod system;
mod witness;

pub use attacks::{Attack, DelayRange, attacks, is_pruned};
pub use check::{AttackReport, Check, CheckOptions, Outcome, Verdict, check};
pub use fault::{Fault, FaultKind, Growing};
pub use search::{AttackAnswer, Found, Route, Search, ThreadSearch};
pub use witness::Violation;
