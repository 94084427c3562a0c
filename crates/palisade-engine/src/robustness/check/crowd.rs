//! Violations for which a counter has to come around, however many copies that takes: found beside
//! a [crowd](crate::robustness::crowds).

use super::{AttackOutcome, AttackReport, Check, CheckOptions, Checking, Observer, Verdict, list};
use crate::decide::schedule::{CROWD, CUTS};
use crate::robustness::crowds::additions;
use crate::robustness::witness::{Violation, shortest, violation};
use palisade_exploration::instrumented::system::{Counting, Growth};
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, Reached, search};
use palisade_model::limits::Budget;
use palisade_model::program::{Copies, Counters, Program, Thread, ThreadId};

/// A violation in which a counter has come around.
#[derive(Debug)]
pub(in crate::robustness) struct Crowded {
    reports: Vec<AttackReport>,
    /// The labels that are reached beside the crowd.
    reached: Reached,
    thread: ThreadId,
    violation: Violation,
}

impl Crowded {
    /// A violation with a crowd, if one is found, the smallest crowds first; none where few copies
    /// do without.
    pub(in crate::robustness) fn find(program: &Program, options: &CheckOptions) -> Option<Self> {
        let additions = additions(program);
        if additions.is_empty() || options.all {
            return None;
        }
        let reports = list(program, options).ok()?;
        let is_open = |report: &&AttackReport| report.outcome == AttackOutcome::NotAsked;
        let open: Vec<Attack> = reports.iter().filter(is_open).map(|report| report.attack).collect();
        let found = additions.iter().find_map(|addition| {
            let is_broken_alone =
                among(&addition.alone(program), &open, options).is_some_and(|(_, found)| found.is_some());
            if is_broken_alone {
                return None;
            }
            addition.crowds().find_map(|crowd| {
                let beside = addition.beside(program, crowd);
                // Where that takes long, as if the counters were integers: the crowd moves them by
                // few then, up to the domain's size.
                let integers = Program { domain: None, ..beside.clone() };
                let found = among(&beside, &open, options);
                let (reached, found) = found.or_else(|| among(&integers, &open, options))?;
                Some((reached, crowd.thread, found?.with_crowd(program, crowd)?))
            })
        });
        let (reached, thread, violation) = found?;
        Some(Self { reports, reached, thread, violation })
    }

    /// The program with one copy fewer in all, where that is any number of this thread's.
    pub(in crate::robustness) fn with_a_copy_less(&self, program: &Program) -> Option<Program> {
        let is_replicated = |(id, thread): (ThreadId, &Thread)| (thread.copies == Copies::Any).then_some(id);
        let replicated: Vec<ThreadId> = program.thread_ids().filter_map(is_replicated).collect();
        let fewer = self.violation.instance.count(self.thread) - 1;
        (replicated == [self.thread]).then(|| {
            let mut program = program.clone();
            program.threads[self.thread.index()].copies = Copies::Exactly(fewer);
            program
        })
    }

    /// The check that this violation concludes.
    pub(in crate::robustness) fn concluded<'p>(
        self,
        program: &'p Program,
        options: &CheckOptions,
        observer: &dyn Observer,
        is_minimal: bool,
    ) -> Check<'p> {
        let violation = Violation { instance_minimal: is_minimal, ..self.violation };
        let mut checking = Checking::new(program, options, observer, self.reports, Vec::new());
        checking.reached.add(&self.reached);
        let report = checking.report(violation.attack);
        report.outcome = AttackOutcome::Feasible;
        report.strategy = "small-instances";
        checking.finish(Verdict::NotRobust, Some(violation), None)
    }
}

/// The labels that a program reaches under SC, all numbers of whose copies are fixed, and a short
/// violation, if it has one; nothing where that takes long.
fn among(program: &Program, open: &[Attack], options: &CheckOptions) -> Option<(Reached, Option<Violation>)> {
    let budget = Budget::within(&options.limits).with_work(CROWD);
    let counting = Counting::of(Counters::of(program).into()).filter(|_| options.counters);
    let system = match program.domain {
        Some(_) => System::new(program, Growth::Fault(options.values)).counting(counting.as_ref()),
        None => System::new(program, Growth::Cut(CUTS[1])),
    };
    let mut found = search(system, open, false, &budget).ok()?;
    if counting.is_some_and(|counting| counting.is_broken()) {
        return None;
    }
    let violation = violation(&mut found, program, false).ok()?;
    let short = violation.map(|found| shortest(program, found, options.values, &options.limits));
    Some((found.reached, short))
}
