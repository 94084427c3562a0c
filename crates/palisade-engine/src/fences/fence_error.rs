//! Why fences cannot be computed.

use super::cost::CostError;
use super::pattern::PatternError;
use palisade_exploration::instrumented::Fault;
use thiserror::Error;

/// Why fences cannot be computed: the input is at fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FenceError {
    /// A reachable step of the program has no meaning, or values grow.
    #[error("the program has a step without meaning")]
    Fault(Fault),
    /// A cost cannot be used.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A pattern names nothing.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}
