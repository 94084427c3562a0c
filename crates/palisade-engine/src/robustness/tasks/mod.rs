//! Robustness of event-driven programs against TSO [NETYS18, Definition 2], for any number of
//! events and tasks.
//!
//! The attacks of [ESOP13] decide it: with posts that drain, a post is a locked update of a mailbox
//! of its own and the main thread one that empties mailboxes, so that the program is one of
//! threads. Tasks are tokens; the main thread is part of the control, and keeps its place on the
//! happens-before path from one invocation to the next. One transition system has all attacks and
//! all phases, so that one closed set of configurations is the proof.
//!
//! DIVERGENCE [NETYS18, Theorem 2]: the paper asks two threads in place of all, which misses
//! violations and reports some that are none. No verdict rests on it; [`two_threads`] writes these
//! two threads down, to compare.
//!
//! DIVERGENCE [ESOP13]: with plain posts a post oversteps stores as a load does, and the main
//! thread delays stores past the ends of its invocations. No paper proves the form of attacks for
//! these; comparisons with all computations of random programs stand for a proof.

mod check;
mod in_order;
mod instrumented;
mod replay;
mod rewriting;

pub use check::{TaskCheck, check_tasks};
pub use in_order::{is_task_witness_in_order, tasks_in_order};
pub use rewriting::{NotRewritten, as_threads, two_threads};
