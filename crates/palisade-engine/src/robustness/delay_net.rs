//! The net of one attack, asked again and again while its delaying attacker may do less [ESOP13,
//! §7].
//!
//! What is forbidden to the delaying attacker takes transitions out of the net and changes nothing
//! else in it.

use super::nets::{bounds, solve};
use super::witness::{Story, story_of_run, without_detours};
use palisade_coverability::Outcome;
use palisade_exploration::instrumented::net::{AttackNet, Firing};
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_model::limits::{Budget, Halt};
use palisade_model::net::{Net, Problem, TransitionId};
use palisade_model::program::{InstructionId, Program};

/// The net of one attack.
pub(crate) struct DelayNet<'p> {
    program: &'p Program,
    net: AttackNet<'p>,
    attack: Attack,
}

/// What a delaying attacker can still do.
pub(crate) enum Delaying {
    /// The attack is feasible.
    Succeeds {
        /// A way of the attacker on which it is: the instructions from st_A on, without ld_A.
        way: Vec<InstructionId>,
        /// A computation on that way, unless it is too long.
        story: Option<Story>,
    },
    /// The attack is not feasible.
    Fails,
    /// The budget, or a limit, did not suffice.
    Undecided,
}

impl<'p> DelayNet<'p> {
    /// Lists the net; none when it takes more than the budget, or a limit is reached.
    ///
    /// # Errors
    ///
    /// A fault when there is no net, because value sets grow or an expression that they reach has
    /// no value.
    pub(crate) fn list(
        program: &'p Program,
        attack: Attack,
        values: usize,
        budget: &Budget,
    ) -> Result<Option<Self>, Fault> {
        match AttackNet::build(program, &attack, bounds(values, None, budget), &budget.limits) {
            Ok(net) => Ok(Some(Self { program, net, attack })),
            Err(Halt::Fault(fault)) => Err(fault),
            Err(Halt::Stopped(_)) => Ok(None),
        }
    }

    /// Decides the attack when the delaying attacker can execute nothing but permitted
    /// instructions.
    pub(crate) fn ask(&self, is_permitted: impl Fn(InstructionId) -> bool, budget: &Budget) -> Delaying {
        let all = &self.net.problem.net;
        let mut kept = Vec::new();
        let mut transitions = Vec::new();
        for (id, transition) in all.transition_ids() {
            let mut executed = self.executed(id).peekable();
            if executed.peek().is_none() || executed.any(&is_permitted) {
                kept.push(id);
                transitions.push(transition.clone());
            }
        }
        // A unit has its one token whatever is taken out.
        let net = Net {
            name: all.name.clone(),
            places: all.places.clone(),
            transitions,
            initial: all.initial.clone(),
            inhibitors: Vec::new(),
            units: all.units.clone(),
        };
        let problem = Problem { net, query: self.net.problem.query.clone() };
        match solve(&problem, budget).outcome {
            Outcome::Coverable(run) => {
                let fired = run.transitions().into_iter().map(|transition| kept[transition.index()]);
                let way = fired.filter_map(|id| self.executed(id).find(|id| is_permitted(*id))).collect();
                let firing = |transition: TransitionId| self.permitted_firing(kept[transition.index()], &is_permitted);
                let story = without_detours(&problem, &run)
                    .map(|run| story_of_run(self.program, self.attack, &self.net, run.into_iter().map(firing)));
                Delaying::Succeeds { way, story }
            }
            Outcome::Uncoverable(_) => Delaying::Fails,
            Outcome::Unknown(_) => Delaying::Undecided,
        }
    }

    /// What a transition does, by a permitted instruction where it stands for several of the
    /// attacker's.
    fn permitted_firing(&self, id: TransitionId, is_permitted: impl Fn(InstructionId) -> bool) -> Firing {
        match self.net.firings[id.index()] {
            Firing::Attacker { instruction, after } => {
                let permitted = self.executed(id).find(|id| is_permitted(*id));
                Firing::Attacker { instruction: permitted.unwrap_or(instruction), after }
            }
            firing => firing,
        }
    }

    /// The instructions, each of which a transition stands for, that the delaying attacker executes
    /// by it.
    fn executed(&self, id: TransitionId) -> impl Iterator<Item = InstructionId> + '_ {
        let first = match self.net.firings[id.index()] {
            Firing::Delay(_) => Some(self.attack.store),
            Firing::Attacker { instruction, .. } => Some(instruction),
            Firing::Start(_) | Firing::Step { .. } | Firing::Load | Firing::Success => None,
        };
        first.into_iter().chain(self.net.also.get(&id).into_iter().flatten().copied())
    }
}
