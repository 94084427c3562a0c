//! Petri nets: coverability, formats and contests.

mod bounds;
mod contest;
mod corpus_nets;
mod cover;
mod coverability_corpus;
mod formulas;
mod inhibitors;
mod limits;
mod net;
mod pm4py;
mod reachability_corpus;
