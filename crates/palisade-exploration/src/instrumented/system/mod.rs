//! Instrumented programs [ESOP13, Eqs. 1–13, §6] as lazily built nets, whatever the memory model.
//!
//! The control is the memory, the lock and what the [`MemoryModel`] keeps there: the *phase* of an
//! attack. The counters are the local states of the threads, each with what the model says of such
//! a thread (its *mark*), so that fixed and any numbers of copies are explored alike.
//!
//! * *Settling*: local instructions follow at once the memory action that leads to them. They
//!   commute with everything other threads do, so that this loses no behaviour; only local states
//!   at which memory is touched remain.
//! * *Dead registers* are 0.
//! * *Spare copies*: where replicated threads have a fixed number of copies together, each is free
//!   to be any of them.
//!
//! DIVERGENCE [ESOP13, Eq. 7]: the paper's guard stops every helper off the path once the path has
//! begun. Here a helper off the path may still take a `lock` and act inside its section, as its
//! section may join with a later access: a locked read before a locked store would otherwise keep
//! it from ever joining. Sound: the guard only prunes, since happens-before is stable under
//! inserting actions of helpers (Lemma 6); a run found without it is put in the paper's form before
//! it is shown.
//!
//! DIVERGENCE [ESOP13, §2]: the paper has no locked sections. A section is one node of the trace,
//! so it joins the path as a whole when one of its accesses does, judged against the levels before
//! the section; its earlier accesses are kept beside the levels until then. LANGUAGE.md says why
//! one node per access would be wrong.

mod balances;
mod control;
mod counting;
mod initial;
mod local;
mod model;
mod path;
mod place;
mod roots;
mod steps;
mod turned;
mod turning;
mod turns;

pub use control::{Control, Memory, Phase};
pub(super) use control::{lookup, set, written};
pub use counting::Counting;
pub use initial::InitialTokens;
pub use local::{Growth, Local, Operation};
pub(crate) use local::{Locals, Move, Points, Targets, number};
pub use model::{Act, MemoryModel, Moved, Movers};
pub use path::{Helped, Path};
pub(super) use path::{OffPath, access, off_path, phase_after, raise};
pub use place::Place;
pub use roots::Root;
pub(crate) use turned::Turned;
pub use turning::NO_TURN;
pub(super) use turns::Taken;

use super::fault::Fault;
use super::reached::Reached;
use crate::lazy::{Exploration, Interner, Step};
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{Balances, InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use turning::Turning;

/// A program instrumented for a memory model, as a lazily built net.
#[derive(Clone, Debug)]
pub struct Instrumented<'p, M: MemoryModel> {
    /// Local states and what they can do.
    pub locals: Locals<'p>,
    /// The tables of the model.
    pub model: M,
    memories: Interner<Memory>,
    controls: Interner<Control<M::Phase>>,
    /// The labels of steps, by number.
    labels: Interner<M::Label>,
    /// The number of copies of replicated threads, when bounded.
    spare: Option<u32>,
    /// The initial places of replicated threads.
    spare_places: Vec<u32>,
    /// Steps of one token in one control.
    cache: FxHashMap<(u32, u32), (u32, u32)>,
    step_arena: Vec<Step>,
    /// Steps without a token in one control.
    lone_cache: FxHashMap<u32, (u32, u32)>,
    lone_arena: Vec<Step>,
    /// The counters up to whose turns configurations are explored.
    turning: Option<Box<Turning>>,
    /// What copies hold of counts.
    balances: Arc<[Balances]>,
}

impl<'p, M: MemoryModel> Instrumented<'p, M> {
    /// The program instrumented for a model. Where a number is given, the replicated threads have
    /// so many copies together, each free to be any of them.
    pub fn of(program: &'p Program, model: M, growth: Growth, spare: Option<u32>) -> Self {
        Self {
            locals: M::locals(Locals::new(program, growth)),
            model,
            memories: Interner::default(),
            controls: Interner::default(),
            labels: Interner::default(),
            spare,
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            step_arena: Vec::new(),
            lone_cache: FxHashMap::default(),
            lone_arena: Vec::new(),
            turning: None,
            balances: Arc::default(),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.locals.program
    }

    /// Whether some place may hold ω.
    pub fn is_unbounded_net(&self) -> bool {
        self.spare.is_none() && self.program().is_parameterized()
    }

    /// The number of counters (places of local states) and of steps of single tokens listed so far.
    pub fn size(&self) -> (usize, usize) {
        (self.locals.table.len(), self.step_arena.len())
    }

    /// Whether a step was left out because values grow.
    pub fn was_cut(&self) -> bool {
        self.locals.was_cut
    }

    /// Whether what can be reached in it is what the program's copies reach, all of them and no
    /// step left out.
    pub fn is_whole(&self) -> bool {
        self.spare.is_none() && !self.locals.growth.cuts()
    }

    /// Whether steps to further values are left out.
    pub fn leaves_values_out(&self) -> bool {
        self.locals.growth.cuts()
    }

    /// How many copies the replicated threads have together, when that is fixed.
    pub fn spare_copies(&self) -> Option<u32> {
        self.spare
    }

    /// The labels at which threads have been, a delaying attacker's aside.
    pub fn reached(&self) -> &Reached {
        &self.locals.reached
    }

    /// Notes labels that are known to be reached.
    pub fn note_reached(&mut self, reached: &Reached) {
        self.locals.reached.add(reached);
    }

    /// A local state by number.
    pub fn local(&self, number: u32) -> &Local {
        self.locals.table.get(number)
    }

    /// A control by number.
    #[inline]
    pub fn control(&self, control: u32) -> Control<M::Phase> {
        *self.controls.get(control)
    }

    /// A memory by number.
    pub fn memory(&self, memory: u32) -> &Memory {
        self.memories.get(memory)
    }

    /// What a step is.
    pub fn label(&self, step: &Step) -> M::Label {
        *self.labels.get(step.label)
    }

    /// The value of an address in a memory.
    pub fn read(&self, memory: u32, address: Value) -> Value {
        lookup(&self.memories.get(memory).changed, address).unwrap_or_else(|| self.program().initial_value(address))
    }

    /// The number of a memory after a store.
    pub(super) fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        let initial = self.program().initial_value(address);
        written(&mut self.memories, initial, memory, (address, value))
    }

    /// The number of a control.
    pub(super) fn intern(&mut self, control: Control<M::Phase>) -> u32 {
        self.controls.intern(control).0
    }

    /// The number of a step's label.
    pub fn number_label(&mut self, label: M::Label) -> u32 {
        self.labels.intern(label).0
    }

    /// Whether an attack has succeeded in a control.
    pub fn is_success(&self, control: u32) -> bool {
        M::is_success(self, self.controls.get(control))
    }

    /// Explores until an attack has succeeded, and where.
    pub fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        explored.run_until(self, budget, Self::is_success)
    }

    /// The operation of an instruction at a local state, when it stands there.
    pub fn operation(&mut self, local: u32, instruction: InstructionId) -> Option<Operation> {
        let (start, end) = self.locals.moves(local);
        (start..end)
            .map(|index| self.locals.move_at(index))
            .find(|step| step.instruction == instruction)
            .map(|step| step.operation)
    }

    /// The settled local states a thread may start in; none when it stops at once.
    pub(crate) fn initial_locals(&mut self, thread: ThreadId) -> Result<Vec<u32>, Fault> {
        Ok(self.locals.initial(thread)?.into_iter().flatten().collect())
    }
}
