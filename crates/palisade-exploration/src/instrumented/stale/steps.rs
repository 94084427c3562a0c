//! The steps of the net.

use super::system::{Attack, Control, Role, StaleSystem, StepLabel, Token};
use super::views::{Access, Facts, Location, View};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{InitialTokens, Move, NO_TURN, Operation, number, written};
use crate::lazy::{Entry, LazyNet, Step, Tokens};
use palisade_evidence::StaleGoal;
use palisade_model::limits::Limits;
use palisade_model::program::{Copies, InstructionId, Ordering, ThreadId, Value};
use palisade_semantics::graphs::FENCE_ADDRESS;

/// What a step does under SC.
struct Executed {
    /// The memory behind it.
    memory: u32,
    /// The access that it makes with its address; nothing for a fence.
    access: Option<(Value, Access)>,
    /// Where the thread settles.
    targets: Vec<Option<u32>>,
}

impl StaleSystem<'_> {
    /// The steps that take a token from a place; computed once per control and place.
    fn steps_at(&mut self, control: u32, place: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place)) {
            return Ok(*range);
        }
        let (before, token) = (self.control(control), self.token(place));
        let mut steps = Vec::new();
        let (first, last) = self.locals.moves(token.local);
        for index in first..last {
            let step = self.locals.move_at(index);
            self.steps_of(before, (place, token), step, &mut steps)?;
        }
        let start = number(self.arena.len());
        self.arena.extend_from_slice(&steps);
        let range = (start, number(self.arena.len()));
        self.cache.insert((control, place), range);
        Ok(range)
    }

    /// The steps that one instruction of a token is.
    fn steps_of(
        &mut self,
        before: Control,
        (place, token): (u32, Token),
        step: Move,
        steps: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        let thread = self.local(token.local).thread;
        let label = |role| StepLabel { thread, instruction: step.instruction, role };
        let attack = self.attack(before).cloned();
        if let Some(attack) = &attack
            && !attack.is_found
            && self.is_last(before, attack, token, step)?
        {
            let found = Attack { is_found: true, ..attack.clone() };
            self.push(steps, (before.memory, Some(found)), (place, None), label(Role::Last));
        }
        let Some(executed) = self.execute(before.memory, token.local, step)? else { return Ok(()) };
        let Executed { memory, access, targets } = executed;
        let Some(attack) = attack else {
            for target in targets {
                let after = target.map(|local| Token { local, view: View::default() });
                self.push(steps, (memory, None), (place, after), label(Role::Interleaved));
                for (attack, view) in self.guesses(before.memory, access) {
                    let after = target.map(|local| Token { local, view });
                    self.push(steps, (memory, Some(attack)), (place, after), label(Role::Guessed));
                }
            }
            return Ok(());
        };
        let (mut after, mut view) = (attack, token.view);
        if self.join(&mut after, &mut view, (thread, step.instruction), access) {
            for target in targets {
                let token = target.map(|local| Token { local, view });
                self.push(steps, (memory, Some(after.clone())), (place, token), label(Role::Interleaved));
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        steps: &mut Vec<Step>,
        (memory, attack): (u32, Option<Attack>),
        (place, after): (u32, Option<Token>),
        label: StepLabel,
    ) {
        let attack = attack.map(|attack| self.attacks.intern(attack).0);
        let put = after.map(|mut token| {
            let (thread, at) = (self.local(token.local).thread, self.local(token.local).label);
            self.modes.trim_view(thread, at, &mut token.view);
            self.tokens.intern(token).0
        });
        let (control, label) = (self.controls.intern(Control { memory, attack }).0, self.labels.intern(label).0);
        steps.push(Step { control, take: Some(place), put, label });
    }

    /// One instruction on memory as it is; nothing when it is disabled.
    fn execute(&mut self, before: u32, local: u32, step: Move) -> Result<Option<Executed>, Fault> {
        let address = match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Load(address) | Operation::Update(address) | Operation::Store(address, _) => address,
            // Under release/acquire a fence is an update of an address of its own.
            _ => FENCE_ADDRESS,
        };
        let read = match step.operation {
            Operation::Load(_) | Operation::Update(_) => self.read(before, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(None) };
        let stored = match step.operation {
            Operation::Store(_, value) => Some(value),
            _ => outcome.stored,
        };
        let thread = self.local(local).thread;
        let stores = stored.is_some() || step.operation == Operation::Fence;
        let access = self.modes.mode(thread, step.instruction).access(stores).map(|access| (address, access));
        let program = self.program();
        let memory = match stored {
            Some(value) => written(&mut self.memories, program.initial_value(address), before, (address, value)),
            None => before,
        };
        Ok(Some(Executed { memory, access, targets: self.locals.targets(outcome.targets).to_vec() }))
    }

    /// The attacks that an access under SC may begin, with what its thread knows.
    fn guesses(&self, before: u32, access: Option<(Value, Access)>) -> Vec<(Attack, View)> {
        let Some((address, access)) = access.filter(|(address, _)| *address != FENCE_ADDRESS) else {
            return Vec::new();
        };
        let used = self.modes.used(address);
        let mut guesses = Vec::new();
        if !used.is_shared() {
            return guesses;
        }
        let mut begin = |goal, overwrites: bool, tracked| {
            let (mut view, mut location) = (View::default(), Location::default());
            if !overwrites {
                view.current = Facts::KNOWS;
                view.acquirable = Facts::KNOWS;
            }
            view.access(&mut location, access, overwrites, tracked);
            self.modes.trim_location(address, &mut location);
            guesses.push((Attack { address, goal, is_found: false, locations: vec![(address, location)] }, view));
        };
        if access.writes && used.has_atomics {
            let old = used.compares.then(|| self.read(before, address));
            begin(StaleGoal::Stale { old, is_update: access.reads }, true, self.modes.tracked);
        }
        if used.has_plain && used.writes {
            let is_plain = access.ordering == Ordering::Plain;
            begin(StaleGoal::Race { writes: access.writes, is_plain }, false, Facts::KNOWS);
        }
        guesses
    }

    /// Makes a step with an attack under way; whether the thread is one to which a path leads then.
    fn join(
        &self,
        attack: &mut Attack,
        view: &mut View,
        (thread, instruction): (ThreadId, InstructionId),
        access: Option<(Value, Access)>,
    ) -> bool {
        if attack.is_found {
            return false;
        }
        let Some((address, access)) = access else {
            let fence = self.modes.mode(thread, instruction).loading;
            if let Some((_, ordering)) = fence {
                view.fence(ordering);
            }
            return view.joined;
        };
        let mut location = attack.location(address);
        if !view.joined && !location.leads_to(access) {
            return false;
        }
        let is_stale = matches!(attack.goal, StaleGoal::Stale { .. });
        let is_later = is_stale && access.writes && address == attack.address;
        if is_later && self.modes.used(address).ends_with_the_guess() {
            return false;
        }
        let tracked = if is_stale { self.modes.tracked } else { Facts::KNOWS };
        view.access(&mut location, access, is_stale && address == attack.address, tracked);
        self.modes.trim_location(address, &mut location);
        attack.set_location(address, location);
        true
    }

    /// Whether an instruction of a token may be the last event.
    fn is_last(&mut self, before: Control, attack: &Attack, token: Token, step: Move) -> Result<bool, Fault> {
        let address = match step.operation {
            Operation::Load(address) | Operation::Update(address) | Operation::Store(address, _) => address,
            _ => return Ok(false),
        };
        if address != attack.address {
            return Ok(false);
        }
        let thread = self.local(token.local).thread;
        let mode = self.modes.mode(thread, step.instruction);
        match attack.goal {
            StaleGoal::Stale { old, is_update } => {
                let writes = match step.operation {
                    Operation::Load(_) => false,
                    _ if !mode.compares => true,
                    _ => match self.reading(token.local, step, old.expect("the value that is compared is kept"))? {
                        Some(writes) => writes,
                        None => return Ok(false),
                    },
                };
                if mode.compares
                    && matches!(step.operation, Operation::Load(_))
                    && self.reading(token.local, step, old.expect("the value that is awaited is kept"))?.is_none()
                {
                    return Ok(false);
                }
                let Some(access) = mode.access(writes) else { return Ok(false) };
                let is_plain = access.ordering == Ordering::Plain;
                Ok(!is_plain && !(writes && is_update) && token.view.admits(access.ordering))
            }
            StaleGoal::Race { writes, is_plain } => {
                let read = self.read(before.memory, address);
                let own_write = match step.operation {
                    Operation::Load(_) if !mode.compares => false,
                    Operation::Store(..) => true,
                    _ => match self.reading(token.local, step, read)? {
                        Some(writes) => writes,
                        None => return Ok(false),
                    },
                };
                let Some(access) = mode.access(own_write) else { return Ok(false) };
                let conflicts = (writes || own_write) && (is_plain || access.ordering == Ordering::Plain);
                Ok(conflicts && token.view.races(&attack.location(address), access))
            }
        }
    }

    /// Whether an instruction that reads a value stores; nothing when it waits.
    fn reading(&mut self, local: u32, step: Move, read: Value) -> Result<Option<bool>, Fault> {
        Ok(self.locals.outcome(local, step, read)?.map(|outcome| outcome.stored.is_some()))
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<u32, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.steps_at(control, place)?;
            let started = Step { take: Some(place), ..*step };
            if self.arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }
}

impl StaleSystem<'_> {
    /// Drops the steps, from a number on, to configurations without hope.
    pub(super) fn keep_hopeful(&mut self, entries: &[Entry], steps: &mut Vec<Step>, first: usize) {
        let mut unknowing = Vec::with_capacity(entries.len() + 1);
        let mut kept = first;
        for index in first..steps.len() {
            let step = steps[index];
            let attack = self.controls.get(step.control).attack;
            let is_open = attack.filter(|number| !self.attacks.get(*number).is_found);
            let is_hopeless = is_open.is_some_and(|number| {
                unknowing.clear();
                let one = Tokens::finite(1);
                let stays = |entry: &&Entry| step.take != Some(entry.place) || entry.tokens != one;
                for place in entries.iter().filter(stays).map(|entry| entry.place).chain(step.put) {
                    let is_spare = place == InitialTokens::SPARE;
                    let places = if is_spare { self.spare_places.as_slice() } else { std::slice::from_ref(&place) };
                    for place in places {
                        let Token { local, view } = *self.tokens.get(*place);
                        if !view.current.has(Facts::KNOWS) {
                            let local = self.locals.table.get(local);
                            unknowing.push((local.thread, local.label, view.joined));
                        }
                    }
                }
                let attacks = &self.attacks;
                let described = || {
                    let attack = attacks.get(number);
                    let knows = |address: &Value| attack.location(*address).message.has(Facts::KNOWS);
                    (attack.address, attack.goal, knows)
                };
                self.hopes.is_hopeless(number, described, &unknowing)
            });
            if !is_hopeless {
                steps[kept] = step;
                kept += 1;
            }
        }
        steps.truncate(kept);
    }
}

impl LazyNet for StaleSystem<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        self.overgrown()?;
        let first = steps.len();
        for entry in entries {
            if entry.place != InitialTokens::SPARE {
                let (start, end) = self.steps_at(control, entry.place)?;
                steps.extend_from_slice(&self.arena[start as usize..end as usize]);
                continue;
            }
            for initial in self.spare_places.clone() {
                let (start, end) = self.steps_at(control, initial)?;
                let own = self.arena[start as usize..end as usize].iter();
                steps.extend(own.map(|step| Step { take: Some(InitialTokens::SPARE), ..*step }));
            }
        }
        self.keep_hopeful(entries, steps, first);
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        let is_replicated = |local| self.program().thread(self.local(local).thread).copies == Copies::Any;
        self.spare.is_none() && is_replicated(self.token(place).local)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.steps_at(step.control, place)?;
        Ok(self.arena[start as usize..end as usize].contains(step))
    }

    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        self.turn(control, entries)
    }

    fn together(&mut self, first: u32, second: u32) -> u32 {
        self.turned.as_mut().map_or(NO_TURN, |turned| turned.together(first, second))
    }

    fn orbit(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        self.turned_places(from, to, place)
    }
}
