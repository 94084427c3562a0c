//! Fixed numbers of copies: one exact search, and nets in turn with it when it takes long.

use super::on_nets::NetVerdict;
use super::{CUT_NODES, CUTS, Check, Checking, SUSPICIOUS, Verdict};
use crate::robustness::fault::Fault;
use crate::robustness::search::{Found, Search};
use crate::robustness::system::{Growth, System};
use crate::robustness::witness::violation;
use palisade_model::limits::{Halt, StopReason};

/// Nodes of each exploration of the exact search before nets are asked for the first time.
const NODES: u64 = 20_000;

/// Who has decided the attacks.
enum Decided<'p> {
    Search(Box<Search<'p>>),
    Nets(NetVerdict),
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
            if let Ok(found) = self.run(system, Some(CUT_NODES))
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

    /// The exact search, with so many values admitted. What it has found when its turn is over is forgotten; the next
    /// turn is four times as long.
    fn exact(&mut self, values: usize) -> Result<Decided<'p>, Halt<Fault>> {
        let mut nodes = NODES;
        loop {
            match self.run(System::new(self.program, Growth::Fault(values)), Some(nodes)) {
                Ok(found) => return Ok(Decided::Search(found.into())),
                Err(Halt::Stopped(StopReason::Budget)) => {}
                Err(halt) => return Err(halt),
            }
            if let Some(verdict) = self.ask_nets(values, nodes) {
                return Ok(Decided::Nets(verdict));
            }
            // With as much as it takes, neither has an answer: there are too many initial configurations, and no nets.
            if nodes == u64::MAX {
                return Err(StopReason::Budget.into());
            }
            nodes = nodes.saturating_mul(4);
        }
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
