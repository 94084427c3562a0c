//! A shortest computation for an attack that is known to be feasible.
//!
//! Searches settle threads at once, and nets forget the order in which their strategies found a
//! run. What either shows is a violation, and as a rule longer than it need be: so the attack is
//! searched again ([`Shortening`]). The violation that is there bounds the search: what cannot be
//! at least as short is left out. Two copies may act first, then three, and so on, since few
//! threads are searched soon and give a tight bound for more. Among shortest computations, the one
//! with the fewest acting copies is taken.

use super::{Story, Violation};
use palisade_exploration::instrumented::system::Place;
use palisade_exploration::instrumented::{Actor, Deed, End, Run, Shortening};
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, Program};
use palisade_semantics::{CopyId, Instance};

/// Configurations kept at most; then the shortest violation found so far is shown.
const CONFIGURATIONS: usize = 30_000;

/// A shortest violation by the same attack with at most as many copies, as far as the effort goes.
pub(in crate::robustness) fn shortest(
    program: &Program,
    found: Violation,
    values: usize,
    limits: &Limits,
) -> Violation {
    let Ok(mut search) = Shortening::new(program, found.attack, &found.instance, found.steps.len(), values) else {
        return found;
    };
    let copies: u32 = search.idle.iter().map(|idle| idle.1).sum();
    let mut bound = u32::try_from(found.steps.len()).expect("a computation that was replayed is short");
    let mut best: Option<Story> = None;
    let mut left = CONFIGURATIONS;
    let mut complete = true;
    for acting in 2..=copies.max(2) {
        let mut run = Run::new(&mut search, acting, bound, left, limits);
        match run.search() {
            End::Found(goal) => {
                bound = run.length(goal) - 1;
                let way = run.way_to(goal);
                best = Some(story(program, run.shortening, way));
            }
            End::None => {}
            End::CutOff => complete = false,
        }
        left = left.saturating_sub(run.configurations());
        if !complete {
            break;
        }
    }
    let shortest = complete && !search.system.was_cut();
    let minimal = found.instance_minimal;
    let counts = found.instance.clone();
    let shown = best.map_or(found, |story| story.finish(program, minimal));
    debug_assert!(!minimal || replicated(program, &shown.instance) == replicated(program, &counts), "fewer copies do");
    Violation { shortest, ..shown }
}

/// How many copies of replicated threads an instance has.
fn replicated(program: &Program, instance: &Instance) -> u64 {
    let threads = program.threads.iter().zip(instance.counts());
    threads.filter(|(thread, _)| thread.copies == Copies::Any).map(|(_, count)| *count).sum()
}

/// A computation, told with the names of copies.
fn story(program: &Program, search: &Shortening<'_>, way: Vec<Deed>) -> Story {
    let mut naming = Naming {
        search,
        story: Story::new(program, search.attack),
        next: vec![0; program.threads.len()],
        tokens: Vec::new(),
    };
    way.into_iter().for_each(|deed| naming.add(deed));
    naming.story
}

/// Names for the copies of a computation, in the order in which they act.
struct Naming<'s, 'p> {
    search: &'s Shortening<'p>,
    story: Story,
    /// For threads with a fixed number of copies, how many have been named.
    next: Vec<u32>,
    /// Which copy is where.
    tokens: Vec<(CopyId, (u32, u32))>,
}

impl Naming<'_, '_> {
    fn add(&mut self, deed: Deed) {
        let system = &self.search.system;
        match deed {
            Deed::Help { actor, instruction, put } => {
                let copy = self.name(actor);
                self.story.help(copy, system.local_at(Place::from_number(actor.place)), instruction);
                self.tokens.extend(put.map(|put| (copy, put)));
            }
            Deed::Delay { actor } => {
                let copy = self.name(actor);
                self.story.delay(copy, system.local_at(Place::from_number(actor.place)));
            }
            Deed::Advance { instruction, attacker } => {
                self.story.go_on(instruction, &system.attacker(attacker).registers);
            }
            Deed::Overstep => self.story.overstep(),
        }
    }

    fn name(&mut self, actor: Actor) -> CopyId {
        let Some(kind) = actor.idle else {
            let at = (actor.place, actor.since);
            let index = self.tokens.iter().position(|(_, token)| *token == at).expect("the actor has acted before");
            return self.tokens.swap_remove(index).0;
        };
        let Some(thread) = self.search.idle[kind].0 else {
            let thread = self.search.system.local_at(Place::from_number(actor.place)).thread;
            return self.story.new_copy(thread);
        };
        let next = &mut self.next[thread.index()];
        *next += 1;
        CopyId { thread, copy: u64::from(*next - 1) }
    }
}
