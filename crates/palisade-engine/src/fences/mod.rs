//! Fence insertion [ESOP13, §7]: the cheapest changes after which no attack is feasible.
//!
//! A fence at a label bears on an attack in one way only: while the attacker delays the attack's
//! store it cannot pass the label. Before the store is issued, and for every helper, the program
//! runs under SC, where fences do nothing. So the exploration under SC and the last phase are the
//! same for all fence sets, and a set eliminates an attack exactly when every way of the delaying
//! attacker from the store to a load from which the happens-before cycle closes passes a label of
//! the set. The labels of one such way form a *row*: some change must touch it. A set that touches
//! every row of every feasible attack is valid [ESOP13, Lemma 4, Theorem 7].
//!
//! Where values grow without a declared domain, no search shows that a set eliminates an attack:
//! fences do not change what is reachable under SC. But the rows found among the first values are
//! rows, so what touches them at the least cost is a lower bound; and a set that cuts all control
//! flow from stores to loads is valid whatever the values. When one such set costs as much as the
//! bound it is optimal.
//!
//! * [`Measure`]: a change — a fence at a label, a store made a locked exchange, an existing fence
//!   kept;
//! * `planning`: the rounds in which searches, and nets where these take long, decide the attacks
//!   of all parts;
//! * `catalogues`: the measures on offer, in parts that share none: one for each thread, but
//!   threads that the same source makes are one part;
//! * `thread`: the plan for one part: the attacks `known`, the `choice` among measures, the state
//!   of the work;
//! * `attempt`: the methods that take part in one round, and how much work they may do;
//! * `analysis`: one thread's attacks under candidate sets, by searches of the delaying phase that
//!   share all the rest; `joint`: those of a part;
//! * `on_nets`: the same on the nets of the attacks;
//! * `eliminating`: the irreducible eliminating sets of one attack, and its minimal rows;
//! * `covering`: the 0/1 program (Eq. 14) over the rows, a maintained solver for it, and an exact
//!   proof of the optimum;
//! * [`CostFunction`]: what a measure costs;
//! * [`place`] and [`redundant`]: the results. Every set returned has been confirmed by a check of
//!   the changed program;
//! * `language`: orderings and fences for robustness against a language;
//! * [`repair`](fn@repair): a repair in full, with the changed text and checked evidence for every
//!   claim.

mod analysis;
mod attempt;
mod by_checks;
mod cases;
pub(crate) mod catalogue;
mod catalogues;
mod change;
mod choice;
mod computation;
mod control_flow;
mod cost;
mod cost_function;
pub(crate) mod covering;
mod depth;
mod eliminating;
mod fence_error;
mod joint;
mod known;
pub(crate) mod language;
pub(crate) mod offered;
mod on_nets;
mod options;
mod pattern;
mod place;
mod planning;
mod profile;
mod progress;
mod redundant;
pub(crate) mod repair;
mod request;
pub(crate) mod rounds;
mod thread;
mod unfinished;

pub use cases::Case;
pub(crate) use change::with_measures_at;
pub use change::{fences_removed, with_measures};
pub use cost::{Cost, CostError};
pub use cost_function::CostFunction;
pub(crate) use cost_function::MeasureCosts;
pub use fence_error::FenceError;
pub use language::{
    Growth, LanguageChange, LanguageRepair, LanguageRepaired, LanguageRow, Needed, OrderedPlace, Orderings,
    OrderingsOptions, OrderingsShown, language_offer, language_unit_of_costs, orderings, orderings_unit_of_costs,
    repair_language, weakened_text, weaker_orderings,
};
pub use offered::{CostUnit, unit_of_costs};
pub(crate) use offered::{Offered, unit_among};
pub use options::FenceOptions;
pub use palisade_model::program::Measure;
pub use pattern::{Pattern, PatternError};
pub use place::{Elimination, Placement, Proof, Repair, Returning, offered, place};
pub use profile::{LineError, Profile, ProfileError};
pub use progress::{Observer, Silent};
pub use redundant::{Redundancy, redundant, redundant_besides};
pub(crate) use repair::Checker;
pub use repair::{
    Checks, Remedied, Remedy, RepairError, RepairOptions, Repaired, RepairedText, Shown, Unchecked, WithinLimits,
    repair, repair_events,
};
pub use unfinished::Unfinished;
