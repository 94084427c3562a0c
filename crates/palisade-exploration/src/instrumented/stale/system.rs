//! The instrumented program as a lazily built net: its tables, and where searches start.

use super::hopes::Hopes;
use super::modes::Modes;
use super::views::{Location, View};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Growth, InitialTokens, Local, Locals, Memory, Root, Turned, lookup};
use crate::lazy::{Exploration, Interner, Step};
use palisade_evidence::StaleGoal;
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{InstructionId, Program, ThreadId, Value};
use palisade_semantics::graphs::Axioms;
use rustc_hash::FxHashMap;

/// What a step is to an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A step under SC.
    Interleaved,
    /// The write that is guessed to overwrite what the last event reads, or the first access of a
    /// race.
    Guessed,
    /// The last event: stale, or the second access of a race.
    Last,
}

/// What a step is: an instruction, and the local ones behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepLabel {
    /// The thread that takes it.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// What it is to an attack.
    pub role: Role,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attack {
    /// The address of the guessed access.
    pub address: Value,
    /// What is sought.
    pub goal: StaleGoal,
    /// Whether it has been found.
    pub is_found: bool,
    /// What is known at addresses, ascending; nothing is known at others.
    pub locations: Vec<(Value, Location)>,
}

impl Attack {
    /// What is known at an address.
    pub fn location(&self, address: Value) -> Location {
        let found = self.locations.binary_search_by_key(&address, |entry| entry.0);
        found.map_or_else(|_| Location::default(), |index| self.locations[index].1)
    }

    pub(super) fn set_location(&mut self, address: Value, location: Location) {
        match self.locations.binary_search_by_key(&address, |entry| entry.0) {
            Ok(index) => self.locations[index].1 = location,
            Err(index) => self.locations.insert(index, (address, location)),
        }
    }
}

/// A control state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// A number of the table of memories.
    pub memory: u32,
    /// A number of the table of attacks; nothing under SC.
    pub(super) attack: Option<u32>,
}

/// A thread in a local state, with what it knows of the attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// A number of the table of local states.
    pub local: u32,
    /// What it knows.
    pub view: View,
}

/// The instrumented program.
#[derive(Clone, Debug)]
pub struct StaleSystem<'p> {
    /// Local states and what they can do.
    pub(super) locals: Locals<'p>,
    /// What instructions are to the axioms.
    pub(super) modes: Modes,
    /// What control flow tells of attacks.
    pub(super) hopes: Hopes,
    /// Memories.
    pub(super) memories: Interner<Memory>,
    /// Attacks under way.
    pub(super) attacks: Interner<Attack>,
    /// Controls, which refer to the other tables.
    pub(super) controls: Interner<Control>,
    /// The places of the net.
    pub(super) tokens: Interner<Token>,
    /// The labels of steps, by number.
    pub(super) labels: Interner<StepLabel>,
    /// How many copies the replicated threads have together, when that is fixed.
    pub(super) spare: Option<u32>,
    /// The initial places of replicated threads.
    pub(super) spare_places: Vec<u32>,
    /// Steps of one token in one control.
    pub(super) cache: FxHashMap<(u32, u32), (u32, u32)>,
    /// The steps that `cache` refers to.
    pub(super) arena: Vec<Step>,
    /// The turns of counters up to which configurations are explored, if they are.
    pub(super) turned: Option<Box<Turned>>,
}

impl<'p> StaleSystem<'p> {
    /// The instrumented program of one [by its language](palisade_semantics::graphs::by_language),
    /// with so many spare copies or any number of them.
    pub fn new(program: &'p Program, axioms: Axioms, growth: Growth, spare: Option<u32>) -> Self {
        let modes = Modes::of(program, axioms);
        Self {
            locals: Locals::new(program, growth).awaiting(),
            hopes: Hopes::of(program, &modes),
            modes,
            memories: Interner::default(),
            attacks: Interner::default(),
            controls: Interner::default(),
            tokens: Interner::default(),
            labels: Interner::default(),
            spare,
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            arena: Vec::new(),
            turned: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.locals.program
    }

    /// A local state, by number.
    pub fn local(&self, local: u32) -> &Local {
        self.locals.table.get(local)
    }

    /// The token of a place.
    pub fn token(&self, place: u32) -> Token {
        *self.tokens.get(place)
    }

    /// A control state, by number.
    pub fn control(&self, control: u32) -> Control {
        *self.controls.get(control)
    }

    /// The attack of a control.
    pub fn attack(&self, control: Control) -> Option<&Attack> {
        control.attack.map(|number| self.attacks.get(number))
    }

    /// A memory, by number.
    pub fn memory(&self, number: u32) -> &Memory {
        self.memories.get(number)
    }

    /// What a step is.
    pub fn label(&self, step: &Step) -> StepLabel {
        *self.labels.get(step.label)
    }

    pub(super) fn read(&self, memory: u32, address: Value) -> Value {
        lookup(&self.memory(memory).changed, address).unwrap_or_else(|| self.program().initial_value(address))
    }

    /// Explores until an attack has succeeded, and where.
    pub fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        explored.run_until(self, budget, Self::is_success)
    }

    fn is_success(&self, control: u32) -> bool {
        self.attack(self.control(control)).is_some_and(|attack| attack.is_found)
    }

    /// The initial configurations; none when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let memory = self.memories.intern(Memory::default()).0;
        let control = self.controls.intern(Control { memory, attack: None }).0;
        let (locals, tokens) = (&mut self.locals, &mut self.tokens);
        let initial = InitialTokens::of(locals.program, self.spare, &mut |thread| {
            let places = locals.initial(thread)?.into_iter().flatten();
            Ok(places.map(|local| tokens.intern(Token { local, view: View::default() }).0).collect())
        })?;
        let Some(InitialTokens { roots, spare_places }) = initial else { return Ok(None) };
        self.spare_places = spare_places;
        self.keep_spare_copies();
        Ok(Some(roots.into_iter().map(|entries| Root { control, entries }).collect()))
    }
}
