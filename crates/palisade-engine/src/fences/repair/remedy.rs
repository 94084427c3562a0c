//! Cheapest measures found in [rounds](super::super::rounds) of guess and check, with evidence for
//! every claim.
//!
//! What they are for is a [`Goal`]: robustness of events and tasks, or that nobody waits for ever.

use super::{Checker, RepairError, RepairOptions, RepairedText, Shown};
use crate::fences::catalogue::MeasureSet;
use crate::fences::change::joined;
use crate::fences::cost::Cost;
use crate::fences::covering::proved;
use crate::fences::offered::Offered;
use crate::fences::rounds::{Decided, End, Guesses, Rows, all_rows, rounds};
use palisade_evidence::{RepairClaim, Row, RowWitness, ValidProof, ValidSet};
use palisade_model::program::{Measure, NoText, Program};
use palisade_verify::check_repaired_text;
use std::collections::{BTreeMap, BTreeSet};

/// What came of the search for a remedy.
#[derive(Debug)]
pub struct Remedied {
    /// What it is for.
    pub claim: RepairClaim,
    /// Whether there is one, and which.
    pub remedy: Remedy,
    /// Measures of which every valid set has one, each row with a violation of the program with all
    /// measures but these.
    pub rows: Vec<(Vec<Measure>, RowWitness)>,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The proof for the repaired text, or for the program where nothing is changed. `verify` has
    /// accepted it.
    pub proof: Option<ValidProof>,
    /// What the claims rest on, and what `verify` makes of it.
    pub shown: Option<Shown>,
    /// How many programs were asked about.
    pub searches: usize,
}

/// Whether some measures bring about what is wanted.
#[derive(Clone, Debug)]
pub enum Remedy {
    /// These do (none, when the program is so already), which cost so much together. No other valid
    /// set costs less.
    Valid(Vec<(Measure, Cost)>, Cost),
    /// Nothing that is permitted stops this violation of the program with everything permitted.
    Impossible(Box<(Program, RowWitness)>),
    /// It was not found out, for this reason.
    Unknown(String),
}

impl Remedied {
    /// The measures taken.
    pub fn measures(&self) -> Vec<Measure> {
        match &self.remedy {
            Remedy::Valid(measures, _) => measures.iter().map(|(measure, _)| *measure).collect(),
            _ => Vec::new(),
        }
    }

    /// A row that has of the measures taken this one alone: its violation comes back without it.
    pub fn row_of(&self, measure: Measure) -> Option<usize> {
        let taken = self.measures();
        self.rows.iter().position(|(row, _)| row.iter().filter(|it| taken.contains(it)).eq([&measure]))
    }
}

/// What measures are for.
pub(crate) trait Goal {
    /// What a valid set brings about.
    fn claim(&self) -> RepairClaim;

    /// Checks a program.
    fn ask(&mut self, program: &Program) -> Result<Decided<ValidProof, RowWitness>, RepairError>;

    /// Why the last program asked about has no answer; nothing where the reason of the answer says
    /// it.
    fn why_open(&self) -> Option<String>;

    /// The measures that would stop a violation of the program with a set of others. Instructions
    /// keep their numbers when measures are taken.
    fn stopping(&self, set: &[Measure], changed: &Program, witness: &RowWitness) -> BTreeSet<Measure>;
}

/// Finds a cheapest set of measures that does for a goal, takes it in the program's text, and has
/// evidence for every claim checked.
pub(crate) fn remedied(
    program: &Program,
    goal: impl Goal,
    measures: Vec<(Measure, Cost)>,
    wanted: &RepairOptions<'_>,
    checker: Checker<'_>,
) -> Result<Remedied, RepairError> {
    let (numbered, costs): (Vec<Measure>, Vec<Cost>) = measures.into_iter().unzip();
    let offer = numbered.iter().copied().zip(costs.iter().cloned().map(Some)).collect();
    let offered = Offered::new(program, &[], offer);
    let mut search = Search { program, goal, measures: numbered, costs, offered, searches: 0 };
    let (mut rows, costs) = (Rows::new(), search.costs.clone());
    let end = rounds(&mut search, &[], &mut rows, &costs, checker.limits)?;
    search.finish(end, &rows, wanted, checker)
}

/// The search for a cheapest valid set.
struct Search<'a, G> {
    program: &'a Program,
    goal: G,
    measures: Vec<Measure>,
    costs: Vec<Cost>,
    offered: Offered<'a>,
    searches: usize,
}

impl<G: Goal> Search<'_, G> {
    fn named(&self, set: &MeasureSet) -> Vec<Measure> {
        set.ones().map(|number| self.measures[number]).collect()
    }

    /// The answer with its evidence, checked.
    fn finish(
        mut self,
        end: End<ValidProof, RowWitness>,
        rows: &[(MeasureSet, RowWitness)],
        wanted: &RepairOptions<'_>,
        checker: Checker<'_>,
    ) -> Result<Remedied, RepairError> {
        let claim = self.goal.claim();
        let mut evidence = self.offered.evidence(claim.clone());
        for (row, witness) in rows {
            let measures = self.offered.positions(&self.named(row));
            evidence.rows.push(Row { measures, witness: witness.clone() });
        }
        let (mut text, mut own, mut texts) = (None, None, Vec::new());
        let remedy = match end {
            End::Unknown(reason) => Remedy::Unknown(self.goal.why_open().unwrap_or_else(|| reason.to_string())),
            End::Impossible(witness) => {
                evidence.rows.push(Row { measures: Vec::new(), witness: witness.clone() });
                Remedy::Impossible(Box::new((self.offered.program_with(|_| true), witness)))
            }
            End::Valid(set, proof) => {
                let taken = self.named(&set.set);
                let sets = all_rows(&[], rows);
                let blocks = proved(&sets, &self.costs, &set.set, checker.limits);
                let positions: BTreeMap<usize, usize> = (0..sets.len()).map(|row| (row, row)).collect();
                self.offered.add_blocks(&mut evidence, &blocks, &positions);
                if !taken.is_empty() {
                    text = Some(RepairedText::new(
                        self.program,
                        wanted.language,
                        &joined(taken.iter().copied()),
                        &wanted.path,
                    ));
                }
                let mut valid = ValidSet { set: self.offered.positions(&taken), repaired: None, proof: proof.clone() };
                own = Some(proof);
                if let Some(Ok(text)) = &text {
                    // The proof is about labels by number, which the text has in its own order.
                    own = match self.ask(&text.program)? {
                        Decided::Robust(proof) => Some(proof),
                        _ => None,
                    };
                    let says_the_same = check_repaired_text(self.program, &evidence, &valid.set, &text.program).is_ok();
                    if let (Some(proof), true) = (&own, says_the_same) {
                        valid.repaired = Some(wanted.input(&text.program));
                        valid.proof = proof.clone();
                        texts.push(Some(text.program.clone()));
                    }
                }
                evidence.valid.push(valid);
                let cost = set.set.ones().map(|number| self.costs[number].clone()).sum();
                let costs = set.set.ones().map(|number| self.costs[number].clone());
                Remedy::Valid(taken.iter().copied().zip(costs).collect(), cost)
            }
        };
        let shown = match remedy {
            Remedy::Unknown(_) => None,
            _ => Some(Shown::of(self.program, evidence, &texts, true, self.searches, checker)?),
        };
        let proof = own.filter(|_| shown.as_ref().is_some_and(|shown| shown.facts.is_some()));
        let rows = rows.iter().map(|(row, witness)| (self.named(row), witness.clone())).collect();
        Ok(Remedied { claim, remedy, rows, text, proof, shown, searches: self.searches })
    }
}

impl<G: Goal> Guesses for Search<'_, G> {
    type Proof = ValidProof;
    type Violation = RowWitness;
    type Error = RepairError;

    fn with(&self, set: &MeasureSet) -> Program {
        let named = self.named(set);
        self.offered.program_with(|measure| named.contains(&measure))
    }

    fn with_all_but(&self, row: &MeasureSet) -> Program {
        let named = self.named(row);
        self.offered.program_with(|measure| !named.contains(&measure))
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<ValidProof, RowWitness>, RepairError> {
        self.searches += 1;
        self.goal.ask(program)
    }

    fn row(&self, set: &MeasureSet, changed: &Program, witness: &RowWitness) -> MeasureSet {
        let stopping = self.goal.stopping(&self.named(set), changed, witness);
        let mut row = MeasureSet::with_capacity(self.measures.len());
        row.extend((0..self.measures.len()).filter(|number| stopping.contains(&self.measures[*number])));
        row
    }
}
