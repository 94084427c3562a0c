//! Runs of an attack's net without detours, for violations that people read.
//!
//! The engine's runs are as its strategies find them, and may lead helpers through whole rounds
//! that nothing depends on.

use palisade_evidence::NetRun;
use palisade_model::net::{OmegaCount, Problem, TransitionId};

/// Firings tried at most; then what is left of the run stays as it is.
const TRIED: usize = 20_000_000;

/// A longer run is not shown.
const LONGEST: usize = 1_000_000;

/// The firings of a run to the problem's only target, one by one, none of which can be left out:
/// neither alone nor together with all those after it that it makes possible.
///
/// None when these are too many to be shown one by one.
pub(in crate::robustness) fn without_detours(problem: &Problem, run: &NetRun) -> Option<Vec<TransitionId>> {
    let mut firings = run.spelled_out(LONGEST)?;
    let mut tried = 0;
    loop {
        let length = firings.len();
        let mut before = Marking::initial(problem);
        let mut index = 0;
        while index < firings.len() && tried < TRIED {
            tried += firings.len() - index;
            match before.clone().into_target(&firings[index + 1..]) {
                Some(rest) => {
                    firings.truncate(index);
                    firings.extend(rest);
                }
                None => {
                    before.fire(firings[index]);
                    index += 1;
                }
            }
        }
        if firings.len() == length {
            return Some(firings);
        }
    }
}

/// A marking of a net in which all arcs have weight one.
#[derive(Clone)]
struct Marking<'p> {
    problem: &'p Problem,
    /// The tokens on each place; more than can be used up where it is ω initially.
    tokens: Vec<u64>,
}

impl<'p> Marking<'p> {
    fn initial(problem: &'p Problem) -> Self {
        let count = |count: &OmegaCount| match count {
            OmegaCount::Finite(count) => count.to_u64().expect("copies are counted by 64 bits"),
            OmegaCount::Omega => u64::MAX / 2,
        };
        Self { problem, tokens: problem.net.initial.iter().map(count).collect() }
    }

    fn fire(&mut self, id: TransitionId) {
        let transition = &self.problem.net.transitions[id.index()];
        transition.pre.iter().for_each(|(place, _)| self.tokens[place.index()] -= 1);
        transition.post.iter().for_each(|(place, _)| self.tokens[place.index()] += 1);
    }

    /// Fires what can be fired of a sequence until the target is covered: what was fired, if it is.
    fn into_target(mut self, firings: &[TransitionId]) -> Option<Vec<TransitionId>> {
        let target = &self.problem.query.targets[0].demands;
        let mut fired = Vec::with_capacity(firings.len());
        for id in firings {
            let transition = &self.problem.net.transitions[id.index()];
            if transition.pre.iter().all(|(place, _)| self.tokens[place.index()] > 0) {
                self.fire(*id);
                fired.push(*id);
            }
        }
        target.iter().all(|(place, _)| self.tokens[place.index()] > 0).then_some(fired)
    }
}
