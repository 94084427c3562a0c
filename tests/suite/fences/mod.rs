//! Fences for robustness: their cost, their evidence, their repairs.

pub(crate) mod corpus;
mod counters;
pub(crate) mod evidence;
mod exhaustive;
mod growth;
mod limits;
mod needed_fences;
mod on_nets;
pub(crate) mod optima;
mod orderings;
mod redundancy;
mod source_sites;
