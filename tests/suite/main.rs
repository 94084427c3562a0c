//! The integration tests, in one program: the crate is linked once.

mod checked;
mod commands;
mod differential;
mod documents;
mod environment;
mod events;
mod evidence;
mod exports;
mod fences;
mod hangs;
mod house;
mod languages;
mod litmus;
mod lsp;
mod machine;
mod nets;
mod piped;
mod planted_faults;
mod processor;
mod properties;
mod readers;
mod robustness;
mod simulate;
mod solver;
mod structured;
mod support;
