//! The steps of the instrumented program.

use super::control::{Attacker, Control, Controls, Helped, Memory, Phase, lookup, raise, set};
use super::local::{Growth, Local, Locals, Move, Operation, Outcome, Targets, number};
use crate::coverability::lazy::{Entry, LazyNet, Step, Tokens};
use crate::evidence::Level;
use crate::program::{Action, Copies, InstructionId, LabelId, Program, ThreadId, Value};
use crate::robustness::fault::{Fault, FaultKind};
use rustc_hash::FxHashMap;

/// A counter of the net: the tokens of one local state, joined to the happens-before path or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(u32);

impl Place {
    /// Copies of replicated threads that have not chosen their thread yet (see [`System::with_spare_copies`]).
    pub const SPARE: Place = Place(u32::MAX);

    /// The place of a local state.
    pub fn of(local: u32, joined: bool) -> Self {
        Self(local * 2 + u32::from(joined))
    }

    /// From the number the engine uses.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number the engine uses.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The local state; not for [`Place::SPARE`].
    pub fn local(self) -> u32 {
        debug_assert_ne!(self, Self::SPARE);
        self.0 / 2
    }

    /// Whether its tokens have joined the happens-before path.
    pub fn joined(self) -> bool {
        self != Self::SPARE && self.0 % 2 == 1
    }
}

/// A load of a delaying attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::robustness) struct Load {
    /// The address.
    pub(in crate::robustness) address: Value,
    /// The value its buffer has for it, if any.
    pub(in crate::robustness) buffered: Option<Value>,
}

/// A configuration to start a search from.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its control.
    pub control: u32,
    /// Its tokens, sorted by place.
    pub entries: Vec<Entry>,
}

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

    /// Whether a step was left out because values grow.
    pub fn was_cut(&self) -> bool {
        self.locals.was_cut
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

    /// The operation of an instruction at a local state, when it stands there.
    pub fn operation(&mut self, local: u32, instruction: InstructionId) -> Option<Operation> {
        let (start, end) = self.locals.moves(local);
        (start..end)
            .map(|index| self.locals.move_at(index))
            .find(|step| step.instruction == instruction)
            .map(|step| step.operation)
    }

    /// The value of an address in a memory.
    pub fn read(&self, memory: u32, address: Value) -> Value {
        lookup(&self.controls.memories.get(memory).changed, address)
            .unwrap_or_else(|| self.program().initial_value(address))
    }

    /// The initial configurations: each thread with a fixed number of copies has chosen where it settles.
    pub fn roots(&mut self) -> Result<Vec<Root>, Fault> {
        let memory = self.controls.memories.intern(Memory::default()).0;
        let control = self.intern(Control { memory, locked: false, phase: Phase::Sc });
        let mut roots: Vec<Vec<Place>> = vec![Vec::new()];
        let mut omega = Vec::new();
        for (thread, template) in self.program().thread_ids() {
            if template.copies == Copies::Exactly(0) {
                continue;
            }
            let places: Vec<Place> =
                self.locals.initial(thread)?.into_iter().flatten().map(|local| Place::of(local, false)).collect();
            match template.copies {
                Copies::Any if self.spare.is_some() => self.spare_places.extend(places),
                Copies::Any => omega.extend(places),
                Copies::Exactly(copies) if !places.is_empty() => {
                    for _ in 0..copies {
                        roots = roots
                            .iter()
                            .flat_map(|root| places.iter().map(|place| [root.as_slice(), &[*place]].concat()))
                            .collect();
                        for root in &mut roots {
                            root.sort_by_key(|place| place.0);
                        }
                        roots.sort_by(|a, b| a.iter().map(|p| p.0).cmp(b.iter().map(|p| p.0)));
                        roots.dedup();
                    }
                }
                Copies::Exactly(_) => {}
            }
        }
        Ok(roots
            .into_iter()
            .map(|places| {
                let mut entries: Vec<Entry> = Vec::new();
                for place in places {
                    match entries.last_mut() {
                        Some(last) if last.place == place.0 => last.tokens = last.tokens.plus_one(),
                        _ => entries.push(Entry { place: place.0, tokens: Tokens::ONE }),
                    }
                }
                entries.extend(omega.iter().map(|place| Entry { place: place.0, tokens: Tokens::OMEGA }));
                if let Some(copies) = self.spare.filter(|copies| *copies > 0) {
                    entries.push(Entry { place: Place::SPARE.0, tokens: Tokens::finite(copies) });
                }
                entries.sort_by_key(|entry| entry.place);
                Root { control, entries }
            })
            .collect())
    }

    /// The configurations after issuing a store that will be delayed (Eq. 1): one token of the thread becomes the
    /// attacker.
    pub fn delay_starts(
        &mut self,
        control: u32,
        entries: &[Entry],
        thread: ThreadId,
        store: InstructionId,
    ) -> Result<Vec<Root>, Fault> {
        let before = self.control(control);
        let mut starts = Vec::new();
        for entry in entries {
            let candidates = if entry.place == Place::SPARE.0 { self.spare_places.clone() } else { vec![Place(entry.place)] };
            for place in candidates {
                if self.local(place).thread != thread {
                    continue;
                }
                let Some(attacker) = self.attacker_from(place.local(), store)? else { continue };
                let after = self.intern(Control { phase: Phase::Delayed(attacker), ..before });
                let mut rest = entries.to_vec();
                crate::coverability::lazy::take(&mut rest, entry.place);
                starts.push(Root { control: after, entries: rest });
            }
        }
        Ok(starts)
    }

    /// The loads the attacker can be halted at (Eq. 2), with the control after each.
    pub fn attack_loads(&mut self, control: u32) -> Result<Vec<(InstructionId, u32)>, Fault> {
        let before = self.control(control);
        let Phase::Delayed(number) = before.phase else { return Ok(Vec::new()) };
        if before.locked {
            return Ok(Vec::new());
        }
        let store_address = self.attacker(number).store_address;
        let mut loads = Vec::new();
        for id in self.attacker_instructions(number) {
            let Some(Load { address, buffered: None }) = self.attacker_load(number, id)? else { continue };
            let helped = Helped {
                store_address,
                levels: vec![(address, Level::Load)],
                section: Vec::new(),
            };
            let helped = self.controls.helped.intern(helped).0;
            loads.push((id, self.intern(Control { phase: Phase::Helped(helped), ..before })));
        }
        Ok(loads)
    }

    /// Whether the happens-before cycle is closed and st_A can reach memory (Eq. 13).
    pub fn is_success(&self, control: u32) -> bool {
        let control = self.control(control);
        match control.phase {
            Phase::Helped(number) => !control.locked && self.controls.helped.get(number).is_closed(),
            _ => false,
        }
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<Place, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.token_steps(control, place)?;
            let started = Step { take: Some(place.0), ..*step };
            if self.step_arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }

    /// The initial place from which a spare copy became the attacker of a control by delaying its first store.
    pub fn spare_start(&mut self, control: u32, store: InstructionId) -> Place {
        let Phase::Delayed(number) = self.control(control).phase else {
            unreachable!("delaying has started")
        };
        let attacker = self.attacker(number).clone();
        self.spare_places
            .clone()
            .into_iter()
            .find(|place| {
                let mut registers = self.local(*place).registers.clone();
                self.locals.liveness[attacker.thread.index()].forget_dead(attacker.label, &mut registers);
                let operation = self.operation(place.local(), store);
                self.local(*place).thread == attacker.thread
                    && registers == attacker.registers
                    && operation == attacker.buffer.first().map(|(address, value)| Operation::Store(*address, *value))
            })
            .expect("a spare copy that delays its first store starts where the store stands")
    }

    fn intern(&mut self, control: Control) -> u32 {
        self.controls.controls.intern(control).0
    }

    /// The attacker after an instruction, its dead registers forgotten.
    fn attacker_at(
        &mut self,
        thread: ThreadId,
        instruction: InstructionId,
        mut registers: Box<[Value]>,
        buffer: Vec<(Value, Value)>,
        store_address: Value,
    ) -> u32 {
        let label = self.program().thread(thread).instruction(instruction).target;
        self.locals.liveness[thread.index()].forget_dead(label, &mut registers);
        self.controls.attackers.intern(Attacker { thread, label, registers, buffer, store_address }).0
    }

    fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        if self.read(memory, address) == value {
            return memory;
        }
        let mut changed = self.controls.memories.get(memory).changed.clone();
        if value == self.program().initial_value(address) {
            changed.retain(|pair| pair.0 != address);
        } else {
            set(&mut changed, address, value);
        }
        self.controls.memories.intern(Memory { changed }).0
    }

    /// The steps of one token, as a range of the step arena; computed once per control and place.
    fn token_steps(&mut self, control: u32, place: Place) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place.0)) {
            return Ok(*range);
        }
        let before = self.control(control);
        let mut steps = Vec::new();
        let (first, last) = self.locals.moves(place.local());
        let thread = self.local(place).thread;
        for index in first..last {
            let step = self.locals.move_at(index);
            if let Some((after, joined, outcome)) = self.move_token(before, place, step)? {
                let after = self.intern(after);
                let label = self.label_of(thread, step.instruction);
                for target in self.locals.targets(outcome).to_vec() {
                    let put = target.map(|local| Place::of(local, joined).0);
                    steps.push(Step { control: after, take: Some(place.0), put, label });
                }
            }
        }
        let start = number(self.step_arena.len());
        self.step_arena.append(&mut steps);
        let range = (start, number(self.step_arena.len()));
        self.cache.insert((control, place.0), range);
        Ok(range)
    }

    /// One instruction of one token: the control after it, whether the token has joined, where it settles; nothing
    /// when it is disabled.
    fn move_token(
        &mut self,
        before: Control,
        place: Place,
        step: Move,
    ) -> Result<Option<(Control, bool, Targets)>, Fault> {
        let holding = self.local(place).holding;
        let enabled = match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Lock => !before.locked && !holding,
            Operation::Unlock => holding,
            _ => !before.locked || holding,
        };
        if !enabled {
            return Ok(None);
        }
        let read = match step.operation {
            Operation::Load(address) | Operation::Update(address) => self.read(before.memory, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(place.local(), step, read)? else { return Ok(None) };
        let Some((phase, joined)) = self.phase_after(before.phase, place, holding, step.operation, &outcome) else {
            return Ok(None);
        };
        let memory = match (step.operation, outcome.stored) {
            (Operation::Store(address, value), _) | (Operation::Update(address), Some(value)) => {
                self.write(before.memory, address, value)
            }
            _ => before.memory,
        };
        let locked = match step.operation {
            Operation::Lock => true,
            Operation::Unlock => false,
            _ => before.locked,
        };
        Ok(Some((Control { memory, locked, phase }, joined, outcome.targets)))
    }

    /// The phase after a helper's instruction, and whether the helper has joined; nothing when Eq. (7) stops it.
    fn phase_after(
        &mut self,
        before: Phase,
        place: Place,
        holding: bool,
        operation: Operation,
        outcome: &Outcome,
    ) -> Option<(Phase, bool)> {
        let Phase::Helped(number) = before else { return Some((before, false)) };
        let access = match operation {
            Operation::Load(address) => Some((address, Level::Load)),
            Operation::Store(address, _) => Some((address, Level::Store)),
            Operation::Update(address) => {
                Some((address, if outcome.stored.is_some() { Level::Store } else { Level::Load }))
            }
            _ => None,
        };
        if place.joined() {
            return Some((self.with_access(number, access), true));
        }
        match operation {
            // A section may yet join; one that does not is never left.
            Operation::Lock => return Some((before, false)),
            Operation::Unlock => return None,
            Operation::Fence => return holding.then_some((before, false)),
            _ => {}
        }
        let (address, level) = access?;
        let known = self.controls.helped.get(number);
        // Lemma 3: (ii) for loads, (iii) for stores.
        let joins = match level {
            Level::Load => known.level(address) == Some(Level::Store),
            Level::Store => known.level(address).is_some(),
        };
        if joins {
            return Some((self.with_access(number, access), true));
        }
        if !holding {
            return None;
        }
        let mut after = known.clone();
        raise(&mut after.section, address, level);
        Some((Phase::Helped(self.controls.helped.intern(after).0), false))
    }

    /// The phase after an access on the happens-before path; the accesses of its section so far count with it.
    fn with_access(&mut self, number: u32, access: Option<(Value, Level)>) -> Phase {
        let Some((address, level)) = access else { return Phase::Helped(number) };
        let known = self.controls.helped.get(number);
        if known.level(address) >= Some(level) && known.section.is_empty() {
            return Phase::Helped(number);
        }
        let mut after = known.clone();
        for (address, level) in std::mem::take(&mut after.section) {
            raise(&mut after.levels, address, level);
        }
        raise(&mut after.levels, address, level);
        Phase::Helped(self.controls.helped.intern(after).0)
    }

    /// The steps of a delaying attacker (Eqs. 3–6).
    fn attacker_steps(&mut self, control: u32, steps: &mut Vec<Step>) -> Result<(), Fault> {
        let before = self.control(control);
        let Phase::Delayed(number) = before.phase else { return Ok(()) };
        let Attacker { thread, label, .. } = *self.controls.attackers.get(number);
        for id in self.locals.instructions_at(thread, label).to_vec() {
            let read = match self.attacker_load(number, id)? {
                // A locked section of another thread keeps the attacker from memory, and from its buffer.
                Some(_) if before.locked => continue,
                Some(Load { address, buffered: None }) => self.read(before.memory, address),
                Some(Load { buffered: Some(value), .. }) => value,
                None => 0,
            };
            for attacker in self.attacker_after(number, id, read)? {
                let control = self.intern(Control { phase: Phase::Delayed(attacker), ..before });
                steps.push(Step { control, take: None, put: None, label: self.label_of(thread, id) });
            }
        }
        Ok(())
    }

    /// What a delaying attacker would load by an instruction, if that is a load.
    pub(in crate::robustness) fn attacker_load(
        &self,
        attacker: u32,
        id: InstructionId,
    ) -> Result<Option<Load>, Fault> {
        let Attacker { thread, registers, buffer, .. } = self.controls.attackers.get(attacker);
        let Action::Load { address, .. } = &self.program().thread(*thread).instruction(id).action else {
            return Ok(None);
        };
        let address = address
            .evaluate_address(registers)
            .map_err(|error| Fault { thread: *thread, instruction: id, kind: FaultKind::Evaluation(error) })?;
        Ok(Some(Load { address, buffered: lookup(buffer, address) }))
    }

    /// The attackers after an instruction of a delaying one that, if it loads, reads the given value.
    pub(in crate::robustness) fn attacker_after(
        &mut self,
        attacker: u32,
        id: InstructionId,
        read: Value,
    ) -> Result<Vec<u32>, Fault> {
        let Attacker { thread, registers, buffer, store_address, .. } = self.controls.attackers.get(attacker).clone();
        let fault = |error| Fault { thread, instruction: id, kind: FaultKind::Evaluation(error) };
        let instruction = self.program().thread(thread).instruction(id);
        let mut afters = Vec::new();
        match &instruction.action {
            Action::Load { register, .. } => {
                let mut after = registers;
                after[register.index()] = read;
                afters.push((after, buffer));
            }
            Action::Store { address, value } => {
                let address = address.evaluate_address(&registers).map_err(fault)?;
                let value = value.evaluate(&registers, self.locals.domain()).map_err(fault)?;
                if self.locals.admit_stored(thread, id, address, value)? {
                    let mut longer = buffer;
                    set(&mut longer, address, value);
                    afters.push((registers, longer));
                }
            }
            action if action.is_local() => {
                for after in self.locals.local_successors(thread, id, &registers)? {
                    afters.push((after, buffer.clone()));
                }
            }
            _ => {}
        }
        let mut numbers = Vec::new();
        for (registers, buffer) in afters {
            if self.locals.admit_registers(thread, id, instruction.target, &registers)? {
                numbers.push(self.attacker_at(thread, id, registers, buffer, store_address));
            }
        }
        Ok(numbers)
    }

    /// The attacker that a local state becomes by delaying a store that stands there.
    pub(in crate::robustness) fn attacker_from(
        &mut self,
        local: u32,
        store: InstructionId,
    ) -> Result<Option<u32>, Fault> {
        let Local { thread, registers, holding, .. } = self.local_state(local).clone();
        let (address, value) = match self.operation(local, store) {
            Some(Operation::Store(address, value)) if !holding => (address, value),
            Some(Operation::Faulty(fault)) => return Err(self.locals.faults[fault as usize].clone()),
            _ => return Ok(None),
        };
        Ok(Some(self.attacker_at(thread, store, registers, vec![(address, value)], address)))
    }

    /// The instructions at the attacker's label.
    pub(in crate::robustness) fn attacker_instructions(&self, attacker: u32) -> Vec<InstructionId> {
        let Attacker { thread, label, .. } = *self.controls.attackers.get(attacker);
        self.locals.instructions_at(thread, label).to_vec()
    }

    /// The settled local states a thread may start in; none when it stops at once.
    pub(in crate::robustness) fn initial_locals(&mut self, thread: ThreadId) -> Result<Vec<u32>, Fault> {
        Ok(self.locals.initial(thread)?.into_iter().flatten().collect())
    }

    /// The non-local instructions at a local state.
    pub(in crate::robustness) fn operations(&mut self, local: u32) -> Vec<(InstructionId, Operation)> {
        let (start, end) = self.locals.moves(local);
        (start..end).map(|index| self.locals.move_at(index)).map(|step| (step.instruction, step.operation)).collect()
    }

    /// What an instruction at a local state stores when it updates memory, and where it settles, when memory holds
    /// `read`.
    pub(in crate::robustness) fn effect(
        &mut self,
        local: u32,
        instruction: InstructionId,
        operation: Operation,
        read: Value,
    ) -> Result<Option<(Option<Value>, Vec<Option<u32>>)>, Fault> {
        if let Operation::Faulty(fault) = operation {
            return Err(self.locals.faults[fault as usize].clone());
        }
        let outcome = self.locals.outcome(local, Move { instruction, operation }, read)?;
        Ok(outcome.map(|outcome| (outcome.stored, self.locals.targets(outcome.targets).to_vec())))
    }

    /// Whether only local instructions stand where the attacker is: then it moves alone.
    fn attacker_has_priority(&self, thread: ThreadId, label: LabelId) -> bool {
        let instructions = self.locals.instructions_at(thread, label);
        !instructions.is_empty()
            && instructions
                .iter()
                .all(|id| self.program().thread(thread).instruction(*id).action.is_local())
    }
}

impl LazyNet for System<'_> {
    type Error = Fault;

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        if let Phase::Delayed(number) = self.control(control).phase {
            let Attacker { thread, label, .. } = *self.controls.attackers.get(number);
            self.attacker_steps(control, steps)?;
            if self.attacker_has_priority(thread, label) {
                return Ok(());
            }
        }
        for entry in entries {
            if entry.place == Place::SPARE.0 {
                for place in self.spare_places.clone() {
                    let (start, end) = self.token_steps(control, place)?;
                    steps.extend(
                        self.step_arena[start as usize..end as usize]
                            .iter()
                            .map(|step| Step { take: Some(Place::SPARE.0), ..*step }),
                    );
                }
            } else {
                let (start, end) = self.token_steps(control, Place(entry.place))?;
                steps.extend_from_slice(&self.step_arena[start as usize..end as usize]);
            }
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.is_unbounded_net() && self.program().thread(self.local(Place(place)).thread).copies == Copies::Any
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.token_steps(step.control, Place(place))?;
        Ok(self.step_arena[start as usize..end as usize].contains(step))
    }
}
