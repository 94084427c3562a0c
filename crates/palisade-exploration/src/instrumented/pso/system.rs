//! The instrumented program against PSO as a lazily built net: its tables, and where searches start.

use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Growth, InitialTokens, Local, Locals, Memory, Operation, Place, Root, lookup};
use crate::lazy::{Exploration, Interner, Step};
use palisade_evidence::Level;
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;

/// What a step is: an instruction, and the local ones behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepLabel {
    /// The thread that takes it.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// Whether the attacker takes it, after it has delayed its store.
    pub by_attacker: bool,
    /// Whether it is the store that is delayed.
    pub delays: bool,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attack {
    /// The address of the delayed store.
    pub store_address: Value,
    /// The attacker's local state with the value it has delayed; nothing once it accesses no further address.
    pub attacker: Option<(u32, Value)>,
    /// Access levels of the path, sorted by address; none before the path begins.
    pub levels: Vec<(Value, Level)>,
}

impl Attack {
    /// The level of an address.
    pub(super) fn level(&self, address: Value) -> Option<Level> {
        self.levels.binary_search_by_key(&address, |entry| entry.0).ok().map(|index| self.levels[index].1)
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

/// The instrumented program.
#[derive(Clone, Debug)]
pub struct PsoSystem<'p> {
    /// Local states and what they can do.
    pub(super) locals: Locals<'p>,
    /// Memories.
    pub(super) memories: Interner<Memory>,
    /// Attacks under way.
    pub(super) attacks: Interner<Attack>,
    /// Controls, which refer to the other tables.
    pub(super) controls: Interner<Control>,
    /// The labels of steps, by number.
    pub(super) labels: Interner<StepLabel>,
    /// How many copies the replicated threads have together, when that is fixed.
    pub(super) spare: Option<u32>,
    /// The initial places of replicated threads.
    pub(super) spare_places: Vec<Place>,
    /// Steps of one token, or none, in one control.
    pub(super) cache: FxHashMap<(u32, u32), (u32, u32)>,
    /// The steps that `cache` refers to.
    pub(super) arena: Vec<Step>,
}

impl<'p> PsoSystem<'p> {
    /// The instrumented program, with so many spare copies or any number of them.
    pub fn new(program: &'p Program, growth: Growth, spare: Option<u32>) -> Self {
        Self {
            locals: Locals::new(program, growth),
            memories: Interner::default(),
            attacks: Interner::default(),
            controls: Interner::default(),
            labels: Interner::default(),
            spare,
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            arena: Vec::new(),
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

    /// Whether the path has come to the address of the delayed store: the happens-before cycle is closed once that store reaches memory.
    pub(super) fn is_success(&self, control: u32) -> bool {
        self.attack(self.control(control)).is_some_and(|attack| attack.level(attack.store_address).is_some())
    }

    /// Whether an attacker may do something at a local state while it delays a store to an address: a load, or a store to another address.
    pub(super) fn goes_on(&mut self, local: u32, store_address: Value) -> bool {
        let (first, last) = self.locals.moves(local);
        (first..last).any(|index| {
            let step = self.locals.move_at(index);
            match step.operation {
                Operation::Load(_) => true,
                Operation::Store(address, _) => address != store_address,
                Operation::Faulty(_) => !self.drains(local, step.instruction),
                _ => false,
            }
        })
    }

    /// Whether an instruction at a local state waits for an empty buffer.
    pub(super) fn drains(&self, local: u32, instruction: InstructionId) -> bool {
        self.program().thread(self.local(local).thread).instruction(instruction).action.drains_buffer()
    }

    /// The initial configurations; none when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let memory = self.memories.intern(Memory::default()).0;
        let control = self.controls.intern(Control { memory, attack: None }).0;
        let locals = &mut self.locals;
        let tokens = InitialTokens::of(locals.program, self.spare, &mut |thread| {
            let places = locals.initial(thread)?.into_iter().flatten();
            Ok(places.map(|local| Place::of(local, false).number()).collect())
        })?;
        let Some(InitialTokens { roots, spare_places }) = tokens else { return Ok(None) };
        self.spare_places = spare_places.into_iter().map(Place::from_number).collect();
        Ok(Some(roots.into_iter().map(|entries| Root { control, entries }).collect()))
    }
}
