//! Any number of copies: small instances, the ω-search and nets in turn.

use super::on_nets::NetVerdict;
use super::{AttackOutcome, Check, Checking, SUSPICIOUS, Verdict};
use crate::decide::schedule::{CHECK, CUTS, FIRST_VALUES, INSTANCES, UNLIMITED};
use crate::decide::{Method, Round, Turn, decide};
use crate::robustness::nets::replicated_copies;
use crate::robustness::witness::{Violation, violation};
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Fault, Found, Search};
use palisade_model::limits::Halt;
use palisade_model::program::Copies;

/// What decides the attacks for any number of copies.
enum Decided<'p> {
    /// The ω-search has found none feasible.
    Robust(Box<Search<'p>>),
    /// A search of instances has found one feasible.
    Instance(Box<Instance<'p>>),
    /// The nets have a verdict.
    Nets(NetVerdict),
    /// With so many copies that a counter's values run out, an attack is feasible.
    Around(Box<Violation>),
}

/// An instance that is not robust.
struct Instance<'p> {
    /// Its search.
    found: Search<'p>,
    /// Whether every instance with fewer copies in all was shown robust.
    is_minimal: bool,
    /// The ω-search, when it has come to an end: it tells which attacks are feasible for any
    /// number.
    whole: Option<Search<'p>>,
}

/// The question, with what turns so far have shown.
struct AnyNumber<'p, 'o> {
    checking: Checking<'p, 'o>,
    /// How many copies replicated threads have together in the next instance. Those with fewer were
    /// searched.
    copies: u32,
    /// Whether these searches were complete, and found nothing.
    smaller_are_robust: bool,
    /// How many distinct values of a register or an address are admitted.
    values: usize,
    /// The finished ω-search, when it has found an attack feasible: some instance is not robust.
    not_robust: Option<Search<'p>>,
    /// The step at which values grow, when the ω-search has met one in this round.
    growing: Option<Fault>,
    /// Whether the instance in which a counter's values run out was searched.
    went_around: bool,
}

impl<'p> Checking<'p, '_> {
    /// Any number of copies: instances with few copies in all, the ω-search and nets in turn, with
    /// growing budgets, until one of them answers. Instances with n copies of replicated threads in
    /// all, each free to be any of them, are one exact search.
    pub(super) fn any_number(self) -> Result<Check<'p>, Fault> {
        let mut question = AnyNumber::new(self);
        match decide(&mut question, &AnyNumber::methods(), CHECK) {
            Ok(answer) => question.conclude(answer.answer),
            Err(halt) => question.checking.stopped(halt),
        }
    }
}

impl<'p, 'o> AnyNumber<'p, 'o> {
    fn new(checking: Checking<'p, 'o>) -> Self {
        let has_fixed = checking.program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
        let values = SUSPICIOUS.min(checking.options.values);
        Self {
            checking,
            copies: u32::from(!has_fixed),
            smaller_are_robust: true,
            values,
            not_robust: None,
            growing: None,
            went_around: false,
        }
    }

    /// The methods in the order of their turns.
    fn methods() -> [Method<Self, Decided<'p>, Fault>; 5] {
        [
            Method { name: "small-instances", turn: Self::small_instances },
            Method { name: "wrap-around", turn: Self::wrap_around },
            Method { name: "karp-miller", turn: Self::omega_search },
            Method { name: "nets", turn: Self::nets },
            Method { name: "first-values", turn: Self::first_values },
        ]
    }

    /// Instances with one copy more each, while they are cheap.
    fn small_instances(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        for _ in 0..INSTANCES {
            let mut found = self.instance(Growth::Fault(self.values), round.work);
            if matches!(&found, Err(Halt::Fault(fault)) if fault.is_growth()) {
                self.smaller_are_robust = false;
                found = self.instance(Growth::Cut(CUTS[1]), round.work);
            }
            let found = found?;
            if is_feasible(&found) {
                return Ok(Some(self.not_robust_instance(found)));
            }
            self.copies += 1;
        }
        Ok(None)
    }

    /// The instance in which a counter's values run out, until it has been searched once.
    fn wrap_around(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        let copies = if self.went_around { None } else { self.checking.copies_to_wrap_around() };
        let Some(copies) = copies else { return Ok(None) };
        let found = self.checking.around(copies, self.values, round.work)?;
        self.went_around = true;
        Ok(found.map(|violation| Decided::Around(violation.into())))
    }

    /// The search among any number of copies, until it has come to an end once.
    fn omega_search(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        if self.not_robust.is_some() {
            return Ok(None);
        }
        let system = System::new(self.checking.program, Growth::Fault(self.values));
        match self.checking.run(system, round.work) {
            Ok(found) if found.answers().all(|answer| answer.found == Found::Infeasible) => {
                Ok(Some(Decided::Robust(found.into())))
            }
            // Some instance is not robust: the next turns find it.
            Ok(found) => {
                self.not_robust = Some(found);
                Ok(None)
            }
            Err(Halt::Fault(fault)) if fault.is_growth() => {
                self.growing = Some(fault);
                Ok(None)
            }
            Err(halt) => Err(halt),
        }
    }

    /// The nets of the attacks, and where they find one feasible, an instance as small as can be.
    #[allow(clippy::unnecessary_wraps, reason = "methods take turns alike")]
    fn nets(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        match self.checking.ask_nets(self.values, round.work) {
            None => Ok(None),
            Some(NetVerdict::Robust) => {
                assert!(self.not_robust.is_none(), "where the ω-search finds an attack feasible, nets do");
                Ok(Some(Decided::Nets(NetVerdict::Robust)))
            }
            Some(NetVerdict::NotRobust(violation)) => {
                // A search may do with fewer copies, and then shows a shorter violation as well.
                while self.smaller_are_robust && self.copies < replicated_copies(self.checking.program, &violation) {
                    match self.instance(Growth::Fault(self.values), round.next_work) {
                        Ok(found) if is_feasible(&found) => return Ok(Some(self.not_robust_instance(found))),
                        Ok(_) => self.copies += 1,
                        Err(_) => break,
                    }
                }
                let least = if self.smaller_are_robust { self.copies } else { 0 };
                let budget = self.checking.budget(round.work);
                let violation = self.checking.with_fewer_copies(*violation, least, self.values, &budget);
                Ok(Some(Decided::Nets(NetVerdict::NotRobust(violation.into()))))
            }
        }
    }

    /// Violations among the first values, where values grow or seem to; then all values are
    /// admitted.
    fn first_values(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        let Some(fault) = self.growing.take() else {
            // That value sets do not close suggests that data grows, but does not show it.
            let has_nets = self.checking.without_nets.as_ref().is_none_or(|(without, _)| *without != self.values);
            return Ok(if has_nets { None } else { self.among_first_values(round.work) });
        };
        // Every value admitted has been taken, and more.
        if self.values == self.checking.options.values || round.work > FIRST_VALUES {
            return Err(Halt::Fault(fault));
        }
        self.values = self.checking.options.values;
        Ok(self.among_first_values(FIRST_VALUES))
    }

    /// A violation among the first values of data that grows, in instances with few copies.
    fn among_first_values(&mut self, nodes: u64) -> Option<Decided<'p>> {
        for cut in CUTS {
            for copies in 2..=3 {
                let system = System::with_spare_copies(self.checking.program, Growth::Cut(cut), copies);
                if let Ok(found) = self.checking.run(system, nodes)
                    && is_feasible(&found)
                {
                    return Some(Decided::Instance(Instance { found, is_minimal: false, whole: None }.into()));
                }
            }
        }
        None
    }

    /// Searches the next instance.
    fn instance(&mut self, growth: Growth, nodes: u64) -> Result<Search<'p>, Halt<Fault>> {
        let system = System::with_spare_copies(self.checking.program, growth, self.copies);
        self.checking.run(system, nodes)
    }

    /// The next instance, which is not robust.
    fn not_robust_instance(&mut self, found: Search<'p>) -> Decided<'p> {
        let (is_minimal, whole) = (self.smaller_are_robust, self.not_robust.take());
        Decided::Instance(Instance { found, is_minimal, whole }.into())
    }

    fn conclude(self, decided: Decided<'p>) -> Result<Check<'p>, Fault> {
        let mut checking = self.checking;
        match decided {
            Decided::Robust(proof) => {
                checking.record(&proof, "karp-miller");
                checking.robust(*proof)
            }
            Decided::Nets(verdict) => Ok(checking.conclude_nets(verdict)),
            Decided::Instance(instance) => checking.conclude_instance(*instance),
            Decided::Around(violation) => Ok(checking.conclude_around(*violation)),
        }
    }
}

/// Whether a search has found an attack feasible.
pub(super) fn is_feasible(found: &Search<'_>) -> bool {
    found.answers().any(|answer| answer.found == Found::Feasible)
}

impl<'p> Checking<'p, '_> {
    fn conclude_around(mut self, violation: Violation) -> Check<'p> {
        if self.options.all {
            let _ = self.ask_nets(self.options.values, FIRST_VALUES);
            self.record_nets();
        }
        let report = self.report(violation.attack);
        report.outcome = AttackOutcome::Feasible;
        report.strategy = "small-instances";
        self.finish(Verdict::NotRobust, Some(violation), None)
    }

    fn conclude_instance(mut self, instance: Instance<'p>) -> Result<Check<'p>, Fault> {
        let Instance { mut found, is_minimal, whole } = instance;
        self.record_feasible(&found);
        let violation = violation(&mut found, self.program, is_minimal)?;
        if self.options.all {
            // What is infeasible in an instance may be feasible in a larger one: ask for any
            // number.
            let whole = match whole {
                Some(whole) => Some(whole),
                None if self.ask_nets(self.options.values, FIRST_VALUES).is_some() => None,
                None => {
                    let system = System::new(self.program, Growth::Fault(self.options.values));
                    self.run(system, UNLIMITED).ok()
                }
            };
            match whole {
                Some(whole) => self.record(&whole, "karp-miller"),
                None => self.record_nets(),
            }
        }
        Ok(self.finish(Verdict::NotRobust, violation, None))
    }
}
