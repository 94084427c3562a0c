//! Attacks under candidate sets of measures, decided on their nets: where searches take too long.

use super::obstacles::Obstacles;
use crate::exploration::Halt;
use crate::robustness::{Attack, DelayNet, Delaying, Effort, Fault};
use palisade_model::limits::Limits;
use palisade_model::program::{InstructionId, Program, Thread};

/// The nets of the attacks of one thread; the last one is at hand.
pub(super) struct Nets<'p> {
    program: &'p Program,
    thread: &'p Thread,
    limits: Limits,
    at_hand: Option<(Attack, DelayNet<'p>)>,
}

impl<'p> Nets<'p> {
    pub(super) fn new(program: &'p Program, thread: &'p Thread, limits: Limits) -> Self {
        Self { program, thread, limits, at_hand: None }
    }

    /// A way of the attacker, from the delayed store to before the load, on which the attack succeeds past the
    /// obstacles, if there is one.
    ///
    /// # Errors
    ///
    /// [`Halt::Budget`] when that takes more than the effort, a fault when there are no nets.
    pub(super) fn remaining(
        &mut self,
        attack: &Attack,
        obstacles: &Obstacles,
        effort: Effort,
    ) -> Result<Option<Vec<InstructionId>>, Halt<Fault>> {
        let is_permitted = |id| !obstacles.stop(id, self.thread.instruction(id).target);
        if self.at_hand.as_ref().is_none_or(|(known, _)| known != attack) {
            self.at_hand = None;
            let listed = DelayNet::list(self.program, *attack, effort, &self.limits).map_err(Halt::Fault)?;
            self.at_hand = listed.map(|net| (*attack, net));
        }
        let net = self.at_hand.as_ref().map(|(_, net)| net);
        match net.map_or(Delaying::Undecided, |net| net.ask(is_permitted, effort, &self.limits)) {
            Delaying::Succeeds(way) => Ok(Some(way)),
            Delaying::Fails => Ok(None),
            Delaying::Undecided => {
                self.limits.check().map_err(Halt::Stopped)?;
                Err(Halt::Budget)
            }
        }
    }
}
