//! The classes: variables are united by the instructions that make them move together, and struck out by those that no turn
//! commutes with, until nothing changes.

use super::partition::Partition;
use super::{Counters, flow};
use crate::program::{Liveness, Program, Role};

/// Larger domains are not turned in: a turn is less than the number of values, and a value itself.
const LARGEST_SIZE: u128 = 1 << 62;

/// The classes of a program in which registers are live as given.
pub(super) fn classes(program: &Program, liveness: Vec<Liveness>) -> Counters {
    let turns = program.domain.is_none_or(|domain| domain.wrap && domain.size() <= LARGEST_SIZE);
    if !turns || program.threads.iter().any(|thread| thread.role != Role::Thread) {
        return Counters::none(program);
    }
    let mut partition = Partition::new(program, liveness);
    loop {
        partition.has_changed = false;
        flow::impose(&mut partition);
        if !partition.has_changed {
            return partition.into_counters();
        }
    }
}
