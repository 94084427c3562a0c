//! The measures that a placement chooses among, over all threads, with their costs.

use super::options::PlacementOptions;
use crate::fences::catalogue::MeasureSet;
use crate::fences::{Cost, CostError, Measure, MeasureCosts, with_measures_at};
use palisade_exploration::states::{Aim, BufferFlow, Contraction};
use palisade_model::program::{Action, Copies, InstructionId, LabelId, Program, Sites, Thread, ThreadId};
use palisade_semantics::Model;
use rustc_hash::FxHashMap;

/// The measures on offer for a program, numbered, each with its cost.
#[derive(Clone, Debug)]
pub(crate) struct Offer<'p> {
    program: &'p Program,
    sites: Sites,
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    numbers: FxHashMap<Measure, usize>,
    /// How many instructions each thread has as it is written. Those behind them let copies freeze
    /// where joint control states are watched; the threads behind these watch.
    written: Vec<usize>,
}

impl<'p> Offer<'p> {
    /// The measures that can make a difference under a model in some slice of a program, and that
    /// the options permit. The program watches the joint control states of the one that is
    /// `written`, whose labels and stores alone are changed.
    pub(super) fn new(
        program: &'p Program,
        written: &Program,
        aims: &[Aim<'_>],
        options: &PlacementOptions,
    ) -> Result<Self, CostError> {
        let mut offer = Self::of_nothing(program, written);
        let sites = offer.sites.clone();
        let costs = options.cost.of_measures(written, &sites);
        for (id, thread) in written.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
            let flows: Vec<(BufferFlow, &Thread)> = aims
                .iter()
                .map(|aim| aim.program.thread(id))
                .map(|sliced| (BufferFlow::of(sliced, options.model), sliced))
                .collect();
            offer.add_thread(id, thread, &flows, options, &costs)?;
        }
        Ok(offer)
    }

    /// These measures.
    pub(crate) fn among(program: &'p Program, written: &Program, measures: &[(Measure, Cost)]) -> Self {
        let mut offer = Self::of_nothing(program, written);
        for (measure, cost) in measures {
            offer.add(*measure, cost.clone());
        }
        offer
    }

    /// The fences that a program had before it was changed to one that is `written`: kept or not,
    /// each at the same cost.
    pub(super) fn of_kept(program: &'p Program, written: &Program, before: &Program) -> Self {
        let mut offer = Self::of_nothing(program, written);
        for (thread, template) in before.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
            let is_fence = |action: &Action| matches!(action, Action::Fence | Action::StoreFence);
            for (fence, _) in template.instruction_ids().filter(|(_, instruction)| is_fence(&instruction.action)) {
                offer.add_once(Measure::Kept { thread, fence }, |_| Ok(Cost::one())).expect("1 is a cost");
            }
        }
        offer
    }

    /// The same measures for the contraction of a slice.
    pub(super) fn contracted<'c>(&self, contraction: &'c Contraction) -> Offer<'c> {
        let of_contraction = |measure: Measure| match measure {
            Measure::Fence { thread, label } => Measure::Fence { thread, label: contraction.label(thread, label) },
            Measure::StoreFence { thread, label } => {
                Measure::StoreFence { thread, label: contraction.label(thread, label) }
            }
            Measure::Exchange { thread, store } => {
                Measure::Exchange { thread, store: contraction.instruction(thread, store) }
            }
            Measure::Kept { thread, fence } => Measure::Kept { thread, fence: contraction.instruction(thread, fence) },
            Measure::Ordered { .. } => unreachable!("orderings are offered for robustness against a language"),
        };
        let written = self.written.iter().enumerate();
        let mut offer = Offer {
            program: &contraction.program,
            sites: self.sites.clone(),
            measures: Vec::new(),
            costs: Vec::new(),
            numbers: FxHashMap::default(),
            written: written.map(|(thread, count)| contraction.left_of_first(thread, *count)).collect(),
        };
        for (measure, cost) in self.measures.iter().zip(&self.costs) {
            offer.add(of_contraction(*measure), cost.clone());
        }
        offer
    }

    /// Whether some measure may change what happens at a label where an instruction stands alone.
    /// Of measures that change several labels, nothing is said.
    pub(super) fn may_change(&self, thread: ThreadId, label: LabelId, only: InstructionId) -> bool {
        self.sites.are_grouped()
            || self.fence_at(thread, label).is_some()
            || self.store_fence_at(thread, label).is_some()
            || self.exchange_of(thread, only).is_some()
            || self.kept(thread, only).is_some()
    }

    fn of_nothing(program: &'p Program, written: &Program) -> Self {
        let sites = Sites::of(written);
        let written = written.threads.iter().map(|thread| thread.instructions.len()).collect();
        Self { program, sites, measures: Vec::new(), costs: Vec::new(), numbers: FxHashMap::default(), written }
    }

    /// Whether an instruction lets a copy freeze, or is one of a thread that watches. A copy that
    /// freezes stays at its label: it does not pass the fence there.
    pub(super) fn watches(&self, thread: ThreadId, instruction: InstructionId) -> bool {
        self.written.get(thread.index()).is_none_or(|written| instruction.index() >= *written)
    }

    fn add_thread(
        &mut self,
        id: ThreadId,
        thread: &Thread,
        flows: &[(BufferFlow, &Thread)],
        options: &PlacementOptions,
        costs: &MeasureCosts<'_>,
    ) -> Result<(), CostError> {
        let (program, sites) = (self.program, self.sites.clone());
        let permits =
            |measure: Measure| measure.at_site(&sites).is_some_and(|measure| options.permits(program, &sites, measure));
        for label in (0..thread.labels.len()).map(LabelId::from_index) {
            let (fence, store_fence) =
                (Measure::Fence { thread: id, label }, Measure::StoreFence { thread: id, label });
            let bears = flows.iter().any(|(flow, _)| flow.fence_bears(label));
            if bears && permits(fence) {
                self.add_once(fence, |fence| options.cost_of(fence, costs))?;
            }
            let bears = options.model == Model::Pso && flows.iter().any(|(flow, _)| flow.store_fence_bears(label));
            if bears && permits(store_fence) {
                self.add_once(store_fence, |fence| options.cost_of(fence, costs))?;
            }
        }
        if options.exchange.is_none() {
            return Ok(());
        }
        for (store, instruction) in thread.instruction_ids() {
            let measure = Measure::Exchange { thread: id, store };
            let bears = flows.iter().any(|(flow, sliced)| flow.exchange_bears(sliced, store));
            if matches!(instruction.action, Action::Store { .. }) && bears && permits(measure) {
                self.add_once(measure, |store| options.cost_of(store, costs))?;
            }
        }
        Ok(())
    }

    /// Adds the measure of a site, unless it is there or the source has no room for it.
    fn add_once(
        &mut self,
        measure: Measure,
        cost: impl Fn(Measure) -> Result<Cost, CostError>,
    ) -> Result<(), CostError> {
        match measure.at_site(&self.sites) {
            Some(measure) if self.number(measure).is_none() => self.add(measure, cost(measure)?),
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, measure: Measure, cost: Cost) {
        self.numbers.extend(measure.parts(&self.sites).into_iter().map(|part| (part, self.measures.len())));
        self.measures.push(measure);
        self.costs.push(cost);
    }

    /// The program that is changed.
    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    /// What the measures cost, by their numbers.
    pub(super) fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// All measures, by their numbers.
    pub(super) fn all(&self) -> &[Measure] {
        &self.measures
    }

    /// The number of a measure, when it is on offer.
    pub(super) fn number(&self, measure: Measure) -> Option<usize> {
        self.numbers.get(&measure).copied()
    }

    /// The empty set.
    pub(super) fn nothing(&self) -> MeasureSet {
        MeasureSet::with_capacity(self.measures.len())
    }

    /// The set of everything.
    pub(super) fn everything(&self) -> MeasureSet {
        let mut set = self.nothing();
        set.insert_range(..);
        set
    }

    /// The measures of a set, in order of their numbers.
    pub(crate) fn measures(&self, set: &MeasureSet) -> Vec<Measure> {
        set.ones().map(|number| self.measures[number]).collect()
    }

    /// What a set costs together.
    pub(super) fn cost(&self, set: &MeasureSet) -> Cost {
        set.ones().map(|number| self.costs[number].clone()).sum()
    }

    /// The program or a slice of it with a set of measures, in which copies freeze where they did,
    /// and without the fences whose keeping is on offer and not in the set. An exchange in the
    /// place of a store that the slice leaves out is the fence that it contains.
    pub(super) fn changed(&self, program: &Program, set: &MeasureSet) -> Program {
        let mut changed = with_measures_at(program, &self.sites, &self.measures(set));
        for ((thread, before), written) in changed.threads.iter_mut().zip(&program.threads).zip(&self.written) {
            let freezing = *written..before.instructions.len();
            for (own, before) in thread.instructions[freezing.clone()].iter_mut().zip(&before.instructions[freezing]) {
                own.source = before.source;
            }
        }
        let parts = |(number, measure): (usize, &Measure)| {
            measure.parts(&self.sites).into_iter().map(move |part| (number, part)).collect::<Vec<_>>()
        };
        for (number, part) in self.measures.iter().enumerate().flat_map(parts) {
            let (thread, instruction, action) = match part {
                Measure::Kept { thread, fence } if !set.contains(number) => (thread, fence, Action::Nop),
                Measure::Exchange { thread, store } if set.contains(number) => {
                    let action = &changed.thread(thread).instruction(store).action;
                    (thread, store, if *action == Action::Nop { Action::Fence } else { action.clone() })
                }
                _ => continue,
            };
            changed.threads[thread.index()].instructions[instruction.index()].action = action;
        }
        changed
    }

    /// The program or a slice of it without any measure.
    pub(crate) fn bare(&self, program: &Program) -> Program {
        self.changed(program, &self.nothing())
    }

    /// The fence at a label.
    pub(super) fn fence_at(&self, thread: ThreadId, label: LabelId) -> Option<usize> {
        self.number(Measure::Fence { thread, label })
    }

    /// The store fence at a label.
    pub(super) fn store_fence_at(&self, thread: ThreadId, label: LabelId) -> Option<usize> {
        self.number(Measure::StoreFence { thread, label })
    }

    /// The exchange in the place of a store.
    pub(super) fn exchange_of(&self, thread: ThreadId, store: InstructionId) -> Option<usize> {
        self.number(Measure::Exchange { thread, store })
    }

    /// The keeping of a fence.
    pub(super) fn kept(&self, thread: ThreadId, fence: InstructionId) -> Option<usize> {
        self.number(Measure::Kept { thread, fence })
    }
}
