//! The verdict: fixed numbers of copies by one exact search ([`fixed`]); any number by small
//! instances and ω-markings in turn ([`any_number`]); where these take long, coverability of the
//! attacks' nets takes turns with them ([`on_nets`]).

mod among_two;
mod any_number;
mod around;
mod crowd;
mod few_values;
mod fixed;
mod on_nets;
mod progress;

pub(super) use crowd::Crowded;
pub use few_values::{Abstraction, Counts, Far, Low, Modulo, Stopping, Turns};
pub(super) use few_values::{Values, broken_by_first_values, concluded, proved_within};
pub use progress::{Observer, Silent, Stage};

use super::nets::NetAnswer;
use super::one_query::one_query;
use super::reach::{explore, may_be_faulty};
use super::witness::{Violation, shortest};
use palisade_evidence::AttackNetProof;
use palisade_exploration::instrumented::system::Counting;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{
    Attack, Fault, Found, Reached, Search, ThreadLabel, attacks_within, pruned, search,
};
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
use palisade_model::program::{Counters, Program};
use std::ops::Range;

/// Distinct values of a register or an address admitted in a program without a domain, unless told
/// otherwise. Programs whose values do not grow without end take fewer; in those that do, the
/// search doubles with each.
pub const DEFAULT_VALUES: usize = 64;

/// How to check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Decide every attack, not only those up to the lowest feasible one.
    pub all: bool,
    /// Answer attacks that control flow rules out without a search.
    pub prune: bool,
    /// Decide the attacks on their nets alone.
    pub nets: bool,
    /// Ask about all attacks in one exploration, and no nets. Not with `all` or `nets`.
    pub one_query: bool,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// Explore up to turns of counters. Not with `one_query`.
    pub counters: bool,
    /// Explore the net of an attack up to turns of counters as well where these are at least so
    /// many. With few, it is answered sooner as it stands.
    pub net_turns: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
}

/// With as many turns of counters as this, exploring the net of an attack up to turns pays.
const NET_TURNS: usize = 16;

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            all: false,
            prune: true,
            nets: false,
            one_query: false,
            values: DEFAULT_VALUES,
            counters: true,
            net_turns: NET_TURNS,
            limits: Limits::none(),
        }
    }
}

/// The answer about one attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttackOutcome {
    /// It is feasible.
    Feasible,
    /// It is not.
    Infeasible,
    /// Control flow rules it out.
    Pruned,
    /// A limit was reached before it was decided.
    Unknown,
    /// Another attack was found feasible before it was decided.
    NotAsked,
}

/// One attack with its answer.
#[derive(Clone, Debug)]
pub struct AttackReport {
    /// The attack.
    pub attack: Attack,
    /// The answer.
    pub outcome: AttackOutcome,
    /// What answered: `control-flow`, `enumerate`, `karp-miller`, `small-instances`, `one-query`;
    /// for attacks decided on their nets a strategy of `palisade cover`, or `turns`, the markings
    /// up to turns of counters.
    pub strategy: &'static str,
    /// Configurations explored for it alone.
    pub markings: usize,
    /// The places and transitions of the net, as far as the search built it.
    pub size: (usize, usize),
    /// Time spent on it alone.
    pub seconds: f64,
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No attack is feasible.
    Robust,
    /// Some attack is.
    NotRobust,
    /// A limit was reached.
    Unknown(StopReason),
}

/// Everything a check found.
#[derive(Debug)]
pub struct Check<'p> {
    /// The verdict.
    pub verdict: Verdict,
    /// Every attack, in order.
    pub attacks: Vec<AttackReport>,
    /// A computation that shows the program not robust.
    pub violation: Option<Violation>,
    /// The search that proved the attacks it decided infeasible; none when control flow or nets
    /// decided them all.
    pub proof: Option<Search<'p>>,
    /// The attacks of a robust program that were proved infeasible on their nets.
    pub net_proofs: Vec<(Attack, AttackNetProof)>,
    /// The evidence of a robust program that does not know all of its counters' values, in place of
    /// a proof.
    pub abstraction: Option<Abstraction>,
    /// The labels that no interleaving of the copies reaches, where a verdict is given and an
    /// exploration tells.
    pub unreached: Option<Vec<ThreadLabel>>,
    /// Why there are none of the nets that were asked for, so that searches answered in their
    /// place.
    pub without_nets: Option<Fault>,
    /// A step without a value that TSO reaches and SC does not; the program is not robust for that
    /// alone.
    pub only_under_tso: Option<Fault>,
    /// What may grow without end, where there is no verdict: value sets, closed thread by thread,
    /// do.
    pub suspect: Option<Fault>,
    /// Configurations explored in all.
    pub markings: usize,
}

/// Decides whether a program is robust, by its own values, seen by an observer.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no
/// violation was found among the first of them.
pub(super) fn check_observed<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Result<Check<'p>, Fault> {
    let reports = match list(program, options) {
        Ok(reports) => reports,
        Err(reason) => return Ok(Check::without_attacks(Verdict::Unknown(reason))),
    };
    let open: Vec<Attack> =
        reports.iter().filter(|report| report.outcome == AttackOutcome::NotAsked).map(|report| report.attack).collect();
    let checking = Checking::new(program, options, observer, reports, open);
    if checking.is_pruned() { checking.pruned() } else { checking.decide() }
}

/// Like [`check_observed`]. A violation is not made shorter, and labels that are not reached are
/// not sought.
///
/// # Errors
///
/// As [`check_observed`].
pub(crate) fn check_quickly<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    let reports = match list(program, options) {
        Ok(reports) => reports,
        Err(reason) => return Ok(Check::without_attacks(Verdict::Unknown(reason))),
    };
    let is_open = |report: &&AttackReport| report.outcome == AttackOutcome::NotAsked;
    let open: Vec<Attack> = reports.iter().filter(is_open).map(|report| report.attack).collect();
    let checking = Checking { is_quick: true, ..Checking::new(program, options, &Silent, reports, open) };
    if checking.is_pruned() {
        return Ok(checking.finish(Verdict::Robust, None, None));
    }
    checking.decide()
}

/// A violation of a program by one attack of those that control flow does not rule out, if that
/// attack is feasible and the limits are enough to find one. It is not a shortest one.
///
/// # Errors
///
/// As of [`check_observed`].
pub fn violation_by(program: &Program, attack: Attack, options: &CheckOptions) -> Result<Option<Violation>, Fault> {
    if let Some(found) = among_two::among_two(program, attack, options) {
        return Ok(Some(found));
    }
    let report = AttackReport {
        attack,
        outcome: AttackOutcome::NotAsked,
        strategy: "none",
        markings: 0,
        size: (0, 0),
        seconds: 0.0,
    };
    let checking = Checking::new(program, options, &Silent, vec![report], vec![attack]);
    Ok(Checking { is_partial: true, ..checking }.decide()?.violation)
}

/// Decides some of the attacks, those in a range of all in order: the verdict is about these alone.
pub(super) fn check_range<'p>(
    program: &'p Program,
    range: Range<usize>,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Result<Check<'p>, Fault> {
    let reports = match list(program, options) {
        Ok(reports) => reports.into_iter().take(range.end).skip(range.start).collect::<Vec<_>>(),
        Err(reason) => return Ok(Check::without_attacks(Verdict::Unknown(reason))),
    };
    let is_open = |report: &&AttackReport| report.outcome == AttackOutcome::NotAsked;
    let open: Vec<Attack> = reports.iter().filter(is_open).map(|report| report.attack).collect();
    let checking = Checking { is_partial: true, ..Checking::new(program, options, observer, reports, open) };
    if checking.is_pruned() { checking.pruned() } else { checking.decide() }
}

/// Every attack, with an answer where control flow has one.
pub(super) fn list(program: &Program, options: &CheckOptions) -> Result<Vec<AttackReport>, StopReason> {
    let all = attacks_within(program, &options.limits)?;
    let prunes = options.prune && !program.rests_on_exploration();
    let pruned = if prunes { pruned(program, &all, &options.limits)? } else { vec![false; all.len()] };
    let report = |(attack, pruned): (&Attack, bool)| AttackReport {
        attack: *attack,
        outcome: if pruned { AttackOutcome::Pruned } else { AttackOutcome::NotAsked },
        strategy: if pruned { "control-flow" } else { "none" },
        markings: 0,
        size: (0, 0),
        seconds: 0.0,
    };
    let mut reports = Vec::with_capacity(all.len());
    for (attacks, pruned) in all.chunks(METER).zip(pruned.chunks(METER)) {
        options.limits.check()?;
        reports.extend(attacks.iter().zip(pruned.iter().copied()).map(report));
    }
    Ok(reports)
}

/// The number of reports between two checks of the limits.
const METER: usize = 65_536;

impl Check<'_> {
    /// A check that ended before the attacks were listed.
    fn without_attacks(verdict: Verdict) -> Self {
        Self {
            verdict,
            attacks: Vec::new(),
            violation: None,
            proof: None,
            net_proofs: Vec::new(),
            abstraction: None,
            unreached: None,
            without_nets: None,
            only_under_tso: None,
            suspect: None,
            markings: 0,
        }
    }
}

struct Checking<'p, 'o> {
    program: &'p Program,
    options: &'o CheckOptions,
    observer: &'o dyn Observer,
    /// The attacks to decide.
    open: Vec<Attack>,
    reports: Vec<AttackReport>,
    markings: usize,
    /// What nets have answered so far.
    on_nets: Vec<NetAnswer>,
    /// Why the first net that has not answered did not, when they were asked last.
    nets_stopped: Option<StopReason>,
    /// With so many values admitted there are no nets, for this reason.
    without_nets: Option<(usize, Fault)>,
    /// The labels that explorations under SC have reached so far.
    reached: Reached,
    /// Whether no others can be reached.
    is_reach_known: bool,
    /// A step without a value that an attacker has come to.
    only_under_tso: Option<Fault>,
    /// Whether attacks that may be feasible are not asked about.
    is_partial: bool,
    /// Whether nothing more is said than the verdict with its evidence.
    is_quick: bool,
    /// The counters up to whose turns searches explore.
    counting: Option<Counting>,
}

/// Distinct values after which data is suspected to grow: violations are then sought before going
/// on.
const SUSPICIOUS: usize = 16;

impl<'p, 'o> Checking<'p, 'o> {
    fn new(
        program: &'p Program,
        options: &'o CheckOptions,
        observer: &'o dyn Observer,
        reports: Vec<AttackReport>,
        open: Vec<Attack>,
    ) -> Self {
        Self {
            program,
            options,
            observer,
            open,
            reports,
            markings: 0,
            on_nets: Vec::new(),
            nets_stopped: None,
            without_nets: None,
            reached: Reached::none(program),
            is_reach_known: false,
            only_under_tso: None,
            is_partial: false,
            is_quick: false,
            counting: None,
        }
    }

    /// Whether control flow has answered every attack. Where it says nothing, an exploration is
    /// needed even of a program without attacks.
    fn is_pruned(&self) -> bool {
        self.open.is_empty() && !self.program.rests_on_exploration()
    }

    fn decide(mut self) -> Result<Check<'p>, Fault> {
        if self.options.counters && !self.options.one_query {
            self.counting = Counting::of(Counters::of(self.program).into());
        }
        match self.program.is_parameterized() {
            _ if self.options.nets && !self.open.is_empty() => self.nets_alone(),
            true => self.any_number(),
            false => self.fixed(),
        }
    }

    fn run(&mut self, system: System<'p>, nodes: u64) -> Result<Search<'p>, Halt<Fault>> {
        // The first values of data that grows are those that the program computes.
        let counting = self.counting.clone().filter(|_| !system.leaves_values_out());
        let Some(counting) = counting else { return self.run_system(system, nodes) };
        let plain = system.clone();
        let known = (self.markings, self.reached.clone(), self.is_reach_known, self.only_under_tso.clone());
        let found = self.run_system(system.counting(Some(&counting)), nodes);
        if !counting.is_broken() {
            return found;
        }
        // Computed addresses come to what was taken for counters.
        (self.markings, self.reached, self.is_reach_known, self.only_under_tso) = known;
        self.counting = None;
        self.run_system(plain, nodes)
    }

    fn run_system(&mut self, system: System<'p>, nodes: u64) -> Result<Search<'p>, Halt<Fault>> {
        let counter = self.observer.counter();
        let budget = Budget { counter, ..Budget::within(&self.options.limits).with_work(nodes) };
        let is_whole = system.is_whole();
        self.observer.begins(system.spare_copies().map_or(Stage::Search, Stage::Instances));
        let found = if self.options.one_query && !self.open.is_empty() {
            one_query(system, &self.open, &budget)
        } else {
            search(system, &self.open, self.options.all, &budget).map(|found| (found.markings(), found))
        };
        let (markings, found) = found.inspect_err(|halt| {
            if let Halt::Fault(fault) = halt {
                self.observer.may_grow(fault);
            }
        })?;
        self.markings += markings;
        self.reached.add(&found.reached);
        self.is_reach_known |= is_whole;
        let mut whole = found.threads.iter().map(|thread| &thread.system).filter(|system| !system.was_cut());
        let met = whole.find_map(System::only_under_tso).cloned();
        self.only_under_tso = self.only_under_tso.take().or(met);
        Ok(found)
    }

    /// Control flow has answered every attack. What remains to be found is an error in what the
    /// program reaches, and labels that it does not reach: in a small exploration, as the verdict
    /// does not wait for it.
    fn pruned(mut self) -> Result<Check<'p>, Fault> {
        let CheckOptions { values, limits, .. } = self.options;
        let until_everything = !may_be_faulty(self.program);
        self.is_reach_known = explore(self.program, *values, limits, &mut self.reached, until_everything)?;
        Ok(self.finish(Verdict::Robust, None, None))
    }

    /// The labels that are not reached, asked of an exploration of their own where the searches do
    /// not tell.
    fn unreached(&mut self) -> Option<Vec<ThreadLabel>> {
        if !self.is_reach_known {
            let CheckOptions { values, limits, .. } = self.options;
            // A fault that is not on the way to the violation found takes nothing from it.
            self.is_reach_known = explore(self.program, *values, limits, &mut self.reached, true).unwrap_or(false);
        }
        self.is_reach_known.then(|| self.reached.missing(self.program))
    }

    fn record(&mut self, found: &Search<'p>, strategy: &'static str) {
        let strategy = if self.options.one_query { "one-query" } else { strategy };
        for answer in found.answers() {
            let report = self.report(answer.attack);
            report.outcome = match answer.found {
                Found::Feasible => AttackOutcome::Feasible,
                Found::Infeasible => AttackOutcome::Infeasible,
                Found::NotAsked => AttackOutcome::NotAsked,
            };
            if answer.found != Found::NotAsked {
                report.strategy = strategy;
                report.markings = answer.markings;
                report.size = answer.size;
                report.seconds = answer.seconds;
            }
        }
    }

    /// Notes the feasible attacks only: what a bounded search did not find may yet be there.
    fn record_feasible(&mut self, found: &Search<'p>) {
        for answer in found.answers().filter(|answer| answer.found == Found::Feasible) {
            let report = self.report(answer.attack);
            report.outcome = AttackOutcome::Feasible;
            report.strategy = "small-instances";
            report.markings = answer.markings;
            report.size = answer.size;
            report.seconds = answer.seconds;
        }
    }

    fn report(&mut self, attack: Attack) -> &mut AttackReport {
        let index = self.reports.binary_search_by_key(&attack, |report| report.attack);
        &mut self.reports[index.expect("answers are about listed attacks")]
    }

    fn stopped(mut self, halt: Halt<Fault>) -> Result<Check<'p>, Fault> {
        let reason = match halt {
            Halt::Fault(fault) => return Err(fault),
            Halt::Stopped(StopReason::Budget) => StopReason::Inconclusive,
            Halt::Stopped(reason) => reason,
        };
        for report in self.reports.iter_mut().filter(|report| report.outcome == AttackOutcome::NotAsked) {
            report.outcome = AttackOutcome::Unknown;
        }
        Ok(self.finish(Verdict::Unknown(reason), None, None))
    }

    /// Concludes that a finished search has found no attack feasible.
    fn robust(self, proof: Search<'p>) -> Result<Check<'p>, Fault> {
        match self.only_under_tso {
            // Some attack would be feasible: see `system::attacker`.
            Some(fault) if !self.is_partial => Err(fault),
            _ => Ok(self.finish(Verdict::Robust, None, Some(proof))),
        }
    }

    fn finish(mut self, verdict: Verdict, violation: Option<Violation>, proof: Option<Search<'p>>) -> Check<'p> {
        // A caller that asks about one attack asks for any violation by it.
        let says_more = !self.is_partial && !self.is_quick;
        let tells = says_more && !matches!(verdict, Verdict::Unknown(_));
        let unreached = if tells { self.unreached() } else { None };
        let robust = verdict == Verdict::Robust && proof.is_none();
        let proved = self.on_nets.into_iter().filter_map(|answer| Some((answer.attack, answer.proof?)));
        let net_proofs = if robust { proved.collect() } else { Vec::new() };
        let is_unknown = matches!(verdict, Verdict::Unknown(_));
        let fault = self.without_nets.map(|(_, fault)| fault);
        let without_nets = fault.clone().filter(|_| self.options.nets && !is_unknown);
        let suspect = fault.filter(|fault| is_unknown && fault.is_growth());
        let shorten = |found: Violation| {
            if says_more && !found.has_crowd() {
                shortest(self.program, found, self.options.values, &self.options.limits)
            } else {
                found
            }
        };
        let violation = violation.map(shorten);
        Check {
            only_under_tso: self.only_under_tso.filter(|_| verdict == Verdict::NotRobust),
            verdict,
            attacks: self.reports,
            violation,
            proof,
            net_proofs,
            abstraction: None,
            unreached,
            without_nets,
            suspect,
            markings: self.markings,
        }
    }
}
