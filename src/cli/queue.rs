//! Violations with an ordinary queue: shown in place of those that need tasks taken out of order, and with `--queue fifo` alone.

use crate::concurrency::{ConcurrencyCheck, ConcurrencyVerdict, in_order, is_in_order};
use crate::limits::{Limits, StopReason};
use crate::program::Program;
use crate::robustness::{TaskCheck, Verdict, is_task_witness_in_order, tasks_in_order};
use clap::ValueEnum;

/// In which order the main thread takes tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum QueueChoice {
    /// In any order, as delays, priorities and barriers have it.
    #[default]
    Bag,
    /// In the order of their posts: violations that need another order are none. A program that is robust for any order is robust for this one.
    Fifo,
}

impl QueueChoice {
    /// How many configurations to enumerate for a violation in order.
    fn configurations(self) -> usize {
        match self {
            Self::Bag => 5_000,
            Self::Fifo => 1_000_000,
        }
    }
}

/// Replaces a violation of robustness against concurrency by one in order where there is one; with an ordinary queue, others do not count.
pub(super) fn put_in_order(checked: &mut ConcurrencyCheck, program: &Program, queue: QueueChoice, limits: &Limits) {
    let ConcurrencyVerdict::NotRobust(violation) = &mut checked.verdict else { return };
    if is_in_order(program, violation) {
        return;
    }
    match in_order(program, violation, queue.configurations(), limits) {
        Some(found) => *violation = found,
        None if queue == QueueChoice::Fifo => checked.verdict = ConcurrencyVerdict::Unknown(StopReason::Order),
        None => {}
    }
}

/// Replaces a violation of robustness against TSO by one in order where there is one; with an ordinary queue, others do not count.
pub(super) fn put_tasks_in_order(checked: &mut TaskCheck, program: &Program, queue: QueueChoice, limits: &Limits) {
    let Some(witness) = &checked.witness else { return };
    if is_task_witness_in_order(program, witness) {
        return;
    }
    match tasks_in_order(program, witness, queue.configurations(), limits) {
        Some(found) => checked.witness = Some(found),
        None if queue == QueueChoice::Fifo => {
            checked.witness = None;
            checked.verdict = Verdict::Unknown(StopReason::Order);
        }
        None => {}
    }
}
