//! A violation in which only two copies act: most attacks that are feasible need no more, and where
//! fixed copies are many, two of them have few configurations. The others idle, which every
//! computation allows them.

use super::CheckOptions;
use crate::decide::schedule::AMONG_TWO;
use crate::robustness::witness::{Violation, violation};
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, search};
use palisade_model::limits::Budget;
use palisade_model::program::{Copies, Program, ThreadId};

/// A violation by an attack in which the attacker and one other copy act, if one is found soon.
/// Programs with replicated threads and such with no more than two copies are left to other
/// searches.
pub(super) fn among_two(program: &Program, attack: Attack, options: &CheckOptions) -> Option<Violation> {
    let copies = |thread: ThreadId| match program.thread(thread).copies {
        Copies::Exactly(count) => Some(count),
        Copies::Any => None,
    };
    let all: Option<u64> = program.thread_ids().map(|(id, _)| copies(id)).sum();
    if all.is_none_or(|all| all <= 2) {
        return None;
    }
    let budget = Budget::within(&options.limits).with_work(AMONG_TWO);
    program.thread_ids().find_map(|(helper, _)| {
        let mut acting = program.clone();
        for (index, thread) in acting.threads.iter_mut().enumerate() {
            let id = ThreadId::from_index(index);
            let most = u64::from(id == attack.thread) + u64::from(id == helper);
            if let Copies::Exactly(count) = &mut thread.copies {
                *count = most.min(*count);
            }
        }
        let system = System::new(&acting, Growth::Cut(options.values));
        let mut found = search(system, &[attack], false, &budget).ok()?;
        violation(&mut found, program, false).ok().flatten()
    })
}
