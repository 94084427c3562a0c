//! Robustness: attacks, the instrumented program, search, verdicts and witnesses [ESOP13].

mod attacks;
mod fault;
pub mod system;

pub use attacks::{Attack, DelayRange, attacks, is_pruned};
pub use fault::{Fault, FaultKind, Growing};
