//! The verdict: fixed numbers of copies by one exact search; any number by small instances and ω-markings in turn.

use super::attacks::{Attack, attacks, is_pruned};
use super::fault::Fault;
use super::search::{Found, Search, search};
use super::system::{Growth, System};
use super::witness::{Violation, violation};
use crate::coverability::lazy::{Budget, Halt};
use crate::limits::{Limits, StopReason};
use crate::program::{Copies, Program};

/// Distinct values of a register or an address admitted in a program without a domain, unless told otherwise. Programs
/// whose values do not grow without end take fewer; in those that do, the search doubles with each.
pub const DEFAULT_VALUES: usize = 64;

/// How to check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Decide every attack, not only those up to the lowest feasible one.
    pub all: bool,
    /// Answer attacks that control flow rules out without a search.
    pub prune: bool,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { all: false, prune: true, values: DEFAULT_VALUES, limits: Limits::none() }
    }
}

/// The answer about one attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
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
    pub outcome: Outcome,
    /// What answered: `control-flow`, `enumerate`, `karp-miller` or `small-instances`.
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
    /// The search that proved the attacks it decided infeasible; none when control flow decided them all.
    pub proof: Option<Search<'p>>,
    /// Configurations explored in all.
    pub markings: usize,
}

/// Decides whether a program is robust.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no violation was found among
/// the first of them.
pub fn check<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    let all = attacks(program);
    let reports: Vec<AttackReport> = all
        .iter()
        .map(|attack| {
            let pruned = options.prune && is_pruned(program, attack);
            AttackReport {
                attack: *attack,
                outcome: if pruned { Outcome::Pruned } else { Outcome::NotAsked },
                strategy: if pruned { "control-flow" } else { "none" },
                markings: 0,
                size: (0, 0),
                seconds: 0.0,
            }
        })
        .collect();
    let open: Vec<Attack> =
        reports.iter().filter(|report| report.outcome == Outcome::NotAsked).map(|report| report.attack).collect();
    let checking = Checking { program, options, open, reports, markings: 0 };
    if checking.open.is_empty() {
        return Ok(checking.finish(Verdict::Robust, None, None));
    }
    if program.is_parameterized() { checking.any_number() } else { checking.fixed() }
}

struct Checking<'p, 'o> {
    program: &'p Program,
    options: &'o CheckOptions,
    /// The attacks to decide.
    open: Vec<Attack>,
    reports: Vec<AttackReport>,
    markings: usize,
}

/// Distinct values admitted, in turn, when violations are sought among the first values of data that grows.
const CUTS: [usize; 2] = [3, 8];

/// Nodes of one exploration in such a search.
const CUT_NODES: usize = 400_000;

/// Distinct values after which data is suspected to grow: violations are then sought before going on.
const SUSPICIOUS: usize = 16;

impl<'p> Checking<'p, '_> {
    fn fixed(mut self) -> Result<Check<'p>, Fault> {
        let suspicious = SUSPICIOUS.min(self.options.values);
        match self.run(System::new(self.program, Growth::Fault(suspicious)), None) {
            Ok(found) => return self.conclude_exact(found),
            Err(Halt::Fault(fault)) if fault.is_growth() => {}
            Err(halt) => return self.stopped(halt),
        }
        for cut in CUTS {
            let system = System::new(self.program, Growth::Cut(cut));
            if let Ok(found) = self.run(system, Some(CUT_NODES))
                && found.answers().any(|answer| answer.found == Found::Feasible)
            {
                return self.conclude_violation(found);
            }
        }
        match self.run(System::new(self.program, Growth::Fault(self.options.values)), None) {
            Ok(found) => self.conclude_exact(found),
            Err(halt) => self.stopped(halt),
        }
    }

    fn conclude_exact(mut self, mut found: Search<'p>) -> Result<Check<'p>, Fault> {
        self.record(&found, "enumerate");
        let violation = violation(&mut found, self.program, false)?;
        let verdict = if violation.is_some() { Verdict::NotRobust } else { Verdict::Robust };
        Ok(self.finish(verdict, violation, Some(found)))
    }

    /// Takes over the violation of a search whose other answers mean nothing beyond it.
    fn conclude_violation(mut self, mut found: Search<'p>) -> Result<Check<'p>, Fault> {
        self.record_feasible(&found);
        let violation = violation(&mut found, self.program, false)?;
        Ok(self.finish(Verdict::NotRobust, violation, None))
    }

    /// Any number of copies: instances with few copies in all and the ω-search in turn, with growing budgets, until one
    /// of them answers. Instances with n copies of replicated threads in all, each free to be any of them, are one
    /// exact search.
    fn any_number(mut self) -> Result<Check<'p>, Fault> {
        let has_fixed = self.program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
        let mut copies = u32::from(!has_fixed);
        let mut nodes = 20_000;
        // Whether every instance with fewer copies in all was shown robust.
        let mut minimal = true;
        let mut proof: Option<Search<'p>> = None;
        let mut fault: Option<Fault> = None;
        let mut values = SUSPICIOUS.min(self.options.values);
        loop {
            // Instances, while they are cheap.
            for _ in 0..4 {
                let system = System::with_spare_copies(self.program, Growth::Fault(values), copies);
                let mut found = self.run(system, Some(nodes));
                if matches!(&found, Err(Halt::Fault(fault)) if fault.is_growth()) {
                    minimal = false;
                    let system = System::with_spare_copies(self.program, Growth::Cut(CUTS[1]), copies);
                    found = self.run(system, Some(nodes));
                }
                match found {
                    Ok(found) if found.answers().any(|answer| answer.found == Found::Feasible) => {
                        return self.conclude_instance(found, minimal, proof);
                    }
                    Ok(_) => copies += 1,
                    Err(Halt::Budget) => break,
                    Err(halt) => return self.stopped(halt),
                }
            }
            if proof.is_none() {
                match self.run(System::new(self.program, Growth::Fault(values)), Some(nodes)) {
                    Ok(found) if found.answers().all(|answer| answer.found == Found::Infeasible) => {
                        self.record(&found, "karp-miller");
                        return Ok(self.finish(Verdict::Robust, None, Some(found)));
                    }
                    // Some instance is not robust: find it.
                    Ok(found) => proof = Some(found),
                    Err(Halt::Budget) => {}
                    Err(Halt::Fault(found)) if found.is_growth() => fault = Some(found),
                    Err(halt) => return self.stopped(halt),
                }
            }
            match fault.take() {
                // Every value admitted has been taken, and more.
                Some(fault) if values == self.options.values || nodes > CUT_NODES => return Err(fault),
                Some(_) => {
                    if let Some(found) = self.among_first_values() {
                        return self.conclude_instance(found, false, None);
                    }
                    values = self.options.values;
                }
                None => {}
            }
            nodes = nodes.saturating_mul(4);
        }
    }

    /// A violation among the first values of data that grows, in instances with few copies.
    fn among_first_values(&mut self) -> Option<Search<'p>> {
        for cut in CUTS {
            for copies in 2..=3 {
                let system = System::with_spare_copies(self.program, Growth::Cut(cut), copies);
                if let Ok(found) = self.run(system, Some(CUT_NODES))
                    && found.answers().any(|answer| answer.found == Found::Feasible)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    fn conclude_instance(
        mut self,
        mut found: Search<'p>,
        minimal: bool,
        proof: Option<Search<'p>>,
    ) -> Result<Check<'p>, Fault> {
        self.record_feasible(&found);
        let violation = violation(&mut found, self.program, minimal)?;
        if self.options.all {
            // What is infeasible in an instance may be feasible in a larger one: ask for any number.
            let whole = match proof {
                Some(proof) => Ok(proof),
                None => {
                    let system = System::new(self.program, Growth::Fault(self.options.values));
                    self.run(system, None)
                }
            };
            match whole {
                Ok(whole) => self.record(&whole, "karp-miller"),
                Err(_) => {
                    for report in self.reports.iter_mut().filter(|report| report.outcome == Outcome::NotAsked) {
                        report.outcome = Outcome::Unknown;
                    }
                }
            }
        }
        Ok(self.finish(Verdict::NotRobust, violation, None))
    }

    fn run(&mut self, system: System<'p>, nodes: Option<usize>) -> Result<Search<'p>, Halt<Fault>> {
        let budget = Budget { limits: self.options.limits.clone(), nodes };
        let found = search(system, &self.open, self.options.all, &budget)?;
        self.markings += found.markings();
        Ok(found)
    }

    fn record(&mut self, found: &Search<'p>, strategy: &'static str) {
        for answer in found.answers() {
            let report = self.report(answer.attack);
            report.outcome = match answer.found {
                Found::Feasible => Outcome::Feasible,
                Found::Infeasible => Outcome::Infeasible,
                Found::NotAsked => Outcome::NotAsked,
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
            report.outcome = Outcome::Feasible;
            report.strategy = "small-instances";
            report.markings = answer.markings;
            report.size = answer.size;
            report.seconds = answer.seconds;
        }
    }

    fn report(&mut self, attack: Attack) -> &mut AttackReport {
        self.reports.iter_mut().find(|report| report.attack == attack).expect("answers are about listed attacks")
    }

    fn stopped(mut self, halt: Halt<Fault>) -> Result<Check<'p>, Fault> {
        let reason = match halt {
            Halt::Fault(fault) => return Err(fault),
            Halt::Budget => StopReason::Inconclusive,
            Halt::Stopped(reason) => reason,
        };
        for report in self.reports.iter_mut().filter(|report| report.outcome == Outcome::NotAsked) {
            report.outcome = Outcome::Unknown;
        }
        Ok(self.finish(Verdict::Unknown(reason), None, None))
    }

    fn finish(self, verdict: Verdict, violation: Option<Violation>, proof: Option<Search<'p>>) -> Check<'p> {
        Check { verdict, attacks: self.reports, violation, proof, markings: self.markings }
    }
}
