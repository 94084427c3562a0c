//! From a success of the system to a computation under PSO.

use crate::robustness::witness::{Story, Violation};
use palisade_exploration::instrumented::pso::{PsoSystem, StepLabel};
use palisade_exploration::instrumented::system::Place;
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_exploration::lazy::{Exploration, Step};
use palisade_model::program::ThreadId;
use palisade_semantics::{CopyId, Model};

/// The computation that leads to a success of an exact exploration.
pub(super) fn replay(
    system: &mut PsoSystem<'_>,
    explored: &Exploration,
    success: u32,
    is_minimal: bool,
) -> Result<Violation, Fault> {
    let initial = explored.entries(explored.path(success)[0]);
    let steps = explored.steps_along(system, success)?;
    let program = system.program();
    let attack = attack(system, &steps);
    let mut naming = Naming {
        acting: Vec::new(),
        idle: Vec::new(),
        next: vec![0; program.threads.len()],
        story: Story::under(Model::Pso, program, attack),
    };
    for entry in initial.iter().filter(|entry| entry.place != Place::SPARE.number()) {
        let thread = system.local(Place::from_number(entry.place).local()).thread;
        naming.idle.push((entry.place, thread, entry.tokens.count().expect("exact searches have no ω")));
    }
    for (control, step) in &steps {
        naming.add(system, *control, step)?;
    }
    Ok(naming.story.finish(program, is_minimal))
}

/// The delayed store, and the attacker's first access to another address behind it.
fn attack(system: &PsoSystem<'_>, steps: &[(u32, Step)]) -> Attack {
    let delayed = steps.iter().map(|(_, step)| system.label(step)).find(|label| label.delays);
    let begins = |(_, step): &&(u32, Step)| {
        let after = system.attack(system.control(step.control));
        after.is_some_and(|attack| !attack.levels.is_empty())
    };
    let access = steps.iter().find(begins).map(|(_, step)| system.label(step));
    let (store, access) = delayed.zip(access).expect("a success has a delayed store, and a path that begins behind it");
    Attack { thread: store.thread, store: store.instruction, load: access.instruction }
}

/// Names for tokens, and what they do.
struct Naming {
    /// Which copy is on which place, for copies that have acted.
    acting: Vec<(CopyId, u32)>,
    /// How many copies of fixed threads have not acted yet, by their place.
    idle: Vec<(u32, ThreadId, u32)>,
    /// For fixed threads, how many copies have acted.
    next: Vec<u64>,
    story: Story,
}

impl Naming {
    /// The copy on a place, which leaves it: one that has acted, or one that is there from the beginning.
    fn take(&mut self, place: u32) -> CopyId {
        if let Some(index) = self.acting.iter().position(|(_, at)| *at == place) {
            return self.acting.swap_remove(index).0;
        }
        let idle = self.idle.iter_mut().find(|(at, _, count)| *at == place && *count > 0);
        let (_, thread, count) = idle.expect("a step takes a token from a place that has one");
        *count -= 1;
        let next = &mut self.next[thread.index()];
        *next += 1;
        CopyId { thread: *thread, copy: *next - 1 }
    }

    fn add(&mut self, system: &mut PsoSystem<'_>, control: u32, step: &Step) -> Result<(), Fault> {
        let StepLabel { thread, instruction, by_attacker, delays } = system.label(step);
        if by_attacker {
            let attack = system.attack(system.control(control)).expect("an attack is under way");
            let (local, _) = attack.attacker.expect("the attacker goes on");
            let begins = attack.levels.is_empty();
            let at = system.local(local).clone();
            let after = system.attack(system.control(step.control)).expect("the attack goes on");
            if begins && !after.levels.is_empty() {
                self.story.begin_path(&at);
            } else {
                self.story.go_on_at(&at, instruction);
            }
            return Ok(());
        }
        let place = step.take.expect("a token takes the step");
        let (copy, place) = if place == Place::SPARE.number() {
            (self.story.new_copy(thread), system.spare_place(control, step)?)
        } else {
            (self.take(place), Place::from_number(place))
        };
        let at = system.local(place.local()).clone();
        if delays {
            self.story.delay(copy, &at);
        } else {
            self.story.help(copy, &at, instruction);
        }
        self.acting.extend(step.put.map(|put| (copy, put)));
        Ok(())
    }
}
