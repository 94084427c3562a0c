//! The search for a shortest computation by an attack that is known to be feasible.
//!
//! The searches that decide attacks share their phases and settle threads at once. Here one attack
//! is searched again, all phases in one search in the order of the steps that a person reads: local
//! instructions count, a store counts twice (it is issued and reaches memory), and what a thread
//! does after its last action for the attack does not count, as nobody need see it. For that a
//! token carries the number of local instructions since its last action, which count when it acts
//! again.
//!
//! This is A* with the estimates of [`estimate`](crate::instrumented::estimate), which never exceed
//! what is left to do: the attacker's way to its load, and a helper's way to a write.

use super::attacks::Attack;
use super::estimate::{Estimate, NEVER, length_of};
use super::fault::Fault;
use super::system::{Growth, Phase, Place};
use super::tso::{Settled, System};
use crate::lazy::Numbers;
use palisade_evidence::Level;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, InstructionId, Program, ThreadId, Value};
use palisade_semantics::Instance;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

/// Expansions between two looks at the limits.
const BETWEEN_LOOKS: usize = 1024;

/// A configuration of the instrumented program in which the copies that have acted are told from
/// those that have not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    control: u32,
    /// How many copies of each kind have not acted; the kinds are those of [`Shortening::idle`].
    idle: SmallVec<[u32; 4]>,
    /// The copies that have acted and not stopped, sorted: place, and local instructions since the
    /// last action.
    tokens: SmallVec<[(u32, u32); 4]>,
}

/// A copy that acts.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// Where it is settled.
    pub place: u32,
    /// Local instructions since its last action.
    pub since: u32,
    /// The kind of idle copies that it was one of, if it has not acted before.
    pub idle: Option<usize>,
}

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    /// A copy executes an instruction.
    Help {
        /// The copy.
        actor: Actor,
        /// The instruction.
        instruction: InstructionId,
        /// Where the copy then is, and the local instructions since its last action; nothing where
        /// it has stopped.
        put: Option<(u32, u32)>,
    },
    /// isu_stA.
    Delay {
        /// The copy that becomes the attacker.
        actor: Actor,
    },
    /// The delaying attacker executes an instruction.
    Advance {
        /// The instruction.
        instruction: InstructionId,
        /// The attacker afterwards, by number.
        attacker: u32,
    },
    /// ld_A.
    Overstep,
}

struct Node {
    configuration: Configuration,
    parent: u32,
    /// What leads here from the parent; nothing where the search begins.
    deed: Option<Deed>,
    /// The steps of the computation so far.
    length: u32,
    expanded: bool,
}

/// What is the same in all runs.
pub struct Shortening<'p> {
    /// The instrumented program.
    pub system: System<'p>,
    /// The attack.
    pub attack: Attack,
    estimate: Estimate,
    /// The kinds of copies there are at the beginning, and how many: of one thread each, and those
    /// that are free to be any replicated thread.
    pub idle: Vec<(Option<ThreadId>, u32)>,
    /// For each kind, where such a copy may settle.
    starts: Vec<Settled>,
    /// Where tokens settle after a step, by local state, instruction and value read.
    settled: FxHashMap<(u32, InstructionId, Value), Settled>,
}

impl<'p> Shortening<'p> {
    /// The search for computations of an instance with fewer steps than these, in which a register
    /// or an address takes so many values at most.
    pub fn new(
        program: &'p Program,
        attack: Attack,
        instance: &Instance,
        steps: usize,
        values: usize,
    ) -> Result<Self, Fault> {
        let mut system = System::new(program, Growth::Cut(values));
        let mut idle = Vec::new();
        let mut starts = Vec::new();
        let (mut free, mut free_starts) = (0, Settled::new());
        // Each copy that acts takes a step of its own, so that more need not be counted.
        let steps = steps as u64;
        let counted = |copies: u64| u32::try_from(copies.min(steps)).expect("a computation that was replayed is short");
        for (id, thread) in program.thread_ids() {
            match thread.copies {
                Copies::Exactly(0) => {}
                Copies::Exactly(copies) => {
                    idle.push((Some(id), counted(copies)));
                    starts.push(system.settled_initially(id)?);
                }
                Copies::Any => {
                    free += instance.count(id);
                    free_starts.extend(system.settled_initially(id)?);
                }
            }
        }
        if free > 0 {
            idle.push((None, counted(free)));
            starts.push(free_starts);
        }
        let estimate = Estimate::of(program, attack);
        Ok(Self { system, attack, estimate, idle, starts, settled: FxHashMap::default() })
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

    /// The copies that may act: of those on one place, one that has done the fewest local
    /// instructions.
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

    /// The least number of steps from a configuration to the end; [`NEVER`] or more if there is no
    /// way.
    fn estimate(&self, configuration: &Configuration, acting: u32) -> u32 {
        let system = &self.system;
        let actors = self.actors(configuration, acting);
        let least = |table: &Vec<Vec<u32>>| {
            let length = |actor: &Actor| {
                let local = system.local_at(Place::from_number(actor.place));
                actor.since + table[local.thread.index()][local.label.index()]
            };
            actors.iter().map(length).min().unwrap_or(NEVER)
        };
        // A helper writes to the address of ld_A, and then there is an access to that of st_A, or a
        // section's end.
        let help = || least(&self.estimate.write) + 1;
        let control = system.control(configuration.control);
        match control.phase {
            Phase::Sc => {
                let attack = |actor: &Actor| {
                    let local = system.local_at(Place::from_number(actor.place));
                    (local.thread == self.attack.thread)
                        .then(|| actor.since + self.estimate.attack[local.label.index()])
                };
                actors.iter().filter_map(attack).min().unwrap_or(NEVER) + help()
            }
            Phase::Delayed(attacker) => self.estimate.load[system.attacker(attacker).label.index()] + help(),
            Phase::Helped(number) => {
                let helped = system.helped(number);
                match helped.path.levels.as_slice() {
                    _ if helped.is_closed() => u32::from(control.locked),
                    [(_, Level::Load)] => help(),
                    _ => least(&self.estimate.access),
                }
            }
        }
    }
}

/// How a run ended.
pub enum End {
    /// With this node.
    Found(u32),
    /// No computation within the bounds shows the attack.
    None,
    /// The effort was used up.
    CutOff,
}

/// One search with a bound on the copies that act and on the steps.
pub struct Run<'s, 'p, 'l> {
    /// What is the same in all runs.
    pub shortening: &'s mut Shortening<'p>,
    acting: u32,
    bound: u32,
    most: usize,
    limits: &'l Limits,
    nodes: Vec<Node>,
    known: Numbers,
    /// Nodes to expand: those that may lead to the shortest computations first, of these the
    /// longest, of these the newest.
    open: BinaryHeap<(Reverse<u32>, u32, u32)>,
}

impl<'s, 'p, 'l> Run<'s, 'p, 'l> {
    /// A run in which so many copies act, with so many steps and configurations at most.
    pub fn new(shortening: &'s mut Shortening<'p>, acting: u32, bound: u32, most: usize, limits: &'l Limits) -> Self {
        Self {
            shortening,
            acting,
            bound,
            most,
            limits,
            nodes: Vec::new(),
            known: Numbers::default(),
            open: BinaryHeap::new(),
        }
    }

    /// Searches for a computation.
    pub fn search(&mut self) -> End {
        let control = self.shortening.system.initial_control();
        let idle = self.shortening.idle.iter().map(|(_, copies)| *copies).collect();
        self.add(Configuration { control, idle, tokens: SmallVec::new() }, 0, None, 0);
        let mut expanded = 0usize;
        while let Some((_, length, node)) = self.open.pop() {
            if self.nodes[node as usize].expanded || length > self.nodes[node as usize].length {
                continue;
            }
            let control = self.nodes[node as usize].configuration.control;
            if self.shortening.system.is_success(control) {
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
        if let Phase::Delayed(_) = self.shortening.system.control(control).phase
            && self.advance(node, &configuration)
        {
            return;
        }
        for actor in self.shortening.actors(&configuration, self.acting) {
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
        let Attack { thread, load, .. } = self.shortening.attack;
        let length = self.nodes[node as usize].length;
        let loads = self.shortening.system.attack_loads(configuration.control).unwrap_or_default();
        for (_, control) in loads.into_iter().filter(|(id, _)| *id == load) {
            self.add(Configuration { control, ..configuration.clone() }, node, Some(Deed::Overstep), length + 1);
        }
        let Ok((steps, alone)) = self.shortening.system.steps_without_token(configuration.control) else {
            return false;
        };
        for step in steps {
            let Phase::Delayed(attacker) = self.shortening.system.control(step.control).phase else { continue };
            let (_, instruction) = self.shortening.system.label(&step);
            let action = &self.shortening.system.program().thread(thread).instruction(instruction).action;
            let length = length + length_of(action);
            let after = Configuration { control: step.control, ..configuration.clone() };
            self.add(after, node, Some(Deed::Advance { instruction, attacker }), length);
        }
        alone
    }

    /// A copy becomes the attacker.
    fn delay(&mut self, node: u32, rest: &Configuration, actor: Actor) {
        let system = &mut self.shortening.system;
        let Attack { thread, store, .. } = self.shortening.attack;
        let place = Place::from_number(actor.place);
        let before = system.control(rest.control);
        if before.phase != Phase::Sc || system.local_at(place).thread != thread {
            return;
        }
        let Ok(Some(control)) = system.delay_start(rest.control, place.local(), store) else { return };
        let length = self.nodes[node as usize].length + actor.since + 2;
        self.add(Configuration { control, ..rest.clone() }, node, Some(Deed::Delay { actor }), length);
    }

    /// A copy takes a step, in which a helper joins the happens-before path after ld_A.
    fn help(&mut self, node: u32, rest: &Configuration, actor: Actor) {
        let place = Place::from_number(actor.place);
        let Ok(steps) = self.shortening.system.steps_of(rest.control, place.number()) else { return };
        for step in steps {
            let (thread, instruction) = self.shortening.system.label(&step);
            let action = &self.shortening.system.program().thread(thread).instruction(instruction).action;
            let length = self.nodes[node as usize].length + actor.since + length_of(action);
            let Ok(settled) = self.shortening.settled_after(rest.control, place.local(), instruction) else { continue };
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
            self.add(after, node, Some(Deed::Help { actor, instruction, put }), length);
        }
    }

    /// Adds a configuration unless it is known with a computation that is as short, or none within
    /// the bound leads on from it.
    fn add(&mut self, configuration: Configuration, parent: u32, deed: Option<Deed>, length: u32) {
        let estimate = length.saturating_add(self.shortening.estimate(&configuration, self.acting));
        if estimate > self.bound {
            return;
        }
        let hash = FxBuildHasher.hash_one(&configuration);
        let nodes = &mut self.nodes;
        let known = self.known.find(hash, |node| nodes[node as usize].configuration == configuration);
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
                self.known.insert(hash, number);
                number
            }
        };
        self.open.push((Reverse(estimate), length, number));
    }

    /// How many steps the computation to a node takes.
    pub fn length(&self, node: u32) -> u32 {
        self.nodes[node as usize].length
    }

    /// How many configurations are kept.
    pub fn configurations(&self) -> usize {
        self.nodes.len()
    }

    /// What leads to a node, first things first.
    pub fn way_to(&self, goal: u32) -> Vec<Deed> {
        let mut way = Vec::new();
        let mut node = &self.nodes[goal as usize];
        while let Some(deed) = node.deed {
            way.push(deed);
            node = &self.nodes[node.parent as usize];
        }
        way.reverse();
        way
    }
}
