//! The measures on offer for a program: those that bear on an attack and are permitted, in parts
//! that have none in common.
//!
//! What is chosen for one thread does not bear on another, unless both have measures that are the
//! same change of the source. A part has the threads that such measures link.

use super::catalogue::Catalogue;
use super::cost::Cost;
use super::fence_error::FenceError;
use super::options::FenceOptions;
use fixedbitset::FixedBitSet;
use palisade_exploration::instrumented::{Attack, DelayFlow, METER};
use palisade_model::limits::StopReason;
use palisade_model::program::{Action, Instruction, InstructionId, LabelId, Measure, Program, Sites, ThreadId};
use rustc_hash::FxHashSet;

/// The measures on offer for a program.
#[derive(Clone, Debug)]
pub(super) struct Catalogues {
    /// One for each part.
    all: Vec<Catalogue>,
    /// The part of each thread.
    of_thread: Vec<usize>,
}

impl Catalogues {
    /// Offers the measures that bear on some attack and are permitted, unless a limit is reached.
    pub(super) fn of(
        program: &Program,
        open: &[Attack],
        options: &FenceOptions,
    ) -> Result<Result<Self, StopReason>, FenceError> {
        options.only.iter().chain(&options.never).try_for_each(|pattern| pattern.check(program))?;
        let sites = Sites::of(program);
        let mut offered: Vec<Measure> = Vec::new();
        let mut known = FxHashSet::default();
        let mut add = |measure: Measure| {
            let measure = measure.at_site(&sites).filter(|measure| options.permits(program, &sites, *measure));
            offered.extend(measure.filter(|measure| known.insert(*measure)));
        };
        let mut passed = 0;
        for (id, thread) in program.thread_ids() {
            let flow = DelayFlow::of(thread);
            let mut involved = FixedBitSet::with_capacity(thread.labels.len());
            let mut stores = FixedBitSet::with_capacity(thread.instructions.len());
            for attack in open.iter().filter(|attack| attack.thread == id) {
                passed += thread.labels.len();
                if passed > METER {
                    passed = 0;
                    if let Err(reason) = options.limits.check() {
                        return Ok(Err(reason));
                    }
                }
                involved.union_with(&flow.involved(attack.store, attack.load));
                stores.insert(attack.store.index());
            }
            involved.ones().for_each(|label| add(Measure::Fence { thread: id, label: LabelId::from_index(label) }));
            if options.exchange.is_some() {
                let bears = |(store, instruction): &(InstructionId, &Instruction)| {
                    stores.contains(store.index()) || involved.contains(instruction.source.index())
                };
                let own = thread.instruction_ids().filter(|(_, instruction)| is_store(instruction)).filter(bears);
                own.for_each(|(store, _)| add(Measure::Exchange { thread: id, store }));
            }
        }
        let attacked: FxHashSet<ThreadId> = open.iter().map(|attack| attack.thread).collect();
        let mut catalogues = Self::of_parts(program, &sites, &offered, |thread| attacked.contains(&thread));
        let costs = options.cost.of_measures(program, &sites);
        for measure in offered {
            let cost = priced(measure, costs.dearest(measure)?, options);
            catalogues.of_thread_mut(measure.thread()).offer(measure, &sites, cost);
        }
        Ok(Ok(catalogues))
    }

    /// Nothing on offer yet. Threads that count are of one part when a measure changes them all.
    pub(super) fn of_parts(
        program: &Program,
        sites: &Sites,
        offered: &[Measure],
        counts: impl Fn(ThreadId) -> bool,
    ) -> Self {
        let mut first: Vec<usize> = (0..program.threads.len()).collect();
        for measure in offered {
            let mut linked: Vec<usize> = measure
                .parts(sites)
                .iter()
                .map(|part| part.thread())
                .filter(|id| counts(*id))
                .map(ThreadId::index)
                .collect();
            linked.push(measure.thread().index());
            let part = linked.iter().map(|thread| first[*thread]).min().expect("it changes a thread");
            let joined: Vec<usize> = linked.iter().map(|thread| first[*thread]).collect();
            first.iter_mut().filter(|own| joined.contains(own)).for_each(|own| *own = part);
        }
        let mut parts: Vec<usize> = first.clone();
        parts.sort_unstable();
        parts.dedup();
        let number = |part: &usize| parts.binary_search(part).expect("it is one of them");
        let of_thread = first.iter().map(number).collect();
        Self { all: parts.iter().map(|_| Catalogue::default()).collect(), of_thread }
    }

    /// The same measures in one part.
    pub(super) fn joined(&self, sites: &Sites) -> Self {
        let mut whole = Catalogue::default();
        for (measure, cost) in self.on_offer() {
            whole.offer(measure, sites, cost);
        }
        Self { all: vec![whole], of_thread: vec![0; self.of_thread.len()] }
    }

    /// The measures on offer for the part of a thread.
    pub(super) fn of_thread(&self, thread: ThreadId) -> &Catalogue {
        &self.all[self.part(thread)]
    }

    /// The same, to offer more.
    pub(super) fn of_thread_mut(&mut self, thread: ThreadId) -> &mut Catalogue {
        let part = self.part(thread);
        &mut self.all[part]
    }

    /// The part of a thread.
    pub(super) fn part(&self, thread: ThreadId) -> usize {
        self.of_thread[thread.index()]
    }

    /// All measures, each with its cost.
    pub(super) fn on_offer(&self) -> Vec<(Measure, Cost)> {
        let measures = self.all.iter().flat_map(|catalogue| {
            let measures = catalogue.measures(&catalogue.everything());
            measures.into_iter().zip(catalogue.costs().to_vec())
        });
        measures.collect()
    }
}

/// What a measure costs, given what a fence in its place costs.
pub(super) fn priced(measure: Measure, fence: Cost, options: &FenceOptions) -> Cost {
    match (measure, &options.exchange) {
        (Measure::Exchange { .. }, Some(factor)) => fence.times(factor),
        _ => fence,
    }
}

fn is_store(instruction: &Instruction) -> bool {
    matches!(instruction.action, Action::Store { .. })
}

/// All measures that the options permit in threads that run, whether they bear on an attack or not:
/// thread by thread, first the fences, then the exchanges.
pub(super) fn permitted(program: &Program, options: &FenceOptions) -> Vec<Measure> {
    let sites = Sites::of(program);
    let mut measures = Vec::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
        let by_label = thread.instructions_by_label();
        let filled = (0..by_label.len()).filter(|label| !by_label[*label].is_empty());
        measures.extend(filled.map(|label| Measure::Fence { thread: id, label: LabelId::from_index(label) }));
        let stores = thread.instruction_ids().filter(|(_, instruction)| is_store(instruction));
        let exchanges = stores.map(|(store, _)| Measure::Exchange { thread: id, store });
        measures.extend(exchanges.filter(|_| options.exchange.is_some()));
    }
    measures.retain(|measure| measure.at_site(&sites) == Some(*measure) && options.permits(program, &sites, *measure));
    measures
}
