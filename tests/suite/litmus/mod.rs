//! Litmus tests for x86 and in C.

mod c;
mod corpus;
mod executions;
mod herd_habits;
mod locked;
mod memory_models;
mod witness_litmus;
mod writer;
