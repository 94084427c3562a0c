//! Verdicts on robustness against oracles, instances and nets.

pub(crate) mod accepted;
mod attack_net_proofs;
mod attack_nets;
mod beyond_sc;
pub(crate) mod counters;
mod counts;
mod crowds;
mod cut_counters;
mod decided_on_nets;
pub(crate) mod far;
mod forged_results;
pub(crate) mod joint_states;
mod language;
mod many_machines;
mod missing_counters;
pub(crate) mod models;
mod one_query;
mod oracle;
mod pso;
mod races;
mod random;
mod saturation;
mod shapes;
mod shortest_witnesses;
mod tickets;
mod turned_nets;
mod unreached;
