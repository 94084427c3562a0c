//! Robustness: attacks, the instrumented program, search, verdicts and witnesses \[ESOP13\].

mod abstractions;
mod attack_net;
mod attacks;
mod certificate;
mod check;
mod crowds;
mod delay_net;
mod estimate;
mod far;
mod fault;
pub mod hardware;
mod joint;
mod nets;
mod one_exploration;
mod one_query;
mod parts;
mod pso;
mod reach;
mod reached;
mod search;
mod shape;
mod shortening;
mod successes;
pub mod system;
mod tasks;
mod widths;
mod witness;

pub(crate) use abstractions::{abstracted, has_counters, interleavings_without, robust_within};
pub use attack_net::attack_net;
pub use attacks::{Attack, DelayRange, attacks, is_pruned};
pub(crate) use attacks::{METER, attacks_within, pruned};
pub use certificate::certificate;
pub(crate) use check::check_quickly;
pub use check::{
    Abstraction, AttackOutcome, AttackReport, Check, CheckOptions, DEFAULT_VALUES, Far, Modulo, Observer, Silent,
    Stage, Stopping, Turns, Verdict, violation_by,
};
pub(crate) use crowds::{Crowd, NODES, additions};
pub(crate) use delay_net::{DelayNet, Delaying};
pub use fault::{Fault, FaultKind, Growing};
pub use parts::{Part, check_part, combine, parts};
pub(crate) use pso::check_pso_within;
pub use pso::{NotForPso, PsoCheck, check_pso, not_for_pso};
pub use reach::unreached;
pub use reached::{Reached, ThreadLabel};
pub use search::{AttackAnswer, Found, Route, Search, ThreadSearch};
pub(crate) use search::{LoadStarts, Success, explore_sc, mode_of};
pub use shape::{Shape, ShapeAction, ShapeError, ShapeThread};
pub(crate) use successes::Successes;
pub use tasks::{
    NotRewritten, TaskCheck, as_threads, check_tasks, is_task_witness_in_order, tasks_in_order, two_threads,
};
pub(crate) use widths::check_verdict;
pub use widths::{check, check_observed};
pub(crate) use witness::{PhaseSteps, Story, story_of_steps};
pub use witness::{Violation, witness_evidence};
