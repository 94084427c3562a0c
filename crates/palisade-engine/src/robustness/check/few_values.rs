//! A program that knows its counters modulo few values only: the search for a proof, and the check
//! that a proof concludes.

use super::{AttackOutcome, AttackReport, Check, CheckOptions, Checking, Observer, Silent, Verdict, list};
use crate::decide::schedule::{CUTS, FIRST_COUNTER_VALUES};
use crate::robustness::witness::violation;
use palisade_evidence::RobustCertificate;
use palisade_exploration::instrumented::system::{Counting, Growth};
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, Found, search};
use palisade_model::limits::Budget;
use palisade_model::program::{Balances, Count, Counters, LowBits, Program, TicketPair, Tickets, Value};
use std::sync::Arc;

/// How a program without its tickets, or that knows its counters modulo few values only, shows the
/// program robust.
#[derive(Clone, Debug)]
pub enum Abstraction {
    /// Its counters are known modulo few values.
    Modulo(Modulo),
    /// Its tickets are erased.
    Turns(Turns),
    /// Its counters stop at an end.
    Stopping(Stopping),
    /// Counts above a few are one value.
    Counting(Counts),
    /// Counters that are far behind are one value.
    Far(Far),
    /// Values that grow have their low bits alone.
    Low(Low),
}

impl Abstraction {
    /// The certificate.
    pub fn certificate(&self) -> &RobustCertificate {
        match self {
            Self::Modulo(modulo) => &modulo.certificate,
            Self::Turns(turns) => &turns.certificate,
            Self::Stopping(stopping) => &stopping.certificate,
            Self::Counting(counts) => &counts.certificate,
            Self::Far(far) => &far.certificate,
            Self::Low(low) => &low.certificate,
        }
    }
}

/// A program shown robust without its tickets.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The addresses that hand out and serve tickets.
    pub pairs: Vec<TicketPair>,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// A program shown robust although counters that only fall, or only rise, stop at an end.
#[derive(Clone, Debug)]
pub struct Stopping {
    /// The addresses with their ends.
    pub ends: Vec<(Value, Value)>,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// A program shown robust although counts above a few are not told apart.
#[derive(Clone, Debug)]
pub struct Counts {
    /// The counts.
    pub counts: Vec<Count>,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// A program shown robust although counters that are far behind an address are not told apart.
#[derive(Clone, Debug)]
pub struct Far {
    /// Addresses, ascending, with the distance from which on counters are far behind.
    pub behind: Vec<(Value, Value)>,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// A program shown robust although values that grow have their low bits alone.
#[derive(Clone, Debug)]
pub struct Low {
    /// What has low bits.
    pub low: LowBits,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// A program shown robust for all domains of counters that are multiples of one.
#[derive(Clone, Debug)]
pub struct Modulo {
    /// The least value of the domain.
    pub low: Value,
    /// Its greatest value.
    pub high: Value,
    /// The certificate.
    pub certificate: RobustCertificate,
}

/// What a search knows of the values of counters.
pub(in crate::robustness) enum Values {
    /// All that the program says.
    Own,
    /// No tickets.
    WithoutTickets(Arc<Tickets>),
    /// Few values of counts.
    Balanced(Arc<[Balances]>),
    /// What these classes say, which another program has.
    Counted(Counting),
}

impl Values {
    /// The system of a program, with the counters up to whose turns it is explored.
    pub(in crate::robustness) fn system(self, program: &Program, growth: Growth) -> (System<'_>, Option<Counting>) {
        let system = System::new(program, growth);
        match self {
            Self::WithoutTickets(tickets) => (system.with_turns(tickets), None),
            Self::Balanced(balances) => (system.with_balances(balances), None),
            Self::Own => (system, Counting::of(Counters::of(program).into())),
            Self::Counted(counting) => (system, Some(counting)),
        }
    }
}

/// The check of a program by one search with so many nodes, if that proves what control flow does
/// not.
pub(in crate::robustness) fn proved_within<'p>(
    program: &'p Program,
    options: &CheckOptions,
    nodes: u64,
    values: Values,
) -> Option<Check<'p>> {
    let reports = list(program, options).ok()?;
    let is_open = |report: &&AttackReport| report.outcome == AttackOutcome::NotAsked;
    let open: Vec<Attack> = reports.iter().filter(is_open).map(|report| report.attack).collect();
    if open.is_empty() && !program.rests_on_exploration() {
        return None;
    }
    let mut checking = Checking { is_quick: true, ..Checking::new(program, options, &Silent, reports, open) };
    let (system, counting) = values.system(program, Growth::Fault(options.values));
    checking.counting = counting;
    let found = checking.run(system, nodes).ok()?;
    if found.answers().any(|answer| answer.found != Found::Infeasible) {
        return None;
    }
    let strategy = if program.is_parameterized() { "karp-miller" } else { "enumerate" };
    checking.record(&found, strategy);
    checking.robust(found).ok()
}

/// With fewer values than this in a domain, all of them are explored soon enough.
const MANY_VALUES: u128 = 32;

/// The check of a program with fixed copies, and with counters in a large domain that wraps, that
/// the first values of these break, as if they were integers.
pub(in crate::robustness) fn broken_by_first_values<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Option<Check<'p>> {
    let is_large = program.domain.is_some_and(|domain| domain.wrap && domain.size() > MANY_VALUES);
    if !is_large || program.is_parameterized() || options.all || Counters::of(program).is_empty() {
        return None;
    }
    let reports = list(program, options).ok()?;
    let is_open = |report: &&AttackReport| report.outcome == AttackOutcome::NotAsked;
    let open: Vec<Attack> = reports.iter().filter(is_open).map(|report| report.attack).collect();
    let integers = Program { domain: None, ..program.clone() };
    let budget = Budget::within(&options.limits).with_work(FIRST_COUNTER_VALUES);
    let mut found = search(System::new(&integers, Growth::Cut(CUTS[1])), &open, false, &budget).ok()?;
    let violation = violation(&mut found, &integers, false).ok()??.in_domain(program)?;
    let mut checking = Checking::new(program, options, observer, reports, Vec::new());
    checking.reached.add(&found.reached);
    let report = checking.report(violation.attack);
    report.outcome = AttackOutcome::Feasible;
    report.strategy = "enumerate";
    Some(checking.finish(Verdict::NotRobust, Some(violation), None))
}

/// The check of a program that is robust because another one is, which does all that it does and
/// has the same attacks.
pub(in crate::robustness) fn concluded<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
    (abstraction, proved): (Abstraction, Check<'_>),
) -> Check<'p> {
    let mut checking = Checking::new(program, options, observer, proved.attacks, Vec::new());
    checking.markings = proved.markings;
    Check { abstraction: Some(abstraction), ..checking.finish(Verdict::Robust, None, None) }
}
