//! Programs without triangular races: a closed set of configurations under SC of which none is a
//! race.

use super::closed::check_closed_set;
use super::ranges::Range;
use super::slice::Observed;
use super::{Buffering, Goal, Known};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::BufferInvariant;
use palisade_model::program::{Copies, Program};

/// Checks that `closed` shows `program` (with its copies and domain) to have no triangular race.
pub fn check_race_free(program: &Program, closed: &BufferInvariant) -> Result<(), CheckFailure> {
    if program.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the evidence is about nothing");
    }
    let goal = Goal { targets: &[], question: None, observed: Observed::default() };
    let known = Known { bounds: None, written: &Range::default(), counts: false };
    check_closed_set(program, Buffering::Noted, &goal, known, closed)
}
