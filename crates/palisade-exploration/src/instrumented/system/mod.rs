//! The instrumented program [ESOP13, Eqs. 1–13, §6] as a lazily built net.
//!
//! One transition system serves all attacks. Its control is the memory, the lock and the *phase* of the witness of
//! Fig. 4: under SC before the first delayed store (τ1), the attacker delaying (isu · τ2), the helpers alone after the
//! attack's load (τ3). Its counters are the local states of the threads. The phases only go forward, and
//! what a phase can do does not depend on the phases before, so that the SC part is explored once for all attacks, the
//! delaying part once for all loads of a store, and the last part is shared by all attacks of a thread.
//!
//! * *Settling*: local instructions follow at once the memory action that leads to them. They commute with everything
//!   other threads do, so that this loses no behaviour; only local states at which memory is touched remain.
//! * *Dead registers* are 0.
//! * The attacker is part of the control. It moves instruction by instruction (fences are sought among its labels),
//!   and alone while only local instructions stand at its label.
//! * After ld_A the attacker and its buffer are gone: what remains to be known is the address of st_A and
//!   which addresses were accessed in happens-before order (Lemma 3).
//!
//! DIVERGENCE [ESOP13, Eq. 7]: the paper's guard stops every helper off the path once the path has begun. Here a helper off the path
//! may still take a `lock` and act inside its section, as its section may join with a later access: a locked read before a locked store
//! would otherwise keep it from ever joining. Sound: the guard only prunes, since happens-before is stable under inserting
//! actions of helpers (Lemma 6); a run found without it is put in the paper's form before it is shown.
//!
//! DIVERGENCE [ESOP13, §2]: the paper has no locked sections. A section is one node of the trace, so it joins the path as a
//! whole when one of its accesses does, judged against the levels before the section; its earlier accesses are kept beside the
//! levels until then. LANGUAGE.md says why one node per access would be wrong.

mod attacker;
mod control;
mod counting;
mod initial;
mod lengths;
mod local;
mod path;
mod place;
mod roots;
mod steps;
mod turning;
mod turns;

pub(super) use attacker::Load;
pub use attacker::Loads;
pub use control::{Attacker, Control, Helped, Memory, Phase};
pub(super) use control::{lookup, raise, set};
pub use counting::Counting;
pub use initial::InitialTokens;
pub(super) use lengths::Settled;
pub use local::{Growth, Local, Operation};
pub(crate) use local::{Locals, Move, Targets, number};
pub(super) use path::{OffPath, access, off_path};
pub use place::Place;
pub use roots::Root;
pub use turning::NO_TURN;

use super::fault::Fault;
use super::reached::Reached;
use crate::lazy::Step;
use control::Controls;
use palisade_model::program::{InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use turning::Turning;

/// The instrumented program as a lazily built net, for all attacks.
#[derive(Clone, Debug)]
pub struct System<'p> {
    locals: Locals<'p>,
    controls: Controls,
    /// The number of copies of replicated threads, when bounded.
    spare: Option<u32>,
    /// The first label number of each thread's instructions.
    first_label: Vec<u32>,
    /// The initial places of replicated threads.
    spare_places: Vec<Place>,
    /// Steps of one token in one control.
    cache: FxHashMap<(u32, u32), (u32, u32)>,
    step_arena: Vec<Step>,
    /// Steps of the attacker in one control.
    attacker_cache: FxHashMap<u32, (u32, u32)>,
    attacker_arena: Vec<Step>,
    /// What becomes of an attacker by an instruction that, if it loads, reads a value.
    attackers_after: FxHashMap<(u32, InstructionId, Value), SmallVec<[u32; 1]>>,
    /// The first step of a delaying attacker that had no value.
    only_under_tso: Option<Fault>,
    /// The counters up to whose turns configurations are explored.
    turning: Option<Box<Turning>>,
}

impl<'p> System<'p> {
    /// The system of a program with the copies it declares.
    pub fn new(program: &'p Program, growth: Growth) -> Self {
        let first_label = program
            .threads
            .iter()
            .scan(0, |next, thread| {
                let first = *next;
                *next += number(thread.instructions.len());
                Some(first)
            })
            .collect();
        Self {
            locals: Locals::new(program, growth),
            controls: Controls::default(),
            spare: None,
            first_label,
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            step_arena: Vec::new(),
            attacker_cache: FxHashMap::default(),
            attacker_arena: Vec::new(),
            attackers_after: FxHashMap::default(),
            only_under_tso: None,
            turning: None,
        }
    }

    /// The system in which the replicated threads have `copies` copies together, each free to be any of them.
    pub fn with_spare_copies(program: &'p Program, growth: Growth, copies: u32) -> Self {
        Self { spare: Some(copies), ..Self::new(program, growth) }
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

    /// A step that has no value and that an attacker has come to. When all that is reachable under SC has been explored
    /// without a fault, TSO alone reaches it.
    pub fn only_under_tso(&self) -> Option<&Fault> {
        self.only_under_tso.as_ref()
    }

    /// Whether a step was left out because values grow.
    pub fn was_cut(&self) -> bool {
        self.locals.was_cut
    }

    /// Whether what can be reached in it is what the program's copies reach, all of them and no step left out.
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

    /// The local state of a place.
    pub fn local(&self, place: Place) -> &Local {
        self.locals.table.get(place.local())
    }

    /// A local state by number.
    pub fn local_state(&self, number: u32) -> &Local {
        self.locals.table.get(number)
    }

    /// A control by number.
    pub fn control(&self, control: u32) -> Control {
        *self.controls.controls.get(control)
    }

    /// The memory of a control.
    pub fn memory(&self, control: Control) -> &Memory {
        self.controls.memories.get(control.memory)
    }

    /// A delaying attacker by number.
    pub fn attacker(&self, number: u32) -> &Attacker {
        self.controls.attackers.get(number)
    }

    /// What is known after ld_A, by number.
    pub fn helped(&self, number: u32) -> &Helped {
        self.controls.helped.get(number)
    }

    /// The number of a step's label.
    pub fn label_of(&self, thread: ThreadId, instruction: InstructionId) -> u32 {
        self.first_label[thread.index()] + number(instruction.index())
    }

    /// The thread and instruction of a step's label.
    pub fn instruction_of(&self, label: u32) -> (ThreadId, InstructionId) {
        let thread = self.first_label.partition_point(|first| *first <= label) - 1;
        // Threads without instructions share their successor's first label; the last one with it owns it.
        (ThreadId::from_index(thread), InstructionId::from_index((label - self.first_label[thread]) as usize))
    }

    /// The value of an address in a memory.
    pub fn read(&self, memory: u32, address: Value) -> Value {
        lookup(&self.controls.memories.get(memory).changed, address)
            .unwrap_or_else(|| self.program().initial_value(address))
    }

    fn intern(&mut self, control: Control) -> u32 {
        self.controls.controls.intern(control).0
    }
}
