//! Sets of measures of which checks of the changed programs say whether they are valid.
//!
//! Where counters grow, or have very many values, no search for attacks comes to an end. But
//! `check` may show the program with a set robust without knowing all values of its counters, and
//! an attack on it shows a row. So sets are found in [rounds](super::rounds) of guess and check,
//! which begin with the rows that searches have found.

use super::catalogue::{Catalogue, MeasureSet};
use super::catalogues::Catalogues;
use super::choice::Choice;
use super::computation::{Computation, Computations};
use super::covering::{Cheapest, all_cheapest, proved};
use super::joint::Effort;
use super::known::KnownAttacks;
use super::offered::Offered;
use super::options::FenceOptions;
use super::progress::Observer;
use super::request::Request;
use super::rounds::{Decided, End, Guesses, Round, Rows, all_rows, round, rounds};
use super::thread::PartPlan;
use crate::robustness::{AttackOutcome, Verdict, Violation, check_verdict};
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_model::limits::StopReason;
use palisade_model::program::{InstructionId, Program};
use palisade_semantics::StepKind;

/// The plan for all parts together, with the measures on offer for these; nothing where checks do
/// not decide what is asked.
pub(super) fn by_checks(
    offered: &Offered<'_>,
    plans: &[PartPlan],
    catalogues: &Catalogues,
    request: Request,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Option<(PartPlan, Catalogues)>, Fault> {
    let joined = catalogues.joined(offered.sites());
    let Some(first) = plans.first() else { return Ok(None) };
    let catalogue = joined.of_thread(first.thread());
    let known = KnownRows::of(plans, catalogues, catalogue);
    let guessing = Guessing { offered, catalogue, options, observer, effort: Effort::default() };
    let mut deciding = Deciding { guessing, known: &known, rows: Rows::new(), request };
    let Some(end) = deciding.run()? else { return Ok(None) };
    let plan = deciding.plan(plans, end);
    plan.known.tell_best(plan.choice.chosen.as_ref(), catalogue, observer);
    Ok(Some((plan, joined)))
}

/// The rows that searches have found.
struct KnownRows {
    attacks: Vec<Attack>,
    sets: Vec<MeasureSet>,
    computations: Computations,
}

impl KnownRows {
    /// The rows of all parts, by the numbers that their measures have in one catalogue for all.
    fn of(plans: &[PartPlan], catalogues: &Catalogues, joined: &Catalogue) -> Self {
        let mut rows = Self { attacks: Vec::new(), sets: Vec::new(), computations: Computations::default() };
        for plan in plans {
            let catalogue = catalogues.of_thread(plan.thread());
            for key in plan.known.minimal_rows() {
                let set = joined.set_of(&catalogue.measures(&key.1));
                let computation = plan.computations.get(&key).cloned();
                rows.computations.extend(computation.map(|computation| ((key.0, set.clone()), computation)));
                rows.attacks.push(key.0);
                rows.sets.push(set);
            }
        }
        rows
    }
}

/// Programs with sets of measures, checked.
struct Guessing<'a> {
    offered: &'a Offered<'a>,
    catalogue: &'a Catalogue,
    options: &'a FenceOptions,
    observer: &'a dyn Observer,
    effort: Effort,
}

impl Guesses for Guessing<'_> {
    type Proof = ();
    type Violation = Box<Violation>;
    type Error = Fault;

    fn with(&self, set: &MeasureSet) -> Program {
        let named = self.catalogue.measures(set);
        self.offered.program_with(|measure| named.contains(&measure))
    }

    fn with_all_but(&self, row: &MeasureSet) -> Program {
        let named = self.catalogue.measures(row);
        self.offered.program_with(|measure| !named.contains(&measure))
    }

    fn ask(&mut self, program: &Program) -> Result<Decided<(), Box<Violation>>, Fault> {
        self.effort.candidates += 1;
        self.effort.searches += 1;
        self.observer.candidate_tried();
        let checked = match check_verdict(program, &self.options.for_checks()) {
            // The values of the attacks that are left have no end.
            Err(fault) if fault.is_growth() => return Ok(Decided::Unknown(StopReason::Inconclusive)),
            checked => checked?,
        };
        self.effort.markings += checked.markings;
        Ok(match (checked.verdict, checked.violation) {
            (Verdict::Robust, _) => Decided::Robust(()),
            (Verdict::NotRobust, Some(violation)) => Decided::NotRobust(violation.into()),
            (Verdict::NotRobust, None) => Decided::Unknown(StopReason::Inconclusive),
            (Verdict::Unknown(reason), _) => Decided::Unknown(reason),
        })
    }

    /// What the attacker passes while it delays. It passes no fence, and instructions keep their
    /// numbers.
    fn row(&self, _: &MeasureSet, _: &Program, violation: &Box<Violation>) -> MeasureSet {
        let delaying = violation.steps[violation.issue..violation.load].iter();
        let own = delaying.filter(|step| step.copy == violation.attacker);
        let executed = own.filter_map(|step| match step.kind {
            StepKind::Execute { instruction, .. } => Some(instruction),
            _ => None,
        });
        let way: Vec<InstructionId> = executed.collect();
        self.catalogue.row_of(self.offered.program(), violation.attack.thread, &way)
    }
}

/// How the rounds end.
enum Ended {
    Valid {
        cheapest: Cheapest,
        /// The optima asked for that are known to be valid.
        optima: Vec<MeasureSet>,
        /// Whether these are all.
        are_all: bool,
    },
    /// Nothing that is permitted eliminates the attack.
    Impossible(Box<Violation>),
}

/// The rounds, with the rows found in them.
struct Deciding<'a> {
    guessing: Guessing<'a>,
    known: &'a KnownRows,
    rows: Rows<Box<Violation>>,
    request: Request,
}

impl Deciding<'_> {
    /// Rounds until all that is asked is decided; nothing where checks do not decide it.
    fn run(&mut self) -> Result<Option<Ended>, Fault> {
        // Attacks that the whole catalogue does not eliminate would have to be left out here.
        if self.request.one_by_one && !self.is_valid(&self.guessing.catalogue.everything())? {
            return Ok(None);
        }
        loop {
            let (costs, limits) = (self.guessing.catalogue.costs(), &self.guessing.options.limits);
            let cheapest = match rounds(&mut self.guessing, &self.known.sets, &mut self.rows, costs, limits)? {
                End::Valid(cheapest, ()) => cheapest,
                End::Impossible(violation) => return Ok(Some(Ended::Impossible(violation))),
                End::Unknown(_) => return Ok(None),
            };
            let Some((optima, are_all)) = self.optima(&cheapest)? else { continue };
            if self.request.one_by_one && !self.judge_one_by_one()? {
                return Ok(None);
            }
            return Ok(Some(Ended::Valid { cheapest, optima, are_all }));
        }
    }

    fn is_valid(&mut self, set: &MeasureSet) -> Result<bool, Fault> {
        let changed = self.guessing.with(set);
        Ok(matches!(self.guessing.ask(&changed)?, Decided::Robust(())))
    }

    /// The optima asked for, and whether these are all; nothing when one of the candidates has
    /// given a new row.
    fn optima(&mut self, cheapest: &Cheapest) -> Result<Option<(Vec<MeasureSet>, bool)>, Fault> {
        let most = self.request.alternatives;
        let (costs, limits) = (self.guessing.catalogue.costs(), &self.guessing.options.limits);
        let all = all_rows(&self.known.sets, &self.rows);
        let listed = if most > 0 { all_cheapest(&all, costs, &cheapest.set, most, limits).ok() } else { None };
        let (mut optima, mut are_all) = listed.unwrap_or_else(|| (vec![cheapest.set.clone()], most == 0));
        let mut open = Vec::new();
        for (number, set) in optima.iter().enumerate().filter(|(_, set)| **set != cheapest.set) {
            match round(&mut self.guessing, &mut self.rows, set)? {
                Round::Valid(()) => {}
                Round::NewRow => return Ok(None),
                Round::Unknown(_) => open.push(number),
                Round::Impossible(_) => unreachable!("a set that is valid eliminates every attack"),
            }
        }
        are_all &= open.is_empty();
        open.into_iter().rev().for_each(|number| drop(optima.remove(number)));
        Ok(Some((optima, are_all)))
    }

    /// Asks whether all measures but one will do, for each that no row names alone; whether every
    /// answer is known.
    fn judge_one_by_one(&mut self) -> Result<bool, Fault> {
        for measure in 0..self.guessing.catalogue.len() {
            let mut set = self.guessing.catalogue.everything();
            set.set(measure, false);
            if all_rows(&self.known.sets, &self.rows).iter().any(|row| row.is_disjoint(&set)) {
                continue;
            }
            match round(&mut self.guessing, &mut self.rows, &set)? {
                Round::Valid(()) | Round::NewRow => {}
                Round::Unknown(_) => return Ok(false),
                Round::Impossible(_) => unreachable!("with all measures the program is robust"),
            }
        }
        Ok(true)
    }

    /// What was found, as the plan of one part.
    fn plan(self, plans: &[PartPlan], end: Ended) -> PartPlan {
        let Self { guessing, known, rows, .. } = self;
        let (catalogue, limits) = (guessing.catalogue, &guessing.options.limits);
        let mut computations = known.computations.clone();
        let mut named: Vec<(Attack, MeasureSet)> =
            known.attacks.iter().copied().zip(known.sets.iter().cloned()).collect();
        for (row, violation) in rows {
            named.push((violation.attack, row.clone()));
            computations.insert((violation.attack, row), Computation::AllBut(violation));
        }
        let mut outcomes: Vec<(Attack, AttackOutcome)> =
            plans.iter().flat_map(|plan| plan.known.outcomes.iter().copied()).collect();
        outcomes.sort_by_key(|(attack, _)| *attack);
        let (mut choice, mut impossible) = (Choice::default(), None);
        match end {
            Ended::Valid { cheapest, optima, are_all } => {
                let sets: Vec<MeasureSet> = named.iter().map(|(_, row)| row.clone()).collect();
                choice = Choice {
                    chosen: Some(cheapest.set.clone()),
                    rows: named,
                    blocks: proved(&sets, catalogue.costs(), &cheapest.set, limits),
                    cheapest: Some(cheapest),
                    alternatives: optima,
                    alternatives_complete: are_all,
                };
            }
            Ended::Impossible(violation) => {
                impossible = Some(violation.attack);
                computations.insert((violation.attack, catalogue.nothing()), Computation::AllBut(violation));
            }
        }
        let is_robust = choice.chosen.as_ref().is_some_and(MeasureSet::is_clear);
        for (attack, outcome) in &mut outcomes {
            if choice.rows.iter().any(|(own, _)| own == attack) || impossible == Some(*attack) {
                *outcome = AttackOutcome::Feasible;
            } else if is_robust {
                *outcome = AttackOutcome::Infeasible;
            }
        }
        let efforts = plans.iter().map(|plan| plan.effort);
        let effort = efforts.fold(guessing.effort, Effort::and);
        PartPlan::finished(KnownAttacks::told(outcomes, impossible), choice, computations, effort)
    }
}
