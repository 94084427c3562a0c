//! Programs of events and tasks.

mod commands;
mod corners;
mod corpus;
mod evidence;
mod language;
mod models;
mod oracles;
mod properties;
mod queue;
mod rewritings;
mod tso;
mod tso_evidence;
