//! Operational SC, TSO and PSO: step relations, computations, traces, happens-before.
//!
//! A [`Machine`] is the step relation of an [`Instance`] (a fixed number of copies of each thread)
//! under a [`Model`]. A computation is a sequence of [`Step`]s; [`replay`] takes it and gives its
//! [`Trace`]. [`oracle`] decides robustness of small instances by enumerating all traces, knowing
//! nothing of attacks; `race_oracle` looks for triangular races in all interleavings;
//! `property_oracle` finds what they reach under each model, and the fences that keep them from it,
//! by enumerating all states; `pso_oracle` decides robustness against PSO; `hang_oracle` finds who
//! waits for ever, `hope_oracle` who does while others go on. [`graphs`] has execution graphs and
//! the axioms of C11, with an oracle of their own. These six and random programs are there with the
//! feature `oracles`. Values are concrete and nothing is abstracted here. Of `palisade-model` this
//! crate uses `program`, `limits` and `ordered`.

mod buffers;
mod computation;
mod condition;
pub mod crowd;
mod executed;
mod exploration;
mod final_states;
mod footprint;
mod forgetting;
pub mod graphs;
mod growth;
#[cfg(any(test, feature = "oracles"))]
pub mod hang_oracle;
mod happens_before;
#[cfg(any(test, feature = "oracles"))]
pub mod hope_oracle;
mod instance;
mod joint;
mod local_way;
mod machine;
mod marks;
mod observation;
pub mod oracle;
#[cfg(any(test, feature = "oracles"))]
pub mod property_oracle;
#[cfg(any(test, feature = "oracles"))]
pub mod pso_oracle;
#[cfg(any(test, feature = "oracles"))]
pub mod race_oracle;
#[cfg(any(test, feature = "oracles"))]
#[doc(hidden)]
pub mod random;
mod reduction;
mod replay;
mod shortest_violation;
mod state_table;
mod step;
mod symmetry;
mod target;
pub mod tasks;
mod trace;
mod turns;
mod waiting;

pub use computation::Computation;
pub use condition::{Condition, Constant, Location, Observable, Proposition, Quantifier, Question, View};
pub use executed::BufferedStore;
pub use exploration::{Bounds, Executions, ExplorationError, each_execution, executions, maximal_traces};
pub use final_states::{
    FinalStates, LOOP_CAPACITY, Search, Told, explore_final_states, final_states, search_final_states,
};
pub use growth::Growth;
pub use happens_before::{Edge, Relation, is_cyclic, shortest_cycle, shortest_path};
pub use instance::{CopyId, Instance};
pub use joint::is_reached;
pub use machine::{Machine, Model, State, ThreadState};
pub use marks::Marks;
pub use observation::{Counting, Observation};
pub use replay::{Replay, ReplayError, replay, replay_on};
pub use shortest_violation::{Goal, shortest_violation};
pub use step::{Effect, Event, Refusal, Step, StepKind, Subject, ValueCause, ValueError};
pub use target::Target;
pub use trace::{Access, AccessId, AccessKind, Node, NodeId, Trace, TraceBuilder};
pub use turns::Turns;
