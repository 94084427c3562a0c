//! Which of the changes that make a program robust its properties need.

use super::open::open_words;
use super::properties::Properties;
use palisade_engine::fences::Measure;
use palisade_engine::properties::placement::{NeededMeasures, Placed, PropertyPlacement};
use palisade_model::program::Program;

/// What was found out about the changes that make a program robust.
#[derive(Debug)]
pub enum Needed {
    /// The cheapest of them with which the properties hold.
    Found(Box<NeededMeasures>),
    /// Why that is not known.
    Undecided(String),
}

impl Needed {
    /// The cheapest of the changes with which the properties hold, as far as is known.
    pub fn placement(&self) -> Option<&PropertyPlacement> {
        match self {
            Self::Found(found) => match &found.placed {
                Placed::Valid(placement) => Some(placement),
                Placed::NoFenceHelps(_) | Placed::Impossible(_) => None,
            },
            Self::Undecided(_) => None,
        }
    }

    /// Whether the properties need a change; nothing where that is not known.
    pub fn is_needed(&self, measure: Measure) -> Option<bool> {
        let placement = self.placement()?;
        let is_needed = placement.row_of(measure).is_some();
        (is_needed || placement.open.is_none()).then_some(is_needed)
    }

    /// What to say of a change.
    pub(super) fn words(&self, program: &Program, measure: Measure) -> Option<String> {
        let row = self.placement()?.row_of(measure);
        match (self.is_needed(measure)?, row) {
            (true, Some(row)) => Some(format!("{} needs it", properties(program).quoted(row.run.target))),
            _ => Some("no property needs it".to_owned()),
        }
    }

    /// Why it is not known which changes the properties need, or why they need none.
    pub fn reason(&self, program: &Program) -> Option<String> {
        match self {
            Self::Undecided(why) => Some(format!("not decided: {why}")),
            Self::Found(found) => match &found.placed {
                Placed::Valid(placement) => {
                    placement.open.as_ref().map(|open| format!("not decided: {}", open_words(open)))
                }
                Placed::NoFenceHelps(violation) => {
                    Some(format!("none helps: {} is violated under SC", properties(program).quoted(violation.target)))
                }
                Placed::Impossible(impossible) => {
                    Some(format!("not decided: {}", properties(program).quoted(impossible.run.target)))
                }
            },
        }
    }

    /// A sentence about all changes together.
    pub(super) fn summary(&self, program: &Program, count: usize) -> String {
        match (self.placement(), self.reason(program)) {
            (Some(placement), None) if placement.measures.is_empty() => "by no property: proved under TSO".to_owned(),
            (Some(placement), None) => {
                let needed = placement.measures.len();
                format!("by properties: {needed} of {count}; `--ask properties` looks for the cheapest for them alone")
            }
            (_, reason) => format!("by properties: {}", reason.unwrap_or_default()),
        }
    }
}

fn properties(program: &Program) -> Properties<'_> {
    Properties { program, question: None }
}
