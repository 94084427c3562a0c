//! Attacks under candidate sets of measures, decided on their nets: where searches take too long.

use crate::robustness::{DelayNet, Delaying, Story};
use palisade_exploration::instrumented::{Attack, Fault, Obstacles};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{InstructionId, Program, Thread};

/// The instructions of the attacker from the delayed store to before the load, with a computation
/// unless that is too long.
type Way = (Vec<InstructionId>, Option<Story>);

/// The nets of the attacks of one thread; the last one is at hand.
pub(super) struct Nets<'p> {
    program: &'p Program,
    thread: &'p Thread,
    at_hand: Option<(Attack, DelayNet<'p>)>,
}

impl<'p> Nets<'p> {
    pub(super) fn new(program: &'p Program, thread: &'p Thread) -> Self {
        Self { program, thread, at_hand: None }
    }

    /// A way of the attacker, from the delayed store to before the load, on which the attack
    /// succeeds past the obstacles, if there is one, with a computation unless that is too long.
    ///
    /// # Errors
    ///
    /// [`StopReason::Budget`] when that takes more than the budget, a fault when there are no nets.
    pub(super) fn remaining(
        &mut self,
        attack: &Attack,
        obstacles: &Obstacles,
        values: usize,
        budget: &Budget,
    ) -> Result<Option<Way>, Halt<Fault>> {
        let is_permitted = |id| !obstacles.stop(id, self.thread.instruction(id).target);
        if self.at_hand.as_ref().is_none_or(|(known, _)| known != attack) {
            self.at_hand = None;
            let listed = DelayNet::list(self.program, *attack, values, budget).map_err(Halt::Fault)?;
            self.at_hand = listed.map(|net| (*attack, net));
        }
        let net = self.at_hand.as_ref().map(|(_, net)| net);
        match net.map_or(Delaying::Undecided, |net| net.ask(is_permitted, budget)) {
            Delaying::Succeeds { way, story } => Ok(Some((way, story))),
            Delaying::Fails => Ok(None),
            Delaying::Undecided => {
                budget.limits.check()?;
                Err(StopReason::Budget.into())
            }
        }
    }
}
