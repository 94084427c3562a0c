//! Attacks under candidate sets of measures, decided on their nets: where searches take too long.

use super::catalogue::{Catalogue, MeasureSet};
use super::obstacles::Obstacles;
use crate::coverability::lazy::Halt;
use crate::limits::Limits;
use crate::program::{Program, Thread};
use crate::robustness::{Attack, DelayNet, Delaying, Effort, Fault};

/// The nets of the attacks of one thread; the last one is at hand.
pub(super) struct Nets<'p> {
    program: &'p Program,
    effort: Effort,
    limits: Limits,
    at_hand: Option<(Attack, Option<DelayNet<'p>>)>,
}

impl<'p> Nets<'p> {
    /// Nets on each of which a question may cost so much.
    pub(super) fn new(program: &'p Program, effort: Effort, limits: Limits) -> Self {
        Self { program, effort, limits, at_hand: None }
    }

    /// A row of the attack that the obstacles leave open, if there is one.
    ///
    /// # Errors
    ///
    /// [`Halt::Budget`] when that takes more than the effort, a fault when there are no nets.
    pub(super) fn remaining(
        &mut self,
        attack: &Attack,
        thread: &Thread,
        catalogue: &Catalogue,
        obstacles: &Obstacles,
    ) -> Result<Option<MeasureSet>, Halt<Fault>> {
        if self.at_hand.as_ref().is_none_or(|(known, _)| known != attack) {
            self.at_hand = None;
            let net = DelayNet::list(self.program, *attack, self.effort, &self.limits).map_err(Halt::Fault)?;
            self.at_hand = Some((*attack, net));
        }
        let net = self.at_hand.as_ref().and_then(|(_, net)| net.as_ref());
        let is_permitted = |id| !obstacles.stop(id, thread.instruction(id).target);
        match net.map_or(Delaying::Undecided, |net| net.ask(is_permitted, self.effort, &self.limits)) {
            Delaying::Succeeds(way) => Ok(Some(catalogue.row_of(thread, &way))),
            Delaying::Fails => Ok(None),
            Delaying::Undecided => {
                self.limits.check().map_err(Halt::Stopped)?;
                Err(Halt::Budget)
            }
        }
    }
}
