//! The violation of a run of an attack's net.

use super::detours::without_detours;
use super::{Story, Violation};
use palisade_evidence::NetRun;
use palisade_exploration::instrumented::Attack;
use palisade_exploration::instrumented::net::{AttackNet, Firing};
use palisade_model::program::{Copies, Program};
use palisade_semantics::CopyId;

/// The violation that a run to `success` shows, detours left out. Copies of replicated threads are
/// counted as they act; whether fewer would do is not known.
pub(in crate::robustness) fn violation_of_run(
    program: &Program,
    attack: Attack,
    net: &AttackNet<'_>,
    run: &NetRun,
) -> Option<Violation> {
    let firings = without_detours(&net.problem, run)?.into_iter().map(|transition| net.firings[transition.index()]);
    Some(story_of_run(program, attack, net, firings).finish(program, false))
}

/// The computation that firings to `success` stand for.
pub(in crate::robustness) fn story_of_run(
    program: &Program,
    attack: Attack,
    net: &AttackNet<'_>,
    firings: impl Iterator<Item = Firing>,
) -> Story {
    let story = Story::new(program, attack);
    let mut naming = Naming { net, tokens: Vec::new(), next: vec![0; program.threads.len()], story };
    firings.for_each(|firing| naming.fire(firing));
    naming.story
}

/// Names for tokens, and what they do.
struct Naming<'n, 'p> {
    net: &'n AttackNet<'p>,
    /// Which copy is in which local state, on the path or not.
    tokens: Vec<(CopyId, (u32, bool))>,
    /// For threads with a fixed number of copies, how many have been named.
    next: Vec<u64>,
    story: Story,
}

impl Naming<'_, '_> {
    fn fire(&mut self, firing: Firing) {
        let system = &self.net.system;
        match firing {
            Firing::Start(local) => {
                let copy = self.new_copy(local);
                self.tokens.push((copy, (local, false)));
            }
            Firing::Step { from, instruction, to } => {
                let copy = self.take(from);
                self.story.help(copy, system.local(from.0), instruction);
                self.tokens.extend(to.map(|to| (copy, to)));
            }
            Firing::Delay(local) => {
                let copy = self.take((local, false));
                self.story.delay(copy, system.local(local));
            }
            Firing::Attacker { instruction, after } => self.story.go_on(instruction, &system.attacker(after).registers),
            Firing::Load => self.story.overstep(),
            Firing::Success => {}
        }
    }

    /// The copy in a local state, which leaves it: one that has acted, or one that is there from
    /// the beginning.
    fn take(&mut self, state: (u32, bool)) -> CopyId {
        match self.tokens.iter().position(|(_, at)| *at == state) {
            Some(index) => self.tokens.swap_remove(index).0,
            None => self.new_copy(state.0),
        }
    }

    /// A copy that has not acted yet.
    fn new_copy(&mut self, local: u32) -> CopyId {
        let thread = self.net.system.local(local).thread;
        match self.net.system.program().thread(thread).copies {
            Copies::Any => self.story.new_copy(thread),
            Copies::Exactly(_) => {
                let next = &mut self.next[thread.index()];
                *next += 1;
                CopyId { thread, copy: *next - 1 }
            }
        }
    }
}
