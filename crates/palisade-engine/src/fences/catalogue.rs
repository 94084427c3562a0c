//! The measures on offer for one thread.

use super::cost::Cost;
use super::measure::Measure;
use super::obstacles::Obstacles;
use fixedbitset::FixedBitSet;
use palisade_model::program::{InstructionId, LabelId, Thread};
use rustc_hash::FxHashMap;

/// A set of measures of one catalogue, by their numbers there.
pub(crate) type MeasureSet = FixedBitSet;

/// The measures on offer for one thread, numbered, with what each costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalogue {
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    fences: FxHashMap<LabelId, usize>,
    instructions: FxHashMap<InstructionId, usize>,
}

impl Catalogue {
    /// Offers a measure.
    pub(super) fn offer(&mut self, measure: Measure, cost: Cost) {
        let number = self.measures.len();
        match measure {
            Measure::Fence { label, .. } | Measure::StoreFence { label, .. } => self.fences.insert(label, number),
            Measure::Exchange { store: instruction, .. } | Measure::Kept { fence: instruction, .. } => {
                self.instructions.insert(instruction, number)
            }
        };
        self.measures.push(measure);
        self.costs.push(cost);
    }

    /// How many measures there are.
    pub(super) fn len(&self) -> usize {
        self.measures.len()
    }

    /// The empty set.
    pub(super) fn nothing(&self) -> MeasureSet {
        MeasureSet::with_capacity(self.len())
    }

    /// The set of everything.
    pub(super) fn everything(&self) -> MeasureSet {
        let mut set = self.nothing();
        set.insert_range(..);
        set
    }

    /// The set of some measures.
    pub(super) fn set(&self, numbers: impl IntoIterator<Item = usize>) -> MeasureSet {
        let mut set = self.nothing();
        set.extend(numbers);
        set
    }

    /// What the measures cost.
    pub(super) fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// The measures of a set, in order.
    pub(super) fn measures(&self, set: &MeasureSet) -> Vec<Measure> {
        set.ones().map(|number| self.measures[number]).collect()
    }

    /// What a set costs together.
    pub(super) fn cost(&self, set: &MeasureSet) -> Cost {
        set.ones().map(|number| self.costs[number].clone()).sum()
    }

    /// The fence at a label.
    pub(super) fn fence_at(&self, label: LabelId) -> Option<usize> {
        self.fences.get(&label).copied()
    }

    /// The measure that forbids an instruction.
    pub(super) fn measure_of(&self, instruction: InstructionId) -> Option<usize> {
        self.instructions.get(&instruction).copied()
    }

    /// Whether some measure forbids instructions, not only labels.
    pub(super) fn forbids_instructions(&self) -> bool {
        !self.instructions.is_empty()
    }

    /// The measures that would stop the attacker on a way: some instructions, from the delayed store on.
    pub(super) fn row_of(&self, thread: &Thread, way: &[InstructionId]) -> MeasureSet {
        let mut row = self.nothing();
        for id in way {
            row.extend(self.measure_of(*id));
            row.extend(self.fence_at(thread.instruction(*id).target));
        }
        row
    }

    /// What a set forbids the attacker.
    pub(super) fn obstacles(&self, thread: &Thread, set: &MeasureSet) -> Obstacles {
        let mut obstacles = Obstacles::none(thread);
        for number in set.ones() {
            match self.measures[number] {
                Measure::Fence { label, .. } => obstacles.labels.insert(label.index()),
                Measure::StoreFence { .. } => {}
                Measure::Exchange { store: instruction, .. } | Measure::Kept { fence: instruction, .. } => {
                    obstacles.instructions.insert(instruction.index());
                }
            }
        }
        obstacles
    }
}
