//! The trusted reader of evidence: says no by default.
//!
//! Everything here decides from the program or net and the evidence alone, in time polynomial in their sizes, with
//! exact arithmetic, and shares nothing with the code that searches: what that code derives (attacks, the
//! instrumented semantics, predecessors) is derived here again, in the plainest way. Evidence of an unknown kind,
//! with a number out of range or a step that is not shown, is a [`CheckFailure`]. This room uses `program`,
//! `semantics`, `net` and `evidence`, and nothing else.

mod compilations;
mod concurrency;
mod content;
mod failure;
mod listing;
mod liveness;
mod net;
mod program;
mod property;
mod repair;
mod subject;
mod task_witness;
mod tokens;
mod witness;

pub use compilations::{check_every_compilation, is_in_source_order};
pub use concurrency::{check_concurrency_certificate, check_concurrency_witness};
pub use content::check_content;
pub use failure::{CheckFailure, Obligation};
pub use net::{check_net_certificate, check_net_run};
pub use program::{
    attack_net, check_interleavings, check_pso_certificate, check_robust_certificate, check_task_certificate,
    is_closed_without_counters, plain_program,
};
pub use property::{
    PropertyFacts, check_posted_property, check_property, check_property_witness, check_race, check_race_free,
    enriched_program_of, threads_that_say,
};
pub use repair::{RepairFacts, check_repair, check_repaired_text};
pub use subject::{check_net_evidence, check_program_evidence, check_property_evidence, check_repair_evidence};
pub use task_witness::{TaskCycle, check_task_witness};
pub use witness::{check_pso_witness, check_witness};
