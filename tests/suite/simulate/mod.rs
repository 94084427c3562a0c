//! Final states and outcomes by simulation.

mod counters;
mod models;
mod states;
