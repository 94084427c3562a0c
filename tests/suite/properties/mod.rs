//! Properties under SC, TSO and PSO, and the fences that they need.

mod corpus;
mod counters;
pub(crate) mod enriched;
mod fences;
mod fences_command;
mod input;
mod models;
mod optima;
mod repairs;
mod rings;
pub(crate) mod rungs;
mod snapshots;
