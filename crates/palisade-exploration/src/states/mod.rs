//! Searches over the states of the machine of an instance, for runs to a target.
//!
//! * [`Aim`]: the targets of a slice, [`Contraction`]: a slice without what it leaves out;
//! * [`search`]: one query, breadth first, by the [`Steps`] that lead on from a state.

mod aim;
mod contraction;
mod cut;
mod flow;
mod search;
mod steps;

pub use aim::{Aim, instances};
pub use contraction::Contraction;
pub use cut::Cut;
pub use flow::BufferFlow;
pub use search::{Answer, Path, Reach, search};
pub use steps::{Move, Moves, Steps, count};
