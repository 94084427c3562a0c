//! Repairs against a language: which orderings and fences keep a program robust against C11.
//!
//! The more orderings and fences, the fewer graphs are consistent: every relation that an axiom
//! forbids to have a cycle grows with the orderings (THEORY.md, "Repairs"). So the orderings with
//! which a program is robust are upward closed, and a violation is one of every weaker form of the
//! program too. It forbids all forms that have none of a *row* of measures: these are found by the
//! axioms alone, on the violation's own graph. Rounds of guess and check ask about the cheapest
//! form that no row forbids.
//!
//! * [`search`]: forms of a program, rows, rounds;
//! * [`offer`]: measures and what they cost;
//! * [`repair`]: stronger orderings and fences for a program that is not robust;
//! * [`weakest`]: the question `orderings`: which orderings of a robust program can be weaker, one
//!   by one and together.

mod offer;
mod repair;
mod search;
mod weakest;

pub(crate) use repair::offer;
pub use repair::{
    LanguageChange, LanguageRepair, LanguageRepaired, language_offer, language_unit_of_costs, repair_language,
};
pub use search::{Growth, LanguageRow};
pub use weakest::{
    Needed, OrderedPlace, Orderings, OrderingsOptions, OrderingsShown, orderings, orderings_unit_of_costs,
    weakened_text, weaker_orderings,
};

#[cfg(test)]
mod tests;
