//! Fixed numbers of copies: one exact search, and nets in turn with it when it takes long.

use super::on_nets::NetVerdict;
use super::{Check, Checking, SUSPICIOUS, Verdict};
use crate::decide::schedule::{CHECK, CUTS, FIRST_VALUES};
use crate::decide::{Method, Round, Turn, decide};
use crate::robustness::witness::violation;
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Fault, Found, Search};
use palisade_model::limits::Halt;

/// What has decided the attacks.
enum Decided<'p> {
    Search(Box<Search<'p>>),
    Nets(NetVerdict),
}

/// The question with so many values admitted.
struct Fixed<'c, 'p, 'o> {
    checking: &'c mut Checking<'p, 'o>,
    values: usize,
}

impl<'p> Checking<'p, '_> {
    pub(super) fn fixed(mut self) -> Result<Check<'p>, Fault> {
        let suspicious = SUSPICIOUS.min(self.options.values);
        match self.exact(suspicious) {
            Ok(decided) => return self.conclude_exact(decided),
            Err(Halt::Fault(fault)) if fault.is_growth() => {}
            Err(halt) => return self.stopped(halt),
        }
        for cut in CUTS {
            let system = System::new(self.program, Growth::Cut(cut));
            if let Ok(found) = self.run(system, FIRST_VALUES)
                && found.answers().any(|answer| answer.found == Found::Feasible)
            {
                return self.conclude_violation(found);
            }
        }
        let values = self.options.values;
        match self.exact(values) {
            Ok(decided) => self.conclude_exact(decided),
            Err(halt) => self.stopped(halt),
        }
    }

    /// The exact search and nets in turn, with so many values admitted. When even as much as it
    /// takes gives no answer, there are too many initial configurations, and no nets.
    fn exact(&mut self, values: usize) -> Result<Decided<'p>, Halt<Fault>> {
        let methods = [Method { name: "enumerate", turn: Fixed::search }, Method { name: "nets", turn: Fixed::nets }];
        let mut question = Fixed { checking: self, values };
        decide(&mut question, &methods, CHECK).map(|answer| answer.answer)
    }

    fn conclude_exact(mut self, decided: Decided<'p>) -> Result<Check<'p>, Fault> {
        let mut found = match decided {
            Decided::Search(found) => *found,
            Decided::Nets(verdict) => return Ok(self.conclude_nets(verdict)),
        };
        self.record(&found, "enumerate");
        let violation = violation(&mut found, self.program, false)?;
        match violation {
            Some(violation) => Ok(self.finish(Verdict::NotRobust, Some(violation), Some(found))),
            None => self.robust(found),
        }
    }

    /// Takes over the violation of a search whose other answers mean nothing beyond it.
    fn conclude_violation(mut self, mut found: Search<'p>) -> Result<Check<'p>, Fault> {
        self.record_feasible(&found);
        let violation = violation(&mut found, self.program, false)?;
        Ok(self.finish(Verdict::NotRobust, violation, None))
    }
}

impl<'p> Fixed<'_, 'p, '_> {
    /// The exact search. What it has found when its turn is over is forgotten.
    fn search(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        let system = System::new(self.checking.program, Growth::Fault(self.values));
        self.checking.run(system, round.work).map(|found| Some(Decided::Search(found.into())))
    }

    /// The nets of the attacks.
    #[allow(clippy::unnecessary_wraps, reason = "methods take turns alike")]
    fn nets(&mut self, round: Round) -> Turn<Decided<'p>, Fault> {
        Ok(self.checking.ask_nets(self.values, round.work).map(Decided::Nets))
    }
}
