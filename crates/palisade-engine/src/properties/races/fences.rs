//! The cheapest fences without which a program has triangular races.
//!
//! A fence keeps an SC computation what it is, and drains a buffer. So it stops a race exactly when
//! the thread that loads passes it between its last store to another address and the load. The
//! labels of that stretch are the *row* of the race: a set of fences stops all races when it
//! touches the rows of all of them. Rows are found as they are needed, as in
//! [`placement`](super::super::placement): each round asks for a race that the cheapest set for the
//! rows known does not stop.

use super::{Race, RaceOptions, RaceVerdict, races};
use crate::fences::catalogue::MeasureSet;
use crate::fences::covering::cheapest;
use crate::fences::{Cost, CostError, CostFunction, Measure, with_measures};
use palisade_evidence::BufferInvariant;
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Sites, ThreadId};
use palisade_semantics::StepKind;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Fences with which a program has no triangular race.
#[derive(Clone, Debug)]
pub struct RaceFences {
    /// The fences, thread by thread.
    pub measures: Vec<Measure>,
    /// What they cost together. No other set that stops all races costs less.
    pub cost: Cost,
    /// For each race that was found, the fences that stop it, and the race.
    pub rows: Vec<(Vec<Measure>, Race)>,
    /// Weights of rows: those of no measure weigh more than it costs, and together they weigh what
    /// proves the cost, where a dual solution does.
    pub weights: Vec<(usize, Cost)>,
    /// The program with the fences.
    pub fenced: Program,
    /// A closed set that shows it to have no race.
    pub proof: BufferInvariant,
}

/// Why there are no fences.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RaceFencesError {
    /// A reachable step of the program has no meaning, or values grow.
    #[error("the program has a step without meaning")]
    Fault(Fault),
    /// A cost cannot be used.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
}

/// The cheapest fences with which a program has no triangular race.
///
/// # Errors
///
/// As [`races`], where a limit is reached, and where a cost cannot be used.
pub fn race_fences(
    program: &Program,
    cost: &CostFunction,
    options: &RaceOptions,
) -> Result<RaceFences, RaceFencesError> {
    let offer = Offer::new(program, cost)?;
    let mut rows: Vec<(MeasureSet, Race)> = Vec::new();
    loop {
        let sets: Vec<MeasureSet> = rows.iter().map(|(row, _)| row.clone()).collect();
        let set =
            cheapest(&sets, &offer.costs, &options.limits).map_err(|(reason, _)| RaceFencesError::Stopped(reason))?;
        let measures: Vec<Measure> = set.set.ones().map(|number| offer.measures[number]).collect();
        let fenced = with_measures(program, &measures);
        match races(&fenced, options).map_err(RaceFencesError::Fault)?.verdict {
            RaceVerdict::Unknown(reason) => return Err(RaceFencesError::Stopped(reason)),
            RaceVerdict::Racy(race) => {
                let row = offer.row(program, &race);
                debug_assert!(row.is_disjoint(&set.set) && !row.is_clear(), "the fences do not stop the race");
                rows.push((row, *race));
            }
            RaceVerdict::Free(proof) => {
                let named = |row: &MeasureSet| row.ones().map(|number| offer.measures[number]).collect();
                return Ok(RaceFences {
                    cost: set.set.ones().map(|number| offer.costs[number].clone()).sum(),
                    measures,
                    rows: rows.iter().map(|(row, race)| (named(row), race.clone())).collect(),
                    weights: set.weights,
                    fenced,
                    proof,
                });
            }
        }
    }
}

/// Fences at all labels, numbered, each with its cost.
struct Offer {
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    numbers: FxHashMap<Measure, usize>,
}

impl Offer {
    fn new(program: &Program, cost: &CostFunction) -> Result<Self, CostError> {
        let mut offer = Self { measures: Vec::new(), costs: Vec::new(), numbers: FxHashMap::default() };
        let sites = Sites::of(program);
        let costs = cost.of_measures(program, &sites);
        for (thread, template) in program.thread_ids() {
            for (label, instructions) in template.instructions_by_label().iter().enumerate() {
                if !instructions.is_empty() {
                    let label = palisade_model::program::LabelId::from_index(label);
                    let measure = Measure::Fence { thread, label };
                    if measure.at_site(&sites) == Some(measure) {
                        let number = offer.measures.len();
                        offer.numbers.extend(measure.parts(&sites).into_iter().map(|part| (part, number)));
                        offer.measures.push(measure);
                        offer.costs.push(costs.dearest(measure)?);
                    }
                }
            }
        }
        Ok(offer)
    }

    /// The fences that stop a race of the program with some fences: those at the labels that the
    /// load's thread passes behind its last store to another address. Instructions and labels of
    /// the program itself keep their numbers when fences are put in, but for those that move behind
    /// a fence, which the race would have passed.
    fn row(&self, program: &Program, race: &Race) -> MeasureSet {
        let mut row = MeasureSet::with_capacity(self.measures.len());
        let reader = race.events[race.load_step].step.copy;
        let thread: ThreadId = reader.thread;
        let stretch = &race.events[race.store_step + 1..=race.load_step];
        for event in stretch.iter().filter(|event| event.step.copy == reader) {
            let StepKind::Execute { instruction, .. } = event.step.kind else { continue };
            let Some(own) = program.thread(thread).instructions.get(instruction.index()) else { continue };
            row.extend(self.numbers.get(&Measure::Fence { thread, label: own.source }).copied());
        }
        row
    }
}
