//! The instrumented program against PSO \[NETYS17\], in which a single store A is delayed and every other one reaches memory at once.
//!
//! Until A reaches memory, a computation is one of SC, but that its thread, the *attacker*, reads the value of A where it loads from the address
//! of A. A cycle of happens-before leads from A to a later access e of the attacker to another address, and from there along the computation to an
//! access to the address of A. So the phases are:
//!
//! 1. *SC.* Everyone runs under sequential consistency.
//! 2. *Delayed.* A token has become the attacker: it has issued A, and takes its next steps alone until e. All of these are local or read A's value, so that steps of others can come before them.
//! 3. *On the path.* The path begins at e, and the attacker stays on it: its accesses raise levels as those of helpers do [ESOP13, Lemma 3]. A helper joins by an access that
//!    happens after one on the path; others take no steps, as they can come before e. The attacker cannot store to the address of A, nor take a step that needs an empty buffer.
//!
//! It succeeds when a helper on the path accesses the address of A. One exploration has all attacks and phases, so that one closed set is the proof.

mod certificate;
mod steps;
mod system;

pub use certificate::certificate;
pub use system::{PsoSystem, StepLabel};
