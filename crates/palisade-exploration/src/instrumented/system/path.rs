//! The happens-before path after ld_A: which helpers join it, and what a helper off it may do [ESOP13, Lemma 3, Eqs. 7–12].
//!
//! The lazily built system and the eager net of an attack both ask here; how they keep levels differs, the rule does not.

use super::Operation;
use palisade_evidence::Level;
use palisade_model::program::Value;

/// What an action of a helper off the path is after ld_A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffPath {
    /// The helper joins the path; the accesses of its section so far count with this one.
    Joins,
    /// The access is kept with those of the open section, which may join later as a whole.
    Records,
    /// The action leaves the path as it is.
    Passes,
    /// The helper cannot take it (Eq. 7).
    Stops,
}

/// The access that an operation makes, if it makes one. A read-modify-write that does not store is a load.
pub(crate) fn access(operation: Operation, stores: bool) -> Option<(Value, Level)> {
    match operation {
        Operation::Load(address) => Some((address, Level::Load)),
        Operation::Store(address, _) => Some((address, Level::Store)),
        Operation::Update(address) => Some((address, if stores { Level::Store } else { Level::Load })),
        _ => None,
    }
}

/// Lemma 3: (ii) a load joins when its address has been stored, (iii) a store when its address has been accessed.
fn joins(kind: Level, known: Option<Level>) -> bool {
    match kind {
        Level::Load => known == Some(Level::Store),
        Level::Store => known.is_some(),
    }
}

/// What an action of a helper off the path is: `access` is the kind of its access with the level of the address so far.
pub(crate) fn off_path(operation: Operation, holding: bool, access: Option<(Level, Option<Level>)>) -> OffPath {
    match (operation, access) {
        // A section may yet join; one that does not is never left.
        (Operation::Lock, _) => OffPath::Passes,
        (Operation::Fence, _) if holding => OffPath::Passes,
        (_, Some((kind, known))) if joins(kind, known) => OffPath::Joins,
        (_, Some(_)) if holding => OffPath::Records,
        _ => OffPath::Stops,
    }
}
