//! All attacks as one question of reachability \[ESOP13, §8\], to compare with the search that asks
//! store by store.
//!
//! One exploration runs through all phases: under SC any thread may begin to delay any of its
//! stores, and a delaying attacker may be halted at any load. What is explored after ld_A is shared
//! by all attacks, as in the other search; what is explored under SC as well. But stores with equal
//! attackers behind them are not told apart, and the first success ends everything, whichever
//! attack it belongs to.

use palisade_exploration::instrumented::system::Phase;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{
    Attack, AttackAnswer, Fault, Found, Joint, Search, ThreadSearch, mode_of, search,
};
use palisade_exploration::lazy::{Exploration, LazyNet, Mode, NetError};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::InstructionId;

/// Decides in one exploration whether some attack (sorted, none of them pruned) is feasible; how
/// many configurations it has. Where one is, the other search tells of that attack, or in ω mode of
/// the lowest feasible one.
pub(super) fn one_query<'p>(
    mut system: System<'p>,
    attacks: &[Attack],
    budget: &Budget,
) -> Result<(usize, Search<'p>), Halt<Fault>> {
    let begin = system.clone();
    system.limit(&budget.limits);
    let roots = system.roots().map_err(NetError::halt)?.ok_or(StopReason::Budget)?;
    let mut joint = Joint::new(system, attacks);
    let mut explored = Exploration::new(mode_of(&joint.system));
    for root in roots {
        explored.add_root(root.control, &root.entries, 0);
    }
    let found = joint.explore(&mut explored, budget)?;
    let count = explored.len();
    let Some(node) = found else { return Ok((count, parts(&joint.system, attacks, &explored))) };
    let one = match explored.mode() {
        Mode::Exact => Some(attack_of(&mut joint, &explored, node).map_err(Halt::Fault)?),
        Mode::Omega => None,
    };
    let asked = one.as_ref().map_or(attacks, std::slice::from_ref);
    Ok((count, search(begin, asked, false, &budget.clone().with_work(None))?))
}

/// The attack that the path to a success shows.
fn attack_of(joint: &mut Joint<'_>, explored: &Exploration, node: u32) -> Result<Attack, Fault> {
    let mut store = None;
    for (control, step) in explored.steps_along(joint, node)? {
        let instruction = joint.system.label(&step);
        match (joint.system.control(control).phase, joint.system.control(step.control).phase) {
            (Phase::Sc, Phase::Delayed(_)) => store = Some(instruction),
            (Phase::Delayed(_), Phase::Helped(_)) => {
                let (thread, store) = store.expect("an attacker has delayed a store");
                return Ok(Attack { thread, store, load: instruction.1 });
            }
            _ => {}
        }
    }
    unreachable!("a success lies behind ld_A")
}

/// A closed exploration without success, cut into the sets of the other search: each thread has all
/// configurations after loads, each of its stores all those in which the thread delays. These are
/// more than each needs, and closed.
fn parts<'p>(system: &System<'p>, attacks: &[Attack], explored: &Exploration) -> Search<'p> {
    let part = |belongs: &dyn Fn(Phase) -> bool| {
        let mut set = Exploration::new(explored.mode());
        for node in explored.maximal().filter(|node| belongs(system.control(explored.control(*node)).phase)) {
            set.add_root(explored.control(node), explored.entries(node), explored.depth(node));
        }
        set
    };
    let answer = |attack: &Attack| AttackAnswer {
        attack: *attack,
        found: Found::Infeasible,
        markings: 0,
        size: system.size(),
        seconds: 0.0,
    };
    let helped = part(&|phase| matches!(phase, Phase::Helped(_)));
    let threads = attacks.chunk_by(|one, other| one.thread == other.thread).map(|attacks| {
        let thread = attacks[0].thread;
        let is_own = |phase| matches!(phase, Phase::Delayed(attacker) if system.attacker(attacker).thread == thread);
        let own = part(&is_own);
        let mut stores: Vec<InstructionId> = attacks.iter().map(|attack| attack.store).collect();
        stores.dedup();
        ThreadSearch {
            system: system.clone(),
            delayed: stores.into_iter().map(|store| (store, own.clone())).collect(),
            helped: helped.clone(),
            answers: attacks.iter().map(answer).collect(),
            route: None,
        }
    });
    Search { sc: part(&|phase| phase == Phase::Sc), reached: system.reached().clone(), threads: threads.collect() }
}
