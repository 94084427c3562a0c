//! Brute-force oracles for event-driven programs: robustness against concurrency and against TSO,
//! by enumeration of all computations.
//!
//! They search the multi-threaded step relation, every interleaving and all contents of store
//! buffers, and look for the cycles that characterise violations. They know neither serial runs nor
//! attacks, so that tests can compare everything built on these with them.
//!
//! **Robustness against concurrency** ([`concurrency`]). An SC computation can be permuted into a
//! serial one, with the order of conflicting accesses kept, iff (1) the graph on events with an
//! edge for each ordered pair of conflicting accesses of different events is acyclic
//! (*serializability*), and (2) conflicting accesses of two invocations of one event come in the
//! order of the serial run (*determinism*): an ancestor before its descendants, an earlier
//! sibling's subtree before a later one's [NETYS18, Def. 1]. DIVERGENCE: two tasks of the main
//! thread conflict there whatever they access; here only accesses and posts order tasks.
//!
//! **Robustness against TSO** ([`tso`]). A TSO computation has the trace of an SC one iff its
//! happens-before is acyclic: program order of each thread – for the main thread through all its
//! invocations – post before begin, reads-from, store order and from-read [NETYS18, Def. 2],
//! [ESOP13, Lemma 1]. DIVERGENCE: a store of the paper has two labels, its issue and its commit;
//! here it is one node, as in [ESOP13, Section 3].
//!
//! A locked section is one access: a violation counts where no section is open. Values are
//! concrete, and events occur as often as the program says.

mod concurrency;
#[cfg(test)]
mod literal;
mod reach;
mod search;
#[cfg(test)]
mod tests;
mod tso;

pub use concurrency::{Kind, concurrency};
pub use search::{Answer, OracleError, TaskBounds};
pub use tso::tso;

/// How strongly something is tied to an address: by a read of its last write, or by that write
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Level {
    /// A read.
    Read,
    /// A write.
    Write,
}
