//! Petri nets, markings and ω-markings, units; what their formats are called, and why a text is
//! none of them.
//!
//! A [`Net`] is a place/transition net with an initial marking that may leave places unbounded (ω,
//! mist's `>=`), and optional units: sets of places that always hold exactly one token together. A
//! [`Query`] asks whether one of its targets can be covered. This room knows nothing of programs.

mod built_in;
mod count;
mod effects;
mod format;
mod formula;
mod ids;
mod model;
mod property;
mod read_error;
mod units;
mod which_question;

pub use built_in::BUILT_IN;
pub use count::{Count, OmegaCount};
pub use effects::Effects;
pub use format::{Format, QueryFormat};
pub use formula::{Formula, LinearBound, ReachQuestion};
pub use ids::{PlaceId, TransitionId};
pub use model::{Arcs, Inhibitor, Net, Place, Problem, Quantifier, Query, Target, Transition, normalize};
pub use property::{AskedOf, Claim, Property, Question, UpperBound};
pub use read_error::ReadError;
pub use which_question::WhichQuestion;
