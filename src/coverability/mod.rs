//! Coverability of Petri nets: strategies behind one trait, portfolio, reductions, certificates.

pub mod lazy;
