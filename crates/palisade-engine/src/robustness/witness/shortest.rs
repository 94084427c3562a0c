//! A shortest computation for an attack that is known to be feasible.
//!
//! The searches that decide attacks share their phases and settle threads at once; nets forget the order in which their
//! strategies found a run. What either shows is a violation, and as a rule longer than it need be. Here one attack is
//! searched again, all phases in one search in the order of the steps that a person reads: local instructions count, a
//! store counts twice (it is issued and reaches memory), and what a thread does after its last action for the attack
//! does not count, as nobody need see it. For that a token carries the number of local instructions since its last
//! action, which count when it acts again.
//!
//! This is A* with the estimates of [`estimate`](super::estimate), which never exceed what is left to do: the
//! attacker's way to its load, and a helper's way to a write. The violation that is there bounds the search: what cannot
//! be at least as short is left out. Two copies may act first, then three, and so on, since few threads are searched soon and give
//! a tight bound for more. Among shortest computations, the one with the fewest acting copies is taken.

use super::estimate::{Estimate, NEVER, length_of};
use super::{Story, Violation};
use crate::robustness::attacks::Attack;
use crate::robustness::fault::Fault;
use crate::robustness::system::{Growth, Phase, Place, Settled, System};
use hashbrown::HashTable;
use palisade_evidence::Level;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, InstructionId, Program, ThreadId, Value};
use palisade_model::semantics::{CopyId, Instance};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

/// Configurations kept at most; then the shortest violation found so far is shown.
const CONFIGURATIONS: usize = 30_000;

/// Expansions between two looks at the limits.
const BETWEEN_LOOKS: usize = 1024;

/// A shortest violation by the same attack with at most as many copies, as far as the effort goes.
pub(in crate::robustness) fn shortest(
    program: &Program,
    found: Violation,
    values: usize,
    limits: &Limits,
) -> Violation {
    let Ok(mut search) = Shortening::new(program, &found, values) else { return found };
    let copies: u32 = search.idle.iter().map(|idle| idle.1).sum();
    let mut bound = u32::try_from(found.steps.len()).expect("a computation that was replayed is short");
    let mut best: Option<Story> = None;
    let mut left = CONFIGURATIONS;
    let mut complete = true;
    for acting in 2..=copies.max(2) {
        let mut run = Run::new(&mut search, acting, bound, left, limits);
        match run.search() {
            End::Found(goal) => {
                bound = run.nodes[goal as usize].length - 1;
                best = Some(run.story(program, goal));
            }
            End::None => {}
            End::CutOff => complete = false,
        }
        left = left.saturating_sub(run.nodes.len());
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

/// A configuration of the instrumented program in which the copies that have acted are told from those that have not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    control: u32,
    /// How many copies of each kind have not acted; the kinds are those of [`Shortening::idle`].
    idle: SmallVec<[u32; 4]>,
    /// The copies that have acted and not stopped, sorted: place, and local instructions since the last action.
    tokens: SmallVec<[(u32, u32); 4]>,
}

/// A copy that acts.
#[derive(Clone, Copy, Debug)]
struct Actor {
    /// Where it is settled.
    place: u32,
    /// Local instructions since its last action.
    since: u32,
    /// The kind of idle copies that it was one of, if it has not acted before.
    idle: Option<usize>,
}

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// Nothing: it is where the search begins.
    Begin,
    /// A copy's instruction, and where it then is.
    Help { actor: Actor, instruction: InstructionId, put: Option<(u32, u32)> },
    /// isu_stA.
    Delay { actor: Actor },
    /// An instruction of the delaying attacker, which becomes another one.
    Advance { instruction: InstructionId, attacker: u32 },
    /// ld_A.
    Overstep,
}

struct Node {
    configuration: Configuration,
    parent: u32,
    deed: Deed,
    /// The steps of the computation so far.
    length: u32,
    expanded: bool,
}

/// What is the same in all runs.
struct Shortening<'p> {
    system: System<'p>,
    attack: Attack,
    estimate: Estimate,
    /// The kinds of copies there are at the beginning, and how many: of one thread each, and those that are free to be any
    /// replicated thread.
    idle: Vec<(Option<ThreadId>, u32)>,
    /// For each kind, where such a copy may settle.
    starts: Vec<Settled>,
    /// Where tokens settle after a step, by local state, instruction and value read.
    settled: FxHashMap<(u32, InstructionId, Value), Settled>,
}

impl<'p> Shortening<'p> {
    fn new(program: &'p Program, found: &Violation, values: usize) -> Result<Self, Fault> {
        let mut system = System::new(program, Growth::Cut(values));
        let mut idle = Vec::new();
        let mut starts = Vec::new();
        let (mut free, mut free_starts) = (0, Settled::new());
        // Each copy that acts takes a step of its own, so that more need not be counted.
        let steps = found.steps.len() as u64;
        let counted = |copies: u64| u32::try_from(copies.min(steps)).expect("a computation that was replayed is short");
        for (id, thread) in program.thread_ids() {
            match thread.copies {
                Copies::Exactly(0) => {}
                Copies::Exactly(copies) => {
                    idle.push((Some(id), counted(copies)));
                    starts.push(system.settled_initially(id)?);
                }
                Copies::Any => {
                    free += found.instance.count(id);
                    free_starts.extend(system.settled_initially(id)?);
                }
            }
        }
        if free > 0 {
            idle.push((None, counted(free)));
            starts.push(free_starts);
        }
        let estimate = Estimate::of(program, found.attack);
        Ok(Self { system, attack: found.attack, estimate, idle, starts, settled: FxHashMap::default() })
    }

    fn settled_after(&mut self, control: u32, local: u32, instruction: InstructionId) -> Result<&Settled, Fault> {
        let read = self.system.value_read(control, local, instruction);
        let key = (local, instruction, read);
        if !self.settled.contains_key(&key) {
            let settled = self.system.settled_after(local, instruction, read)?;
            self.settled.insert(key, settled);
        }
        Ok(&self.settled[&key])
    }

    /// The copies that may act: of those on one place, one that has done the fewest local instructions.
    fn actors(&self, configuration: &Configuration, acting: u32) -> SmallVec<[Actor; 8]> {
        let mut actors = SmallVec::new();
        let mut last = None;
        for (place, since) in &configuration.tokens {
            if last != Some(*place) {
                actors.push(Actor { place: *place, since: *since, idle: None });
                last = Some(*place);
            }
        }
        if self.acted(configuration) < acting {
            for (kind, _) in configuration.idle.iter().enumerate().filter(|(_, left)| **left > 0) {
                for (local, since) in &self.starts[kind] {
                    let place = Place::of(*local, false).number();
                    actors.push(Actor { place, since: *since, idle: Some(kind) });
                }
            }
        }
        actors
    }

    /// How many copies have acted.
    fn acted(&self, configuration: &Configuration) -> u32 {
        self.idle.iter().zip(&configuration.idle).map(|((_, copies), left)| copies - left).sum()
    }

    /// The least number of steps from a configuration to the end; [`NEVER`] or more if there is no way.
    fn estimate(&self, configuration: &Configuration, acting: u32) -> u32 {
        let system = &self.system;
        let actors = self.actors(configuration, acting);
        let least = |table: &Vec<Vec<u32>>| {
            let length = |actor: &Actor| {
                let local = system.local(Place::from_number(actor.place));
                actor.since + table[local.thread.index()][local.label.index()]
            };
            actors.iter().map(length).min().unwrap_or(NEVER)
        };
        // A helper writes to the address of ld_A, and then there is an access to that of st_A, or a section's end.
        let help = || least(&self.estimate.write) + 1;
        let control = system.control(configuration.control);
        match control.phase {
            Phase::Sc => {
                let attack = |actor: &Actor| {
                    let local = system.local(Place::from_number(actor.place));
                    (local.thread == self.attack.thread)
                        .then(|| actor.since + self.estimate.attack[local.label.index()])
                };
                actors.iter().filter_map(attack).min().unwrap_or(NEVER) + help()
            }
            Phase::Delayed(attacker) => self.estimate.load[system.attacker(attacker).label.index()] + help(),
            Phase::Helped(number) => {
                let helped = system.helped(number);
                match helped.levels.as_slice() {
                    _ if helped.is_closed() => u32::from(control.locked),
                    [(_, Level::Load)] => help(),
                    _ => least(&self.estimate.access),
                }
            }
        }
    }
}

/// How a run ended.
enum End {
    /// With this node.
    Found(u32),
    /// No computation within the bounds shows the attack.
    None,
    /// The effort was used up.
    CutOff,
}

/// One search with a bound on the copies that act and on the steps.
struct Run<'s, 'p, 'l> {
    search: &'s mut Shortening<'p>,
    acting: u32,
    bound: u32,
    most: usize,
    limits: &'l Limits,
    nodes: Vec<Node>,
    known: HashTable<u32>,
    /// Nodes to expand: those that may lead to the shortest computations first, of these the longest, of these the newest.
    open: BinaryHeap<(Reverse<u32>, u32, u32)>,
}

impl<'s, 'p, 'l> Run<'s, 'p, 'l> {
    fn new(search: &'s mut Shortening<'p>, acting: u32, bound: u32, most: usize, limits: &'l Limits) -> Self {
        Self {
            search,
            acting,
            bound,
            most,
            limits,
            nodes: Vec::new(),
            known: HashTable::new(),
            open: BinaryHeap::new(),
        }
    }

    fn search(&mut self) -> End {
        let control = self.search.system.initial_control();
        let idle = self.search.idle.iter().map(|(_, copies)| *copies).collect();
        self.add(Configuration { control, idle, tokens: SmallVec::new() }, 0, Deed::Begin, 0);
        let mut expanded = 0usize;
        while let Some((_, length, node)) = self.open.pop() {
            if self.nodes[node as usize].expanded || length > self.nodes[node as usize].length {
                continue;
            }
            let control = self.nodes[node as usize].configuration.control;
            if self.search.system.is_success(control) {
                return End::Found(node);
            }
            expanded += 1;
            if self.nodes.len() > self.most || expanded.is_multiple_of(BETWEEN_LOOKS) && self.limits.check().is_err() {
                return End::CutOff;
            }
            self.nodes[node as usize].expanded = true;
            self.expand(node);
        }
        End::None
    }

    /// Steps without a meaning are left out: the violation is none of theirs.
    fn expand(&mut self, node: u32) {
        let configuration = self.nodes[node as usize].configuration.clone();
        let control = configuration.control;
        if let Phase::Delayed(_) = self.search.system.control(control).phase
            && self.advance(node, &configuration)
        {
            return;
        }
        for actor in self.search.actors(&configuration, self.acting) {
            let mut rest = configuration.clone();
            match actor.idle {
                Some(kind) => rest.idle[kind] -= 1,
                None => {
                    let index = rest.tokens.iter().position(|token| *token == (actor.place, actor.since));
                    rest.tokens.remove(index.expect("the actor is one of the tokens"));
                }
            }
            self.delay(node, &rest, actor);
            self.help(node, &rest, actor);
        }
    }

    /// What a delaying attacker does; whether it moves alone.
    fn advance(&mut self, node: u32, configuration: &Configuration) -> bool {
        let Attack { thread, load, .. } = self.search.attack;
        let length = self.nodes[node as usize].length;
        let loads = self.search.system.attack_loads(configuration.control).unwrap_or_default();
        for (_, control) in loads.into_iter().filter(|(id, _)| *id == load) {
            self.add(Configuration { control, ..configuration.clone() }, node, Deed::Overstep, length + 1);
        }
        let Ok((steps, alone)) = self.search.system.steps_of_attacker(configuration.control) else { return false };
        for step in steps {
            let Phase::Delayed(attacker) = self.search.system.control(step.control).phase else { continue };
            let (_, instruction) = self.search.system.instruction_of(step.label);
            let action = &self.search.system.program().thread(thread).instruction(instruction).action;
            let length = length + length_of(action);
            let after = Configuration { control: step.control, ..configuration.clone() };
            self.add(after, node, Deed::Advance { instruction, attacker }, length);
        }
        alone
    }

    /// A copy becomes the attacker.
    fn delay(&mut self, node: u32, rest: &Configuration, actor: Actor) {
        let system = &mut self.search.system;
        let Attack { thread, store, .. } = self.search.attack;
        let place = Place::from_number(actor.place);
        let before = system.control(rest.control);
        if before.phase != Phase::Sc || system.local(place).thread != thread {
            return;
        }
        let Ok(Some(control)) = system.delay_start(rest.control, place.local(), store) else { return };
        let length = self.nodes[node as usize].length + actor.since + 2;
        self.add(Configuration { control, ..rest.clone() }, node, Deed::Delay { actor }, length);
    }

    /// A copy takes a step, in which a helper joins the happens-before path after ld_A.
    fn help(&mut self, node: u32, rest: &Configuration, actor: Actor) {
        let place = Place::from_number(actor.place);
        let Ok(steps) = self.search.system.steps_of(rest.control, place) else { return };
        for step in steps {
            let (thread, instruction) = self.search.system.instruction_of(step.label);
            let action = &self.search.system.program().thread(thread).instruction(instruction).action;
            let length = self.nodes[node as usize].length + actor.since + length_of(action);
            let Ok(settled) = self.search.settled_after(rest.control, place.local(), instruction) else { continue };
            let put = step.put.map(|put| {
                let local = Place::from_number(put).local();
                let reached = settled.iter().find(|(settled, _)| *settled == local);
                (put, reached.expect("a token settles where local instructions lead").1)
            });
            let mut after = Configuration { control: step.control, ..rest.clone() };
            if let Some(put) = put {
                let index = after.tokens.partition_point(|token| *token < put);
                after.tokens.insert(index, put);
            }
            self.add(after, node, Deed::Help { actor, instruction, put }, length);
        }
    }

    /// Adds a configuration unless it is known with a computation that is as short, or none within the bound leads on from it.
    fn add(&mut self, configuration: Configuration, parent: u32, deed: Deed, length: u32) {
        let estimate = length.saturating_add(self.search.estimate(&configuration, self.acting));
        if estimate > self.bound {
            return;
        }
        let hash = FxBuildHasher.hash_one(&configuration);
        let nodes = &mut self.nodes;
        let known = self.known.find(hash, |node| nodes[*node as usize].configuration == configuration).copied();
        let number = match known {
            Some(number) => {
                let node = &mut nodes[number as usize];
                if node.length <= length {
                    return;
                }
                (node.parent, node.deed, node.length, node.expanded) = (parent, deed, length, false);
                number
            }
            None => {
                let number = u32::try_from(nodes.len()).expect("the effort is bounded");
                nodes.push(Node { configuration, parent, deed, length, expanded: false });
                self.known
                    .insert_unique(hash, number, |node| FxBuildHasher.hash_one(&nodes[*node as usize].configuration));
                number
            }
        };
        self.open.push((Reverse(estimate), length, number));
    }

    /// The computation that leads to a node, told with the names of copies.
    fn story(&self, program: &Program, goal: u32) -> Story {
        let mut path = vec![goal];
        let mut node = &self.nodes[goal as usize];
        while !matches!(node.deed, Deed::Begin) {
            path.push(node.parent);
            node = &self.nodes[node.parent as usize];
        }
        let mut naming = Naming {
            search: self.search,
            story: Story::new(program, self.search.attack),
            next: vec![0; program.threads.len()],
            tokens: Vec::new(),
        };
        for node in path.into_iter().rev() {
            naming.add(self.nodes[node as usize].deed);
        }
        naming.story
    }
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
            Deed::Begin => {}
            Deed::Help { actor, instruction, put } => {
                let copy = self.name(actor);
                self.story.help(copy, system.local(Place::from_number(actor.place)), instruction);
                self.tokens.extend(put.map(|put| (copy, put)));
            }
            Deed::Delay { actor } => {
                let copy = self.name(actor);
                self.story.delay(copy, system.local(Place::from_number(actor.place)));
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
            let thread = self.search.system.local(Place::from_number(actor.place)).thread;
            return self.story.new_copy(thread);
        };
        let next = &mut self.next[thread.index()];
        *next += 1;
        CopyId { thread, copy: u64::from(*next - 1) }
    }
}
