//! Programs with store buffers, and what is known of them before anything is explored.
//!
//! * [`BufferSystem`]: the lazily built net, with buffers of every model or queues of snapshots;
//!   [`search`] explores it for the targets of a [`Goal`], [`Racing`] for races;
//! * [`closed_set`]: what was explored, in the terms of the checker;
//! * [`Values`], over [`Range`]s: which values can come up in any order of steps;
//! * [`Slice`]: what matters for some targets.

mod buffer;
mod closed;
mod delay;
mod finals;
mod goal;
mod lag;
mod racing;
mod range;
mod search;
mod slice;
mod snapshots;
mod system;
mod turned;
mod values;

pub use buffer::{Buffers, Order};
pub use closed::closed_set;
pub(crate) use delay::overtaking_labels;
pub use delay::single_writer_addresses;
pub use goal::{Goal, targets};
pub use racing::Racing;
pub use range::Range;
pub use search::{Known, Reaching, Search, search, search_up_to_turns};
pub use slice::{Slice, addresses_of};
pub use system::{Act, BufferSystem, Control, Shape, StoreEffect};
pub use values::Values;
