//! The violation of a search: its route through the three explorations.

use super::{Story, Violation};
use palisade_exploration::instrumented::system::{Local, NO_TURN, Phase, Place};
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, Fault, Search};
use palisade_exploration::lazy::{Entry, Step};
use palisade_model::program::{Program, ThreadId};
use palisade_semantics::CopyId;

/// The violation of the lowest feasible attack of an exact search, if there is one.
pub(in crate::robustness) fn violation<'p>(
    found: &mut Search<'p>,
    program: &'p Program,
    instance_minimal: bool,
) -> Result<Option<Violation>, Fault> {
    let Search { sc, threads, .. } = found;
    for thread in threads {
        let Some(route) = thread.route.clone() else { continue };
        let (system, store) = (&mut thread.system, route.attack.store);
        let delayed = &thread.delayed.iter().find(|(id, _)| *id == store).expect("the route's store was delayed").1;
        let steps = PhaseSteps {
            initial: sc.entries(sc.path(route.sc)[0]),
            sc: &sc.steps_along(system, route.sc)?,
            before_delay: sc.entries(route.sc),
            delay_start: (delayed.control(route.delay_start), delayed.entries(route.delay_start)),
            delayed: &delayed.steps_along(system, route.delayed)?,
            helped: &route.helped,
        };
        return Ok(Some(story_of_steps(program, route.attack, system, &steps)?.finish(program, instance_minimal)));
    }
    Ok(None)
}

/// A computation of the form of Fig. 4 as steps of tokens, each with the control before it.
pub(crate) struct PhaseSteps<'a> {
    /// The tokens at the beginning.
    pub(crate) initial: &'a [Entry],
    /// τ1.
    pub(crate) sc: &'a [(u32, Step)],
    /// The tokens before isu_stA.
    pub(crate) before_delay: &'a [Entry],
    /// The configuration after it.
    pub(crate) delay_start: (u32, &'a [Entry]),
    /// τ2.
    pub(crate) delayed: &'a [(u32, Step)],
    /// τ3.
    pub(crate) helped: &'a [(u32, Step)],
}

/// The computation of steps of tokens.
pub(crate) fn story_of_steps(
    program: &Program,
    attack: Attack,
    system: &mut System<'_>,
    steps: &PhaseSteps<'_>,
) -> Result<Story, Fault> {
    let next = vec![0; program.threads.len()];
    let story = Story::new(program, attack);
    let mut naming = Naming { tokens: Vec::new(), idle: Vec::new(), next, turn: NO_TURN, story };
    naming.count_initial(system, steps.initial);
    naming.follow(system, steps.sc)?;
    let (control, entries) = steps.delay_start;
    let place = missing(steps.before_delay, entries);
    let (attacker, place) = if place == Place::SPARE.number() {
        (naming.story.new_copy(attack.thread), system.spare_start(control, attack.store))
    } else {
        (naming.take(place), Place::from_number(place))
    };
    let at = naming.real(system, place);
    naming.story.delay(attacker, &at);
    naming.follow(system, steps.delayed)?;
    naming.story.overstep();
    naming.follow(system, steps.helped)?;
    Ok(naming.story)
}

/// Names for tokens, and what they do.
struct Naming {
    /// Which copy is on which place, for copies that have acted.
    tokens: Vec<(CopyId, u32)>,
    /// How many copies of fixed threads have not acted yet, by their place.
    idle: Vec<(u32, ThreadId, u32)>,
    /// For fixed threads, how many copies have acted.
    next: Vec<u64>,
    /// The turn of counters that takes the computation's configuration to the one that the search
    /// has for it.
    turn: u32,
    story: Story,
}

impl Naming {
    /// Counts the tokens of fixed threads at the beginning. They get names when they act: there may
    /// be very many.
    fn count_initial(&mut self, system: &System<'_>, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.place != Place::SPARE.number()) {
            let thread = system.local_at(Place::from_number(entry.place)).thread;
            self.idle.push((entry.place, thread, entry.tokens.count().expect("exact searches have no ω")));
        }
    }

    /// The copy on a place, which leaves it: one that has acted, or one that is there from the
    /// beginning.
    fn take(&mut self, place: u32) -> CopyId {
        if let Some(index) = self.tokens.iter().position(|(_, at)| *at == place) {
            return self.tokens.swap_remove(index).0;
        }
        let (_, thread, count) = self
            .idle
            .iter_mut()
            .find(|(at, _, count)| *at == place && *count > 0)
            .expect("a step takes a token from a place that has one");
        *count -= 1;
        let next = &mut self.next[thread.index()];
        *next += 1;
        CopyId { thread: *thread, copy: *next - 1 }
    }

    fn follow(&mut self, system: &mut System<'_>, steps: &[(u32, Step)]) -> Result<(), Fault> {
        steps.iter().try_for_each(|(control, step)| self.add(system, *control, step))
    }

    fn add(&mut self, system: &mut System<'_>, control: u32, step: &Step) -> Result<(), Fault> {
        let (thread, instruction) = system.label(step);
        let Some(place) = step.take else {
            let Phase::Delayed(number) = system.control(step.control).phase else {
                unreachable!("only a delaying attacker moves without a token")
            };
            self.story.go_on(instruction, &system.attacker(number).registers);
            return Ok(());
        };
        let (copy, place) = if place == Place::SPARE.number() {
            let place = Place::from_number(system.spare_place(control, step)?);
            (self.story.new_copy(thread), place)
        } else {
            (self.take(place), Place::from_number(place))
        };
        let at = self.real(system, place);
        self.story.help(copy, &at, instruction);
        if let Some(put) = step.put {
            self.tokens.push((copy, put));
        }
        self.turn_after(system, step.control);
        Ok(())
    }

    /// The local state of the computation that a place of the search stands for.
    fn real(&self, system: &mut System<'_>, place: Place) -> Local {
        let local = system.local_at(place).clone();
        if self.turn == NO_TURN {
            return local;
        }
        let back = system.turn_back(self.turn);
        system.turned_local(back, &local)
    }

    /// Follows the turn that the search has made after a step to a control.
    fn turn_after(&mut self, system: &mut System<'_>, control: u32) {
        let (_, turn) = system.turned_control(control);
        if turn == NO_TURN {
            return;
        }
        let places =
            self.tokens.iter_mut().map(|(_, place)| place).chain(self.idle.iter_mut().map(|(place, ..)| place));
        places.for_each(|place| *place = system.turned_place(turn, *place));
        self.turn = system.turns_together(self.turn, turn);
    }
}

/// The place that has one token more before than after.
fn missing(before: &[Entry], after: &[Entry]) -> u32 {
    before
        .iter()
        .find(|entry| {
            let left = after.iter().find(|other| other.place == entry.place).map(|other| other.tokens);
            left != Some(entry.tokens)
        })
        .expect("the attacker's token is gone")
        .place
}
