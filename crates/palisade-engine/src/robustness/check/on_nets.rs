//! Coverability of the attacks' nets, in turn with searches that take long.

use super::{AttackOutcome, AttackReport, Check, Checking, Stage, Verdict};
use crate::robustness::nets::{NetAnswer, Turns, decide, replicated_copies};
use crate::robustness::witness::Violation;
use palisade_exploration::instrumented::{Attack, Fault, Found};
use palisade_model::limits::{Budget, StopReason};

/// What the nets of a program's attacks have shown.
pub(super) enum NetVerdict {
    /// None of the attacks is feasible.
    Robust,
    /// The lowest one known to be feasible.
    NotRobust(Box<Violation>),
}

impl<'p> Checking<'p, '_> {
    /// Decides the attacks on their nets alone. Where there are no nets, because the values of
    /// single threads and addresses are more than are admitted or have no meaning, searches answer:
    /// the program need not reach those values.
    pub(super) fn nets_alone(mut self) -> Result<Check<'p>, Fault> {
        let values = self.options.values;
        let unlimited = Budget::within(&self.options.limits);
        let answer = match self.ask(values, &unlimited) {
            Ok(answer) => answer,
            Err(fault) => {
                self.without_nets = Some((values, fault));
                return if self.program.is_parameterized() { self.any_number() } else { self.fixed() };
            }
        };
        match answer {
            Some(NetVerdict::NotRobust(violation)) if self.program.is_parameterized() => {
                let violation = self.with_fewer_copies(*violation, 0, values, &unlimited);
                Ok(self.conclude_nets(NetVerdict::NotRobust(violation.into())))
            }
            Some(verdict) => Ok(self.conclude_nets(verdict)),
            None => {
                self.record_nets();
                let reached = self.options.limits.check().err().or(self.nets_stopped);
                let reason = reached.unwrap_or(StopReason::Inconclusive);
                Ok(self.finish(Verdict::Unknown(reason), None, None))
            }
        }
    }

    /// Asks the nets of the attacks that none has answered yet, in a turn in which an exploration
    /// may have so many nodes and data so many values; nothing when that is not enough for a
    /// verdict. Without nets there is none: a search may still find that values do not grow, or
    /// that what has no value is not reached.
    pub(super) fn ask_nets(&mut self, values: usize, nodes: u64) -> Option<NetVerdict> {
        let is_useless = self.options.one_query || self.open.is_empty();
        if is_useless || self.without_nets.as_ref().is_some_and(|(without, _)| values <= *without) {
            return None;
        }
        match self.ask(values, &self.budget(nodes)) {
            Ok(verdict) => verdict,
            Err(fault) => {
                self.without_nets = Some((values, fault));
                None
            }
        }
    }

    fn ask(&mut self, values: usize, budget: &Budget) -> Result<Option<NetVerdict>, Fault> {
        let open = self.without_net_answer();
        self.observer.begins(Stage::Nets(open.len()));
        let answers = decide(self.program, &open, None, self.options.all, values, self.turns(), budget)
            .inspect_err(|fault| self.observer.may_grow(fault))?;
        self.nets_stopped = answers.iter().find_map(|answer| answer.stopped);
        self.on_nets.extend(answers.into_iter().filter(|answer| answer.found.is_some()));
        self.on_nets.sort_by_key(|answer| self.open.iter().position(|attack| *attack == answer.attack));
        let every = self.on_nets.len() == self.open.len();
        let violation = self.on_nets.iter().find_map(|answer| answer.violation.clone());
        Ok(match violation {
            Some(violation) if every || !self.options.all => Some(NetVerdict::NotRobust(violation.into())),
            None if every => Some(NetVerdict::Robust),
            _ => {
                self.on_nets.retain(|answer| answer.found != Some(Found::NotAsked));
                None
            }
        })
    }

    /// The counters up to whose turns nets are explored.
    fn turns(&self) -> Option<Turns<'_>> {
        let fewest = self.options.net_turns;
        self.counting.as_ref().map(|counting| Turns { counting, fewest })
    }

    /// What a turn with so many nodes may use up.
    pub(super) fn budget(&self, nodes: u64) -> Budget {
        Budget::within(&self.options.limits).with_work(nodes)
    }

    fn without_net_answer(&self) -> Vec<Attack> {
        let is_answered = |attack| self.on_nets.iter().any(|answer| answer.attack == attack);
        self.open.iter().copied().filter(|attack| !is_answered(*attack)).collect()
    }

    pub(super) fn conclude_nets(mut self, verdict: NetVerdict) -> Check<'p> {
        self.record_nets();
        match verdict {
            NetVerdict::Robust => self.finish(Verdict::Robust, None, None),
            NetVerdict::NotRobust(violation) => {
                // With fewer copies it may be another attack than with any number.
                self.report(violation.attack).outcome = AttackOutcome::Feasible;
                self.finish(Verdict::NotRobust, Some(*violation), None)
            }
        }
    }

    /// Notes what nets have answered; attacks that they have not answered are unknown.
    pub(super) fn record_nets(&mut self) {
        for report in self.reports.iter_mut().filter(|report| report.outcome == AttackOutcome::NotAsked) {
            match self.on_nets.iter().find(|answer| answer.attack == report.attack) {
                Some(answer) => note(report, answer),
                None => report.outcome = AttackOutcome::Unknown,
            }
        }
    }

    /// A violation with as few copies of replicated threads as this budget shows, and whether fewer
    /// are known not to do. All instances with fewer than `least` copies are robust.
    pub(super) fn with_fewer_copies(
        &self,
        violation: Violation,
        least: u32,
        values: usize,
        budget: &Budget,
    ) -> Violation {
        let mut best = violation;
        // Attacks that are infeasible for any number of copies are so for fewer.
        let is_infeasible = |attack| {
            self.on_nets.iter().any(|answer| answer.attack == attack && answer.found == Some(Found::Infeasible))
        };
        let attacks: Vec<Attack> = self.open.iter().copied().filter(|attack| !is_infeasible(*attack)).collect();
        loop {
            let copies = replicated_copies(self.program, &best);
            if copies <= least {
                best.instance_minimal = true;
                return best;
            }
            let Ok(answers) = decide(self.program, &attacks, Some(copies - 1), false, values, self.turns(), budget)
            else {
                return best;
            };
            let all_infeasible = answers.iter().all(|answer| answer.found == Some(Found::Infeasible));
            match answers.into_iter().find_map(|answer| answer.violation) {
                Some(smaller) => best = smaller,
                None => {
                    best.instance_minimal = all_infeasible;
                    return best;
                }
            }
        }
    }
}

fn note(report: &mut AttackReport, answer: &NetAnswer) {
    report.outcome = match answer.found {
        Some(Found::Feasible) => AttackOutcome::Feasible,
        Some(Found::Infeasible) => AttackOutcome::Infeasible,
        Some(Found::NotAsked) => AttackOutcome::NotAsked,
        None => AttackOutcome::Unknown,
    };
    if matches!(report.outcome, AttackOutcome::Feasible | AttackOutcome::Infeasible) {
        report.strategy = answer.strategy;
        report.markings = answer.markings;
        report.size = answer.size;
        report.seconds = answer.seconds;
    }
}
