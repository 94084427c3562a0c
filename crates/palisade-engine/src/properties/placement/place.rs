//! The rounds of a placement.

use super::offer::Offer;
use super::options::PlacementOptions;
use super::row::{erased, row_of};
use super::rows::{Core, FoundRow, Queries, Reached, Run};
use crate::fences::catalogue::MeasureSet;
use crate::fences::covering::{Cheapest, all_cheapest, cheapest, proved};
use crate::fences::{Case, Cost, FenceError, Measure};
use crate::properties::known::Known;
use crate::properties::ladder::{groups, prove_knowing};
use crate::properties::{Answer, Proof, ProveOptions, Rung, TargetAnswer, Violation, Why, targets};
use palisade_exploration::states::Aim;
use palisade_model::limits::StopReason;
use palisade_model::program::{NoMonitor, Program};
use palisade_semantics::{Machine, Model, Question, Target};
use std::sync::Arc;
use thiserror::Error;

/// Whether fences help, and which.
#[derive(Debug)]
pub enum Placed {
    /// These do.
    Valid(Box<PropertyPlacement>),
    /// None does: a target is reached under SC.
    NoFenceHelps(Box<Violation>),
    /// None that the options permit does.
    Impossible(Box<Impossible>),
}

/// A run that nothing on offer stops.
#[derive(Debug)]
pub struct Impossible {
    /// The run of a slice.
    pub run: Run,
    /// The program with everything on offer.
    pub program: Program,
    /// A computation of it to a target, where a rung has found one.
    pub violation: Option<Violation>,
}

/// Measures with which no target is reached, as far as that is known.
#[derive(Clone, Debug)]
pub struct PropertyPlacement {
    /// The measures, thread by thread, each with its cost.
    pub measures: Vec<(Measure, Cost)>,
    /// What they cost together.
    pub cost: Cost,
    /// The rows found.
    pub rows: Vec<PropertyRow>,
    /// What every valid set costs at least; the cost, when the set is a cheapest one.
    pub lower_bound: Cost,
    /// Weights of rows: those of no measure weigh more than it costs.
    pub weights: Vec<(usize, Cost)>,
    /// Groups of rows that share no measure: what each costs at least, with the cases that show it.
    pub blocks: Vec<(Cost, Option<Vec<Case<Cost>>>)>,
    /// Branchings of the exact search for a cheapest set.
    pub branchings: u64,
    /// All cheapest sets, when asked for.
    pub alternatives: Vec<Vec<Measure>>,
    /// Whether these are all.
    pub alternatives_complete: bool,
    /// All measures on offer, each with its cost.
    pub offered: Vec<(Measure, Cost)>,
    /// The proof that the set is valid, as far as it goes.
    pub proof: Option<Proof>,
    /// What is left open; nothing when every target has a proof.
    pub open: Option<OpenReason>,
    /// Searches made.
    pub queries: usize,
    /// The states that they have seen.
    pub states: usize,
}

impl PropertyPlacement {
    /// A row that has of the measures chosen this one alone: its run comes back without it.
    pub fn row_of(&self, measure: Measure) -> Option<&PropertyRow> {
        let is_chosen = |other: &&Measure| self.measures.iter().any(|(chosen, _)| *chosen == **other);
        self.rows.iter().find(|row| row.measures.iter().filter(is_chosen).eq([&measure]))
    }
}

/// Measures of which every valid set has one.
#[derive(Clone, Debug)]
pub struct PropertyRow {
    /// The measures.
    pub measures: Vec<Measure>,
    /// A run of the slice for its target that needs these absent, and no others on offer.
    pub run: Run,
    /// That slice, without measures.
    pub slice: Arc<Program>,
}

/// Why it is not known whether a set is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenReason {
    /// No rung has proved it.
    Unproved(Why),
    /// No set that touches the rows found is proved to be cheapest.
    Covering(StopReason),
}

/// Why fences cannot be placed: the input is at fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// As where fences are for robustness.
    #[error(transparent)]
    Input(#[from] FenceError),
    /// A joint control state cannot be watched.
    #[error(transparent)]
    Joint(#[from] NoMonitor),
    /// There is nothing to keep the program from.
    #[error("nothing to prove: the program has no `ensure`, no `fail`, no `never` and no question about final states")]
    NothingToProve,
    /// Under SC there is nothing to order.
    #[error("under SC there is nothing to order")]
    NothingToOrder,
}

/// Places the cheapest measures with which a program reaches none of its targets.
pub fn place(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
) -> Result<Placed, PlacementError> {
    let watched = program.monitored()?;
    place_knowing(program, question, options, &Known::of(&watched))
}

/// The same, where so much is known of the program that watches its joint control states.
pub(super) fn place_knowing(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    known: &Known<'_>,
) -> Result<Placed, PlacementError> {
    options.check_patterns(program).map_err(FenceError::Pattern)?;
    place_of(program, question, options, known, None)
}

/// The same for measures of which all together are known to do: the cheapest of them that do.
pub fn place_among(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    measures: &[(Measure, Cost)],
) -> Result<Placed, PlacementError> {
    let watched = program.monitored()?;
    place_of(program, question, options, &Known::of(&watched), Some(measures))
}

/// Places measures: those given, or all that the options permit.
fn place_of(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    known: &Known<'_>,
    among: Option<&[(Measure, Cost)]>,
) -> Result<Placed, PlacementError> {
    if options.model == Model::Sc {
        return Err(PlacementError::NothingToOrder);
    }
    let watched = known.program;
    let asked = asked(watched, question, options);
    if asked.is_empty() {
        return Err(PlacementError::NothingToProve);
    }
    let proving = proving(options, &asked);
    let under_sc = prove_knowing(watched, question, &ProveOptions { model: Model::Sc, ..proving.clone() }, known);
    let under_sc = under_sc.map_err(FenceError::Fault)?;
    if let Some(violation) = under_sc.violations().next() {
        return Ok(Placed::NoFenceHelps(Box::new(violation.clone())));
    }
    let is_open = |answer: &&TargetAnswer| answer.rung != Rung::Values;
    let open: Vec<Target> = under_sc.answers.iter().filter(is_open).map(|answer| answer.target).collect();
    let placed = |assumes| {
        let aims = aims(watched, question, &proving, &open, known, assumes);
        let offer = match among {
            Some(measures) => Offer::among(watched, program, measures),
            None => Offer::new(watched, program, &aims, options).map_err(FenceError::Cost)?,
        };
        let cores: Vec<Core<'_>> = aims.iter().map(|aim| Core::of(aim, &offer)).collect();
        let queries = Queries::new(&offer, &aims, &cores, options);
        Placing { queries, rows: Vec::new(), question, proving: &proving, known }.run()
    };
    decided(placed)
}

/// The targets of a program that are asked about.
fn asked(watched: &Program, question: Option<&Question>, options: &PlacementOptions) -> Vec<Target> {
    if options.targets.is_empty() { targets(watched, question) } else { options.targets.clone() }
}

/// What slices decide that assume loads to stay in the arrays they name, or else those that do not.
fn decided(placed: impl Fn(bool) -> Result<Option<Placed>, PlacementError>) -> Result<Placed, PlacementError> {
    if let Some(placed) = placed(true)? {
        return Ok(placed);
    }
    Ok(placed(false)?.expect("nothing reads what a slice without assumptions leaves out"))
}

/// How sets are proved valid.
pub(super) fn proving(options: &PlacementOptions, asked: &[Target]) -> ProveOptions {
    ProveOptions {
        only: asked.to_vec(),
        values: options.values,
        most: options.most,
        slice: options.slice,
        limits: options.limits.clone(),
        ..ProveOptions::new(options.model)
    }
}

/// The targets asked, in parts that share a slice.
fn aims<'q>(
    program: &Program,
    question: Option<&'q Question>,
    proving: &ProveOptions,
    asked: &[Target],
    known: &Known<'_>,
    assumes: bool,
) -> Vec<Aim<'q>> {
    let bounds = known.bounds(program);
    let groups = groups(program, question, proving, bounds, asked);
    let aim = |targets| {
        if proving.slice {
            Aim::new(program, targets, question, bounds, assumes)
        } else {
            Aim::whole(program, targets, question)
        }
    };
    groups.into_iter().map(aim).collect()
}

/// The fences of `program` that it needs for its properties when it has been changed: a largest set
/// of them can go, the others stay. These are the measures placed, each at the same cost. What was
/// put in by the change is not judged.
pub fn needed_fences(
    changed: &Program,
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
) -> Result<Placed, PlacementError> {
    let watched = changed.monitored()?;
    let asked = asked(&watched, question, options);
    let proving = proving(options, &asked);
    let offer = Offer::of_kept(&watched, changed, program);
    let known = Known::of(&watched);
    decided(|assumes| {
        let aims = aims(&watched, question, &proving, &asked, &known, assumes);
        let cores: Vec<Core<'_>> = aims.iter().map(|aim| Core::of(aim, &offer)).collect();
        let queries = Queries::new(&offer, &aims, &cores, options);
        Placing { queries, rows: Vec::new(), question, proving: &proving, known: &known }.run()
    })
}

/// A placement under way. The rows are those of runs that reach targets, so that every valid set
/// touches them, and what a cheapest set that touches them costs is a lower bound at all times.
/// Each round adds a row that the last set misses.
struct Placing<'a, 'p> {
    queries: Queries<'a, 'p>,
    rows: Vec<FoundRow>,
    question: Option<&'a Question>,
    proving: &'a ProveOptions,
    /// What is known of the program, whatever measures it has.
    known: &'a Known<'a>,
}

/// What one round has found out about a set.
enum Round {
    /// It is valid, as far as is known.
    Valid(Option<Proof>, Option<OpenReason>),
    /// It is not; there is a new row.
    NewRow,
    /// Nothing on offer stops this run.
    Unstoppable(Run),
    /// A computation to a target reads what the slice leaves out: the slice is none.
    LeavesSlice,
}

/// What has become of the search for all cheapest sets.
enum Alternatives {
    /// These, and whether they are all.
    Found(Vec<MeasureSet>, bool),
    /// One of them is not valid, which has given a new row.
    NewRow,
    /// A slice turned out to be none.
    LeavesSlice,
}

impl Placing<'_, '_> {
    /// Rounds until a set is valid; nothing when a slice turns out to be none.
    fn run(&mut self) -> Result<Option<Placed>, PlacementError> {
        loop {
            let set = match cheapest(&self.row_sets(), self.queries.offer.costs(), &self.queries.options.limits) {
                Ok(set) => set,
                Err((reason, set)) => {
                    let best = Cheapest { set, weights: Vec::new(), branchings: 0 };
                    return Ok(Some(self.placement(&best, None, Some(OpenReason::Covering(reason)))));
                }
            };
            match self.round(&set.set)? {
                Round::NewRow => {}
                Round::Unstoppable(run) => return self.impossible(run).map(Some),
                Round::LeavesSlice => return Ok(None),
                Round::Valid(proof, open) => {
                    let (sets, complete) = match self.alternatives(&set)? {
                        Alternatives::Found(sets, complete) => (sets, complete),
                        Alternatives::NewRow => continue,
                        Alternatives::LeavesSlice => return Ok(None),
                    };
                    let mut placed = self.placement(&set, proof, open);
                    if let Placed::Valid(placement) = &mut placed {
                        let offer = self.queries.offer;
                        placement.alternatives = sets.iter().map(|set| offer.measures(set)).collect();
                        placement.alternatives_complete = complete;
                    }
                    return Ok(Some(placed));
                }
            }
        }
    }

    fn impossible(&self, run: Run) -> Result<Placed, PlacementError> {
        let offer = self.queries.offer;
        let program = offer.changed(offer.program(), &offer.everything());
        let proof = prove_knowing(&program, self.question, self.proving, self.known).map_err(FenceError::Fault)?;
        let violation = proof.violations().next().cloned();
        Ok(Placed::Impossible(Box::new(Impossible { run, program, violation })))
    }

    fn row_sets(&self) -> Vec<MeasureSet> {
        self.rows.iter().map(|row| row.measures.clone()).collect()
    }

    /// Asks whether a set is valid: first for a run to a target, then for a proof.
    fn round(&mut self, set: &MeasureSet) -> Result<Round, PlacementError> {
        if let Some(reached) = self.queries.ask(set) {
            return Ok(self.add(reached));
        }
        let offer = self.queries.offer;
        let changed = offer.changed(offer.program(), set);
        // A violation gives a row, and nobody sees it.
        let proving = ProveOptions { shorten: false, ..self.proving.clone() };
        let proof = prove_knowing(&changed, self.question, &proving, self.known).map_err(FenceError::Fault)?;
        if let Some(violation) = proof.violations().next() {
            let aim = self.queries.aim_of(violation.target);
            if violation.events.iter().any(|event| self.queries.aims[aim].leaves(event)) {
                return Ok(Round::LeavesSlice);
            }
            let bare = offer.bare(offer.program());
            let steps: Vec<_> = violation.events.iter().map(|event| event.step).collect();
            let (instance, model) = (violation.instance.clone(), violation.model);
            let steps = erased(&bare, &Machine::new(&changed, &instance, model), &steps);
            let row = row_of(offer, &Machine::new(&bare, &instance, model), &steps);
            debug_assert!(row.is_disjoint(set), "the measures in force do not forbid the run");
            let run = Run { instance, model, target: violation.target, steps };
            return Ok(self.add(Reached { aim, row, run }));
        }
        let open = proof.answers.iter().find_map(|answer| match answer.answer {
            Answer::Open(why) => Some(OpenReason::Unproved(why)),
            _ => None,
        });
        Ok(Round::Valid(Some(proof), open))
    }

    /// Adds the row of a run, cut down.
    fn add(&mut self, reached: Reached) -> Round {
        let row = self.queries.minimal(reached);
        if row.measures.is_clear() {
            return Round::Unstoppable(row.run);
        }
        self.rows.push(row);
        Round::NewRow
    }

    /// All cheapest sets, when asked for, and whether these are all.
    fn alternatives(&mut self, set: &Cheapest) -> Result<Alternatives, PlacementError> {
        let (offer, options) = (self.queries.offer, self.queries.options);
        if options.alternatives == 0 {
            return Ok(Alternatives::Found(Vec::new(), false));
        }
        let rows = self.row_sets();
        let Ok(all) = all_cheapest(&rows, offer.costs(), &set.set, options.alternatives, &options.limits) else {
            return Ok(Alternatives::Found(vec![set.set.clone()], false));
        };
        let (sets, mut complete) = all;
        for other in sets.iter().filter(|other| **other != set.set) {
            match self.round(other)? {
                Round::Valid(_, None) => {}
                Round::Valid(_, Some(_)) => complete = false,
                Round::NewRow => return Ok(Alternatives::NewRow),
                Round::LeavesSlice => return Ok(Alternatives::LeavesSlice),
                Round::Unstoppable(_) => unreachable!("a set that is valid stops every run"),
            }
        }
        Ok(Alternatives::Found(sets, complete))
    }

    fn placement(&self, set: &Cheapest, proof: Option<Proof>, open: Option<OpenReason>) -> Placed {
        let (offer, options) = (self.queries.offer, self.queries.options);
        let rows = self.row_sets();
        let is_cheapest = !matches!(open, Some(OpenReason::Covering(_)));
        let cost = offer.cost(&set.set);
        let blocks = if is_cheapest { proved(&rows, offer.costs(), &set.set, &options.limits) } else { Vec::new() };
        let measures = set.set.ones().map(|number| (offer.all()[number], offer.costs()[number].clone()));
        let aims = self.queries.aims.iter();
        let slices: Vec<Arc<Program>> = aims.map(|aim| Arc::new(offer.bare(&aim.program))).collect();
        let row = |row: &FoundRow| PropertyRow {
            measures: offer.measures(&row.measures),
            run: row.run.clone(),
            slice: slices[row.aim].clone(),
        };
        Placed::Valid(Box::new(PropertyPlacement {
            measures: measures.collect(),
            lower_bound: if is_cheapest { cost.clone() } else { Cost::zero() },
            cost,
            rows: self.rows.iter().map(row).collect(),
            weights: set.weights.clone(),
            blocks,
            branchings: set.branchings,
            alternatives: Vec::new(),
            alternatives_complete: false,
            offered: offer.all().iter().copied().zip(offer.costs().iter().cloned()).collect(),
            proof,
            open,
            queries: self.queries.count,
            states: self.queries.states,
        }))
    }
}
