//! From a success of the system to a computation under PSO.

use crate::robustness::witness::{Names, Story, Violation};
use palisade_exploration::instrumented::pso::{self, PsoSystem, StepLabel};
use palisade_exploration::instrumented::system::Place;
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_exploration::lazy::{Exploration, Step};
use palisade_semantics::Model;

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
    let thread = |place| system.local(Place::from_number(place).local()).thread;
    let mut naming =
        Naming { names: Names::new(program, initial, thread), story: Story::under(Model::Pso, program, attack) };
    for (control, step) in &steps {
        naming.add(system, *control, step)?;
    }
    Ok(naming.story.finish(program, is_minimal))
}

/// The delayed store, and the attacker's first access to another address behind it.
fn attack(system: &PsoSystem<'_>, steps: &[(u32, Step)]) -> Attack {
    let delayed = steps.iter().map(|(_, step)| system.label(step)).find(|label| label.delays);
    let begins = |(_, step): &&(u32, Step)| {
        system.attack(system.control(step.control).phase).is_some_and(pso::Attack::has_begun)
    };
    let access = steps.iter().find(begins).map(|(_, step)| system.label(step));
    let (store, access) = delayed.zip(access).expect("a success has a delayed store, and a path that begins behind it");
    Attack { thread: store.thread, store: store.instruction, load: access.instruction }
}

/// Names for tokens, and what they do.
struct Naming {
    names: Names,
    story: Story,
}

impl Naming {
    fn add(&mut self, system: &mut PsoSystem<'_>, control: u32, step: &Step) -> Result<(), Fault> {
        let StepLabel { thread, instruction, by_attacker, delays } = system.label(step);
        if by_attacker {
            let attack = system.attack(system.control(control).phase).expect("an attack is under way");
            let (local, _) = attack.attacker.expect("the attacker goes on");
            let at = system.local(local).clone();
            let after = system.attack(system.control(step.control).phase).expect("the attack goes on");
            if !attack.has_begun() && after.has_begun() {
                self.story.begin_path(&at);
            } else {
                self.story.go_on_at(&at, instruction);
            }
            return Ok(());
        }
        let place = step.take.expect("a token takes the step");
        let (copy, place) = if place == Place::SPARE.number() {
            (self.story.new_copy(thread), Place::from_number(system.spare_place(control, step)?))
        } else {
            (self.names.take(place), Place::from_number(place))
        };
        let at = system.local(place.local()).clone();
        if delays {
            self.story.delay(copy, &at);
        } else {
            self.story.help(copy, &at, instruction);
        }
        self.names.put(copy, step.put);
        Ok(())
    }
}
