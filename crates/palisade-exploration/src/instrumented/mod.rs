//! Programs instrumented for attacks \[ESOP13\]: what the question about robustness becomes.
//!
//! * [`Attack`], and what control flow alone says of attacks;
//! * [`system`]: instrumented programs as lazily built nets, with what they have in common for all
//!   memory models;
//! * [`tso`]: the model TSO, whose program [`search`] explores phase by phase, past
//!   [`Obstacles`] where fences are sought, and [`Joint`] in one exploration;
//! * [`net`]: the same as a listed net, attack by attack;
//! * [`pso`], [`stale`] and [`tasks`]: the models PSO, C11 with release/acquire, and TSO of events
//!   and tasks;
//! * [`SharedTables`]: explored sets in the terms of the checker;
//! * [`Shortening`]: the search for a shortest computation by an attack.

mod attacks;
mod certificate;
mod delaying;
mod estimate;
mod fault;
mod joint;
pub mod net;
mod obstacles;
pub mod pso;
mod reached;
mod search;
mod shortening;
pub mod stale;
mod successes;
pub mod system;
pub mod tasks;
pub mod tso;

pub use attacks::{Attack, DelayRange, METER, attacks, attacks_within, is_pruned, numbered_attack, pruned};
pub use certificate::SharedTables;
pub use delaying::{DelayingPhase, DelayingPhases};
pub use fault::{Fault, FaultKind, Growing};
pub use joint::Joint;
pub use obstacles::{DelayFlow, Obstacles, Obstructed, attacker_label, is_stopped};
pub use reached::{Reached, ThreadLabel};
pub use search::{
    AttackAnswer, Found, LoadStarts, Route, Search, Success, ThreadSearch, explore_sc, explore_sc_until, mode_of,
    search,
};
pub use shortening::{Actor, Deed, End, Run, Shortening};
pub use successes::Successes;
