//! The problem of \[FM15\]: the fewest pairs of statements that must not be reordered, by the
//! paper's four methods.
//!
//! A pair (s, t) of one thread is *reordered* in a run when an access of t is performed while a
//! store of s, issued before it, is buffered, and their addresses differ. Under TSO t is a load;
//! under PSO also a store, which reaches memory first. A load that takes its own store's value is
//! reordered with the stores to other addresses, not with that one. Under a *ban* of (s, t), t
//! waits while this would happen. A ban acts on all instances of the statements.
//!
//! All methods ask for violating runs of the program under bans, and learn from each its set of
//! reordered pairs, until none is left:
//!
//! * `te` [FM15, Alg. 1] asks for a run that does not contain a set learned before;
//! * `fi` [FM15, Alg. 2] bans a smallest set of pairs that meets all sets learned;
//! * `robmc` [FM15, Alg. 3] does so among runs with at most k reordered pairs, and doubles k when
//!   there are none;
//! * `robmc-et` [FM15, Alg. 4] stops early when no run was cut off by the bound.
//!
//! DIVERGENCE [FM15, Alg. 3 and 4]: the paper leaves out the largest bound where doubling steps
//! over it. Here k grows to min(2k, K2), and K2 is asked. DIVERGENCE [FM15, Alg. 4]: the paper
//! takes the end test from an unsatisfiable core, here no step was cut off by the bound. `te` bans
//! in each run some pair of each set learned, not one choice for all runs, as only this proves that
//! what is found is valid.
//!
//! A method that ends because no run is left has proved its set: the searches are closed, for
//! unbounded buffers and all iterations. For `robmc` that needs K2 to be as large as the number of
//! pairs, or an early end.

mod methods;
mod reordering;
mod search;

pub use methods::{Method, MethodError, PairOptions, PairPlacement, PairsPlaced, place_pairs};
pub use reordering::Pair;
