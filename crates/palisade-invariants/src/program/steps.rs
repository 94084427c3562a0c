//! The steps of the instrumented program, phase by phase.

use super::configuration::{Configuration, Control, DelayingThread, Path, Phase, Token};
use super::known::{Act, Done};
use super::model::Model;
use crate::CheckFailure;
use crate::tokens::{and_one, without_one};
use palisade_evidence::{Level, LocalState, Tokens};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, Expression, InstructionId, ThreadId, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;

/// A step and where it leads.
pub(super) struct Successor {
    pub(super) thread: ThreadId,
    pub(super) instruction: InstructionId,
    pub(super) configuration: Configuration,
}

/// What an instruction that is not local does when one thread executes it on its own under SC.
pub(super) struct Effect {
    /// The registers after it.
    pub(super) registers: Vec<Value>,
    /// The address it accesses, with the stronger kind of access.
    pub(super) access: Option<(Value, Level)>,
    /// What it writes to memory.
    pub(super) write: Option<(Value, Value)>,
    /// Whether the thread holds the lock after it.
    pub(super) holding: bool,
}

impl Model<'_> {
    /// The successors in phase Delayed: the attacker's own steps, and the other threads' as under
    /// SC. An attacker with local instructions only goes first.
    pub(super) fn delayed_successors(
        &mut self,
        configuration: &Configuration,
        attacker: ThreadId,
    ) -> Result<Vec<Successor>, CheckFailure> {
        let Phase::Delayed(delaying) = self.phase(&configuration.control).clone() else { return Ok(Vec::new()) };
        let mut successors = self.attacker_successors(configuration, attacker, &delaying)?;
        let instructions = self.instructions_at(attacker, delaying.label);
        let is_local = |id: &InstructionId| self.instruction(attacker, *id).action.is_local_under_tso();
        if instructions.is_empty() || !instructions.iter().all(is_local) {
            successors.extend(self.token_successors(configuration)?);
        }
        Ok(successors)
    }

    /// For each local state, by number, whether delaying `store` can start in it.
    pub(super) fn places_of_delaying(&self, thread: ThreadId, store: InstructionId) -> Vec<bool> {
        let source = self.instruction(thread, store).source;
        let starts = |local: &LocalState| local.thread == thread && local.label == source && !local.holding;
        self.locals.values().iter().map(starts).collect()
    }

    /// Where delaying `store` starts: a thread that stands there and does not hold the lock becomes
    /// the attacker, with the store in its buffer ([ESOP13, Eq. 1]).
    pub(super) fn starts_of_delaying(
        &mut self,
        configuration: &Configuration,
        thread: ThreadId,
        store: InstructionId,
    ) -> Result<Vec<Configuration>, CheckFailure> {
        let instruction = self.instruction(thread, store);
        let Action::Store { address, value } = &instruction.action else { return Ok(Vec::new()) };
        let mut starts = Vec::new();
        for (token, _) in &configuration.tokens {
            let local = self.local(token.local);
            if local.thread != thread || local.label != instruction.source || local.holding {
                continue;
            }
            let address = self.address(thread, store, address, &local.registers)?;
            let value = self.evaluate((thread, store), value, &local.registers, 0)?;
            let delaying = DelayingThread {
                label: instruction.target,
                registers: self.only_live(thread, instruction.target, local.registers.clone()),
                buffer: iter::once((address, value)).collect_map(),
                store_address: address,
            };
            let phase = self.phase_number(Phase::Delayed(Rc::new(delaying)));
            starts.push(Configuration {
                control: Control { phase, ..configuration.control },
                tokens: without_one(&configuration.tokens, *token),
            });
        }
        Ok(starts)
    }

    /// Where `load` leads as the last load that the delayed stores overstep, if the attacker stands
    /// there, no thread holds the lock and the value would come from memory ([ESOP13, Eq. 2]).
    pub(super) fn overstepped_load(
        &mut self,
        configuration: &Configuration,
        thread: ThreadId,
        load: InstructionId,
    ) -> Result<Option<Configuration>, CheckFailure> {
        let Phase::Delayed(delaying) = self.phase(&configuration.control) else { return Ok(None) };
        let instruction = self.instruction(thread, load);
        let Action::Load { address, .. } = &instruction.action else { return Ok(None) };
        if delaying.label != instruction.source || configuration.control.locked {
            return Ok(None);
        }
        let address = self.address(thread, load, address, &delaying.registers)?;
        if delaying.buffer.contains_key(&address) {
            return Ok(None);
        }
        let value = self.read(&configuration.control, address);
        if !self.happens((thread, load), &delaying.registers, value)? {
            return Ok(None);
        }
        let path = Path {
            store_address: delaying.store_address,
            levels: iter::once((address, Level::Load)).collect_map(),
            section: BTreeMap::new(),
        };
        let phase = self.phase_number(Phase::Helped(Rc::new(path)));
        Ok(Some(Configuration {
            control: Control { phase, ..configuration.control },
            tokens: configuration.tokens.clone(),
        }))
    }

    /// Whether the configuration's attacker can never reach another load: nothing but instructions
    /// that need an empty buffer, or that lead nowhere, stands at its label. Such configurations
    /// may be left out of sets.
    pub(super) fn is_hopeless(&self, attacker: ThreadId, configuration: &Configuration) -> bool {
        let Phase::Delayed(delaying) = self.phase(&configuration.control) else { return false };
        let leads_nowhere = |id: &InstructionId| {
            let action = &self.instruction(attacker, *id).action;
            action.drains_buffer() || *action == Action::Fail
        };
        self.instructions_at(attacker, delaying.label).iter().all(leads_nowhere)
    }

    /// The attacker's own steps.
    fn attacker_successors(
        &mut self,
        configuration: &Configuration,
        thread: ThreadId,
        delaying: &DelayingThread,
    ) -> Result<Vec<Successor>, CheckFailure> {
        let mut successors = Vec::new();
        for id in self.instructions_at(thread, delaying.label).to_vec() {
            for configuration in self.attacker_steps(configuration, thread, delaying, id)? {
                successors.push(Successor { thread, instruction: id, configuration });
            }
        }
        Ok(successors)
    }

    /// Where the attacker's instruction leads ([ESOP13, Eqs. 3–6]): stores go into the buffer,
    /// loads look there first, what needs an empty buffer is disabled for ever. It does not settle.
    pub(super) fn attacker_steps(
        &mut self,
        configuration: &Configuration,
        thread: ThreadId,
        delaying: &DelayingThread,
        id: InstructionId,
    ) -> Result<Vec<Configuration>, CheckFailure> {
        let control = configuration.control;
        debug_assert!(
            matches!(self.phase(&control), Phase::Delayed(own) if **own == *delaying),
            "the configuration's attacker"
        );
        let key = (thread, id, control);
        let known = self.known.of_attackers.get(&key).cloned();
        let after: Rc<[Control]> = match known {
            Some(known) => known,
            None => {
                let after: Rc<[Control]> = self.attack_anew(control, thread, delaying, id)?.into();
                self.known.of_attackers.insert(key, Rc::clone(&after));
                after
            }
        };
        let tokens = &configuration.tokens;
        Ok(after.iter().map(|control| Configuration { control: *control, tokens: tokens.clone() }).collect())
    }

    fn attack_anew(
        &mut self,
        before: Control,
        thread: ThreadId,
        delaying: &DelayingThread,
        id: InstructionId,
    ) -> Result<Vec<Control>, CheckFailure> {
        let registers_before = &delaying.registers;
        let instruction = self.instruction(thread, id);
        let mut buffer = delaying.buffer.clone();
        let outcomes = match &instruction.action {
            Action::Store { address, value } => {
                let address = self.address(thread, id, address, registers_before)?;
                let value = self.evaluate((thread, id), value, registers_before, 0)?;
                buffer.insert(address, value);
                vec![registers_before.clone()]
            }
            Action::Load { .. } if before.locked => Vec::new(),
            Action::Load { register, address } => {
                let address = self.address(thread, id, address, registers_before)?;
                let own = delaying.buffer.get(&address).copied();
                let value = own.unwrap_or_else(|| self.read(&before, address));
                let mut registers = registers_before.clone();
                registers[register.index()] = value;
                if self.happens((thread, id), registers_before, value)? { vec![registers] } else { Vec::new() }
            }
            _ => self.after_local_instruction(thread, id, registers_before)?,
        };
        let mut successors = Vec::with_capacity(outcomes.len());
        for registers in outcomes {
            let after = self.only_live(thread, instruction.target, registers);
            let (memory, _) = self.with_turns(before.memory, thread, registers_before, &after);
            let Some(memory) = memory else { continue };
            let phase = self.phase_number(Phase::Delayed(Rc::new(DelayingThread {
                label: instruction.target,
                registers: after,
                buffer: buffer.clone(),
                store_address: delaying.store_address,
            })));
            successors.push(Control { memory, phase, ..before });
        }
        Ok(successors)
    }

    /// The successors in phases SC and Helped, and by threads other than the attacker in phase
    /// Delayed: one instruction that is not local, then settling.
    pub(super) fn token_successors(&mut self, configuration: &Configuration) -> Result<Vec<Successor>, CheckFailure> {
        let mut successors = Vec::new();
        for (token, _) in &configuration.tokens {
            let LocalState { thread, label, .. } = *self.local(token.local);
            for index in 0..self.instructions_at(thread, label).len() {
                let id = self.instructions_at(thread, label)[index];
                for configuration in self.steps_of(configuration, *token, thread, id)? {
                    successors.push(Successor { thread, instruction: id, configuration });
                }
            }
        }
        Ok(successors)
    }

    /// Where one thread's instruction leads: nowhere, or to one configuration for each way to
    /// settle.
    pub(super) fn steps_of(
        &mut self,
        configuration: &Configuration,
        token: Token,
        thread: ThreadId,
        id: InstructionId,
    ) -> Result<Vec<Configuration>, CheckFailure> {
        let mut control = configuration.control;
        let Some(done) = self.done((control.memory, control.locked), token.local, id)? else { return Ok(Vec::new()) };
        let Some((phase, joined)) = self.followed(control.phase, done.act, token.joined) else { return Ok(Vec::new()) };
        control.phase = phase;
        control.memory = done.memory;
        if done.after.holding != done.act.was_holding {
            control.locked = done.after.holding;
        }
        let before = self.terms().turns.is_some().then(|| self.local(token.local).registers.clone());
        let rest = without_one(&configuration.tokens, token);
        let settled = self.settled_after(&done)?;
        if settled.is_empty() {
            let tokens = self.staying(control.memory, None, rest);
            return Ok(vec![Configuration { control, tokens }]);
        }
        if let ([local], None) = (&*settled, &before) {
            let rest = self.staying(control.memory, Some(*local), rest);
            let tokens = and_one(rest, Token { local: *local, joined })?;
            return Ok(vec![Configuration { control, tokens }]);
        }
        let mut successors = Vec::with_capacity(settled.len());
        for local in settled.iter().copied() {
            let mut memory = Some(control.memory);
            if let Some(before) = &before {
                let after = self.local(local).registers.clone();
                let takes_turn;
                (memory, takes_turn) = self.with_turns(control.memory, thread, before, &after);
                if takes_turn {
                    // Who does not see its ticket served stops.
                    successors.push(Configuration { control, tokens: rest.clone() });
                }
            }
            if let Some(memory) = memory {
                let rest = self.staying(memory, Some(local), rest.clone());
                let tokens = and_one(rest, Token { local, joined })?;
                successors.push(Configuration { control: Control { memory, ..control }, tokens });
            }
        }
        Ok(successors)
    }

    /// The tokens that may stay where they are when a step has led to a memory, and its own thread
    /// to a state.
    fn staying(&self, memory: u32, moved: Option<u32>, tokens: Vec<(Token, Tokens)>) -> Vec<(Token, Tokens)> {
        let state = |local: u32| {
            let LocalState { thread, registers, .. } = self.local(local);
            (*thread, &registers[..])
        };
        self.terms().counts.leave(
            |address| self.value_in(memory, address),
            moved.map(state),
            tokens,
            |token| state(token.local),
        )
    }

    /// What an instruction does when a thread in a state executes it on a memory and lock; nothing
    /// when it is local or not enabled.
    fn done(
        &mut self,
        (memory, locked): (u32, bool),
        local: u32,
        id: InstructionId,
    ) -> Result<Option<Rc<Done>>, CheckFailure> {
        let key = (memory, locked, local, id);
        if let Some(known) = self.known.done.get(&key) {
            return Ok(known.clone());
        }
        let done = self.do_anew((memory, locked), local, id)?.map(Rc::new);
        self.known.done.insert(key, done.clone());
        Ok(done)
    }

    fn do_anew(
        &mut self,
        (memory, locked): (u32, bool),
        local: u32,
        id: InstructionId,
    ) -> Result<Option<Done>, CheckFailure> {
        let Some(effect) = self.effect((memory, locked), local, id)? else { return Ok(None) };
        let LocalState { thread, ref registers, .. } = *self.local(local);
        if let Some((address, _)) = effect.access
            && !self.happens((thread, id), registers, self.value_in(memory, address))?
        {
            return Ok(None);
        }
        let Effect { mut registers, access, write, holding } = effect;
        let memory = write.map_or(memory, |(address, value)| self.written(memory, address, value));
        let LocalState { thread, holding: was_holding, .. } = *self.local(local);
        let instruction = self.instruction(thread, id);
        if let Some(turn) = self.terms().turns.as_ref().and_then(|turns| turns.ended_by(thread, id)) {
            registers[turn] = 0;
        }
        let act = Act::of(&instruction.action, access, was_holding);
        let after = LocalState { thread, label: instruction.target, registers, holding };
        Ok(Some(Done { act, memory, after, settled: OnceCell::new() }))
    }

    /// The states in which the thread may next act.
    fn settled_after(&mut self, done: &Done) -> Result<Rc<[u32]>, CheckFailure> {
        if let Some(settled) = done.settled.get() {
            return Ok(Rc::clone(settled));
        }
        let settled = self.settle(done.after.clone())?;
        Ok(Rc::clone(done.settled.get_or_init(|| settled)))
    }

    /// The phase after an act of a thread, `joined` or not, and whether the thread is on the path
    /// then; nothing when the act may be left out.
    fn followed(&mut self, phase: u32, act: Act, joined: bool) -> Option<(u32, bool)> {
        let Phase::Helped(path) = self.phases.get(phase) else { return Some((phase, joined)) };
        if let Some(known) = self.known.followed.get(&(phase, act, joined)) {
            return *known;
        }
        let mut path = Path::clone(path);
        let follows = path.follow(act, joined);
        let followed = follows.map(|joined| (self.phase_number(Phase::Helped(Rc::new(path))), joined));
        self.known.followed.insert((phase, act, joined), followed);
        followed
    }

    /// A memory after a write.
    pub(super) fn written(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        let mut memory = self.memories.get(memory).clone();
        memory.insert(address, value);
        if value == self.program.initial_value(address) {
            memory.remove(&address);
        }
        self.memories.number(memory)
    }

    /// What an instruction does as an atomic action on memory and lock; nothing when it is local or
    /// not enabled. While a thread holds the lock, the others' accesses are not enabled.
    pub(super) fn effect(
        &self,
        (memory, locked): (u32, bool),
        local: u32,
        id: InstructionId,
    ) -> Result<Option<Effect>, CheckFailure> {
        let LocalState { thread, registers, holding, .. } = self.local(local);
        let (thread, holding) = (*thread, *holding);
        if locked && !holding {
            return Ok(None);
        }
        let address_of = |address: &Expression| self.address(thread, id, address, registers);
        let mut effect = Effect { registers: registers.clone(), access: None, write: None, holding };
        match &self.instruction(thread, id).action {
            Action::Fence => {}
            Action::Load { register, address } => {
                let address = address_of(address)?;
                effect.registers[register.index()] = self.value_in(memory, address);
                effect.access = Some((address, Level::Load));
            }
            Action::Store { address, value } => {
                let address = address_of(address)?;
                effect.write = Some((address, self.evaluate((thread, id), value, registers, 0)?));
                effect.access = Some((address, Level::Store));
            }
            Action::Cas { register, address, expected, new } => {
                let address = address_of(address)?;
                let old = self.value_in(memory, address);
                let succeeds = self.succeeds((thread, id), (old, expected), registers)?;
                if succeeds {
                    effect.write = Some((address, self.evaluate((thread, id), new, registers, 0)?));
                }
                effect.access = Some((address, if succeeds { Level::Store } else { Level::Load }));
                if let Some(register) = register {
                    effect.registers[register.index()] = old;
                }
            }
            Action::Rmw { register, address, new } => {
                let address = address_of(address)?;
                let old = self.value_in(memory, address);
                let new = self.evaluate((thread, id), new, registers, old)?;
                effect.write = Some((address, new));
                effect.access = Some((address, Level::Store));
                if let Some(register) = register {
                    effect.registers[register.index()] = old;
                }
            }
            Action::Lock if !locked => effect.holding = true,
            Action::Unlock if holding => effect.holding = false,
            _ => return Ok(None),
        }
        Ok(Some(effect))
    }

    /// Whether an instruction happens when it reads a value: it may wait for another one.
    pub(super) fn happens(
        &self,
        (thread, id): (ThreadId, InstructionId),
        registers: &[Value],
        value: Value,
    ) -> Result<bool, CheckFailure> {
        match self.instruction(thread, id).until() {
            None => Ok(true),
            Some(until) => Ok(self.evaluate((thread, id), until, registers, value)? != 0
                || self.may_hold((thread, id), until, registers, value)?),
        }
    }

    /// The value of an address in memory.
    pub(super) fn read(&self, control: &Control, address: Value) -> Value {
        self.value_in(control.memory, address)
    }

    /// The value of an address in a memory.
    pub(super) fn value_in(&self, memory: u32, address: Value) -> Value {
        let memory = self.memories.get(memory);
        memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }
}

impl Path {
    /// The act of a thread, `joined` or not, after the attacker's load: whether the thread is on
    /// the path after it, or nothing when it may be left out ([ESOP13, Eqs. 7–12], sections as in
    /// docs/certificate/robust.md).
    ///
    /// The act is on the path by [ESOP13, Lemma 3]: its thread is, or it loads what the path has
    /// stored, or it stores what the path has loaded or stored. A section is one action.
    pub(super) fn follow(&mut self, act: Act, joined: bool) -> Option<bool> {
        if joined {
            self.levels_rise(act.access);
            return Some(true);
        }
        let Some((address, kind)) = act.access else {
            // Else a fence, or the end of a section that is not on the path: it can come before the
            // attacker's load.
            return (act.is_lock || act.is_fence && act.was_holding).then_some(false);
        };
        let joins = match kind {
            Level::Load => self.levels.get(&address) == Some(&Level::Store),
            Level::Store => self.levels.contains_key(&address),
        };
        if joins {
            for access in std::mem::take(&mut self.section) {
                self.levels_rise(Some(access));
            }
            self.levels_rise(act.access);
            return Some(true);
        }
        if act.was_holding {
            raise(&mut self.section, address, kind);
            return Some(false);
        }
        None
    }

    pub(super) fn levels_rise(&mut self, access: Option<(Value, Level)>) {
        if let Some((address, kind)) = access {
            raise(&mut self.levels, address, kind);
        }
    }
}

/// Records an access where a weaker one or none is recorded.
fn raise(levels: &mut BTreeMap<Value, Level>, address: Value, kind: Level) {
    let level = levels.entry(address).or_insert(kind);
    *level = (*level).max(kind);
}
