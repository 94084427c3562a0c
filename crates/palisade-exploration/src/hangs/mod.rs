//! Programs with store buffers, explored for *stuck states*: every buffer is empty, every thread
//! has ended, sleeps, or goes round without effect, and one of those that wait must not.
//!
//! A configuration is a memory and how many copies are in which *place*, a settled local state with
//! its store buffer. Copies of fixed threads are counted exactly; those of replicated ones up to a
//! number, and then as *more*. So one exploration serves fixed and any numbers.
//!
//! Whether a copy waits is judged by effect, not by the shape of its loop ([`System::waiting`]):
//! alone, while memory stays as it is, it neither ends, stores, nor changes memory, on any way.

mod closed;
mod configuration;
mod counters;
mod hopeless;
mod persistent;
mod place;
mod rows;
mod search;
mod system;
mod tokens;
mod waiting;

pub use configuration::Configuration;
pub use hopeless::search_hopeless;
pub use place::{Local, Place, Waiting};
pub use search::{Search, Step, search, search_counting};
pub use system::{Act, Control, Shape, System};
