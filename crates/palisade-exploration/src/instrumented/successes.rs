//! Configurations after ld_A from which the happens-before cycle is known to be closed.

use super::fault::Fault;
use super::tso::System;
use crate::lazy::{Entry, Exploration, Mode, Step, is_covered};
use rustc_hash::FxHashMap;

/// Configurations from which success is known to be reachable, each with the way there where an
/// exact search found it. Everything above them succeeds too, in the same way.
#[derive(Clone, Debug, Default)]
pub struct Successes {
    known: Vec<Known>,
    /// The positions in `known`, by control.
    by_control: FxHashMap<u32, Vec<u32>>,
}

/// A configuration.
#[derive(Clone, Debug)]
struct Known {
    control: u32,
    entries: Vec<Entry>,
    /// The next step towards success, and the position of a configuration that is below the one it
    /// leads to.
    next: Option<(Step, u32)>,
}

impl Successes {
    /// The position of a known configuration that is below a given one.
    pub(crate) fn below(&self, control: u32, entries: &[Entry]) -> Option<u32> {
        let known = self.by_control.get(&control)?;
        known.iter().copied().find(|position| is_covered(&self.known[*position as usize].entries, entries))
    }

    /// Remembers the configurations on the way to a node from which success is reached.
    pub fn remember(&mut self, helped: &Exploration, system: &mut System<'_>, success: u32) -> Result<(), Fault> {
        let mut after: Option<(u32, u32)> = None;
        for node in helped.path(success).into_iter().rev() {
            let (control, entries) = (helped.control(node), helped.entries(node));
            let position = match self.below(control, entries) {
                Some(position) => position,
                None => {
                    let next = match after {
                        Some((child, position)) if helped.mode() == Mode::Exact => {
                            helped.step_to(system, child)?.map(|step| (step, position))
                        }
                        _ => None,
                    };
                    self.add(Known { control, entries: entries.to_vec(), next })
                }
            };
            after = Some((node, position));
        }
        Ok(())
    }

    fn add(&mut self, known: Known) -> u32 {
        let position = u32::try_from(self.known.len()).expect("configurations are numbered by 32 bits");
        self.by_control.entry(known.control).or_default().push(position);
        self.known.push(known);
        position
    }

    /// The steps from a configuration until success, as exact searches have found them, each with
    /// the control before it.
    pub fn way_from(&self, control: u32, entries: &[Entry]) -> Option<Vec<(u32, Step)>> {
        let mut at = self.below(control, entries)?;
        let mut steps = Vec::new();
        while let Known { control, next: Some((step, next)), .. } = &self.known[at as usize] {
            steps.push((*control, *step));
            at = *next;
        }
        Some(steps)
    }
}
