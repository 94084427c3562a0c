//! The measures on offer for some threads.

use super::cost::Cost;
use fixedbitset::FixedBitSet;
use palisade_exploration::instrumented::Obstacles;
use palisade_model::program::{InstructionId, LabelId, Measure, Program, Sites, ThreadId};
use rustc_hash::FxHashMap;

/// A set of measures of one catalogue, by their numbers there.
pub(crate) type MeasureSet = FixedBitSet;

/// The measures on offer for some threads, numbered, with what each costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalogue {
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    /// The labels and instructions that each changes.
    parts: Vec<Vec<Measure>>,
    fences: FxHashMap<(ThreadId, LabelId), usize>,
    instructions: FxHashMap<(ThreadId, InstructionId), usize>,
}

impl Catalogue {
    /// Offers a measure.
    pub(super) fn offer(&mut self, measure: Measure, sites: &Sites, cost: Cost) {
        let number = self.measures.len();
        let parts = measure.parts(sites);
        for part in &parts {
            match *part {
                Measure::Fence { thread, label } | Measure::StoreFence { thread, label } => {
                    self.fences.insert((thread, label), number)
                }
                Measure::Exchange { thread, store: instruction }
                | Measure::Kept { thread, fence: instruction }
                | Measure::Ordered { thread, access: instruction, .. } => {
                    self.instructions.insert((thread, instruction), number)
                }
            };
        }
        self.measures.push(measure);
        self.parts.push(parts);
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

    /// The set of some measures, all of which are on offer.
    pub(super) fn set_of(&self, measures: &[Measure]) -> MeasureSet {
        let number = |measure: &Measure| self.measures.iter().position(|own| own == measure);
        self.set(measures.iter().map(|measure| number(measure).expect("it is on offer")))
    }

    /// What a set costs together.
    pub(super) fn cost(&self, set: &MeasureSet) -> Cost {
        set.ones().map(|number| self.costs[number].clone()).sum()
    }

    /// The fence at a label of a thread.
    pub(super) fn fence_at(&self, thread: ThreadId, label: LabelId) -> Option<usize> {
        self.fences.get(&(thread, label)).copied()
    }

    /// The measure that forbids an instruction of a thread.
    pub(super) fn measure_of(&self, thread: ThreadId, instruction: InstructionId) -> Option<usize> {
        self.instructions.get(&(thread, instruction)).copied()
    }

    /// Whether some measure forbids instructions, not only labels.
    pub(super) fn forbids_instructions(&self) -> bool {
        !self.instructions.is_empty()
    }

    /// The measures that would stop the attacker, a copy of a thread, on a way: some instructions,
    /// from the delayed store on.
    pub(super) fn row_of(&self, program: &Program, thread: ThreadId, way: &[InstructionId]) -> MeasureSet {
        let mut row = self.nothing();
        for id in way {
            row.extend(self.measure_of(thread, *id));
            row.extend(self.fence_at(thread, program.thread(thread).instruction(*id).target));
        }
        row
    }

    /// What a set forbids an attacker that is a copy of a thread.
    pub(super) fn obstacles(&self, program: &Program, thread: ThreadId, set: &MeasureSet) -> Obstacles {
        let mut obstacles = Obstacles::none(program.thread(thread));
        for part in set.ones().flat_map(|number| &self.parts[number]).filter(|part| part.thread() == thread) {
            match *part {
                Measure::Fence { label, .. } => obstacles.labels.insert(label.index()),
                Measure::StoreFence { .. } | Measure::Ordered { .. } => {}
                Measure::Exchange { store: instruction, .. } | Measure::Kept { fence: instruction, .. } => {
                    obstacles.instructions.insert(instruction.index());
                }
            }
        }
        obstacles
    }
}
