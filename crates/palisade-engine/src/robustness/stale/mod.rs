//! Robustness against C11 and release/acquire, and races of plain data.
//!
//! One transition system decides the question
//! ([`StaleSystem`](palisade_exploration::instrumented::stale::StaleSystem)), in one exploration of
//! all attacks and phases. It is for axioms in which sequentially consistent accesses give fewer
//! guarantees than in RC11 or C++20, so that a program that it finds robust is robust by both; what
//! it finds beyond that is asked about by the axioms in full before it is shown.

mod asked;
mod check;
mod counted;
mod cycle;
mod instrumented;
mod load_buffering;
mod replay;
mod steps;
mod together;

pub(crate) use check::doubt;
pub(crate) use check::{StaleAnswer, decide_stale};
pub use check::{StaleCheck, StaleOptions, StaleVerdict, check_stale};
pub use cycle::{GraphEdge, GraphRelation};
pub use load_buffering::{LoadBuffering, load_buffering};
pub use steps::GraphViolation;
pub(crate) use steps::steps_in_form;

#[cfg(test)]
mod counted_tests;
#[cfg(test)]
pub(crate) mod tests;
