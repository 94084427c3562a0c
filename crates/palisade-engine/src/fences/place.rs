//! Optimal fence sets for a program.

use super::cases::Case;
use super::catalogues::Catalogues;
use super::change::with_measures;
use super::computation::Computation;
use super::cost::Cost;
use super::fence_error::FenceError;
use super::offered::{Offered, priced};
use super::options::FenceOptions;
use super::planning::{Planned, plan};
use super::progress::Observer;
use super::request::Request;
use super::thread::PartPlan;
use super::unfinished::Unfinished;
use crate::robustness::{AttackOutcome, Silent, Verdict, abstracted, certificate, check};
use palisade_evidence::RobustCertificate;
use palisade_exploration::instrumented::{Attack, ThreadLabel, attacks_within, pruned};
use palisade_model::limits::{Limits, StopReason};
use palisade_model::program::{Measure, Program};
use std::sync::Arc;

/// Whether a program can be repaired.
#[derive(Debug)]
pub enum Repair {
    /// It can, by these measures (none, when it is robust).
    Valid(Box<Placement>),
    /// It cannot under the restrictions: this attack stays feasible whatever is changed.
    Impossible(Attack),
    /// The search was left before a valid set was known.
    Unknown {
        /// Why.
        reason: Unfinished,
        /// The attacks that were found feasible.
        feasible: Vec<Attack>,
    },
}

/// A valid set of measures.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The measures, in program order, each with its cost.
    pub measures: Vec<(Measure, Cost)>,
    /// What they cost together.
    pub cost: Cost,
    /// Why the set is a cheapest one; none when it is merely the best that was found.
    pub proof: Option<Proof>,
    /// Why attacks or cheaper sets were left undecided.
    pub stop: Option<Unfinished>,
    /// For each measure, an attack that comes back when it alone is left out; for some unknown when
    /// the set is not optimal.
    pub returning: Vec<Returning>,
    /// Every attack with its outcome before the repair.
    pub attacks: Vec<(Attack, AttackOutcome)>,
    /// What eliminates each feasible attack.
    pub eliminations: Vec<Elimination>,
    /// All optimal sets, when asked for.
    pub alternatives: Vec<Vec<Measure>>,
    /// Whether these are all.
    pub alternatives_complete: bool,
    /// Whether a check of the changed program has shown it robust (or when nothing is changed, the
    /// search itself).
    pub confirmed: bool,
    /// Candidate sets tried.
    pub candidates: usize,
    /// Those that needed a search.
    pub searches: usize,
    /// Configurations explored.
    pub markings: usize,
}

/// Why no cheaper set is valid.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The lower bound: what these weights sum to. A valid set must contain one measure of each
    /// row; and the rows that contain any one measure weigh no more together than it costs.
    pub bound: Cost,
    /// Rows, each with an attack that needs one of its measures, and its weight.
    pub weights: Vec<(Attack, Vec<Measure>, Cost)>,
    /// Branchings of the exact search that shows the set optimal; where the bound is the cost, it
    /// had nothing to do.
    pub branchings: u64,
    /// All rows that weights, cases and [`Placement::returning`] speak of, each with an attack that
    /// needs one of its measures.
    pub rows: Vec<(Attack, Vec<Measure>)>,
    /// For each of them, the computation that the search for it has found, if it has kept one.
    pub(super) computations: Vec<Option<Computation>>,
    /// Groups of rows that share no measure: what each costs at least, with the cases that show it,
    /// in which rows are meant by their positions. Without cases there were too many.
    pub blocks: Vec<(Cost, Option<Vec<Case<Cost>>>)>,
}

impl Proof {
    /// The row that shows which attack comes back when a measure of a set is left out: of the set
    /// it has that one alone.
    pub(super) fn row_of(&self, returning: &Returning, set: &[Measure]) -> Option<usize> {
        let only = |row: &[Measure]| row.iter().filter(|measure| set.contains(measure)).eq([&returning.measure]);
        self.rows.iter().position(|(attack, row)| *attack == returning.attack && only(row))
    }
}

/// An attack that a measure keeps away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returning {
    /// The measure.
    pub measure: Measure,
    /// The attack that is feasible when it alone is left out.
    pub attack: Attack,
}

/// What eliminates one attack.
#[derive(Clone, Debug)]
pub struct Elimination {
    /// The attack.
    pub attack: Attack,
    /// Its irreducible eliminating sets, smallest first.
    pub sets: Vec<Vec<Measure>>,
    /// Whether these are all.
    pub complete: bool,
}

/// Finds a cheapest set of measures that makes a program robust, for the numbers of copies it
/// declares. The set is confirmed by a check of the changed program, unless the caller sees to
/// that.
pub fn place(program: &Program, options: &FenceOptions, observer: &dyn Observer) -> Result<Repair, FenceError> {
    Ok(place_among(program, options, observer)?.repair)
}

/// What was found, and what evidence for it needs.
pub(super) struct Found {
    /// The result.
    pub(super) repair: Repair,
    /// The measures on offer, each with its cost.
    pub(super) on_offer: Vec<(Measure, Cost)>,
    /// A computation of the attack that stays feasible whatever is changed, if a check has found
    /// it.
    pub(super) unstopped: Option<Computation>,
}

impl Found {
    fn new(repair: Repair) -> Self {
        Self { repair, on_offer: Vec::new(), unstopped: None }
    }
}

/// Like [`place`], with what evidence needs.
pub(super) fn place_among(
    program: &Program,
    options: &FenceOptions,
    observer: &dyn Observer,
) -> Result<Found, FenceError> {
    let stopped = |reason| Found::new(Repair::Unknown { reason: Unfinished::Limit(reason), feasible: Vec::new() });
    let (all, open) = match listed(program, options) {
        Ok(listed) => listed,
        Err(reason) => return Ok(stopped(reason)),
    };
    let catalogues = match Catalogues::of(program, &open, options)? {
        Ok(catalogues) => catalogues,
        Err(reason) => return Ok(stopped(reason)),
    };
    let found = place_from(program, options, observer, &all, &open, &catalogues)?;
    Ok(Found { on_offer: catalogues.on_offer(), ..found })
}

/// All attacks of a program, and those that control flow does not rule out, where it is asked.
pub(super) fn listed(program: &Program, options: &FenceOptions) -> Result<(Vec<Attack>, Vec<Attack>), StopReason> {
    let limits = &options.limits;
    let all = attacks_within(program, limits)?;
    if program.rests_on_exploration() {
        return Ok((all.clone(), all));
    }
    let pruned = pruned(program, &all, limits)?;
    let open = all.iter().zip(pruned).filter(|(_, pruned)| !pruned).map(|(attack, _)| *attack).collect();
    Ok((all, open))
}

/// The choice from the measures on offer.
fn place_from(
    program: &Program,
    options: &FenceOptions,
    observer: &dyn Observer,
    all: &[Attack],
    open: &[Attack],
    catalogues: &Catalogues,
) -> Result<Found, FenceError> {
    if let Some(placement) = already_robust(program, options, all, open, catalogues) {
        return Ok(Found::new(Repair::Valid(Box::new(placement))));
    }
    let request = Request { alternatives: options.alternatives, one_by_one: false };
    let offer = || Offered::new(program, &[], priced(program, options, catalogues.on_offer()));
    let planned = plan(program, open, catalogues, &offer, request, options, observer).map_err(FenceError::Fault)?;
    let Planned { plans, catalogues } = &planned;
    if let Some((attack, unstopped)) = plans.iter().find_map(PartPlan::impossible) {
        return Ok(Found { unstopped: unstopped.cloned(), ..Found::new(Repair::Impossible(attack)) });
    }
    let Some(mut placement) = combine(all, open, plans, catalogues, options.alternatives) else {
        let stop = plans.iter().find_map(|plan| plan.stop().cloned());
        let feasible: Vec<Attack> = plans.iter().flat_map(|plan| plan.known.feasible()).collect();
        return match stop.unwrap_or(Unfinished::Limit(StopReason::Inconclusive)) {
            // Nothing is known at all.
            Unfinished::Growth(fault) if feasible.is_empty() => Err(FenceError::Fault(fault)),
            reason => Ok(Found::new(Repair::Unknown { reason, feasible })),
        };
    };
    if placement.measures.is_empty() && placement.proof.is_some() {
        // Nothing is changed, and every attack has just been decided.
        placement.confirmed = true;
        return Ok(Found::new(Repair::Valid(Box::new(placement))));
    }
    if options.confirm {
        let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
        let Confirmed { verdict, .. } = confirm(&with_measures(program, &measures), options)?;
        assert_ne!(verdict, Verdict::NotRobust, "a valid set makes the program robust [ESOP13, Theorem 7]");
        placement.confirmed = verdict == Verdict::Robust;
    }
    Ok(Found::new(Repair::Valid(Box::new(placement))))
}

/// Nothing to change, where a proof that does not know all values of counters shows the program
/// robust.
fn already_robust(
    program: &Program,
    options: &FenceOptions,
    all: &[Attack],
    open: &[Attack],
    catalogues: &Catalogues,
) -> Option<Placement> {
    let robust = abstracted(program, &options.for_checks(), &Silent)?;
    let nothing = combine(all, open, &[], catalogues, options.alternatives)?;
    let attacks = robust.attacks.iter().map(|report| (report.attack, report.outcome)).collect();
    Some(Placement { attacks, confirmed: true, markings: robust.markings, ..nothing })
}

/// The measures on offer for a program, each with its cost: those that bear on an attack and are
/// permitted. Limits do not count.
pub fn offered(program: &Program, options: &FenceOptions) -> Result<Vec<(Measure, Cost)>, FenceError> {
    let unlimited = FenceOptions { limits: Limits::none(), ..options.clone() };
    let (_, open) = listed(program, &unlimited).expect("there are no limits");
    Ok(Catalogues::of(program, &open, &unlimited)?.expect("there are no limits").on_offer())
}

/// The choices of all parts together; none when one of them has none.
pub(super) fn combine(
    all: &[Attack],
    open: &[Attack],
    plans: &[PartPlan],
    catalogues: &Catalogues,
    alternatives: usize,
) -> Option<Placement> {
    let mut outcomes: Vec<(Attack, AttackOutcome)> = all
        .iter()
        .filter(|attack| open.binary_search(attack).is_err())
        .map(|attack| (*attack, AttackOutcome::Pruned))
        .collect();
    let mut placement = Placement {
        measures: Vec::new(),
        cost: Cost::zero(),
        proof: Some(Proof {
            bound: Cost::zero(),
            weights: Vec::new(),
            branchings: 0,
            rows: Vec::new(),
            computations: Vec::new(),
            blocks: Vec::new(),
        }),
        stop: None,
        returning: Vec::new(),
        attacks: Vec::new(),
        eliminations: Vec::new(),
        alternatives: vec![Vec::new()],
        alternatives_complete: true,
        confirmed: false,
        candidates: 0,
        searches: 0,
        markings: 0,
    };
    for plan in plans {
        let catalogue = catalogues.of_thread(plan.thread());
        let chosen = plan.choice.chosen.as_ref()?;
        outcomes.extend(&plan.known.outcomes);
        placement.measures.extend(chosen.ones().flat_map(|measure| {
            let set = catalogue.set([measure]);
            catalogue.measures(&set).into_iter().map(move |measure| (measure, catalogue.cost(&set)))
        }));
        placement.returning.extend(chosen.ones().filter_map(|measure| {
            let mut without = chosen.clone();
            without.set(measure, false);
            let (attack, _) = plan.choice.rows.iter().find(|(_, row)| row.is_disjoint(&without))?;
            Some(Returning { measure: catalogue.measures(&catalogue.set([measure]))[0], attack: *attack })
        }));
        let described = plan.known.eliminations.iter().filter(|(_, known)| !known.sets.is_empty());
        placement.eliminations.extend(described.map(|(attack, known)| Elimination {
            attack: *attack,
            sets: known.sets.iter().map(|set| catalogue.measures(set)).collect(),
            complete: known.complete,
        }));
        match (&plan.choice.cheapest, &mut placement.proof) {
            (Some(cheapest), Some(proof)) => {
                proof.branchings += cheapest.branchings;
                let first = proof.rows.len();
                proof.rows.extend(plan.choice.rows.iter().map(|(attack, row)| (*attack, catalogue.measures(row))));
                proof.computations.extend(plan.choice.rows.iter().map(|row| plan.computations.get(row).cloned()));
                proof.blocks.extend(plan.choice.blocks.iter().map(|(least, cases)| {
                    let moved = |case: &Case<Cost>| case.map(|row| first + row, Cost::clone);
                    (least.clone(), cases.as_ref().map(|cases| cases.iter().map(moved).collect()))
                }));
                for (row, weight) in &cheapest.weights {
                    let (attack, row) = &plan.choice.rows[*row];
                    proof.weights.push((*attack, catalogue.measures(row), weight.clone()));
                }
            }
            _ => placement.proof = None,
        }
        placement.stop = placement.stop.or_else(|| plan.stop().cloned());
        let choices: Vec<Vec<Measure>> = plan.choice.alternatives.iter().map(|set| catalogue.measures(set)).collect();
        placement.alternatives_complete &= plan.choice.alternatives_complete
            && placement.alternatives.len().saturating_mul(choices.len()) <= alternatives.max(1);
        placement.alternatives = placement
            .alternatives
            .iter()
            .flat_map(|others| choices.iter().map(move |choice| [others.as_slice(), choice].concat()))
            .take(alternatives)
            .collect();
        placement.candidates += plan.effort.candidates;
        placement.searches += plan.effort.searches;
        placement.markings += plan.effort.markings;
    }
    outcomes.sort_by_key(|(attack, _)| *attack);
    placement.attacks = outcomes;
    placement.cost = placement.measures.iter().map(|(_, cost)| cost.clone()).sum();
    if let Some(proof) = &mut placement.proof {
        proof.bound = proof.weights.iter().map(|(_, _, weight)| weight.clone()).sum();
    }
    Some(placement)
}

/// What a check says of a changed program.
pub(super) struct Confirmed {
    pub(super) verdict: Verdict,
    /// The certificate, when it is robust.
    pub(super) certificate: Option<Arc<RobustCertificate>>,
    /// The labels that it does not reach, where an exploration tells.
    pub(super) unreached: Option<Vec<ThreadLabel>>,
}

/// Checks a changed program.
pub(super) fn confirm(changed: &Program, options: &FenceOptions) -> Result<Confirmed, FenceError> {
    let checked = check(changed, &options.for_checks()).map_err(FenceError::Fault)?;
    let certificate = certificate(changed, &checked).map(Arc::new);
    Ok(Confirmed { verdict: checked.verdict, certificate, unreached: checked.unreached })
}
