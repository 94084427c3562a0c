//! A run to a stuck state as a computation of the program, and who waits there for what.

use super::HangOptions;
use palisade_evidence::{StuckGraph, StuckWitness};
use palisade_exploration::hangs::{Act, Search, Step as Move, Waiting};
use palisade_model::program::{Action, InstructionId, Program, Queue, Value};
use palisade_semantics::{CopyId, Effect, Event, Instance, Machine, Model, State, Step, StepKind};
use palisade_verify::check_stuck;
use std::collections::{BTreeSet, VecDeque};

/// A computation to a stuck state.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The memory model.
    pub model: Model,
    /// Of a graph of a language, its axioms, what it reads that is older than the last write, and
    /// the program by the language, whose steps these are.
    pub graph: Option<(StuckGraph, Box<Program>)>,
    /// Whether no time is taken to run out.
    pub ignores_timeouts: bool,
    /// The copy that no way lets go on, where others may go on.
    pub hopeless: Option<CopyId>,
    /// How many copies of each thread run.
    pub instance: Instance,
    /// All copies, as states list them.
    pub copies: Vec<CopyId>,
    /// The steps with their effects.
    pub events: Vec<Event>,
    /// The state after them.
    pub last: State,
    /// The copies that have not ended.
    pub waiters: Vec<Waiter>,
    /// Where nobody waits who must not: which claims of [`Program::finally`] do not hold.
    pub broken: Vec<usize>,
    /// Whether no store waits in a buffer while another step touches memory, so that the
    /// computation is one of SC.
    pub is_interleaving: bool,
}

/// A copy that waits in a stuck state.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// The copy.
    pub copy: CopyId,
    /// The instruction at which it waits: the first one that reads memory, or its only one.
    pub instruction: InstructionId,
    /// What it looks at while it waits, with what memory holds there.
    pub looks_at: Vec<(Value, Value)>,
    /// An address, and a value there that would let it go on; nothing where no single one is known.
    pub released_by: Option<(Value, Value)>,
    /// Whether another copy holds the lock that it needs.
    pub is_locked_out: bool,
    /// The address at which it sleeps.
    pub sleeps_at: Option<Value>,
    /// Whether it may wait for ever.
    pub is_idle: bool,
}

impl Stuck {
    /// The machine whose steps these are.
    pub fn machine<'p>(&'p self, program: &'p Program) -> Machine<'p> {
        machine(self.graph.as_ref().map_or(program, |(_, stated)| stated), &self.instance, self.model)
    }

    /// The computation as evidence.
    pub fn witness(&self) -> StuckWitness {
        StuckWitness {
            model: self.model,
            graph: self.graph.as_ref().map(|(graph, _)| graph.clone()),
            ignores_timeouts: self.ignores_timeouts,
            hopeless: self.hopeless,
            instance: self.instance.clone(),
            steps: self.events.iter().map(|event| event.step).collect(),
        }
    }
}

fn machine<'p>(program: &'p Program, instance: &Instance, model: Model) -> Machine<'p> {
    Machine::new(program, instance, model).waiting()
}

/// The most copies of an instance that is followed.
const MOST_COPIES: u64 = 10_000;

/// The computation of a program that a run to a stuck state becomes, or to one in which a copy is
/// hopeless; nothing when it cannot be followed.
pub(super) fn follow(
    program: &Program,
    search: &mut Search<'_>,
    instance: &Instance,
    options: &HangOptions,
) -> Option<Stuck> {
    followed(program, search, instance, options).filter(|stuck| check_stuck(program, &stuck.witness()).is_ok())
}

fn followed(program: &Program, search: &mut Search<'_>, instance: &Instance, options: &HangOptions) -> Option<Stuck> {
    let HangOptions { model, ignore_timeouts: ignores_timeouts, .. } = *options;
    if instance.total() > MOST_COPIES {
        return None;
    }
    let machine = machine(program, instance, model);
    let (first, moves) = search.run()?;
    let places = beginnings(search, &machine, &first.tokens)?;
    let state = machine.initial_state();
    let mut following = Following { search, machine, places, state, events: Vec::new() };
    for position in 0..following.places.len() {
        following.settle(position)?;
    }
    for step in &moves {
        following.take_move(step)?;
    }
    let Following { search, machine, places, state: last, events } = following;
    let hopeless = match search.hopeless() {
        Some(place) => Some(places.iter().position(|own| *own == Some(place))?),
        None => None,
    };
    let waiters = waiters(search, &machine, &places, &last, hopeless)?;
    let hopeless = hopeless.map(|position| machine.copies()[position]);
    let broken = program.finally.iter().enumerate().filter(|(_, claim)| {
        waiters.iter().all(|own| own.is_idle) && !claim.holds(program.domain, |address| last.memory(address))
    });
    let broken = broken.map(|(index, _)| index).collect();
    let copies = machine.copies().to_vec();
    let is_interleaving = machine.is_interleaving(&events);
    let instance = instance.clone();
    let graph = None;
    Some(Stuck {
        model,
        graph,
        ignores_timeouts,
        hopeless,
        instance,
        copies,
        events,
        last,
        waiters,
        broken,
        is_interleaving,
    })
}

/// The place in which each copy begins.
fn beginnings(search: &Search<'_>, machine: &Machine<'_>, tokens: &[(u32, u64)]) -> Option<Vec<Option<u32>>> {
    let mut places = vec![None; machine.copies().len()];
    let mut next: Vec<usize> = Vec::new();
    for (place, count) in tokens {
        let thread = search.system.local(*place).thread;
        next.resize(next.len().max(thread.index() + 1), 0);
        let first = machine.positions(thread).start + next[thread.index()];
        let count = usize::try_from(*count).ok()?;
        places.get_mut(first..first + count)?.fill(Some(*place));
        next[thread.index()] += count;
    }
    Some(places)
}

struct Following<'s, 'x, 'p> {
    search: &'s mut Search<'x>,
    machine: Machine<'p>,
    /// Where each copy is; nothing when it has ended.
    places: Vec<Option<u32>>,
    /// The state after the events.
    state: State,
    events: Vec<Event>,
}

impl Following<'_, '_, '_> {
    fn take_move(&mut self, step: &Move) -> Option<()> {
        let position = self.places.iter().position(|place| *place == Some(step.from))?;
        match step.act {
            Act::Flush(address) => self.flush(position, address)?,
            Act::Execute(instruction) => self.execute(position, instruction, &step.woken)?,
            Act::Store(instruction) => {
                self.execute(position, instruction, &[])?;
                if let Some(Event { effect: Effect::Issue { address, .. }, .. }) = self.events.last().copied() {
                    self.flush(position, address)?;
                }
            }
        }
        self.places[position] = step.to;
        self.settle(position)?;
        for (sleeping, to) in &step.woken {
            let is_woken = |position: &usize| {
                self.places[*position] == Some(*sleeping) && self.state.threads()[*position].asleep.is_none()
            };
            let woken = (0..self.places.len()).find(is_woken)?;
            self.places[woken] = *to;
            self.settle(woken)?;
        }
        Some(())
    }

    fn flush(&mut self, position: usize, address: Value) -> Option<()> {
        let kind = if self.machine.model() == Model::Pso { StepKind::FlushAddress(address) } else { StepKind::Flush };
        self.take(position, kind)
    }

    /// Executes an instruction, which wakes these copies. Where it wakes one, it chooses the first
    /// that sleeps there.
    fn execute(&mut self, position: usize, instruction: InstructionId, woken: &[(u32, Option<u32>)]) -> Option<()> {
        let queue = self.machine.thread(position).instruction(instruction).queue();
        let sleeper = woken.first().filter(|_| matches!(queue, Some(Queue::Wake { all: false, .. })));
        let chosen = sleeper.and_then(|(sleeping, _)| self.places.iter().position(|place| *place == Some(*sleeping)));
        let chosen = chosen.and_then(|position| Value::try_from(position).ok());
        self.take(position, StepKind::Execute { instruction, chosen })
    }

    fn take(&mut self, position: usize, kind: StepKind) -> Option<()> {
        let step = Step { copy: self.machine.copies()[position], kind };
        let event = self.machine.event(&self.state, step).ok()?;
        self.machine.take(&mut self.state, &event);
        self.events.push(event);
        Some(())
    }

    /// Takes the local steps of a copy to its place, as few as can be.
    fn settle(&mut self, position: usize) -> Option<()> {
        let mut found: Vec<(usize, Option<Event>)> = vec![(0, None)];
        let mut open = VecDeque::from([(0, self.state.clone())]);
        let mut seen = BTreeSet::new();
        let mut events = Vec::new();
        while let Some((number, state)) = open.pop_front() {
            let own = &state.threads()[position];
            if !seen.insert((own.label, own.asleep, own.registers.to_vec())) {
                continue;
            }
            if self.is_there(&state, position) {
                let (mut steps, mut node) = (Vec::new(), found[number]);
                while let (before, Some(event)) = node {
                    steps.push(event);
                    node = found[before];
                }
                for event in steps.into_iter().rev() {
                    self.machine.take(&mut self.state, &event);
                    self.events.push(event);
                }
                return Some(());
            }
            events.clear();
            self.machine.events(&state, position, &mut events).ok()?;
            for event in &events {
                let action = |id| &self.machine.thread(position).instruction(id).action;
                if event.step.kind.instruction().is_some_and(|id| self.search.system.is_local(action(id))) {
                    found.push((number, Some(*event)));
                    open.push_back((found.len() - 1, self.machine.successor(&state, event)));
                }
            }
        }
        None
    }

    /// Whether a copy stands where it is to be.
    fn is_there(&self, state: &State, position: usize) -> bool {
        let own = &state.threads()[position];
        let label = own.label.filter(|_| !self.machine.has_ended(state, position));
        let thread = self.machine.copies()[position].thread;
        match self.places[position] {
            None => label.is_none(),
            Some(place) => self.search.system.is_at(place, (thread, label, own.asleep), &own.registers),
        }
    }
}

/// The copies that wait, or one of them, each with what it waits for.
fn waiters(
    search: &mut Search<'_>,
    machine: &Machine<'_>,
    places: &[Option<u32>],
    state: &State,
    only: Option<usize>,
) -> Option<Vec<Waiter>> {
    let control = search.stuck()?.control;
    let sleepers = search.system.sleepers(&search.stuck()?.tokens);
    let mut waiters = Vec::new();
    for (position, place) in places.iter().enumerate() {
        let Some(place) = place.filter(|_| only.is_none_or(|only| only == position)) else { continue };
        let looks = search.system.looks_at(control, place).ok()?;
        let mut addresses: Vec<Value> = looks.iter().map(|(_, address)| *address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let candidates = candidates(machine.program());
        let is_asleep = search.system.slept_at(place).is_some();
        let released_by = addresses.iter().filter(|_| !is_asleep).find_map(|address| {
            let mut values = candidates.iter();
            values
                .find(|value| search.system.goes_on_with((control, &sleepers), place, *address, **value))
                .map(|value| (*address, *value))
        });
        let is_idle = search.system.waiting(control, place, &sleepers).ok()? == Waiting::Idle;
        let local = search.system.local(place);
        let sleeps_at = search.system.slept_at(place);
        let standing = machine.instructions_at(state, position).first().copied();
        waiters.push(Waiter {
            copy: machine.copies()[position],
            instruction: local.asleep.or_else(|| looks.first().map(|(id, _)| *id)).or(standing)?,
            looks_at: addresses.into_iter().map(|address| (address, state.memory(address))).collect(),
            released_by,
            is_locked_out: control.locked && !local.holding,
            sleeps_at,
            is_idle,
        });
    }
    Some(waiters)
}

/// Values that may let a copy go on: those of a small domain, or those that the text names, and
/// their neighbours.
pub(super) fn candidates(program: &Program) -> Vec<Value> {
    const MOST: u128 = 64;
    if let Some(domain) = program.domain.filter(|domain| domain.size() <= MOST) {
        return domain.values().collect();
    }
    let mut values: BTreeSet<Value> = BTreeSet::from([0, 1]);
    for instruction in program.threads.iter().flat_map(|thread| &thread.instructions) {
        if let Action::Assume(_) | Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. } = instruction.action {
            for expression in instruction.expressions() {
                expression.for_each_constant(&mut |value| values.extend([value]));
            }
        }
    }
    for value in values.clone() {
        values.extend([value.saturating_add(1), value.saturating_sub(1)]);
    }
    let is_of_domain = |value: &Value| program.domain.is_none_or(|domain| domain.contains(*value));
    let mut values: Vec<Value> = values.into_iter().filter(is_of_domain).collect();
    values.sort_by_key(|value| (*value < 0, value.unsigned_abs()));
    values.truncate(MOST as usize);
    values
}
