//! The violation of a search: its route through the three explorations.

use super::{Story, Violation};
use crate::exploration::{Entry, Exploration, Step};
use crate::robustness::fault::Fault;
use crate::robustness::search::{Search, ThreadSearch};
use crate::robustness::system::{Phase, Place, System};
use palisade_model::program::{Program, ThreadId};
use palisade_model::semantics::CopyId;

/// The violation of the lowest feasible attack of an exact search, if there is one.
pub(in crate::robustness) fn violation<'p>(
    found: &mut Search<'p>,
    program: &'p Program,
    instance_minimal: bool,
) -> Result<Option<Violation>, Fault> {
    let Search { sc, threads, .. } = found;
    for thread in threads {
        if thread.route.is_some() {
            return Ok(Some(Naming::new(program, sc, thread)?.story.finish(program, instance_minimal)));
        }
    }
    Ok(None)
}

/// Names for tokens, and what they do.
struct Naming {
    /// Which copy is on which place, for copies that have acted.
    tokens: Vec<(CopyId, u32)>,
    /// How many copies of fixed threads have not acted yet, by their place.
    idle: Vec<(u32, ThreadId, u32)>,
    /// For fixed threads, how many copies have acted.
    next: Vec<u64>,
    story: Story,
}

impl Naming {
    fn new(program: &Program, sc: &Exploration, search: &mut ThreadSearch<'_>) -> Result<Self, Fault> {
        let route = search.route.clone().expect("only searches with a route are named");
        let next = vec![0; program.threads.len()];
        let story = Story::new(program, route.attack);
        let mut naming = Naming { tokens: Vec::new(), idle: Vec::new(), next, story };
        let system = &mut search.system;
        let path = sc.path(route.sc);
        naming.count_initial(system, sc.entries(path[0]));
        naming.follow(system, sc, &path)?;

        let store = route.attack.store;
        let delayed = &search.delayed.iter().find(|(id, _)| *id == store).expect("the route's store was delayed").1;
        let place = missing(sc.entries(route.sc), delayed.entries(route.delay_start));
        let (attacker, place) = if place == Place::SPARE.number() {
            let start = system.spare_start(delayed.control(route.delay_start), store);
            (naming.story.new_copy(route.attack.thread), start)
        } else {
            (naming.take(place), Place::from_number(place))
        };
        naming.story.delay(attacker, system.local(place));
        naming.follow(system, delayed, &delayed.path(route.delayed))?;
        naming.story.overstep();
        for (control, step) in &route.helped {
            naming.add(system, *control, step)?;
        }
        Ok(naming)
    }

    /// Counts the tokens of fixed threads at the beginning. They get names when they act: there may be very many.
    fn count_initial(&mut self, system: &System<'_>, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.place != Place::SPARE.number()) {
            let thread = system.local(Place::from_number(entry.place)).thread;
            self.idle.push((entry.place, thread, entry.tokens.count().expect("exact searches have no ω")));
        }
    }

    /// The copy on a place, which leaves it: one that has acted, or one that is there from the beginning.
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

    fn follow(&mut self, system: &mut System<'_>, exploration: &Exploration, path: &[u32]) -> Result<(), Fault> {
        for pair in path.windows(2) {
            let step = exploration.step_to(system, pair[1])?.expect("a node is found by a step from its parent");
            self.add(system, exploration.control(pair[0]), &step)?;
        }
        Ok(())
    }

    fn add(&mut self, system: &mut System<'_>, control: u32, step: &Step) -> Result<(), Fault> {
        let (thread, instruction) = system.instruction_of(step.label);
        let Some(place) = step.take else {
            let Phase::Delayed(number) = system.control(step.control).phase else {
                unreachable!("only a delaying attacker moves without a token")
            };
            self.story.go_on(instruction, &system.attacker(number).registers);
            return Ok(());
        };
        let (copy, place) = if place == Place::SPARE.number() {
            let place = system.spare_place(control, step)?;
            (self.story.new_copy(thread), place)
        } else {
            (self.take(place), Place::from_number(place))
        };
        self.story.help(copy, system.local(place), instruction);
        if let Some(put) = step.put {
            self.tokens.push((copy, put));
        }
        Ok(())
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
