//! The cheapest fences that make a program of events and tasks robust against TSO.
//!
//! They are found in [rounds](super::super::rounds) of guess and check. What could stop a violation is a fence at a label that an instruction passes while stores
//! wait in its thread's buffer, and an exchange in place of a store that waits there itself or is issued behind one that does.

use super::{Checker, Checks, RepairError, RepairOptions, RepairedText, Shown};
use crate::fences::catalogue::MeasureSet;
use crate::fences::catalogues::{permitted, priced};
use crate::fences::cost::Cost;
use crate::fences::covering::proved;
use crate::fences::fence_error::FenceError;
use crate::fences::offered::Offered;
use crate::fences::options::FenceOptions;
use crate::fences::rounds::{Decided, End, Guesses, Rows, all_rows, rounds};
use crate::robustness::{Verdict, check_tasks};
use palisade_evidence::{RepairClaim, Row, RowWitness, TaskCertificate, TaskWitness, ValidProof, ValidSet};
use palisade_model::limits::StopReason;
use palisade_model::program::{Action, Copies, Measure, NoText, Program, Sites};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskMachine, TaskStep, Worker};
use palisade_verify::check_repaired_text;
use std::collections::{BTreeMap, BTreeSet};

/// What came of the search for fences for a program of events and tasks.
#[derive(Debug)]
pub struct EventRepaired {
    /// Whether the program can be repaired, and how.
    pub repair: EventRepair,
    /// Measures of which every valid set has one, each row with a violation of the program with all measures but these.
    pub rows: Vec<(Vec<Measure>, TaskWitness)>,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The certificate of the repaired text, or of the program where nothing is changed. `verify` has accepted it.
    pub certificate: Option<TaskCertificate>,
    /// What the claims rest on, and what `verify` makes of it.
    pub shown: Option<Shown>,
    /// How many programs were asked about.
    pub searches: usize,
}

/// Whether a program of events and tasks can be made robust.
#[derive(Clone, Debug)]
pub enum EventRepair {
    /// It can, by these measures (none, when it is robust), which cost so much together. No other valid set costs less.
    Valid(Vec<(Measure, Cost)>, Cost),
    /// Nothing that is permitted stops this violation.
    Impossible(TaskWitness),
    /// A limit was reached.
    Unknown(StopReason),
}

impl EventRepaired {
    /// The measures taken.
    pub fn measures(&self) -> Vec<Measure> {
        match &self.repair {
            EventRepair::Valid(measures, _) => measures.iter().map(|(measure, _)| *measure).collect(),
            _ => Vec::new(),
        }
    }

    /// A row that has of the measures taken this one alone: its violation comes back without it.
    pub fn row_of(&self, measure: Measure) -> Option<usize> {
        let taken = self.measures();
        self.rows.iter().position(|(row, _)| row.iter().filter(|it| taken.contains(it)).eq([&measure]))
    }
}

/// Repairs a program of events and tasks: finds the measures, takes them in its text, and has evidence for every claim checked.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
pub fn repair_events(
    program: &Program,
    options: &FenceOptions,
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<EventRepaired, RepairError> {
    for pattern in options.only.iter().chain(&options.never) {
        pattern.check(program).map_err(FenceError::Pattern)?;
    }
    let mut search = Search::new(program, options)?;
    let (mut rows, costs) = (Rows::new(), search.costs.clone());
    let end = rounds(&mut search, &[], &mut rows, &costs, &options.limits)?;
    search.finish(end, &rows, wanted, Checker { limits: &options.limits, checks })
}

/// The search for a cheapest valid set.
struct Search<'a> {
    program: &'a Program,
    options: &'a FenceOptions,
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    offered: Offered<'a>,
    searches: usize,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program, options: &'a FenceOptions) -> Result<Self, FenceError> {
        let measures = permitted(program, options);
        let sites = Sites::of(program);
        let fences = options.cost.of_measures(program, &sites);
        let cost = |measure: &Measure| -> Result<Cost, FenceError> {
            Ok(priced(*measure, fences.dearest(*measure)?, options))
        };
        let costs = measures.iter().map(cost).collect::<Result<Vec<Cost>, _>>()?;
        let offer = measures.iter().copied().zip(costs.iter().cloned().map(Some)).collect();
        let offered = Offered::new(program, &[], offer);
        Ok(Self { program, options, measures, costs, offered, searches: 0 })
    }

    fn named(&self, set: &MeasureSet) -> Vec<Measure> {
        set.ones().map(|number| self.measures[number]).collect()
    }

    /// The answer with its evidence, checked.
    fn finish(
        mut self,
        end: End<TaskCertificate, TaskWitness>,
        rows: &[(MeasureSet, TaskWitness)],
        wanted: &RepairOptions<'_>,
        checker: Checker<'_>,
    ) -> Result<EventRepaired, RepairError> {
        let mut evidence = self.offered.evidence(RepairClaim::Robust);
        for (row, witness) in rows {
            let measures = self.offered.positions(&self.named(row));
            evidence.rows.push(Row { measures, witness: RowWitness::Tasks(witness.clone()) });
        }
        let (mut text, mut own, mut texts) = (None, None, Vec::new());
        let repair = match end {
            End::Unknown(reason) => EventRepair::Unknown(reason),
            End::Impossible(witness) => {
                evidence.rows.push(Row { measures: Vec::new(), witness: RowWitness::Tasks(witness.clone()) });
                EventRepair::Impossible(witness)
            }
            End::Valid(set, certificate) => {
                let taken = self.named(&set.set);
                let sets = all_rows(&[], rows);
                let blocks = proved(&sets, &self.costs, &set.set, &self.options.limits);
                let positions: BTreeMap<usize, usize> = (0..sets.len()).map(|row| (row, row)).collect();
                self.offered.add_blocks(&mut evidence, &blocks, &positions);
                if !taken.is_empty() {
                    text = Some(RepairedText::new(self.program, wanted.language, &taken, &wanted.path));
                }
                let positions = self.offered.positions(&taken);
                let mut valid =
                    ValidSet { set: positions, repaired: None, proof: ValidProof::Tasks(certificate.clone()) };
                own = Some(certificate);
                if let Some(Ok(text)) = &text {
                    // The certificate is about labels by number, which the text has in its own order.
                    own = match self.ask(&text.program)? {
                        Decided::Robust(certificate) => Some(certificate),
                        _ => None,
                    };
                    let says_the_same = check_repaired_text(self.program, &evidence, &valid.set, &text.program).is_ok();
                    if let (Some(certificate), true) = (&own, says_the_same) {
                        valid.repaired = Some(wanted.input(&text.program));
                        valid.proof = ValidProof::Tasks(certificate.clone());
                        texts.push(Some(text.program.clone()));
                    }
                }
                evidence.valid.push(valid);
                let cost = set.set.ones().map(|number| self.costs[number].clone()).sum();
                let costs = set.set.ones().map(|number| self.costs[number].clone());
                EventRepair::Valid(taken.iter().copied().zip(costs).collect(), cost)
            }
        };
        let shown = match repair {
            EventRepair::Unknown(_) => None,
            _ => Some(Shown::of(self.program, evidence, &texts, true, self.searches, checker)?),
        };
        let certificate = own.filter(|_| shown.as_ref().is_some_and(|shown| shown.facts.is_some()));
        let rows = rows.iter().map(|(row, witness)| (self.named(row), witness.clone())).collect();
        Ok(EventRepaired { repair, rows, text, certificate, shown, searches: self.searches })
    }
}

impl Guesses for Search<'_> {
    type Proof = TaskCertificate;
    type Violation = TaskWitness;
    type Error = RepairError;

    fn with(&self, set: &MeasureSet) -> Program {
        let named = self.named(set);
        self.offered.program_with(|measure| named.contains(&measure))
    }

    fn with_all_but(&self, row: &MeasureSet) -> Program {
        let named = self.named(row);
        self.offered.program_with(|measure| !named.contains(&measure))
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<TaskCertificate, TaskWitness>, RepairError> {
        self.searches += 1;
        let checked = check_tasks(program, self.options.values, &self.options.limits)?;
        Ok(match (checked.verdict, checked.certificate, checked.witness) {
            (Verdict::Robust, Some(certificate), _) => Decided::Robust(certificate),
            (Verdict::NotRobust, _, Some(witness)) => Decided::NotRobust(witness),
            (Verdict::Unknown(reason), ..) => Decided::Unknown(reason),
            _ => unreachable!("an answer has its evidence"),
        })
    }

    /// Instructions keep their numbers when measures are taken.
    fn row(&self, changed: &Program, witness: &TaskWitness) -> MeasureSet {
        let mut instance = changed.clone();
        let counts = instance.threads.iter_mut().zip(&witness.instance);
        counts.for_each(|(template, count)| template.copies = Copies::Exactly(*count));
        let machine = TaskMachine::new(&instance, Model::Tso);
        let mut state = machine.initial_state();
        let mut stopping = BTreeSet::new();
        for (index, step) in witness.steps.iter().enumerate() {
            if let TaskStep::Execute { invocation, instruction, .. } = *step {
                let own = &state.invocations()[invocation];
                let (thread, on_main) = (own.template, own.worker == Worker::Main);
                let is_waiting = !state.buffer(invocation).is_empty();
                let of_program = self.program.thread(thread).instructions.get(instruction.index());
                if let Some(instruction) = of_program.filter(|_| is_waiting) {
                    stopping.insert(Measure::Fence { thread, label: instruction.source });
                }
                let is_at_once = is_flush_of(witness.steps.get(index + 1), invocation, on_main);
                // An exchange that is taken already is no store.
                let is_store = matches!(changed.thread(thread).instruction(instruction).action, Action::Store { .. });
                if is_store && (is_waiting || !is_at_once) {
                    stopping.insert(Measure::Exchange { thread, store: instruction });
                }
            }
            machine.apply(&mut state, *step).expect("the checks of programs show computations of them");
        }
        let mut row = MeasureSet::with_capacity(self.measures.len());
        row.extend((0..self.measures.len()).filter(|number| stopping.contains(&self.measures[*number])));
        row
    }
}

/// Whether a step lets a store of this invocation's thread reach memory.
fn is_flush_of(step: Option<&TaskStep>, invocation: InvocationId, on_main: bool) -> bool {
    match step {
        Some(TaskStep::FlushMain) => on_main,
        Some(TaskStep::Flush { invocation: other }) => !on_main && *other == invocation,
        _ => false,
    }
}
