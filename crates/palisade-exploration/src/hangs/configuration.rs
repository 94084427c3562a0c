//! Configurations: what all copies share, and how many are where.

use super::system::Control;

/// A memory, and how many copies are in which place, ascending by place. Copies that have ended,
/// with empty buffers, are left out.
///
/// Of a replicated thread, one more than [`Shape::most`](super::Shape::most) stands for any number
/// beyond it; and copies that have not moved are not counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The memory and the lock.
    pub control: Control,
    /// The numbers of copies.
    pub tokens: Box<[(u32, u64)]>,
}
