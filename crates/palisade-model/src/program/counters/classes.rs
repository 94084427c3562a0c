//! The classes: variables are united by the instructions that make them move together, and struck
//! out by those that no turn commutes with, until nothing changes.

use super::partition::Partition;
use super::{Counters, flow};
use crate::program::{Liveness, Program, Role, Thread};

/// Larger domains are not turned in: a turn is less than the number of values, and a value itself.
const LARGEST_SIZE: u128 = 1 << 62;

/// In threads with more registers at labels than this together no classes are sought: they would
/// take more time and memory than they save.
const MOST_REGISTERS_AT_LABELS: usize = 1 << 20;

/// The classes of a program in which registers are live as given.
pub(super) fn classes(program: &Program, liveness: Vec<Liveness>) -> Counters {
    let turns = program.domain.is_none_or(|domain| domain.wrap && domain.size() <= LARGEST_SIZE);
    let registers = |thread: &Thread| thread.labels.len().saturating_mul(thread.registers.len());
    let is_large = program.threads.iter().map(registers).fold(0, usize::saturating_add) > MOST_REGISTERS_AT_LABELS;
    if !turns || is_large || program.threads.iter().any(|thread| thread.role != Role::Thread) {
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
