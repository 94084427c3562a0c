//! Checks that a program is robust against C11 or release/acquire, from its text and a certificate
//! alone.
//!
//! A program is not robust, or has a race, exactly when the instrumented program reaches success
//! (THEORY.md, "Robustness against C11"). The checker follows the instrumented semantics itself
//! ([`steps`], [`knowledge`]) and asks of the certificate's set that it contains the initial
//! configurations, is closed under all steps, and contains no success.
//!
//! The certificate may leave facts out of what threads and addresses know. That is sound whatever
//! it leaves out: facts only ever keep an access from being the last one, so that what knows less
//! can do more.

mod configuration;
mod hopeless;
mod knowledge;
mod shifted;
mod steps;

use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{Numbering, initial_tokens};
use configuration::{Configuration, Control, DownSet, Token};
use hashbrown::{HashMap, HashSet};
use hopeless::{Deeds, Prospect, Stand};
use knowledge::{Event, Families, Thread as Known};
use palisade_evidence::{Forgotten, StaleCertificate};
use palisade_model::program::{
    Copies, Instruction, InstructionId, LabelId, Operation, Ordering, Program, Thread, ThreadId, Value,
};
use palisade_semantics::graphs::{Axioms, EventKind, access, by_language, not_in_language};
use std::rc::Rc;

/// The program as this checker sees it.
struct Guessing<'a> {
    model: Model<'a>,
    axioms: Axioms,
    /// The families of paths that there are.
    families: Families,
    forgotten: HashMap<(ThreadId, LabelId), Forgotten>,
    unheard: HashSet<Value>,
    /// Whether addresses keep what their messages know.
    kept: HashMap<Value, bool>,
    /// What is asked about threads that do not know.
    prospects: Numbering<Prospect>,
    /// What such threads may do from where they stand.
    deeds: HashMap<(Stand, u32), Rc<Deeds>>,
}

/// Checks that `certificate` shows `program` (with its copies and domain) to be robust, and without
/// races.
pub fn check_stale_certificate(program: &Program, certificate: &StaleCertificate) -> Result<(), CheckFailure> {
    if let Some(obstacle) = not_in_language(program) {
        reject!(Form, "the program has no execution graphs: {}", obstacle.describe());
    }
    if !Axioms::LANGUAGES.contains(&certificate.axioms) {
        reject!(Form, "a certificate is about C11 or release/acquire");
    }
    let stated = with_equal_threads_as_one(by_language(program));
    let StaleCertificate { axioms, live, forgotten, unheard, shifts, locals, memories, configurations } = certificate;
    let mut guessing = Guessing {
        model: Model::with_tables(&stated, live, locals, memories)?,
        axioms: *axioms,
        families: families(&stated, *axioms),
        forgotten: forgotten.iter().map(|it| ((it.thread, it.label), *it)).collect(),
        unheard: unheard.iter().copied().collect(),
        kept: HashMap::new(),
        prospects: Numbering::new(),
        deeds: HashMap::new(),
    };
    if let Some(far) = shifts {
        guessing.take_shifts(far)?;
    }
    let decoded = configurations.iter().map(|it| guessing.decode(it)).collect::<Result<_, _>>()?;
    let set = DownSet::new(decoded);
    for initial in guessing.initial_configurations()? {
        let initial = guessing.unshifted(initial)?;
        if !set.contains(&initial) {
            reject!(Initial, "no configuration covers the initial {}", guessing.in_words(&initial));
        }
    }
    for configuration in set.configurations() {
        for successor in guessing.successors(configuration)? {
            if guessing.is_hopeless(&successor)? {
                continue;
            }
            let successor = guessing.unshifted(successor)?;
            if !set.contains(&successor) {
                let (after, before) = (guessing.in_words(&successor), guessing.in_words(configuration));
                reject!(Inductive, "the set does not cover {after}, where a step leads from {before}");
            }
        }
    }
    Ok(())
}

/// The program in which the first of several threads with the same code has the copies of all:
/// fixed ones of fixed ones, any number of any number.
fn with_equal_threads_as_one(mut program: Program) -> Program {
    for later in 1..program.threads.len() {
        for earlier in 0..later {
            let (before, from) = program.threads.split_at_mut(later);
            let (first, other) = (&mut before[earlier], &mut from[0]);
            let copies = match (first.copies, other.copies) {
                (Copies::Exactly(first @ 1..), Copies::Exactly(other @ 1..)) => {
                    first.checked_add(other).map(Copies::Exactly)
                }
                (Copies::Any, Copies::Any) => Some(Copies::Any),
                _ => None,
            };
            if let Some(copies) = copies.filter(|_| is_same_code(first, other)) {
                first.copies = copies;
                other.copies = Copies::Exactly(0);
            }
        }
    }
    program
}

fn is_same_code(one: &Thread, other: &Thread) -> bool {
    let is_same = |(one, other): (&Instruction, &Instruction)| {
        one.source == other.source
            && one.target == other.target
            && one.action == other.action
            && one.stated == other.stated
    };
    one.initial == other.initial
        && one.labels.len() == other.labels.len()
        && one.registers.len() == other.registers.len()
        && one.registers.iter().zip(&other.registers).all(|(one, other)| one.initial == other.initial)
        && one.instructions.len() == other.instructions.len()
        && one.instructions.iter().zip(&other.instructions).all(is_same)
}

/// The families of paths that there are in a program.
fn families(program: &Program, axioms: Axioms) -> Families {
    let mut found = [false; 2];
    for thread in program.threads.iter().filter(|thread| thread.copies != Copies::Exactly(0)) {
        for instruction in &thread.instructions {
            for (kind, ordering) in [true, false].into_iter().filter_map(|stores| access(axioms, instruction, stores)) {
                found[0] |= ordering == Ordering::SeqCst && kind != EventKind::Fence;
                found[1] |= ordering == Ordering::SeqCst;
            }
        }
    }
    found
}

impl Guessing<'_> {
    /// Every initial configuration: nothing is guessed, and the copies of threads have settled.
    fn initial_configurations(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.model.memories.number(super::configuration::Memory::new());
        let control = Control { memory, guess: None };
        let program = self.model.program;
        let token = |local| Token { local, thread: Known::default() };
        let choices =
            initial_tokens(program, |id| Ok(self.model.initial_states(id)?.iter().copied().map(token).collect()))?;
        Ok(choices.into_iter().map(|tokens| Configuration { control: control.clone(), tokens }).collect())
    }

    /// What an instruction is to the axioms; nothing for a fence, and for what is no event.
    fn event(&self, (thread, id): (ThreadId, InstructionId), stores: bool) -> Option<Event> {
        let (kind, ordering) = access(self.axioms, self.model.instruction(thread, id), stores)?;
        (kind != EventKind::Fence).then(|| Event { reads: kind.reads(), writes: kind.writes(), ordering })
    }

    /// Whether an instruction may access an address: a constant names it, or the address is
    /// computed.
    fn may_access(&self, (thread, id): (ThreadId, InstructionId), address: Value) -> bool {
        self.model.instruction(thread, id).action.address().is_some_and(|accessed| {
            !accessed.is_constant() || accessed.evaluate_address(&[]).is_ok_and(|accessed| accessed == address)
        })
    }

    /// The instructions that may access an address, of threads that there are.
    fn accesses(&self, address: Value) -> Vec<(ThreadId, InstructionId)> {
        let threads = self.model.program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0));
        let all = threads.flat_map(|(thread, own)| own.instruction_ids().map(move |(id, _)| (thread, id)));
        all.filter(|at| self.may_access(*at, address)).collect()
    }

    /// Whether some access of an address waits or compares.
    fn compares(&self, address: Value) -> bool {
        self.accesses(address).iter().any(|(thread, id)| {
            let operation = self.model.instruction(*thread, *id).operation();
            let expects = matches!(operation, Some(Operation::Update { expected: Some(_), .. }));
            expects || self.model.instruction(*thread, *id).until().is_some()
        })
    }

    /// Whether nobody waits at an address, compares or updates it. Then the guess may be its last
    /// write: in the graph of what leads to the last event, that one could as well read what the
    /// last write has overwritten, or come right before that write.
    fn is_plainly_accessed(&self, address: Value) -> bool {
        !self.compares(address) && !self.any_event(address, |event| event.reads && event.writes)
    }

    /// Whether two different copies may access an address.
    fn is_shared(&self, address: Value) -> bool {
        let accesses = self.accesses(address);
        let mut threads: Vec<ThreadId> = accesses.iter().map(|(thread, _)| *thread).collect();
        threads.dedup();
        let is_one = |thread: &ThreadId| self.model.program.thread(*thread).copies == Copies::Exactly(1);
        threads.len() > 1 || threads.iter().any(|thread| !is_one(thread))
    }

    /// Whether an access of an address may be as a condition says, by the orderings with which it
    /// may be made.
    fn any_event(&self, address: Value, holds: impl Fn(Event) -> bool) -> bool {
        let accesses = self.accesses(address);
        let mut events =
            accesses.iter().flat_map(|at| [true, false].into_iter().filter_map(|stores| self.event(*at, stores)));
        events.any(holds)
    }
}
