//! Rounds of guess and check: which sets are valid is told by checks of the program with each of
//! them.
//!
//! Changes only take computations away. So when a program with some measures is violated, its
//! computation says which others could stop it. These are a *row*: every valid set has one of them.
//! Each round asks about the program with a cheapest set that touches the rows known; a violation
//! gives a new row, and a proof ends the search, with a set that costs as little as any that
//! touches all rows.
//!
//! A row is cut down, and shown to be one, by the violation of the program with all measures but
//! those of the row.

use super::catalogue::MeasureSet;
use super::cost::Cost;
use super::covering::{Cheapest, cheapest};
use palisade_model::limits::{Limits, StopReason};
use palisade_model::program::Program;

/// What one program turns out to be.
pub(crate) enum Decided<P, V> {
    /// It is robust.
    Robust(P),
    /// It is not.
    NotRobust(V),
    /// It was not found out.
    Unknown(StopReason),
}

/// Programs with sets of measures, and what checks say of them.
pub(super) trait Guesses {
    /// What shows a program robust.
    type Proof;
    /// What shows that it is not.
    type Violation;
    /// What is wrong with the input.
    type Error;

    /// The program with a set of measures.
    fn with(&self, set: &MeasureSet) -> Program;

    /// The program with all that is permitted but the measures of a row.
    fn with_all_but(&self, row: &MeasureSet) -> Program;

    /// Checks a program.
    fn ask(&mut self, program: &Program) -> Result<Decided<Self::Proof, Self::Violation>, Self::Error>;

    /// The measures that would stop a violation of the program with a set of others.
    fn row(&self, set: &MeasureSet, changed: &Program, violation: &Self::Violation) -> MeasureSet;
}

/// Rows, each with a violation of the program with all that is permitted but its measures.
pub(super) type Rows<V> = Vec<(MeasureSet, V)>;

/// What one round has found out about a set.
pub(super) enum Round<P, V> {
    /// It is valid.
    Valid(P),
    /// It is not; there is a new row.
    NewRow,
    /// Nothing that is permitted stops this violation.
    Impossible(V),
    /// It was not found out.
    Unknown(StopReason),
}

/// How rounds end.
pub(super) enum End<P, V> {
    /// This set is valid, and a cheapest one.
    Valid(Cheapest, P),
    /// Nothing that is permitted stops this violation.
    Impossible(V),
    /// It was not found out.
    Unknown(StopReason),
}

/// Rounds until a set is valid that touches the rows known before, and those found.
pub(super) fn rounds<G: Guesses>(
    guesses: &mut G,
    known: &[MeasureSet],
    rows: &mut Rows<G::Violation>,
    costs: &[Cost],
    limits: &Limits,
) -> Result<End<G::Proof, G::Violation>, G::Error> {
    loop {
        let set = match cheapest(&all_rows(known, rows), costs, limits) {
            Ok(set) => set,
            Err((reason, _)) => return Ok(End::Unknown(reason)),
        };
        match round(guesses, rows, &set.set)? {
            Round::Valid(proof) => return Ok(End::Valid(set, proof)),
            Round::NewRow => {}
            Round::Impossible(violation) => return Ok(End::Impossible(violation)),
            Round::Unknown(reason) => return Ok(End::Unknown(reason)),
        }
    }
}

/// The rows known before, and those found.
pub(super) fn all_rows<V>(known: &[MeasureSet], rows: &[(MeasureSet, V)]) -> Vec<MeasureSet> {
    known.iter().chain(rows.iter().map(|(row, _)| row)).cloned().collect()
}

/// Asks about one set. A violation adds a row.
pub(super) fn round<G: Guesses>(
    guesses: &mut G,
    rows: &mut Rows<G::Violation>,
    set: &MeasureSet,
) -> Result<Round<G::Proof, G::Violation>, G::Error> {
    let changed = guesses.with(set);
    let violation = match guesses.ask(&changed)? {
        Decided::Robust(proof) => return Ok(Round::Valid(proof)),
        Decided::Unknown(reason) => return Ok(Round::Unknown(reason)),
        Decided::NotRobust(violation) => violation,
    };
    let mut row = guesses.row(set, &changed, &violation);
    debug_assert!(row.is_disjoint(set), "the measures taken do not stop the violation");
    // The violation with all measures but these may need fewer of them absent, and then it is not
    // yet one with all but the fewer.
    let violation = loop {
        let most = guesses.with_all_but(&row);
        let violation = match guesses.ask(&most)? {
            Decided::Robust(_) => unreachable!("the violation passes none of the other measures"),
            Decided::Unknown(reason) => return Ok(Round::Unknown(reason)),
            Decided::NotRobust(violation) => violation,
        };
        let mut others = row.clone();
        others.toggle_range(..);
        let fewer = guesses.row(&others, &most, &violation);
        if fewer == row {
            break violation;
        }
        debug_assert!(fewer.is_subset(&row), "the measures in force do not stop the violation");
        row = fewer;
    };
    if row.is_clear() {
        return Ok(Round::Impossible(violation));
    }
    rows.push((row, violation));
    Ok(Round::NewRow)
}
