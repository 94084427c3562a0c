//! Robustness \[ESOP13\]: which attacks are feasible, verdicts, witnesses and certificates. What is
//! explored for it is `instrumented` in `palisade-exploration`.

mod abstractions;
mod certificate;
mod check;
mod crowds;
mod delay_net;
mod far;
pub mod hardware;
mod nets;
mod one_exploration;
mod one_query;
mod parts;
mod pso;
mod reach;
mod shape;
pub(crate) mod stale;
mod tasks;
mod widths;
mod witness;

pub(crate) use abstractions::{abstracted, has_counters, interleavings_without, robust_within};
pub use certificate::certificate;
pub(crate) use check::check_quickly;
pub use check::{
    Abstraction, AttackOutcome, AttackReport, Check, CheckOptions, Counts, DEFAULT_VALUES, Far, Low, Modulo, Observer,
    Silent, Stage, Stopping, Turns, Verdict, violation_by,
};
pub(crate) use crowds::{Crowd, additions};
pub(crate) use delay_net::{DelayNet, Delaying};
pub use palisade_exploration::instrumented::net::attack_net;
pub use palisade_exploration::instrumented::{
    Attack, AttackAnswer, DelayRange, Fault, FaultKind, Found, Growing, Reached, Route, Search, ThreadLabel,
    ThreadSearch, attacks, is_pruned, numbered_attack, system,
};
pub use parts::{Part, check_part, combine, parts};
pub(crate) use pso::check_pso_within;
pub use pso::{NotForPso, PsoCheck, check_pso, not_for_pso};
pub use reach::unreached;
pub use shape::{Shape, ShapeAction, ShapeError, ShapeThread};
pub use stale::{
    GraphEdge, GraphRelation, GraphViolation, LoadBuffering, StaleCheck, StaleOptions, StaleVerdict, check_stale,
    load_buffering,
};
pub(crate) use stale::{StaleAnswer, decide_stale, doubt, steps_in_form};
pub use tasks::{
    NotRewritten, TaskCheck, as_threads, check_tasks, is_task_witness_in_order, tasks_in_order, two_threads,
};
pub(crate) use widths::check_verdict;
pub use widths::{check, check_observed};
pub(crate) use witness::{PhaseSteps, Story, story_of_steps};
pub use witness::{Violation, witness_evidence};
