//! Any number of copies: small instances, the ω-search and nets in turn.

use super::on_nets::NetVerdict;
use super::{CUT_NODES, CUTS, Check, Checking, SUSPICIOUS, Verdict};
use crate::robustness::fault::Fault;
use crate::robustness::nets::replicated_copies;
use crate::robustness::search::{Found, Search};
use crate::robustness::system::{Growth, System};
use crate::robustness::witness::violation;
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::Copies;

impl<'p> Checking<'p, '_> {
    /// Any number of copies: instances with few copies in all, the ω-search and nets in turn, with growing budgets,
    /// until one of them answers. Instances with n copies of replicated threads in all, each free to be any of them,
    /// are one exact search.
    pub(super) fn any_number(mut self) -> Result<Check<'p>, Fault> {
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
                    Err(Halt::Stopped(StopReason::Budget)) => break,
                    Err(halt) => return self.stopped(halt),
                }
            }
            if proof.is_none() {
                match self.run(System::new(self.program, Growth::Fault(values)), Some(nodes)) {
                    Ok(found) if found.answers().all(|answer| answer.found == Found::Infeasible) => {
                        self.record(&found, "karp-miller");
                        return self.robust(found);
                    }
                    // Some instance is not robust: find it.
                    Ok(found) => proof = Some(found),
                    Err(Halt::Stopped(StopReason::Budget)) => {}
                    Err(Halt::Fault(found)) if found.is_growth() => fault = Some(found),
                    Err(halt) => return self.stopped(halt),
                }
            }
            match self.ask_nets(values, nodes) {
                Some(NetVerdict::NotRobust(violation)) => {
                    // A search may do with fewer copies, and then shows a shorter violation as well.
                    while minimal && copies < replicated_copies(self.program, &violation) {
                        let system = System::with_spare_copies(self.program, Growth::Fault(values), copies);
                        match self.run(system, Some(nodes.saturating_mul(4))) {
                            Ok(found) if found.answers().any(|answer| answer.found == Found::Feasible) => {
                                return self.conclude_instance(found, minimal, proof);
                            }
                            Ok(_) => copies += 1,
                            Err(_) => break,
                        }
                    }
                    let least = if minimal { copies } else { 0 };
                    let violation = self.with_fewer_copies(*violation, least, values, &self.budget(nodes));
                    return Ok(self.conclude_nets(NetVerdict::NotRobust(violation.into())));
                }
                Some(NetVerdict::Robust) => {
                    assert!(proof.is_none(), "where the ω-search finds an attack feasible, nets do");
                    return Ok(self.conclude_nets(NetVerdict::Robust));
                }
                None => {}
            }
            // That value sets do not close suggests that data grows, but does not show it.
            if fault.is_none()
                && self.without_nets.as_ref().is_some_and(|(without, _)| *without == values)
                && let Some(found) = self.among_first_values(nodes)
            {
                return self.conclude_instance(found, false, None);
            }
            match fault.take() {
                // Every value admitted has been taken, and more.
                Some(fault) if values == self.options.values || nodes > CUT_NODES => return Err(fault),
                Some(_) => {
                    if let Some(found) = self.among_first_values(CUT_NODES) {
                        return self.conclude_instance(found, false, None);
                    }
                    values = self.options.values;
                }
                None => {}
            }
            if nodes == u64::MAX {
                return self.stopped(StopReason::Budget.into());
            }
            nodes = nodes.saturating_mul(4);
        }
    }

    /// A violation among the first values of data that grows, in instances with few copies.
    fn among_first_values(&mut self, nodes: u64) -> Option<Search<'p>> {
        for cut in CUTS {
            for copies in 2..=3 {
                let system = System::with_spare_copies(self.program, Growth::Cut(cut), copies);
                if let Ok(found) = self.run(system, Some(nodes))
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
                Some(proof) => Some(proof),
                None if self.ask_nets(self.options.values, CUT_NODES).is_some() => None,
                None => {
                    let system = System::new(self.program, Growth::Fault(self.options.values));
                    self.run(system, None).ok()
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
