//! The brute-force oracle for hangs: every state of a small instance, each asked by definition
//! whether somebody waits for ever in it.
//!
//! It has a step relation of its own, the plainest one, and shares no code with
//! [`Machine`](super::Machine). On request what waits for a value goes round a loop, as it does on
//! x86, and is found out by what it does, like every other loop.

use super::instance::Instance;
use super::machine::Model;
use palisade_model::program::{
    Action, Expression, Instruction, InstructionId, LabelId, Patience, Program, Queue, Thread, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// How far an enumeration goes, and what it takes for waiting.
#[derive(Clone, Copy, Debug)]
pub struct HangEffort {
    /// How many stores a buffer holds at most.
    pub capacity: usize,
    /// How many states are visited at most.
    pub states: usize,
    /// Whether what waits for a value goes round a loop in place of not being executed.
    pub spins: bool,
    /// Whether what is `timed` waits like everything else.
    pub ignores_timeouts: bool,
}

impl Default for HangEffort {
    fn default() -> Self {
        Self { capacity: 4, states: 200_000, spins: false, ignores_timeouts: false }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HangsUnanswered {
    /// A reachable step computes a value that does not exist.
    #[error("a step computes a value that does not exist")]
    Value,
    /// There are more states than may be visited.
    #[error("there are more states than may be visited")]
    States,
}

/// How a copy is in a stuck state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It has ended.
    Ended,
    /// It sleeps at an address.
    Asleep(Value),
    /// It goes round without effect, or stands where it cannot go on.
    Waiting,
}

/// What the stuck states have: memory but for zeros, and how each copy is.
pub type StuckState = (BTreeMap<Value, Value>, Vec<Standing>);

/// What an enumeration has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hangs {
    /// The stuck states.
    pub stuck: BTreeSet<StuckState>,
    /// Whether no store had to wait for room in a buffer: then these are all, with unbounded
    /// buffers.
    pub closed: bool,
    /// How many states were visited.
    pub states: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Copy {
    /// Nothing behind `fail`.
    pub(super) label: Option<LabelId>,
    registers: Vec<Value>,
    /// The oldest first; under PSO none are to be taken out of order within an address, and none
    /// beyond `None`, an `sfence`.
    pub(super) buffer: Vec<Option<(Value, Value)>>,
    pub(super) asleep: Option<InstructionId>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Global {
    memory: BTreeMap<Value, Value>,
    holder: Option<usize>,
    pub(super) copies: Vec<Copy>,
}

/// A step of one copy: the state behind it, and whether it has an effect beyond the copy's own
/// place and registers.
pub(super) struct Step {
    pub(super) after: Global,
    has_effect: bool,
}

pub(super) struct Search<'p> {
    program: &'p Program,
    pub(super) threads: Vec<&'p Thread>,
    model: Model,
    pub(super) effort: HangEffort,
    is_full: bool,
}

/// All stuck states of an instance.
///
/// # Errors
///
/// When a step computes a value that does not exist, or there are too many states.
pub fn hangs(
    program: &Program,
    instance: &Instance,
    model: Model,
    effort: HangEffort,
) -> Result<Hangs, HangsUnanswered> {
    let mut stuck = BTreeSet::new();
    let found = explore(program, instance, model, effort, &mut |search, state| {
        stuck.extend(search.stuck(state)?);
        Ok(())
    })?;
    Ok(Hangs { stuck, ..found })
}

/// Visits all states.
fn explore<'p>(
    program: &'p Program,
    instance: &Instance,
    model: Model,
    effort: HangEffort,
    visit: &mut impl FnMut(&mut Search<'p>, &Global) -> Result<(), HangsUnanswered>,
) -> Result<Hangs, HangsUnanswered> {
    let (mut search, initial) = Search::new(program, instance, model, effort);
    let mut seen = BTreeSet::from([initial.clone()]);
    let mut open = vec![initial];
    let mut found = Hangs { closed: true, ..Hangs::default() };
    while let Some(state) = open.pop() {
        found.states += 1;
        if found.states > effort.states {
            return Err(HangsUnanswered::States);
        }
        for position in 0..state.copies.len() {
            for step in search.steps(&state, position)? {
                if seen.insert(step.after.clone()) {
                    open.push(step.after);
                }
            }
        }
        visit(&mut search, &state)?;
    }
    found.closed = search.is_closed();
    Ok(found)
}

impl<'p> Search<'p> {
    /// A search, and the initial state.
    pub(super) fn new(program: &'p Program, instance: &Instance, model: Model, effort: HangEffort) -> (Self, Global) {
        let threads: Vec<&Thread> = instance.copies().map(|copy| program.thread(copy.thread)).collect();
        let copy = |thread: &&Thread| Copy {
            label: Some(thread.initial),
            registers: thread.initial_registers(),
            buffer: Vec::new(),
            asleep: None,
        };
        let memory = program.initial_memory.iter().filter(|(_, value)| **value != 0).map(|(at, value)| (*at, *value));
        let initial = Global { memory: memory.collect(), holder: None, copies: threads.iter().map(copy).collect() };
        (Self { program, threads, model, effort, is_full: false }, initial)
    }

    /// Whether no store had to wait for room in a buffer.
    pub(super) fn is_closed(&self) -> bool {
        !self.is_full
    }
}

impl Search<'_> {
    /// What a stuck state has; nothing if the state is not stuck.
    fn stuck(&mut self, state: &Global) -> Result<Option<StuckState>, HangsUnanswered> {
        if state.copies.iter().any(|copy| !copy.buffer.is_empty()) {
            return Ok(None);
        }
        let mut somebody_hangs = false;
        let mut standings = Vec::new();
        for (position, copy) in state.copies.iter().enumerate() {
            let thread = self.threads[position];
            let patience = if let Some(id) = copy.asleep {
                let address = address_of(thread.instruction(id).sleeps(), copy)?;
                standings.push(Standing::Asleep(address));
                vec![thread.instruction(id).patience()]
            } else if at(thread, copy.label).next().is_none() {
                standings.push(Standing::Ended);
                continue;
            } else {
                let Some(patience) = self.waits(state, position)? else { return Ok(None) };
                standings.push(Standing::Waiting);
                patience
            };
            if patience.contains(&Patience::Timed) && !self.effort.ignores_timeouts {
                return Ok(None);
            }
            somebody_hangs |= !thread.is_daemon && !patience.contains(&Patience::Idle);
        }
        let ends_badly = self.program.finally.iter().any(|claim| {
            let held: Vec<Value> = claim.reads.iter().map(|at| state.memory.get(at).copied().unwrap_or(0)).collect();
            claim.condition.holds(&held, self.program.domain) != Ok(true)
        });
        Ok((somebody_hangs || ends_badly).then(|| (state.memory.clone(), standings)))
    }

    /// The marks that a copy meets on all its ways while nobody else acts; nothing if it does not
    /// wait: it has an effect on some way, or comes to an end, or is stopped by an `assume`.
    pub(super) fn waits(&mut self, state: &Global, position: usize) -> Result<Option<Vec<Patience>>, HangsUnanswered> {
        let mut seen = BTreeSet::from([state.copies[position].clone()]);
        let mut open = vec![state.clone()];
        let mut marks = Vec::new();
        while let Some(here) = open.pop() {
            let copy = &here.copies[position];
            let thread = self.threads[position];
            let instructions: Vec<&Instruction> = at(thread, copy.label).map(|(_, own)| own).collect();
            if instructions.is_empty() || copy.asleep.is_some() {
                return Ok(None);
            }
            marks.extend(instructions.iter().map(|own| own.patience()));
            let steps = self.steps(&here, position)?;
            if steps.iter().any(|step| step.has_effect) {
                return Ok(None);
            }
            let may_go_on_later = |own: &&Instruction| !matches!(own.action, Action::Assume(_));
            if steps.is_empty() && !instructions.iter().any(may_go_on_later) {
                return Ok(None);
            }
            for step in steps {
                if seen.insert(step.after.copies[position].clone()) {
                    open.push(step.after);
                }
            }
        }
        Ok(Some(marks))
    }

    /// All steps of a copy.
    pub(super) fn steps(&mut self, state: &Global, position: usize) -> Result<Vec<Step>, HangsUnanswered> {
        let copy = &state.copies[position];
        let thread = self.threads[position];
        let mut steps = Vec::new();
        if let Some(id) = copy.asleep {
            steps.push(Step { after: woken(state, position, thread.instruction(id).target), has_effect: true });
            return Ok(steps);
        }
        let others_lock = state.holder.is_some_and(|holder| holder != position);
        if !others_lock {
            self.flushes(state, position, &mut steps);
        }
        for (id, instruction) in at(thread, copy.label) {
            self.execute(state, position, (id, instruction), others_lock, &mut steps)?;
        }
        Ok(steps)
    }

    fn flushes(&self, state: &Global, position: usize, steps: &mut Vec<Step>) {
        let buffer = &state.copies[position].buffer;
        let marks_first = buffer.iter().take_while(|entry| entry.is_some());
        for (index, entry) in marks_first.enumerate() {
            let Some((address, value)) = *entry else { continue };
            let is_oldest = buffer[..index].iter().flatten().all(|older| older.0 != address);
            if index > 0 && (self.model != Model::Pso || !is_oldest) {
                continue;
            }
            let mut after = state.clone();
            write(&mut after.memory, address, value);
            let own = &mut after.copies[position].buffer;
            own.remove(index);
            while own.first() == Some(&None) {
                own.remove(0);
            }
            steps.push(Step { after, has_effect: true });
        }
    }

    fn execute(
        &mut self,
        state: &Global,
        position: usize,
        (id, instruction): (InstructionId, &Instruction),
        others_lock: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), HangsUnanswered> {
        let copy = &state.copies[position];
        let domain = self.program.domain;
        let value =
            |expression: &Expression| expression.evaluate(&copy.registers, domain).map_err(|_| HangsUnanswered::Value);
        let holds =
            |expression: &Expression| expression.holds(&copy.registers, domain).map_err(|_| HangsUnanswered::Value);
        let stored = |address: Value| state.memory.get(&address).copied().unwrap_or(0);
        let waited_for = |old: Value| match instruction.until().filter(|_| !self.effort.spins) {
            None => Ok(true),
            Some(until) => until
                .evaluate_with_old(&copy.registers, old, domain)
                .map(|value| value != 0)
                .map_err(|_| HangsUnanswered::Value),
        };
        let gone_on = |registers: Vec<Value>| {
            let mut after = state.clone();
            (after.copies[position].registers, after.copies[position].label) = (registers, Some(instruction.target));
            after
        };
        let with = |register: usize, value: Value| {
            let mut registers = copy.registers.clone();
            registers[register] = value;
            registers
        };
        let stays = || copy.registers.clone();
        let drained = copy.buffer.is_empty();
        let quiet = |after: Global| Step { after, has_effect: false };
        match &instruction.action {
            Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. } if others_lock => {}
            Action::Load { register, address } => {
                let address = address_of(Some(address), copy)?;
                let youngest = copy.buffer.iter().rev().flatten().find(|entry| entry.0 == address);
                let read = youngest.map_or_else(|| stored(address), |entry| entry.1);
                if waited_for(read)? {
                    steps.push(quiet(gone_on(with(register.index(), read))));
                }
            }
            Action::Store { address, value: new } => {
                let (address, new) = (address_of(Some(address), copy)?, value(new)?);
                let mut after = gone_on(stays());
                if self.model == Model::Sc {
                    if others_lock {
                        return Ok(());
                    }
                    write(&mut after.memory, address, new);
                } else if copy.buffer.iter().flatten().count() >= self.effort.capacity {
                    self.is_full = true;
                    return Ok(());
                } else {
                    after.copies[position].buffer.push(Some((address, new)));
                }
                steps.push(Step { after, has_effect: true });
            }
            Action::Cas { .. } | Action::Rmw { .. } | Action::Lock | Action::Unlock | Action::Fence if !drained => {}
            Action::Fence => steps.push(quiet(gone_on(stays()))),
            Action::Lock => {
                if state.holder.is_none() {
                    let after = Global { holder: Some(position), ..gone_on(stays()) };
                    steps.push(Step { after, has_effect: true });
                }
            }
            Action::Unlock => {
                if state.holder == Some(position) {
                    steps.push(Step { after: Global { holder: None, ..gone_on(stays()) }, has_effect: true });
                }
            }
            Action::Cas { register, address, .. } | Action::Rmw { register, address, .. } => {
                let address = address_of(Some(address), copy)?;
                let old = stored(address);
                let new = match &instruction.action {
                    Action::Cas { expected, new, .. } if value(expected)? == old => Some(value(new)?),
                    Action::Rmw { new, .. } => {
                        let new = new.evaluate_with_old(&copy.registers, old, domain);
                        Some(new.map_err(|_| HangsUnanswered::Value)?)
                    }
                    _ => None,
                };
                if !waited_for(old)? {
                    return Ok(());
                }
                let mut after = gone_on(register.map_or_else(stays, |register| with(register.index(), old)));
                if let Some(new) = new {
                    write(&mut after.memory, address, new);
                }
                let changes = new.is_some_and(|new| new != old);
                self.with_sleepers(position, (id, instruction), new.is_some(), changes, after, steps)?;
            }
            Action::StoreFence => {
                let mut after = gone_on(stays());
                let buffer = &mut after.copies[position].buffer;
                if self.model == Model::Pso && buffer.last().is_some_and(Option::is_some) {
                    buffer.push(None);
                }
                steps.push(quiet(after));
            }
            Action::Assign { register, value: new } => {
                steps.push(quiet(gone_on(with(register.index(), value(new)?))));
            }
            Action::Havoc { register } => {
                let domain = domain.ok_or(HangsUnanswered::Value)?;
                steps.extend(domain.values().map(|chosen| quiet(gone_on(with(register.index(), chosen)))));
            }
            Action::Assume(condition) if !holds(condition)? => {}
            Action::Assume(_) | Action::Nop => steps.push(quiet(gone_on(stays()))),
            Action::Ensure(condition) => {
                holds(condition)?;
                steps.push(quiet(gone_on(stays())));
            }
            Action::Fail => {
                let mut after = gone_on(stays());
                after.copies[position].label = None;
                steps.push(Step { after, has_effect: true });
            }
            Action::Post { .. } => unreachable!("the oracle is about threads"),
        }
        Ok(())
    }

    /// The steps of a locked update that has been made, with what it does to sleepers.
    fn with_sleepers(
        &self,
        position: usize,
        (id, instruction): (InstructionId, &Instruction),
        stores: bool,
        changes: bool,
        mut after: Global,
        steps: &mut Vec<Step>,
    ) -> Result<(), HangsUnanswered> {
        match instruction.queue() {
            Some(Queue::Sleep { .. }) if stores => {
                (after.copies[position].asleep, after.copies[position].label) = (Some(id), Some(instruction.source));
                steps.push(Step { after, has_effect: true });
            }
            Some(Queue::Wake { address, all }) => {
                let address = address_of(Some(address), &after.copies[position])?;
                let mut sleepers = Vec::new();
                for (index, copy) in after.copies.iter().enumerate() {
                    let Some(own) = copy.asleep else { continue };
                    if address_of(self.threads[index].instruction(own).sleeps(), copy)? == address {
                        sleepers.push((index, self.threads[index].instruction(own).target));
                    }
                }
                let has_effect = changes || !sleepers.is_empty();
                if *all || sleepers.is_empty() {
                    let after = sleepers.iter().fold(after, |after, (index, target)| woken(&after, *index, *target));
                    steps.push(Step { after, has_effect });
                } else {
                    let each = sleepers.iter().map(|(index, target)| woken(&after, *index, *target));
                    steps.extend(each.map(|after| Step { after, has_effect }));
                }
            }
            Some(Queue::Sleep { .. }) | None => steps.push(Step { after, has_effect: changes }),
        }
        Ok(())
    }
}

/// The instructions at a label.
pub(super) fn at(thread: &Thread, label: Option<LabelId>) -> impl Iterator<Item = (InstructionId, &Instruction)> {
    thread.instruction_ids().filter(move |(_, own)| Some(own.source) == label)
}

/// The state in which a sleeper goes on.
fn woken(state: &Global, position: usize, target: LabelId) -> Global {
    let mut after = state.clone();
    (after.copies[position].asleep, after.copies[position].label) = (None, Some(target));
    after
}

fn write(memory: &mut BTreeMap<Value, Value>, address: Value, value: Value) {
    if value == 0 {
        memory.remove(&address);
    } else {
        memory.insert(address, value);
    }
}

fn address_of(expression: Option<&Expression>, copy: &Copy) -> Result<Value, HangsUnanswered> {
    let address = expression.ok_or(HangsUnanswered::Value)?.evaluate_address(&copy.registers);
    address.map_err(|_| HangsUnanswered::Value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Machine, State};
    use crate::random::{WaitShape, shrink, waiting_program};

    /// What both machines tell of a state, without marks of `sfence`.
    type Told = (BTreeMap<Value, Value>, Option<usize>, Vec<Copy>);

    fn told(state: &State) -> Told {
        let copies = state.threads().iter().map(|thread| Copy {
            label: thread.label,
            registers: thread.registers.to_vec(),
            buffer: thread.buffer.iter().map(|entry| Some(*entry)).collect(),
            asleep: thread.asleep,
        });
        (state.nonzero_memory().iter().copied().collect(), state.holder(), copies.collect())
    }

    /// All states of a machine that waits; nothing if there are too many.
    fn by_machine(program: &Program, instance: &Instance, model: Model) -> Option<BTreeSet<Told>> {
        let machine = Machine::new(program, instance, model).with_capacity(2).waiting();
        let mut seen = BTreeSet::from([machine.initial_state()]);
        let mut open = vec![machine.initial_state()];
        while let Some(state) = open.pop() {
            let mut events = Vec::new();
            for position in 0..machine.copies().len() {
                machine.events(&state, position, &mut events).expect("random programs have values");
            }
            for event in events {
                assert_eq!(machine.event(&state, event.step).as_ref(), Ok(&event));
                let after = machine.successor(&state, &event);
                if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
            if seen.len() > 20_000 {
                return None;
            }
        }
        Some(seen.iter().map(told).collect())
    }

    fn by_oracle(program: &Program, instance: &Instance, model: Model) -> Option<BTreeSet<Told>> {
        let mut states = BTreeSet::new();
        let effort = HangEffort { capacity: 2, states: 20_000, ..HangEffort::default() };
        explore(program, instance, model, effort, &mut |_, state| {
            states.insert((state.memory.clone(), state.holder, state.copies.clone()));
            Ok(())
        })
        .ok()
        .map(|_| states)
    }

    /// Whether something is wrong with a program.
    fn differs(program: &Program) -> Option<String> {
        let instance = Instance::of(program)?;
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let (one, other) = (by_machine(program, &instance, model)?, by_oracle(program, &instance, model)?);
            if one != other {
                return Some(format!("{} and {} states under {model:?}", one.len(), other.len()));
            }
            let effort = HangEffort { capacity: 2, states: 60_000, ..HangEffort::default() };
            let spins = HangEffort { spins: true, ..effort };
            let (Ok(guarded), Ok(spinning)) =
                (hangs(program, &instance, model, effort), hangs(program, &instance, model, spins))
            else {
                return None;
            };
            if guarded.stuck != spinning.stuck {
                return Some(format!("{:?} and {:?} under {model:?}", guarded.stuck, spinning.stuck));
            }
        }
        None
    }

    #[test]
    fn machines_that_wait_do_what_the_oracle_does() {
        let shape = WaitShape { statements: 3, ..WaitShape::default() };
        let programs = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 5_000 } else { 150 };
        let mut stuck = 0;
        for seed in 0..programs {
            let program = waiting_program(seed, &shape);
            if let Some(difference) = differs(&program) {
                let small = shrink(&program, |program| differs(program).is_some());
                panic!("seed {seed}: {difference}; {small:#?}");
            }
            let instance = Instance::of(&program).expect("the copies are fixed");
            let effort = HangEffort { capacity: 2, states: 20_000, ..HangEffort::default() };
            stuck +=
                u64::from(hangs(&program, &instance, Model::Sc, effort).is_ok_and(|found| !found.stuck.is_empty()));
        }
        assert!(stuck * 10 > programs && stuck * 10 < programs * 9, "{stuck} of {programs} hang");
    }
}
