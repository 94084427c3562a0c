//! Programs whose counters grow without end, and that are robust against a language all the same.
//!
//! Such a program is explored up to shifts of its counters, and so that what has fallen far behind
//! is not told apart. What it does then is at least what the program does, so that only a proof
//! counts; the reader of the certificate has to accept it.

use crate::decide::schedule::FAR;
use crate::robustness::far::horizons;
use palisade_evidence::StaleCertificate;
use palisade_exploration::instrumented::stale::{StaleSystem, certificate};
use palisade_exploration::instrumented::system::{Counting, Growth};
use palisade_exploration::lazy::{Exploration, Mode};
use palisade_model::limits::{Budget, Limits};
use palisade_model::program::{Counters, Program, Value};
use palisade_semantics::graphs::Axioms;
use palisade_verify::check_stale_certificate;

/// Against what a program is asked to be robust, how many distinct values a register or an address
/// may take, and the limits.
type Asked<'a> = (Axioms, usize, &'a Limits);

/// A program that does at least what another one does, with its counters.
struct Candidate {
    program: Program,
    counting: Counting,
    /// The addresses that values are far behind, with the distances.
    far: Vec<(Value, Value)>,
}

/// Why a program is robust whose counters grow, if that is found; `counted` is the program by its
/// language, with equal threads counted together.
pub(super) fn robust_with_counters(
    program: &Program,
    counted: &Program,
    asked: Asked<'_>,
    explored: &mut usize,
) -> Option<StaleCertificate> {
    let all = candidates(counted);
    all.into_iter().find_map(|candidate| {
        let certificate = proof(&candidate, asked, explored)?;
        check_stale_certificate(program, &certificate).ok().map(|()| certificate)
    })
}

/// With all distances told apart first, where copies are few; then with near horizons first.
fn candidates(program: &Program) -> Vec<Candidate> {
    let exact = if program.is_parameterized() { None } else { Counting::of(Counters::of(program).into()) };
    let exact = exact.map(|counting| Candidate { program: program.clone(), counting, far: Vec::new() });
    let horizons = horizons(program).into_iter().map(|horizon| Candidate {
        program: horizon.loosened,
        counting: horizon.counting,
        far: horizon.behind,
    });
    exact.into_iter().chain(horizons).collect()
}

fn proof(candidate: &Candidate, (axioms, values, limits): Asked<'_>, count: &mut usize) -> Option<StaleCertificate> {
    let Candidate { program, counting, far } = candidate;
    let mut system = StaleSystem::new(program, axioms, Growth::Fault(values), None).counting(counting);
    let mut explored = Exploration::new(if program.is_parameterized() { Mode::Omega } else { Mode::Exact });
    for root in system.roots().ok()?? {
        explored.add_root(root.control, &root.entries, 0);
    }
    let budget = Budget::within(limits).with_work(FAR);
    let success = system.explore(&mut explored, &budget);
    *count += explored.len();
    let is_proof = matches!(success, Ok(None)) && !system.turns_are_broken();
    is_proof.then(|| certificate(&system, &explored, Some(far.clone())))
}
