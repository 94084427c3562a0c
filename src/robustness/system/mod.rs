//! The instrumented program [ESOP13, Eqs. 1–13, §6; DESIGN "Locked instructions and sections"] as a lazily built net.
//!
//! One transition system serves all attacks. Its control is the memory, the lock and the *phase* of the witness of
//! Fig. 4: under SC before the first delayed store (τ1), the attacker delaying (isu · τ2), the helpers alone after the
//! attack's load (τ3). Its counters are the local states of the threads. The phases only go forward, and
//! what a phase can do does not depend on the phases before, so that the SC part is explored once for all attacks, the
//! delaying part once for all loads of a store, and the last part is shared by all attacks of a thread.
//!
//! * *Settling*: local instructions follow at once the memory action that leads to them. They commute with everything
//!   other threads do, so that this loses no behaviour; only local states at which memory is touched remain.
//! * *Dead registers* are 0.
//! * The attacker is part of the control. It moves instruction by instruction (fences are sought among its labels),
//!   and alone while only local instructions stand at its label.
//! * After ld_A the attacker and its buffer are gone: what remains to be known is the address of st_A and
//!   which addresses were accessed in happens-before order (Lemma 3).

mod control;
mod local;
mod steps;

pub use control::{Attacker, Control, Helped, Memory, Phase};
pub(super) use control::raise;
pub use local::{Growth, Local, Operation};
pub(super) use steps::Load;
pub use steps::{Place, Root, System};
