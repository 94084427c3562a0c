//! The checker's kernel: whether sets are what evidence says of them.
//!
//! A certificate is a set that holds what is there initially, is closed under every step, and meets
//! nothing that it must not meet. Everything here decides that from the program or net and the set
//! alone, in time polynomial in their sizes, with exact arithmetic, and shares nothing with the
//! code that searches: the instrumented semantics and the predecessors are derived again, in the
//! plainest way.
//!
//! | module | sets of what |
//! |---|---|
//! | `program` | configurations of instrumented programs: threads under TSO and PSO, events; what counters and tickets let the sets leave out |
//! | `property` | configurations with store buffers; runs that reach a target |
//! | `hangs` | configurations none of which is stuck; runs to stuck states |
//! | `concurrency` | configurations of the serial program of events |
//! | `net` | markings; runs of nets |
//!
//! `palisade-verify` reads evidence and asks this crate.

mod concurrency;
mod failure;
mod hangs;
mod listing;
mod liveness;
mod net;
mod program;
mod property;
mod tokens;

pub use concurrency::{check_concurrency_certificate, check_concurrency_witness};
pub use failure::{CheckFailure, Obligation};
pub use hangs::{MOST_EVENTS, MOST_GRAPHS, check_free, check_stuck};
pub use listing::listed_place;
pub use net::{
    check_also_unreachable, check_net_certificate, check_net_run, check_reaching_run, check_unbounded,
    check_unreachable, without_inhibitors,
};
pub use program::{
    attack_net, check_interleavings, check_pso_certificate, check_robust_certificate, check_stale_certificate,
    check_task_certificate, check_without_races, is_closed_without_counters, plain_program,
};
pub use property::{
    PropertyFacts, check_goal, check_posted_property, check_property, check_property_witness, check_race,
    check_race_free, enriched_program_of, stands_without_counters, threads_that_say,
};
