//! What the house says of itself: its walls, its documents, its checks of the checker.

mod architecture;
mod architecture_circles;
mod broken_checker;
mod guide;
mod proofs;
mod prose;
mod proved_beside;
mod proved_checker;
mod proved_programs;
pub(crate) mod readme;
