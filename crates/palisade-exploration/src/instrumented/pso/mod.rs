//! The instrumented program against PSO: one store is delayed, and one exploration has all attacks.

mod certificate;
mod steps;
mod system;

pub use certificate::certificate;
pub use system::{PsoSystem, StepLabel};
