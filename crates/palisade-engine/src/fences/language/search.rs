//! Forms of a program, which have some of the measures on offer, and rows: measures of which every
//! robust form has one.

use crate::fences::catalogue::MeasureSet;
use crate::fences::cost::Cost;
use crate::fences::covering::{Cheapest, all_cheapest, cheapest, proved};
use crate::fences::offered::Offered;
use crate::fences::repair::{RepairOptions, RepairedText};
use crate::robustness::{Fault, GraphViolation, StaleAnswer, StaleOptions, decide_stale, doubt};
use palisade_evidence::{RepairClaim, RepairEvidence, Row, RowWitness, StaleCertificate, ValidProof, ValidSet};
use palisade_model::limits::StopReason;
use palisade_model::program::{InstructionId, LabelId, Measure, Program, ThreadId};
use palisade_semantics::graphs::{Axioms, by_language};
use palisade_verify::check_repaired_text;
use std::collections::{BTreeMap, BTreeSet};

/// Measures of which every robust form of the program has one.
#[derive(Clone, Debug)]
pub struct LanguageRow {
    /// The measures.
    pub measures: Vec<Measure>,
    /// A violation of the form with all measures on offer but these. Where the axioms in full do
    /// not admit it, forms without these measures may be robust, and are not shown to be.
    pub violation: GraphViolation,
    /// The measures by number.
    pub(super) set: MeasureSet,
    /// The form that the violation is one of, by its language.
    pub stated: Program,
    /// The same form as it is.
    form: Program,
}

/// What is found about one form.
pub(super) enum Answer {
    /// It is robust.
    Robust(StaleCertificate),
    /// It is not; this row has none of its measures.
    Row(usize),
    /// No form is robust: this row has no measures.
    Impossible(Box<LanguageRow>),
    /// It was not found out.
    Unknown(StopReason),
}

/// Robust forms with their certificates; whether these are all of their cost.
pub(super) type Robust = (Vec<(MeasureSet, StaleCertificate)>, bool);

/// How rounds end.
pub(super) enum End {
    /// This form is robust, and a cheapest one.
    Robust(Cheapest, StaleCertificate),
    /// No form is robust, as this row without measures shows.
    Impossible(Box<LanguageRow>),
    /// It was not found out.
    Unknown(StopReason),
}

/// The search for robust forms.
pub(super) struct Search<'a> {
    program: &'a Program,
    options: &'a StaleOptions,
    pub(super) offered: Offered<'a>,
    pub(super) measures: Vec<Measure>,
    costs: Vec<Cost>,
    pub(super) rows: Vec<LanguageRow>,
    /// How many forms were checked.
    pub(super) searches: usize,
    /// How many configurations were explored for them.
    pub(super) configurations: usize,
    /// What grew in the first form in which values do.
    pub(super) growth: Option<Growth>,
}

/// What grows, and what to do about it, in words.
#[derive(Clone, Debug)]
pub struct Growth {
    /// What grows.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

impl<'a> Search<'a> {
    pub(super) fn new(program: &'a Program, offer: Vec<(Measure, Cost)>, options: &'a StaleOptions) -> Self {
        let (measures, costs): (Vec<Measure>, Vec<Cost>) = offer.iter().cloned().unzip();
        let priced = offer.into_iter().map(|(measure, cost)| (measure, Some(cost))).collect();
        let offered = Offered::new(program, &[], priced);
        Self {
            program,
            options,
            offered,
            measures,
            costs,
            rows: Vec::new(),
            searches: 0,
            configurations: 0,
            growth: None,
        }
    }

    /// Why what violates the program as it is is nothing to act on, if it is not.
    pub(super) fn doubt(&self) -> Result<Option<StopReason>, Fault> {
        doubt(self.program, &StaleOptions { certifies: false, ..self.options.clone() })
    }

    /// The set of some measures, of which those that are not on offer do not count.
    pub(super) fn set_of(&self, measures: impl IntoIterator<Item = Measure>) -> MeasureSet {
        let mut set = MeasureSet::with_capacity(self.measures.len());
        set.extend(measures.into_iter().filter_map(|measure| self.measures.iter().position(|own| *own == measure)));
        set
    }

    /// The measures of a set.
    pub(super) fn named(&self, set: &MeasureSet) -> Vec<Measure> {
        set.ones().map(|number| self.measures[number]).collect()
    }

    /// The costs of the measures of a set.
    pub(super) fn costs(&self, set: &MeasureSet) -> Vec<Cost> {
        set.ones().map(|number| self.costs[number].clone()).collect()
    }

    /// The program with the measures of a set.
    pub(super) fn form(&self, set: &MeasureSet) -> Program {
        let named = self.named(set);
        self.offered.program_with(|measure| named.contains(&measure))
    }

    /// A row that has no measure of a set.
    pub(super) fn row_against(&self, set: &MeasureSet) -> Option<usize> {
        self.rows.iter().position(|row| row.set.is_disjoint(set))
    }

    /// The violation of a row in the form with a set that has none of its measures, with that form
    /// by its language.
    pub(super) fn violation_in(&self, row: usize, set: &MeasureSet) -> Option<(GraphViolation, Program)> {
        let (row, form) = (&self.rows[row], self.form(set));
        let violation = row.violation.in_form(self.program, &row.form, &form)?;
        Some((violation, by_language(&form)))
    }

    /// Rounds until a form is robust that has a measure of each row.
    pub(super) fn rounds(&mut self) -> Result<End, Fault> {
        loop {
            let rows: Vec<MeasureSet> = self.rows.iter().map(|row| row.set.clone()).collect();
            let cheapest = match cheapest(&rows, &self.costs, &self.options.limits) {
                Ok(cheapest) => cheapest,
                Err((reason, _)) => return Ok(End::Unknown(reason)),
            };
            match self.ask(&cheapest.set)? {
                Answer::Robust(certificate) => return Ok(End::Robust(cheapest, certificate)),
                Answer::Row(_) => {}
                Answer::Impossible(row) => return Ok(End::Impossible(row)),
                Answer::Unknown(reason) => return Ok(End::Unknown(reason)),
            }
        }
    }

    /// Checks a changed text.
    pub(super) fn ask_text(&mut self, text: &Program) -> Result<StaleAnswer, Fault> {
        self.searches += 1;
        let (answer, configurations) = decide_stale(text, self.options)?;
        self.configurations += configurations;
        Ok(answer)
    }

    /// Where a changed text says the program with a valid set of some evidence, has its certificate
    /// show the set: what the text says then.
    pub(super) fn say_by_text(
        &self,
        evidence: &RepairEvidence,
        valid: &mut ValidSet,
        (text, wanted): (&RepairedText, &RepairOptions<'_>),
        certificate: &StaleCertificate,
    ) -> Option<Option<Program>> {
        check_repaired_text(self.program, evidence, &valid.set, &text.program).ok()?;
        valid.repaired = Some(wanted.input(&text.program));
        valid.proof = ValidProof::Language(certificate.clone());
        Some(Some(text.program.clone()))
    }

    /// The robust forms, other than a cheapest one, that cost as little, at most so many with it;
    /// whether these are all.
    pub(super) fn all_cheapest(&mut self, one: &MeasureSet, most: usize) -> Result<Robust, Fault> {
        let (mut robust, mut open): (Vec<(MeasureSet, StaleCertificate)>, Vec<MeasureSet>) = (Vec::new(), Vec::new());
        loop {
            let rows: Vec<MeasureSet> = self.rows.iter().map(|row| row.set.clone()).collect();
            let Ok((all, are_all)) = all_cheapest(&rows, &self.costs, one, most, &self.options.limits) else {
                return Ok((robust, false));
            };
            let is_known =
                |set: &MeasureSet| set == one || open.contains(set) || robust.iter().any(|own| own.0 == *set);
            let Some(set) = all.into_iter().find(|set| !is_known(set)) else {
                return Ok((robust, are_all && open.is_empty()));
            };
            match self.ask(&set)? {
                Answer::Robust(certificate) => robust.push((set, certificate)),
                Answer::Unknown(_) => open.push(set),
                Answer::Row(_) => {}
                Answer::Impossible(_) => unreachable!("some form is robust"),
            }
        }
    }

    /// Checks the form with a set; a violation adds a row.
    pub(super) fn ask(&mut self, set: &MeasureSet) -> Result<Answer, Fault> {
        if let Some(row) = self.row_against(set) {
            return Ok(Answer::Row(row));
        }
        let form = self.form(set);
        self.searches += 1;
        let (answer, configurations) = match decide_stale(&form, self.options) {
            Err(fault) if fault.is_growth() => {
                let words = || Growth { what: fault.describe(&form), advice: fault.advice(&form).into_owned() };
                self.growth.get_or_insert_with(words);
                return Ok(Answer::Unknown(StopReason::Inconclusive));
            }
            answer => answer?,
        };
        self.configurations += configurations;
        Ok(match answer {
            StaleAnswer::Robust(certificate) => Answer::Robust(certificate.expect("a certificate is asked for")),
            StaleAnswer::Unknown(reason) => Answer::Unknown(reason),
            StaleAnswer::NotRobust(violation) => {
                let row = self.row(set, &form, &violation);
                if row.measures.is_empty() {
                    return Ok(match row.violation.is_admitted {
                        true => Answer::Impossible(Box::new(row)),
                        false => Answer::Unknown(StopReason::Inconclusive),
                    });
                }
                self.rows.push(row);
                Answer::Row(self.rows.len() - 1)
            }
        })
    }

    /// The row of a violation: what is left when all measures are taken with which it stays one.
    /// The axioms in full decide that where they admit it.
    fn row(&self, set: &MeasureSet, form: &Program, violation: &GraphViolation) -> LanguageRow {
        let axioms = if violation.is_admitted { self.options.axioms } else { Axioms::WeakC11 };
        let met = Met::of(self.program, form, violation);
        let (mut most, mut kept) = (set.clone(), (form.clone(), violation.clone()));
        for (number, measure) in self.measures.iter().enumerate() {
            if most.contains(number) {
                continue;
            }
            let mut more = most.clone();
            more.insert(number);
            if !measure.parts(self.offered.sites()).into_iter().any(|part| met.bears(part)) {
                most = more;
                continue;
            }
            let stronger = self.form(&more);
            if let Some(found) = violation.in_form(self.program, form, &stronger)
                && found.is_admitted_by(axioms)
            {
                (most, kept) = (more, (stronger, found));
            }
        }
        // Measures that do not bear on the violation were added since.
        let whole = self.form(&most);
        let found = kept.1.in_form(self.program, &kept.0, &whole);
        let violation = found.expect("what bears on no step of a violation leaves it as it is");
        let mut row = most;
        row.toggle_range(..);
        LanguageRow { measures: self.named(&row), violation, stated: by_language(&whole), set: row, form: whole }
    }

    /// Evidence with the rows that the axioms in full admit, for nothing yet; with the position
    /// there of each.
    pub(super) fn evidence(&self) -> (RepairEvidence, BTreeMap<usize, usize>) {
        let mut evidence = self.offered.evidence(RepairClaim::Language(self.options.axioms));
        let mut positions = BTreeMap::new();
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| row.violation.is_admitted) {
            positions.insert(number, evidence.rows.len());
            let witness = RowWitness::Graph(row.violation.witness());
            evidence.rows.push(Row { measures: self.offered.positions(&row.measures), witness });
        }
        (evidence, positions)
    }

    /// Adds what shows that no form is cheaper than one; whether that is all shown.
    pub(super) fn add_bound(
        &self,
        evidence: &mut RepairEvidence,
        positions: &BTreeMap<usize, usize>,
        cheapest: &MeasureSet,
    ) -> bool {
        let rows: Vec<MeasureSet> = self.rows.iter().map(|row| row.set.clone()).collect();
        let blocks = proved(&rows, &self.costs, cheapest, &self.options.limits);
        self.offered.add_blocks(evidence, &blocks, positions)
    }
}

/// What the steps of a violation come to.
#[derive(Default)]
struct Met {
    accesses: BTreeSet<(ThreadId, InstructionId)>,
    labels: BTreeSet<(ThreadId, LabelId)>,
    /// Threads of which a weak compare-exchange fails for no reason: every measure may bear on
    /// that.
    whole: BTreeSet<ThreadId>,
}

impl Met {
    fn of(program: &Program, form: &Program, violation: &GraphViolation) -> Self {
        let mut met = Self::default();
        for step in violation.steps.iter().chain([&violation.last]) {
            let (thread, Some(instruction)) = (step.copy.thread, step.kind.instruction()) else { continue };
            match program.thread(thread).instructions.get(instruction.index()) {
                Some(own) => {
                    met.accesses.insert((thread, instruction));
                    met.labels.insert((thread, own.source));
                }
                None if instruction.index() < form.thread(thread).instructions.len() => {}
                None => drop(met.whole.insert(thread)),
            }
        }
        met
    }

    /// Whether a measure about one label or access changes what the violation does.
    fn bears(&self, part: Measure) -> bool {
        self.whole.contains(&part.thread())
            || match part {
                Measure::Fence { thread, label } | Measure::StoreFence { thread, label } => {
                    self.labels.contains(&(thread, label))
                }
                Measure::Exchange { thread, store: access }
                | Measure::Kept { thread, fence: access }
                | Measure::Ordered { thread, access, .. } => self.accesses.contains(&(thread, access)),
            }
    }
}
