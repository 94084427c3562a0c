//! Why a search for a placement has not seen all.

use palisade_model::limits::StopReason;
use palisade_semantics::ValueError;

/// Why a search has not seen all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A store waited for room in a buffer.
    Buffers(usize),
    /// The states are too many.
    States(usize),
    /// A limit was reached.
    Limit(StopReason),
    /// A step reads what was left out of the slice.
    Slice,
    /// A step has no value.
    Value(ValueError),
}
