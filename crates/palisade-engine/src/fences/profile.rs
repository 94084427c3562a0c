//! Profiles: measured costs of fences, as a table of thread, label and cost.

use super::cost::{Cost, CostError};
use palisade_model::program::{LabelId, Program, ThreadId};
use std::collections::BTreeMap;
use thiserror::Error;

/// Costs per label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    costs: BTreeMap<(ThreadId, LabelId), Cost>,
}

/// What is wrong with a line of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say what each is")]
pub enum LineError {
    #[error("a line gives a thread, a label and a cost, separated by commas")]
    Fields,
    #[error("the program has no thread named `{0}`")]
    UnknownThread(String),
    #[error("thread `{0}` has no label named `{1}`")]
    UnknownLabel(String, String),
    #[error("`{0}.{1}` has a cost already")]
    Twice(String, String),
    #[error(transparent)]
    Cost(#[from] CostError),
}

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {error}")]
pub struct ProfileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub error: LineError,
}

impl Profile {
    /// Reads lines of `thread,label,cost`. Spaces around fields, quotes around names, empty lines,
    /// lines that start with `#` and a first line `thread,label,cost` are let pass.
    pub fn read(text: &str, program: &Program) -> Result<Self, ProfileError> {
        let mut profile = Self::default();
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split(',').map(|field| field.trim().trim_matches('"')).collect();
            let is_header = index == 0 && fields == ["thread", "label", "cost"];
            if line.trim().is_empty() || line.trim_start().starts_with('#') || is_header {
                continue;
            }
            profile.add(&fields, program).map_err(|error| ProfileError { line: index + 1, error })?;
        }
        Ok(profile)
    }

    fn add(&mut self, fields: &[&str], program: &Program) -> Result<(), LineError> {
        let [thread, label, cost] = *fields else { return Err(LineError::Fields) };
        let (id, template) = program
            .thread_ids()
            .find(|(_, template)| template.name == thread)
            .ok_or_else(|| LineError::UnknownThread(thread.to_owned()))?;
        let place =
            template.label_named(label).ok_or_else(|| LineError::UnknownLabel(thread.to_owned(), label.to_owned()))?;
        match self.costs.insert((id, place), cost.parse()?) {
            None => Ok(()),
            Some(_) => Err(LineError::Twice(thread.to_owned(), label.to_owned())),
        }
    }

    /// The cost of a fence at a label, if the profile gives one.
    pub fn cost(&self, thread: ThreadId, label: LabelId) -> Option<&Cost> {
        self.costs.get(&(thread, label))
    }
}
