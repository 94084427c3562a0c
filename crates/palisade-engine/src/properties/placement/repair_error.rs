//! Why a placement has no repair.

use super::place::PlacementError;
use crate::fences::RepairError;
use palisade_verify::CheckFailure;
use thiserror::Error;

/// Why there is no repair.
#[derive(Debug, Error)]
pub enum PropertyRepairError {
    /// The input is at fault.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A fault of Palisade: `verify` rejects its evidence.
    #[error("the evidence for the repair is rejected: {0}")]
    Rejected(#[from] CheckFailure),
    /// A fault of Palisade: the checker broke off.
    #[error("{0}")]
    Broken(String),
}

impl From<RepairError> for PropertyRepairError {
    fn from(error: RepairError) -> Self {
        match error {
            RepairError::Rejected(failure) => Self::Rejected(failure),
            error => Self::Broken(error.to_string()),
        }
    }
}
