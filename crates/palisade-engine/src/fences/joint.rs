//! The attacks of one part under candidate sets of measures: those of its threads, which have
//! measures in common.

use super::analysis::{Analysis, Stories};
use super::attempt::Attempt;
use super::catalogue::{Catalogue, MeasureSet};
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_model::limits::Halt;
use palisade_model::program::Program;

/// The work done for a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// Candidate sets tried.
    pub(super) candidates: usize,
    /// Those that needed a search.
    pub(super) searches: usize,
    /// Configurations explored.
    pub(super) markings: usize,
}

impl Effort {
    /// What was done for both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            candidates: self.candidates + other.candidates,
            searches: self.searches + other.searches,
            markings: self.markings + other.markings,
        }
    }
}

/// The analyses of the threads of one part.
pub(super) struct Joint<'a, 'p> {
    pub(super) program: &'p Program,
    pub(super) catalogue: &'a Catalogue,
    pub(super) attempt: &'a Attempt<'a>,
    analyses: Vec<Analysis<'a, 'p>>,
}

impl<'a, 'p> Joint<'a, 'p> {
    pub(super) fn new(
        program: &'p Program,
        catalogue: &'a Catalogue,
        attempt: &'a Attempt<'a>,
        analyses: Vec<Analysis<'a, 'p>>,
    ) -> Self {
        Self { program, catalogue, attempt, analyses }
    }

    fn of(&mut self, attack: &Attack) -> &mut Analysis<'a, 'p> {
        self.analyses.iter_mut().find(|own| own.id == attack.thread).expect("the attack is one of the part's")
    }

    /// See [`Analysis::remaining`].
    pub(super) fn remaining(&mut self, attack: &Attack, set: &MeasureSet) -> Result<Option<MeasureSet>, Halt<Fault>> {
        self.of(attack).remaining(attack, set)
    }

    /// See [`Analysis::shortened`].
    pub(super) fn shortened(&mut self, attack: &Attack, row: MeasureSet) -> Result<MeasureSet, Halt<Fault>> {
        self.of(attack).shortened(attack, row)
    }

    /// The computations found, and the work done.
    pub(super) fn finish(self) -> (Stories, Effort) {
        let (mut stories, mut effort) = (Stories::default(), Effort::default());
        for analysis in self.analyses {
            stories.extend(analysis.stories);
            effort.candidates += analysis.candidates;
            effort.searches += analysis.searches;
            effort.markings += analysis.markings;
        }
        (stories, effort)
    }
}
