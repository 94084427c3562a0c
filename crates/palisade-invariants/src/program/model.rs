//! The program as the checker sees it: live registers, local instructions, where threads start.

use super::configuration::{Configuration, Control, Memory, Phase, Token};
use super::counters::Counters;
use super::counts::Counts;
use super::known::Known;
use super::modulo::Watch;
use super::tickets::Turns;
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::{Live, checked_liveness};
use crate::tokens::{MOST_CHOICES, Numbering, initial_tokens, strictly_ascending};
use hashbrown::{HashMap, HashSet};
use palisade_evidence::{LocalState, RobustCertificate};
use palisade_model::program::{
    Action, ByLabel, EvaluationError, Expression, Instruction, InstructionId, LabelId, Program, RegisterId, Thread,
    ThreadId, Value,
};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The program with the certificate's live registers, and the states met so far by number.
pub(super) struct Model<'a> {
    pub(super) program: &'a Program,
    /// For each thread, label and register: whether it is live there.
    live: Live,
    /// For each thread and label, the instructions there.
    by_label: Vec<ByLabel>,
    pub(super) locals: Numbering<LocalState>,
    pub(super) memories: Numbering<Memory>,
    pub(super) phases: Numbering<Phase>,
    /// Where local instructions lead from a state, under the terms.
    settled: HashMap<(LocalState, bool), Rc<[u32]>>,
    pub(super) known: Known,
    /// The numbers of the certificate's local states, by their position in its table.
    pub(super) local_numbers: Vec<u32>,
    /// The numbers of the certificate's memories, by their position in its table.
    pub(super) memory_numbers: Vec<u32>,
    terms: Terms,
}

/// What is asked of steps besides that they lead into sets.
#[derive(Default)]
pub(super) struct Terms {
    /// The counters up to whose shifts sets are closed, where that is asked.
    pub(super) counters: Option<Rc<Counters>>,
    /// What values that are no counters must not leave, where counters are known modulo a number
    /// only.
    pub(super) watch: Option<Watch>,
    /// The counts of which copies hold something.
    pub(super) counts: Counts,
    /// Who takes turns, where tickets are erased.
    pub(super) turns: Option<Turns>,
    /// Each `fail` that no thread must come to.
    pub(super) never: BTreeSet<(ThreadId, InstructionId)>,
}

impl<'a> Model<'a> {
    /// Checks the certificate's live registers and tables.
    pub(super) fn new(program: &'a Program, certificate: &RobustCertificate) -> Result<Self, CheckFailure> {
        Self::with_tables(program, &certificate.live, &certificate.locals, &certificate.memories)
    }

    /// Checks live registers and tables of local states and memories.
    pub(super) fn with_tables(
        program: &'a Program,
        live: &[Vec<Vec<RegisterId>>],
        locals: &[LocalState],
        memories: &[Vec<(Value, Value)>],
    ) -> Result<Self, CheckFailure> {
        let mut model = Self {
            program,
            live: checked_liveness(program, live)?,
            by_label: program.threads.iter().map(Thread::instructions_by_label).collect(),
            locals: Numbering::new(),
            memories: Numbering::new(),
            phases: Numbering::new(),
            settled: HashMap::new(),
            known: Known::default(),
            local_numbers: Vec::with_capacity(locals.len()),
            memory_numbers: Vec::with_capacity(memories.len()),
            terms: Terms::default(),
        };
        for local in locals {
            model.check_local(local)?;
            let number = model.locals.number(local.clone());
            model.local_numbers.push(number);
        }
        for memory in memories {
            let mut memory = strictly_ascending(memory, "memory")?;
            memory.retain(|address, value| *value != program.initial_value(*address));
            let number = model.memories.number(memory);
            model.memory_numbers.push(number);
        }
        Ok(model)
    }

    /// From here on sets have to be closed up to shifts of the program's counters only; whether
    /// there are any.
    pub(super) fn count(&mut self) -> bool {
        let counters = self.found_counters().map(Rc::new);
        let are_any = counters.is_some();
        self.change_terms(|terms| terms.counters = counters);
        are_any
    }

    /// The terms.
    pub(super) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Changes the terms, under which states may settle in other ways, or in none.
    pub(super) fn change_terms(&mut self, change: impl FnOnce(&mut Terms)) {
        change(&mut self.terms);
        self.settled.clear();
        self.known = Known::default();
    }

    /// The program's counters, if there are any.
    pub(super) fn found_counters(&self) -> Option<Counters> {
        Counters::of(self.program, &self.live)
    }

    /// Checks that a state is one of its thread: its label exists, and its dead registers are 0.
    pub(super) fn check_local(&self, local: &LocalState) -> Result<(), CheckFailure> {
        let Some(thread) = self.program.threads.get(local.thread.index()) else {
            reject!(Form, "there is no thread {}", local.thread);
        };
        let Some(live) = self.live[local.thread.index()].get(local.label.index()) else {
            reject!(Form, "thread `{}` has no label {}", thread.name, local.label);
        };
        if local.registers.len() != live.len() {
            reject!(Form, "thread `{}` has {} registers, not {}", thread.name, live.len(), local.registers.len());
        }
        if local.registers.iter().zip(live).any(|(value, live)| !live && *value != 0) {
            reject!(Form, "a state of thread `{}` at label {} gives a dead register a value", thread.name, local.label);
        }
        Ok(())
    }

    /// The number of a local state.
    pub(super) fn local_number(&mut self, local: LocalState) -> u32 {
        self.locals.number(local)
    }

    /// The local state with the given number.
    pub(super) fn local(&self, number: u32) -> &LocalState {
        self.locals.get(number)
    }

    /// The number of a phase.
    pub(super) fn phase_number(&mut self, phase: Phase) -> u32 {
        self.phases.number(phase)
    }

    /// The phase of a control.
    pub(super) fn phase(&self, control: &Control) -> &Phase {
        self.phases.get(control.phase)
    }

    /// The instructions at a label.
    pub(super) fn instructions_at(&self, thread: ThreadId, label: LabelId) -> &[InstructionId] {
        &self.by_label[thread.index()][label.index()]
    }

    /// An instruction of a thread.
    pub(super) fn instruction(&self, thread: ThreadId, instruction: InstructionId) -> &'a Instruction {
        self.program.thread(thread).instruction(instruction)
    }

    /// `registers` with 0 for those that are dead at `label`.
    pub(super) fn only_live(&self, thread: ThreadId, label: LabelId, mut registers: Vec<Value>) -> Vec<Value> {
        for (value, live) in registers.iter_mut().zip(&self.live[thread.index()][label.index()]) {
            if !live {
                *value = 0;
            }
        }
        registers
    }

    /// The values of the registers after a local instruction: none when it blocks, several when it
    /// chooses.
    pub(super) fn after_local_instruction(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
        registers: &[Value],
    ) -> Result<Vec<Vec<Value>>, CheckFailure> {
        let domain = self.program.domain;
        let set = |register: usize, value: Value| {
            let mut registers = registers.to_vec();
            registers[register] = value;
            registers
        };
        Ok(match &self.instruction(thread, instruction).action {
            Action::Assign { register, value } => {
                let value = self.evaluate((thread, instruction), value, registers, 0)?;
                vec![set(register.index(), value)]
            }
            Action::Havoc { register } => match domain {
                Some(domain) if domain.size() <= MOST_CHOICES as u128 => {
                    domain.values().map(|value| set(register.index(), value)).collect()
                }
                _ => reject!(Form, "{} chooses among too many values", self.instruction_in_words(thread, instruction)),
            },
            Action::Assume(condition) => {
                self.keep_watch((thread, instruction), condition, registers)?;
                let holds = self.value(thread, instruction, condition.holds(registers, domain))?
                    || self.may_hold((thread, instruction), condition, registers, 0)?;
                if holds { vec![registers.to_vec()] } else { Vec::new() }
            }
            Action::Nop | Action::StoreFence | Action::Ensure(_) => vec![registers.to_vec()],
            Action::Fail if self.terms.never.contains(&(thread, instruction)) => {
                reject!(Safe, "{} is reached", self.instruction_in_words(thread, instruction))
            }
            _ => Vec::new(),
        })
    }

    /// The value of an expression of an instruction where the instruction has loaded `old`.
    pub(super) fn evaluate(
        &self,
        (thread, instruction): (ThreadId, InstructionId),
        expression: &Expression,
        registers: &[Value],
        old: Value,
    ) -> Result<Value, CheckFailure> {
        if let Some(watch) = &self.terms.watch {
            watch.over(self.program, (thread, instruction), expression, registers, old)?;
        }
        self.check_written((thread, instruction), expression, registers, old)?;
        let value = expression.evaluate_with_old(registers, old, self.program.domain);
        self.value(thread, instruction, value)
    }

    /// Watches what a condition computes.
    fn keep_watch(
        &self,
        at: (ThreadId, InstructionId),
        condition: &Expression,
        registers: &[Value],
    ) -> Result<(), CheckFailure> {
        self.terms.watch.as_ref().map_or(Ok(()), |watch| watch.over(self.program, at, condition, registers, 0))
    }

    /// A value computed by an instruction; a program that has none is not robust by any
    /// certificate.
    pub(super) fn value<T>(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
        value: Result<T, EvaluationError>,
    ) -> Result<T, CheckFailure> {
        match value {
            Ok(value) => Ok(value),
            Err(error) => reject!(Form, "{}: {error}", self.instruction_in_words(thread, instruction)),
        }
    }

    /// The address that an instruction accesses. A computed one must not be a counter's of which
    /// the equations do not know: what shifts with it would be seen.
    pub(super) fn address(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
        address: &Expression,
        registers: &[Value],
    ) -> Result<Value, CheckFailure> {
        let value = self.value(thread, instruction, address.evaluate_address(registers))?;
        self.check_known((thread, instruction), address, registers)?;
        if self.terms.counters.as_ref().is_some_and(|counters| !counters.keeps_to(thread, instruction, value)) {
            reject!(Form, "{} comes to a counter, or leaves its own,", self.instruction_in_words(thread, instruction));
        }
        if !address.is_constant() && self.terms.counts.has(value) {
            reject!(Form, "{} comes to a count", self.instruction_in_words(thread, instruction));
        }
        if !address.is_constant() && self.terms.turns.as_ref().is_some_and(|turns| turns.has(value)) {
            reject!(Form, "{} comes to tickets", self.instruction_in_words(thread, instruction));
        }
        Ok(value)
    }

    /// The address in memory that an instruction accesses when the registers have these values, if
    /// it accesses one.
    pub(super) fn accessed_address(
        &self,
        thread: ThreadId,
        instruction: InstructionId,
        registers: &[Value],
    ) -> Result<Option<Value>, CheckFailure> {
        let address = self.instruction(thread, instruction).action.address();
        address.map(|address| self.value(thread, instruction, address.evaluate_address(registers))).transpose()
    }

    /// The states, by number, in which a thread may next act on memory: those reached by local
    /// instructions only at whose label stands an instruction that is not local. None when the
    /// thread has stopped.
    pub(super) fn settle(&mut self, start: LocalState) -> Result<Rc<[u32]>, CheckFailure> {
        self.settle_as(start, false)
    }

    /// Like [`settle`](Self::settle), and at labels without instructions too, where `keeps_ends`.
    pub(super) fn settle_as(&mut self, start: LocalState, keeps_ends: bool) -> Result<Rc<[u32]>, CheckFailure> {
        let key = (start, keeps_ends);
        if let Some(settled) = self.settled.get(&key) {
            return Ok(Rc::clone(settled));
        }
        let settled: Rc<[u32]> = self.settle_anew(key.0.clone(), keeps_ends)?.into();
        self.settled.insert(key, Rc::clone(&settled));
        Ok(settled)
    }

    fn settle_anew(&mut self, start: LocalState, keeps_ends: bool) -> Result<Vec<u32>, CheckFailure> {
        let LocalState { thread, label, registers, holding } = start;
        let registers = self.only_live(thread, label, registers);
        let mut seen: HashSet<_> = HashSet::from([(label, registers.clone())]);
        let mut waiting = vec![(label, registers)];
        let mut settled = Vec::new();
        while let Some((label, registers)) = waiting.pop() {
            let instructions = self.instructions_at(thread, label).to_vec();
            for id in &instructions {
                let target = self.instruction(thread, *id).target;
                for after in self.after_local_instruction(thread, *id, &registers)? {
                    let next = (target, self.only_live(thread, target, after));
                    if seen.insert(next.clone()) {
                        waiting.push(next);
                    }
                }
            }
            if seen.len() > MOST_CHOICES {
                reject!(Form, "{} has too many states between two accesses", self.thread_in_words(thread));
            }
            let acts = instructions.iter().any(|id| !self.instruction(thread, *id).action.is_local_under_tso());
            if acts || keeps_ends && instructions.is_empty() {
                settled.push(self.locals.number(LocalState { thread, label, registers, holding }));
            }
        }
        Ok(settled)
    }

    /// The states, by number, to which a thread settles before it acts on memory for the first
    /// time.
    pub(super) fn initial_states(&mut self, id: ThreadId) -> Result<Rc<[u32]>, CheckFailure> {
        let thread = self.program.thread(id);
        let registers = thread.initial_registers();
        self.settle(LocalState { thread: id, label: thread.initial, registers, holding: false })
    }

    /// Every initial configuration: each copy of a thread has settled in some way, any number of an
    /// unbounded one in every way.
    pub(super) fn initial_configurations(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.memories.number(Memory::new());
        let control = Control { memory, locked: false, phase: self.phase_number(Phase::Sc) };
        let program = self.program;
        let choices =
            initial_tokens(program, |id| Ok(self.initial_states(id)?.iter().map(|local| unjoined(*local)).collect()))?;
        Ok(choices.into_iter().map(|tokens| Configuration { control, tokens }).collect())
    }
}

/// A token off the happens-before path.
fn unjoined(local: u32) -> Token {
    Token { local, joined: false }
}
