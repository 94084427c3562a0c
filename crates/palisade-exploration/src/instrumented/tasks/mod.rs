//! The instrumented program of events and tasks \[NETYS18\]: one exploration has all attacks and
//! all phases.

mod attacker;
mod certificate;
mod control;
mod hopeful;
mod place;
mod steps;
mod system;

pub use certificate::certificate;
pub use control::{Attacker, Main, TaskControl, TaskPhase};
pub use place::Place;
pub use system::{Actor, Deed, StepLabel, TaskSystem, Tasks};
