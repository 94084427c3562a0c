//! The trusted reader of evidence: says no by default.
//!
//! Everything here decides from the program or net and the evidence alone, in time polynomial in
//! their sizes, with exact arithmetic, and shares nothing with the code that searches: what that
//! code derives (attacks, the instrumented semantics, predecessors) is derived here again, in the
//! plainest way. Evidence of an unknown kind, with a number out of range or a step that is not
//! shown, is a [`CheckFailure`]. Sets are looked through by `palisade-invariants`; here is what
//! evidence is about, witnesses, repairs and compilations.

mod compilations;
mod content;
mod repair;
mod subject;
mod task_witness;
mod witness;

pub use compilations::{check_every_compilation, is_in_source_order};
pub use content::check_content;
pub use palisade_invariants::{
    CheckFailure, MOST_EVENTS, MOST_GRAPHS, Obligation, PropertyFacts, attack_net, check_also_unreachable,
    check_concurrency_certificate, check_concurrency_witness, check_free, check_interleavings, check_net_certificate,
    check_net_run, check_posted_property, check_property, check_property_witness, check_pso_certificate, check_race,
    check_race_free, check_reaching_run, check_robust_certificate, check_stale_certificate, check_stuck,
    check_task_certificate, check_unbounded, check_unreachable, enriched_program_of, is_closed_without_counters,
    plain_program, stands_without_counters, threads_that_say, without_inhibitors,
};
pub use repair::{RepairFacts, check_repair, check_repaired_text};
pub use subject::{
    check_net_evidence, check_program_evidence, check_property_evidence, check_reach_evidence, check_repair_evidence,
};
pub use task_witness::{TaskCycle, check_task_witness};
pub use witness::{check_graph_witness, check_pso_witness, check_witness};
