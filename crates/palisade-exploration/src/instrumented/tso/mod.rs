//! The instrumented program against TSO [ESOP13, Eqs. 1–13, §6].
//!
//! One transition system serves all attacks. The *phases* of its controls are those of the witness
//! of Fig. 4: under SC before the first delayed store (τ1), the attacker delaying (isu · τ2), the
//! helpers alone after the attack's load (τ3). The phases only go forward, and what a phase can do
//! does not depend on the phases before, so that the SC part is explored once for all attacks, the
//! delaying part once for all loads of a store, and the last part is shared by all attacks of a
//! thread. Steps from phase to phase are no steps of the net: searches take them
//! ([`System::delay_starts`], [`System::attack_loads`]).
//!
//! * A read that waits is a step only with a value that it waits for: a try that fails is no event.
//!   [ESOP13, Theorem 1] still holds, because a computation with one attacker can be taken in which
//!   each read takes the value that it took before. *Proof.* A section is one node of the trace.
//! Cut
//!   a computation off where a cycle closes: a store reaches memory, and no section is open.
//! Before,
//!   the trace is acyclic and some waiting store is *bad*: a path of happens-before leads from it
//! to
//!   an access to its address in memory. Nodes may be executed along any linear extension, with the
//!   same stores waiting, and so may each set of nodes closed under what happens before them. Take
//! a
//!   bad computation with as few waiting stores as possible. The oldest waiting store of each
//! thread
//!   is bad, as else it could reach memory. Let z be the first access to which a path leads from an
//!   oldest waiting store to its address, and keep what happens before z. Then all oldest waiting
//!   stores are to the address of z and happen before z. A thread's *tail* begins at its oldest
//!   waiting store, and has only waiting stores and loads, none of which others read from; z is in
//!   none. Of a path from such a store to z let t be the last thread whose tail it meets, and leave
//!   all other tails out. All else reads what it read, and the path still leads from t's oldest
//!   waiting store to z. So t alone delays. Put what happens after its last load on the path behind
//!   that load: the form of [ESOP13, Fig. 4]. ∎ PSO has no such tails: stores of other addresses
//! may
//!   overtake. In `x←1; u←1`, `x←1; v←1` and `await u = 1; await v = 1; await x = 0` the last read
//!   needs both stores of x delayed. So tries are events there, as where tasks are.
//! * The attacker is part of the control. It moves instruction by instruction (fences are sought
//!   among its labels), and alone while only local instructions stand at its label.
//! * After ld_A the attacker and its buffer are gone: what remains to be known is the address of
//!   st_A and which addresses were accessed in happens-before order (Lemma 3).

mod attacker;
mod lengths;

pub(super) use attacker::Load;
pub use attacker::{Attacker, Loads};
pub(super) use lengths::Settled;

use super::fault::Fault;
use super::system::{
    Act, Control, Growth, Helped, Instrumented, Local, Locals, MemoryModel, Move, Movers, Operation, Phase, Place,
    phase_after,
};
use crate::lazy::Interner;
use palisade_model::program::{InstructionId, Program, ThreadId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What an instruction stores when it updates memory, and the local states it settles in, none
/// where the thread stops.
pub(crate) type Effect = (Option<Value>, Vec<Option<u32>>);

/// TSO: one thread delays its stores in a buffer.
#[derive(Clone, Debug, Default)]
pub struct Tso {
    attackers: Interner<Attacker>,
    helped: Interner<Helped>,
    /// What becomes of an attacker by an instruction that, if it loads, reads a value.
    attackers_after: FxHashMap<(u32, InstructionId, Value), SmallVec<[u32; 1]>>,
    /// The first step of a delaying attacker that had no value.
    only_under_tso: Option<Fault>,
}

/// The instrumented program against TSO.
pub type System<'p> = Instrumented<'p, Tso>;

impl MemoryModel for Tso {
    type Phase = Phase;
    /// Whether the thread has joined the happens-before path.
    type Mark = bool;
    type Label = (ThreadId, InstructionId);

    fn locals(locals: Locals<'_>) -> Locals<'_> {
        locals.awaiting()
    }

    fn initial(&mut self) -> (Phase, bool) {
        (Phase::Sc, false)
    }

    fn place(_: &mut System<'_>, local: u32, joined: bool) -> u32 {
        Place::of(local, joined).number()
    }

    fn token(&self, place: u32) -> (u32, bool) {
        let place = Place::from_number(place);
        (place.local(), place.joined())
    }

    fn label(thread: ThreadId, instruction: InstructionId) -> Self::Label {
        (thread, instruction)
    }

    fn after(&mut self, before: Phase, joined: bool, act: &Act) -> Option<(Phase, bool)> {
        phase_after(&mut self.helped, before, joined, act.holding, act.made())
    }

    /// Whether the happens-before cycle is closed and st_A can reach memory (Eq. 13).
    fn is_success(net: &System<'_>, control: &Control<Phase>) -> bool {
        matches!(control.phase, Phase::Helped(number) if !control.locked && net.helped(number).is_closed())
    }

    fn movers(net: &System<'_>, phase: Phase) -> Movers {
        match phase {
            Phase::Delayed(number) => {
                let Attacker { thread, label, .. } = *net.attacker(number);
                if net.attacker_has_priority(thread, label) { Movers::Lone } else { Movers::All }
            }
            _ => Movers::Tokens,
        }
    }

    fn lone_steps(net: &mut System<'_>, control: u32) -> Result<(), Fault> {
        net.attacker_steps(control)
    }

    fn turned(net: &mut System<'_>, phase: Phase, turn: u32) -> Phase {
        match phase {
            Phase::Delayed(number) => Phase::Delayed(net.turned_attacker(number, turn)),
            phase => phase,
        }
    }
}

impl<'p> System<'p> {
    /// The instrumented program with the copies that the program declares.
    pub fn new(program: &'p Program, growth: Growth) -> Self {
        Self::of(program, Tso::default(), growth, None)
    }

    /// The instrumented program in which the replicated threads have `copies` copies together.
    pub fn with_spare_copies(program: &'p Program, growth: Growth, copies: u32) -> Self {
        Self::of(program, Tso::default(), growth, Some(copies))
    }

    /// A step that has no value and that an attacker has come to. When all that is reachable under
    /// SC has been explored without a fault, TSO alone reaches it.
    pub fn only_under_tso(&self) -> Option<&Fault> {
        self.model.only_under_tso.as_ref()
    }

    /// The local state of a place.
    pub fn local_at(&self, place: Place) -> &Local {
        self.local(place.local())
    }

    /// A delaying attacker by number.
    pub fn attacker(&self, number: u32) -> &Attacker {
        self.model.attackers.get(number)
    }

    /// What is known after ld_A, by number.
    pub fn helped(&self, number: u32) -> &Helped {
        self.model.helped.get(number)
    }

    /// The non-local instructions at a local state.
    pub(crate) fn operations(&mut self, local: u32) -> Vec<(InstructionId, Operation)> {
        let (start, end) = self.locals.moves(local);
        (start..end).map(|index| self.locals.move_at(index)).map(|step| (step.instruction, step.operation)).collect()
    }

    /// What an instruction at a local state stores when it updates memory, and where it settles,
    /// when memory holds `read`.
    pub(crate) fn effect(
        &mut self,
        local: u32,
        instruction: InstructionId,
        operation: Operation,
        read: Value,
    ) -> Result<Option<Effect>, Fault> {
        if let Operation::Faulty(fault) = operation {
            return Err(self.locals.faults[fault as usize].clone());
        }
        let outcome = self.locals.outcome(local, Move { instruction, operation }, read)?;
        Ok(outcome.map(|outcome| (outcome.stored, self.locals.targets(outcome.targets).to_vec())))
    }

    /// The initial place from which a spare copy became the attacker of a control by delaying its
    /// first store.
    pub fn spare_start(&mut self, control: u32, store: InstructionId) -> Place {
        let Phase::Delayed(number) = self.control(control).phase else { unreachable!("delaying has started") };
        let attacker = self.attacker(number).clone();
        let places: Vec<u32> = self.spare_places().to_vec();
        let place = places.into_iter().map(Place::from_number).find(|place| {
            let mut registers = self.local_at(*place).registers.clone();
            self.locals.liveness[attacker.thread.index()].forget_dead(attacker.label, &mut registers);
            let operation = self.operation(place.local(), store);
            self.local_at(*place).thread == attacker.thread
                && registers == attacker.registers
                && operation == attacker.buffer.first().map(|(address, value)| Operation::Store(*address, *value))
        });
        place.expect("a spare copy that delays its first store starts where the store stands")
    }
}
