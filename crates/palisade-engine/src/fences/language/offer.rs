//! The orderings on offer, and what they cost.

use crate::fences::cost::Cost;
use crate::fences::offered::{CostUnit, unit_among};
use palisade_evidence::RepairEvidence;
use palisade_model::program::{InstructionId, Measure, Operation, Ordering, Program, Sites, ThreadId};

/// An access or a fence whose ordering can be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choosable {
    pub(super) thread: ThreadId,
    pub(super) access: InstructionId,
    pub(super) failing: bool,
    pub(super) is_fence: bool,
    /// The ordering of the text.
    pub(super) stated: Ordering,
    /// What it may have, from weak to strong.
    pub(super) choices: &'static [Ordering],
}

impl Choosable {
    /// All of a program: accesses that are no plain data, and fences, of threads that run. Of those
    /// from one place of the text, the first. What is not known to be ordered as it says is none.
    pub(super) fn all(program: &Program, sites: &Sites) -> Vec<Self> {
        let mut all = Vec::new();
        for (thread, template) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
            for (access, instruction) in template.instruction_ids() {
                let Some(operation) = instruction.operation() else { continue };
                if sites.first_access(thread, access) != (thread, access) || program.is_assumed(instruction) {
                    continue;
                }
                let is_fence = matches!(operation, Operation::Fence { .. });
                for failing in [false, true] {
                    let choices = operation.choices(failing);
                    let stated = instruction.ordering(failing).expect("an operation has an ordering");
                    if !choices.is_empty() {
                        all.push(Self { thread, access, failing, is_fence, stated, choices });
                    }
                }
            }
        }
        all
    }

    /// The measure that gives it an ordering.
    pub(super) fn measure(self, ordering: Ordering) -> Measure {
        let Self { thread, access, failing, .. } = self;
        Measure::Ordered { thread, access, failing, ordering }
    }

    /// The orderings that it may have and that are weaker than its own, from weak to strong.
    pub(super) fn weaker(self) -> impl Iterator<Item = Ordering> {
        self.choices.iter().copied().filter(move |other| *other != self.stated && self.stated.is_at_least(*other))
    }

    /// How strong a sequentially consistent fence is, as a number.
    pub(super) const FENCE: usize = 4;

    /// How strong an ordering is, as a number: 1 for acquire and release each, and 1 more for
    /// sequential consistency; a fence costs 1 more than an access, as it orders all accesses
    /// around it. So what is weaker is cheaper.
    pub(super) fn units(self, ordering: Ordering) -> usize {
        let guarantees = [ordering.acquires(), ordering.releases(), ordering == Ordering::SeqCst];
        guarantees.into_iter().filter(|holds| *holds).count() + usize::from(self.is_fence)
    }

    /// What an ordering costs where the weakest ones are sought.
    pub(super) fn cost(self, ordering: Ordering) -> Cost {
        Cost::of_count(self.units(ordering))
    }
}

/// The unit of the costs of evidence that offers just these measures at their costs; nothing where
/// it offers others.
pub(super) fn unit_of_offer(
    program: &Program,
    offer: &[(Measure, Cost)],
    evidence: &RepairEvidence,
) -> Option<CostUnit> {
    let (measures, costs): (Vec<Measure>, Vec<Cost>) = offer.iter().cloned().unzip();
    let cost = |measure| Ok(costs[measures.iter().position(|own| *own == measure).expect("it is on offer")].clone());
    let have_all_costs = evidence.measures.iter().all(|(_, cost)| cost.is_some());
    unit_among(program, &measures, cost, evidence).ok().flatten().filter(|_| have_all_costs)
}
