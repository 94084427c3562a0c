//! The program enriched for some loads, derived from the sliced program alone.
//!
//! Each of these loads stands behind an `mfence`, and where control leads from a store to one of
//! them before a drain, the thread may keep the store in registers and release it later (THEORY.md,
//! "Enriched programs"). Every TSO computation of the sliced program is one of the enriched
//! program, or leads to a `fail` where a thread has no room left.

use super::Known;
use super::ranges::Range;
use super::values::accessed;
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashMap;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{
    Action, BinaryOperator, Expression, Instruction, InstructionId, Label, LabelId, Program, Register, RegisterId,
    Span, Thread, ThreadId,
};
use palisade_semantics::Target;
use std::collections::BTreeSet;

/// An enriched thread has no more states than these.
const MOST_STATES: usize = 1 << 14;

/// The most stores that evidence may have room for.
const MOST_ROOM: usize = 256;

/// An enriched program, with what it must not reach: what comes from the targets, and the end of
/// room.
pub(super) struct Enriched {
    pub(super) program: Program,
    pub(super) targets: Vec<Target>,
}

/// The sliced program enriched for loads, with room for so many stores.
pub(super) fn enriched_program(
    sliced: &Program,
    known: Known<'_>,
    loads: &[Vec<InstructionId>],
    room: usize,
    targets: &[Target],
) -> Result<Enriched, CheckFailure> {
    if loads.len() != sliced.threads.len() {
        reject!(Form, "the loads are of {} threads, not {}", loads.len(), sliced.threads.len());
    }
    if room == 0 || room > MOST_ROOM {
        reject!(Form, "room for {room} stores");
    }
    if targets.contains(&Target::FinalStates) {
        reject!(Form, "an enriched program says nothing about final states");
    }
    // Registers hold values of the domain, so that copying them changes nothing.
    if let Some(domain) = sliced.domain {
        let registers = sliced.threads.iter().flat_map(|thread| &thread.registers).map(|register| register.initial);
        if registers.chain(sliced.initial_memory.values().copied()).any(|value| !domain.contains(value)) {
            reject!(Form, "an initial value lies outside of the domain");
        }
    }
    let mut enriched = Enriched { program: sliced.clone(), targets: Vec::new() };
    enriched.program.never.clear();
    for ((id, thread), loads) in sliced.thread_ids().zip(loads) {
        if loads.is_empty() {
            let own =
                targets.iter().filter(|target| matches!(target, Target::Instruction { thread, .. } if *thread == id));
            enriched.targets.extend(own.copied());
            continue;
        }
        check_loads(thread, loads)?;
        let keeping = Keeping { program: sliced, id, thread, loads, room, known, ahead: ahead(thread, loads) };
        let is_target = |instruction| targets.contains(&Target::Instruction { thread: id, instruction });
        let (own, sought) = keeping.thread(is_target)?;
        enriched.program.threads[id.index()] = own;
        enriched.targets.extend(sought.into_iter().map(|instruction| Target::Instruction { thread: id, instruction }));
    }
    Ok(enriched)
}

fn check_loads(thread: &Thread, loads: &[InstructionId]) -> Result<(), CheckFailure> {
    if !loads.is_sorted_by(|one, other| one < other) {
        reject!(Form, "the loads of thread `{}` are not in ascending order", thread.name);
    }
    for load in loads {
        match thread.instructions.get(load.index()).map(|own| &own.action) {
            Some(Action::Load { .. }) => {}
            _ => reject!(Form, "instruction {load} of thread `{}` is no load", thread.name),
        }
    }
    Ok(())
}

/// For each label, whether control leads from there to one of the loads without a drain before it.
fn ahead(thread: &Thread, loads: &[InstructionId]) -> Vec<bool> {
    let mut ahead = vec![false; thread.labels.len()];
    for load in loads {
        ahead[thread.instruction(*load).source.index()] = true;
    }
    loop {
        let before = ahead.clone();
        for own in thread.instructions.iter().filter(|own| !own.action.drains_buffer()) {
            ahead[own.source.index()] |= before[own.target.index()];
        }
        if before == ahead {
            return ahead;
        }
    }
}

/// Where an enriched thread stands: a label, and the stores kept, oldest first, each with the
/// number of its copies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    label: LabelId,
    kept: Vec<(InstructionId, usize)>,
}

/// What leads from one state to the next.
struct Edge {
    /// Executed one after the other.
    actions: Vec<Action>,
    to: State,
    /// The instruction of the sliced program that it stands for; none for the end of room.
    origin: Option<InstructionId>,
}

/// A thread that may keep stores.
struct Keeping<'a> {
    program: &'a Program,
    id: ThreadId,
    thread: &'a Thread,
    loads: &'a [InstructionId],
    room: usize,
    known: Known<'a>,
    ahead: Vec<bool>,
}

impl Keeping<'_> {
    /// The enriched thread, and the instructions that come from targets or end the room.
    fn thread(&self, is_target: impl Fn(InstructionId) -> bool) -> Result<(Thread, Vec<InstructionId>), CheckFailure> {
        let mut enriched = Thread { labels: Vec::new(), instructions: Vec::new(), ..self.thread.clone() };
        enriched.initial = LabelId::from_index(0);
        let copies = self.room * self.stored().len();
        let copy = |number| Register {
            name: format!("copy{number}"),
            initial: 0,
            is_initialised: false,
            span: Span::default(),
        };
        enriched.registers.extend((0..copies).map(copy));
        let mut sought = Vec::new();
        let mut numbers: HashMap<State, LabelId> = HashMap::new();
        let mut states = vec![State { label: self.thread.initial, kept: Vec::new() }];
        numbers.insert(states[0].clone(), new_label(&mut enriched));
        let mut next = 0;
        while let Some(state) = states.get(next).cloned() {
            next += 1;
            if states.len() > MOST_STATES {
                reject!(Form, "thread `{}` has too many states once it is enriched", self.thread.name);
            }
            let from = numbers[&state];
            for Edge { actions, to, origin } in self.edges(&state)? {
                let end = match numbers.get(&to) {
                    Some(known) => *known,
                    None => {
                        let number = new_label(&mut enriched);
                        numbers.insert(to.clone(), number);
                        states.push(to);
                        number
                    }
                };
                let mut source = from;
                let steps = actions.len();
                for (step, action) in actions.into_iter().enumerate() {
                    let target = if step + 1 == steps { end } else { new_label(&mut enriched) };
                    if origin.is_none_or(&is_target) {
                        sought.push(InstructionId::from_index(enriched.instructions.len()));
                    }
                    enriched.instructions.push(Instruction::new(source, target, action, Span::default()));
                    source = target;
                }
            }
        }
        Ok((enriched, sought))
    }

    /// The registers that stores read, ascending.
    fn stored(&self) -> Vec<RegisterId> {
        let stores = self.thread.instructions.iter().filter(|own| matches!(own.action, Action::Store { .. }));
        stores.flat_map(|own| registers_of(&own.action)).collect_set().into_iter().collect()
    }

    /// All edges from a state, in order: those of the instructions at its label, and the release of
    /// the oldest store.
    fn edges(&self, state: &State) -> Result<Vec<Edge>, CheckFailure> {
        let mut edges = Vec::new();
        if state.kept.is_empty() || self.ahead[state.label.index()] {
            for (id, own) in self.thread.instruction_ids().filter(|(_, own)| own.source == state.label) {
                self.add_edges(&mut edges, state, id, own)?;
            }
        }
        if let [(oldest, number), rest @ ..] = state.kept.as_slice() {
            let (address, value) = self.kept_store(*oldest, *number)?;
            let to = State { label: state.label, kept: rest.to_vec() };
            edges.push(Edge { actions: vec![Action::Store { address, value }], to, origin: Some(*oldest) });
        }
        Ok(edges)
    }

    fn add_edges(
        &self,
        edges: &mut Vec<Edge>,
        state: &State,
        id: InstructionId,
        own: &Instruction,
    ) -> Result<(), CheckFailure> {
        let keeps_nothing = state.kept.is_empty();
        let same = || State { label: own.target, kept: state.kept.clone() };
        let as_it_is = || Edge { actions: vec![own.action.clone()], to: same(), origin: Some(id) };
        match &own.action {
            Action::Load { register, address } => self.add_load(edges, state, (id, own), *register, address)?,
            Action::Store { .. } => {
                if keeps_nothing {
                    edges.push(as_it_is());
                }
                if self.ahead[own.target.index()] {
                    edges.push(self.keep(state, id, own));
                }
            }
            action if !action.drains_buffer() || keeps_nothing => edges.push(as_it_is()),
            _ => {}
        }
        Ok(())
    }

    /// The store is kept, or the room ends.
    fn keep(&self, state: &State, id: InstructionId, own: &Instruction) -> Edge {
        if state.kept.len() == self.room {
            return Edge { actions: vec![Action::Fail], to: state.clone(), origin: None };
        }
        let number = match state.kept.last() {
            Some((_, youngest)) if youngest + 1 < self.room => youngest + 1,
            _ => 0,
        };
        let copied = registers_of(&own.action).into_iter().map(|register| Action::Assign {
            register: self.copy(number, register),
            value: Expression::Register(register),
        });
        let mut actions: Vec<Action> = copied.collect();
        if actions.is_empty() {
            actions.push(Action::Nop);
        }
        let kept = [state.kept.as_slice(), &[(id, number)]].concat();
        Edge { actions, to: State { label: own.target, kept }, origin: Some(id) }
    }

    /// One edge for each kept store that the load may see, youngest first, and one for none of
    /// them.
    fn add_load(
        &self,
        edges: &mut Vec<Edge>,
        state: &State,
        (id, own): (InstructionId, &Instruction),
        register: RegisterId,
        address: &Expression,
    ) -> Result<(), CheckFailure> {
        let to = State { label: own.target, kept: state.kept.clone() };
        let wraps = self.program.domain.is_some_and(|domain| domain.wrap);
        let mut passed: Vec<Action> = Vec::new();
        for (store, number) in state.kept.iter().rev() {
            let (kept_address, value) = self.kept_store(*store, *number)?;
            let mut actions = passed.clone();
            let written = &self.thread.instruction(*store).action;
            let written = written.address().filter(|written| written.is_constant() && address.is_constant());
            let is_certain = match written {
                Some(written) => match (written.evaluate_address(&[]), address.evaluate_address(&[])) {
                    (Ok(written), Ok(read)) if written == read => true,
                    (Ok(_), Ok(_)) => continue,
                    _ => reject!(Form, "an address of thread `{}` has no value", self.thread.name),
                },
                None if wraps => {
                    self.check_apart(id, *store)?;
                    continue;
                }
                None => false,
            };
            if !is_certain {
                self.check_unsliced(*store)?;
                let compare = |operator| Expression::binary(operator, address.clone(), kept_address.clone());
                actions.push(Action::Assume(compare(BinaryOperator::Equal)));
                passed.push(Action::Assume(compare(BinaryOperator::NotEqual)));
            }
            actions.push(Action::Assign { register, value });
            edges.push(Edge { actions, to: to.clone(), origin: Some(id) });
            if is_certain {
                return Ok(());
            }
        }
        let mut actions = passed;
        if self.loads.contains(&id) {
            actions.push(Action::Fence);
        }
        actions.push(own.action.clone());
        edges.push(Edge { actions, to, origin: Some(id) });
        Ok(())
    }

    /// Checks that a load and a store are never to one address. (Conditions of a domain that wraps
    /// do not compare addresses.)
    fn check_apart(&self, load: InstructionId, store: InstructionId) -> Result<(), CheckFailure> {
        if self.addresses(load).meets(&self.addresses(store)) {
            let name = &self.thread.name;
            reject!(Safe, "instructions {store} and {load} of thread `{name}` may be to one address, and data wraps");
        }
        Ok(())
    }

    /// Checks that the slice does not write where a store does that loads may take a value from, as
    /// no step of a set shows such a read.
    fn check_unsliced(&self, store: InstructionId) -> Result<(), CheckFailure> {
        if self.addresses(store).meets(self.known.written) {
            let name = &self.thread.name;
            reject!(Safe, "instruction {store} of thread `{name}` may write where the slice does");
        }
        Ok(())
    }

    /// The addresses that an access may be to.
    fn addresses(&self, instruction: InstructionId) -> Range {
        accessed(self.program, self.known.bounds, self.id, instruction).unwrap_or_default()
    }

    /// Address and value of a kept store, over its copies.
    fn kept_store(&self, store: InstructionId, number: usize) -> Result<(Expression, Expression), CheckFailure> {
        let Action::Store { address, value } = &self.thread.instruction(store).action else {
            reject!(Form, "instruction {store} of thread `{}` is no store", self.thread.name)
        };
        Ok((self.over_copies(address, number), self.over_copies(value, number)))
    }

    fn over_copies(&self, expression: &Expression, number: usize) -> Expression {
        match expression {
            Expression::Register(register) => Expression::Register(self.copy(number, *register)),
            Expression::Unary(operator, operand) => Expression::unary(*operator, self.over_copies(operand, number)),
            Expression::Binary(operator, left, right) => {
                Expression::binary(*operator, self.over_copies(left, number), self.over_copies(right, number))
            }
            other => other.clone(),
        }
    }

    /// The copy of a register that stores read.
    fn copy(&self, number: usize, register: RegisterId) -> RegisterId {
        let stored = self.stored();
        let position = stored.iter().position(|own| *own == register).expect("a store reads it");
        RegisterId::from_index(self.thread.registers.len() + number * stored.len() + position)
    }
}

/// The registers that an action reads, ascending, each once.
fn registers_of(action: &Action) -> BTreeSet<RegisterId> {
    let mut read = BTreeSet::new();
    for expression in action.expressions() {
        expression.for_each_register(&mut |register| {
            read.insert(register);
        });
    }
    read
}

fn new_label(thread: &mut Thread) -> LabelId {
    let number = LabelId::from_index(thread.labels.len());
    thread.labels.push(Label::new(format!("at{}", number.index()), Span::default()));
    number
}
