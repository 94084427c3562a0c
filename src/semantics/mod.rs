//! Operational SC and TSO: step relations, computations, traces, happens-before.

mod condition;

pub use condition::{Condition, Constant, Location, Observable, Proposition, Quantifier, Question, View};
