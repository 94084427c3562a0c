//! Explorations of the instrumented program that heed limits soon.
//!
//! With ω an expansion compares each marking with all its ancestors and can take milliseconds, a thousand times what it
//! takes without. The engine looks at the limits once in many expansions; here they are looked at between these.

use super::fault::Fault;
use crate::coverability::lazy::{Budget, Entry, Exploration, Halt, LazyNet, Step, Visit};
use crate::limits::Limits;

/// Expansions between two looks at the limits.
const EXPANSIONS: usize = 32;

/// Like [`Exploration::run`], for expansions that may be slow.
pub(crate) fn explore<N: LazyNet<Error = Fault>>(
    explored: &mut Exploration,
    net: &mut N,
    budget: &Budget,
    mut visit: impl FnMut(&N, u32, &[Entry]) -> Visit,
) -> Result<Option<u32>, Halt<Fault>> {
    let mut watched = Watched { net, limits: &budget.limits, expansions: 0 };
    explored.run(&mut watched, budget, |watched, control, entries| visit(watched.net, control, entries)).map_err(
        |halt| match halt {
            Halt::Stopped(reason) => Halt::Stopped(reason),
            Halt::Budget => Halt::Budget,
            Halt::Fault(halt) => halt,
        },
    )
}

/// Nodes gone through between two looks at the limits.
const NODES: usize = 4096;

/// Looks at the limits now and then while nodes that are there already are gone through.
pub(crate) fn heed(budget: &Budget, index: usize) -> Result<(), Halt<Fault>> {
    if index.is_multiple_of(NODES) { budget.limits.check().map_err(Halt::Stopped) } else { Ok(()) }
}

/// A net that looks at the limits now and then when it is asked for steps.
struct Watched<'a, N> {
    net: &'a mut N,
    limits: &'a Limits,
    /// How often it was asked.
    expansions: usize,
}

impl<N: LazyNet<Error = Fault>> LazyNet for Watched<'_, N> {
    type Error = Halt<Fault>;

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Halt<Fault>> {
        self.expansions += 1;
        if self.expansions.is_multiple_of(EXPANSIONS) {
            self.limits.check().map_err(Halt::Stopped)?;
        }
        self.net.steps(control, entries, steps).map_err(Halt::Fault)
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.net.is_unbounded(place)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Halt<Fault>> {
        self.net.repeats(step).map_err(Halt::Fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverability::lazy::Mode;
    use crate::limits::StopReason;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Counts its expansions without end, and is interrupted at one of them.
    struct Endless {
        expansions: usize,
        interrupted_at: usize,
        interrupt: Arc<AtomicBool>,
    }

    impl LazyNet for Endless {
        type Error = Fault;

        fn steps(&mut self, control: u32, _: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
            self.expansions += 1;
            if self.expansions == self.interrupted_at {
                self.interrupt.store(true, Ordering::Relaxed);
            }
            steps.push(Step { control: control + 1, take: None, put: None, label: 0 });
            Ok(())
        }

        fn is_unbounded(&self, _: u32) -> bool {
            false
        }

        fn repeats(&mut self, _: &Step) -> Result<bool, Fault> {
            Ok(false)
        }
    }

    #[test]
    fn limits_are_heeded_within_few_expansions() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let budget = Budget { limits: Limits::none().with_interrupt(interrupt.clone()), nodes: None };
        let mut net = Endless { expansions: 0, interrupted_at: 100, interrupt };
        let mut explored = Exploration::new(Mode::Omega);
        explored.add_root(0, &[], 0);
        let halt = explore(&mut explored, &mut net, &budget, |_, _, _| Visit::Expand);
        assert_eq!(halt, Err(Halt::Stopped(StopReason::Interrupted)));
        assert!(net.expansions < 100 + EXPANSIONS, "{} expansions", net.expansions);
    }
}
