//! All places of a role's code that control may come to, with what is known there.
//!
//! Calls are followed into their functions, once for each chain of calls, so that what a function
//! is given by one caller is not mixed up with what another one gives. A place is looked at again
//! whenever less is known of it than before.

use super::RoleCode;
use super::atomics::{self, AtomicCall};
use super::contexts::{Context, ContextId, Contexts, Place, WaysId};
use super::decode::{Decoded, Kind, MemoryOperand, Target, decode};
use super::environment::{Environment, STACK_POINTER};
use super::knowledge::{Knowledge, Loaded, Stretch};
use super::micro::{Flow, Micro, address, at_stack, move_stack, push_return, steps};
use super::refusal::{Objection, ObjectionAt, OnWays};
use super::stubs::Called;
use super::transfer::{Spot, apply, known};
use super::ways::Apart;
use crate::lift::abstraction::Abstract;
use palisade_model::program::Expression;
use palisade_syntax::x86::condition;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What stands on the stack where a role returns to.
pub(crate) const ROLE_END: u64 = 0x7eff_ffff_ffff_fff0;

/// What to do about data of the thread's own.
const OWN_DATA: &str = "`.warm_threads()` gives each of a fixed number of copies a thread with such data";

/// More places than this are too many to be checked anyway.
const MOST_PLACES: usize = 40_000;

/// Deeper chains of calls are refused.
const DEEPEST: usize = 128;

/// Where control goes from a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// There.
    To(Place),
    /// There if the condition over the atoms holds, and otherwise to the second.
    Branch(Expression, Place, Place),
    /// The role has come to its end.
    End,
    /// The role has failed.
    Fail,
    /// A function that is not followed is called, and then control goes on.
    Stub(Called, Place),
    /// Where an address says that is computed as the code runs: each that was seen, with its place.
    Choice(Chosen, Vec<(u64, Place)>),
}

impl Next {
    /// The places that control goes to.
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Self::To(next) | Self::Stub(_, next) => vec![*next],
            Self::Branch(_, taken, other) => vec![*taken, *other],
            Self::Choice(_, options) => options.iter().map(|(_, place)| *place).collect(),
            Self::End | Self::Fail => Vec::new(),
        }
    }
}

/// Where the address is that control goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// In this register.
    Register(u8),
    /// It was loaded last.
    Loaded,
}

/// Where a jump or a call goes.
enum Goes {
    To(u64),
    Computed(Chosen),
}

/// A place as it is done: its steps, what is known before each of them, and where control goes.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    /// The steps.
    pub(crate) steps: Vec<Micro>,
    /// Where control goes.
    pub(crate) next: Next,
    /// What is known when it goes there.
    pub(crate) after: Environment,
    /// The instruction.
    pub(crate) decoded: Decoded,
}

/// The places of one role.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    /// The first one.
    pub(crate) start: Place,
    /// What is known when the role begins.
    pub(crate) initial: Environment,
    /// All of them, with what is known before each.
    pub(crate) places: BTreeMap<Place, Environment>,
    /// The places whose code is not understood, with its text: control must not come there.
    pub(crate) obstacles: BTreeMap<Place, (String, Objection)>,
    /// The chains of calls.
    pub(crate) contexts: Contexts,
    /// Those of them that end in a function that makes an atomic access, where the language is
    /// asked about.
    pub(crate) atomics: BTreeMap<ContextId, AtomicCall>,
}

/// Goes through the code of a role. What is not understood is refused where control cannot but come
/// there; elsewhere it is for an exploration of the program to show that it does not.
pub(crate) fn explore(role: &RoleCode, knowledge: &mut Knowledge<'_>) -> Result<Explored, (ObjectionAt, Contexts)> {
    let mut apart = Apart::default();
    loop {
        if let Some(explored) = explore_apart(role, &mut apart, knowledge) {
            return explored;
        }
    }
}

/// The same, with some ways kept apart; nothing where others are to be.
fn explore_apart(
    role: &RoleCode,
    apart: &mut Apart,
    knowledge: &mut Knowledge<'_>,
) -> Option<Result<Explored, (ObjectionAt, Contexts)>> {
    let function = role.function;
    let mut contexts = Contexts::with_ways(apart.kept());
    let ways = WaysId::default();
    let context = contexts.id(Context { parent: None, call: 0, return_to: ROLE_END, function, ways });
    let start = Place { context, address: function };
    let environment = Environment::at_start(role, ROLE_END.cast_signed());
    let mut places = BTreeMap::from([(start, environment.clone())]);
    let mut open = vec![start];
    let (mut obstacles, mut ways) = (BTreeMap::new(), BTreeMap::new());
    while let Some(place) = open.pop() {
        let environment = places[&place].clone();
        let done = match perform(place, &environment, &mut contexts, knowledge) {
            Ok(done) => done,
            Err(objection) if objection.on_ways != OnWays::Nothing && apart.change(place, &ways, &contexts) => {
                return None;
            }
            Err(objection) if objection.on_ways == OnWays::MoreKnown => {
                knowledge.on_no_way.insert(place.address);
                open.push(place);
                continue;
            }
            Err(objection) if place != start => {
                obstacles.insert(place, (text_at(place, knowledge), objection));
                continue;
            }
            Err(objection) => return Some(Err((objection.at(place), contexts))),
        };
        obstacles.remove(&place);
        ways.insert(place, done.next.places());
        for successor in done.next.places() {
            let changed = match places.get_mut(&successor) {
                Some(known) => known.join(&done.after),
                None => {
                    places.insert(successor, done.after.clone());
                    true
                }
            };
            if changed && !open.contains(&successor) {
                open.push(successor);
            }
        }
        if places.len() > MOST_PLACES {
            if apart.give_up() {
                return None;
            }
            // Behind what is not understood there may be less.
            if let Some((place, (_, objection))) = nearest(start, &ways, &obstacles) {
                return Some(Err((objection.clone().at(*place), contexts)));
            }
            let message = format!("the code of this role has more than {MOST_PLACES} instructions, calls included");
            let objection = Objection::new(message).with_help("choose a smaller operation for the role");
            return Some(Err((objection.at(place), contexts)));
        }
    }
    if !obstacles.is_empty()
        && !goes_on(start, &ways, &obstacles)
        && let Some((place, (_, objection))) = nearest(start, &ways, &obstacles)
    {
        return Some(Err((objection.clone().at(*place), contexts)));
    }
    let atomics =
        if knowledge.is_by_language { atomics::calls(&places, &contexts, knowledge) } else { BTreeMap::new() };
    Some(Ok(Explored { start, initial: environment, places, obstacles, contexts, atomics }))
}

/// The obstacle in the fewest instructions from the start.
fn nearest<'o, O>(
    start: Place,
    ways: &BTreeMap<Place, Vec<Place>>,
    obstacles: &'o BTreeMap<Place, O>,
) -> Option<(&'o Place, &'o O)> {
    let (mut met, mut open) = (BTreeSet::from([start]), VecDeque::from([start]));
    while let Some(place) = open.pop_front() {
        if let Some(obstacle) = obstacles.get_key_value(&place) {
            return Some(obstacle);
        }
        open.extend(ways.get(&place).into_iter().flatten().filter(|next| met.insert(**next)));
    }
    None
}

/// Whether control can come to an end, or go on for ever, without an obstacle on its way.
fn goes_on<O>(start: Place, ways: &BTreeMap<Place, Vec<Place>>, obstacles: &BTreeMap<Place, O>) -> bool {
    let (mut passed, mut on_path) = (BTreeSet::new(), BTreeSet::from([start]));
    // Places on the path from the start, each with the ways that have not been tried.
    let mut path = vec![(start, ways[&start].as_slice())];
    while let Some((place, untried)) = path.last_mut() {
        let Some((next, rest)) = untried.split_first() else {
            on_path.remove(place);
            passed.insert(*place);
            path.pop();
            continue;
        };
        *untried = rest;
        if obstacles.contains_key(next) || passed.contains(next) {
            continue;
        }
        if ways[next].is_empty() || !on_path.insert(*next) {
            return true;
        }
        path.push((*next, ways[next].as_slice()));
    }
    ways[&start].is_empty()
}

/// What stands at a place, as far as it can be decoded.
fn text_at(place: Place, knowledge: &Knowledge<'_>) -> String {
    let decoded = knowledge.memory.image.code(place.address).map(|code| decode(code, place.address, None));
    match decoded {
        Some(Ok(decoded)) => decoded.text,
        Some(Err(error)) => error.text,
        None => "?".to_owned(),
    }
}

/// Does what stands at a place.
pub(crate) fn perform(
    place: Place,
    environment: &Environment,
    contexts: &mut Contexts,
    knowledge: &mut Knowledge<'_>,
) -> Result<Done, Objection> {
    let code =
        knowledge.memory.image.code(place.address).ok_or_else(|| {
            Objection::new(format!("control comes to {:#x}, where the image has no code", place.address))
        })?;
    let decoded = decode(code, place.address, environment.thread_pointer).map_err(|error| {
        let objection = Objection::new(format!("`{}`: {}", error.text, error.why));
        if error.is_of_thread { objection.with_help(OWN_DATA) } else { objection }
    })?;
    let (mut steps, flow) = steps(&decoded, environment)?;
    let mut after = environment.clone();
    for step in &steps {
        apply(step, place.address, &mut after, knowledge)?;
    }
    let mut performing = Performing { place, contexts, knowledge, after, more: Vec::new() };
    let next = performing.flow(flow, decoded.next)?;
    let Performing { after, more, .. } = performing;
    steps.extend(more);
    Ok(Done { steps, next, after, decoded })
}

/// An instruction that is being performed.
pub(super) struct Performing<'a, 'm> {
    pub(super) place: Place,
    contexts: &'a mut Contexts,
    pub(super) knowledge: &'a mut Knowledge<'m>,
    pub(super) after: Environment,
    /// Steps that the flow adds.
    pub(super) more: Vec<Micro>,
}

impl Performing<'_, '_> {
    fn here(&mut self, address: u64) -> Place {
        self.contexts.place_behind(self.place, address)
    }

    fn flow(&mut self, flow: Flow, next: u64) -> Result<Next, Objection> {
        match flow {
            Flow::Next => Ok(Next::To(self.here(next))),
            Flow::Jump(target) => {
                let target = match self.target(target)? {
                    Goes::To(target) => target,
                    Goes::Computed(chosen) => return self.choice(chosen, &mut |own, target| Ok(own.here(target))),
                };
                match self.stub_at(target)? {
                    // A call in the place of a return.
                    Some(stub) => self.tail_stub(stub),
                    None => Ok(Next::To(self.here(target))),
                }
            }
            Flow::Branch(code, target) => {
                let condition = condition(code);
                match known(&condition, &self.after) {
                    Abstract::Constant(0) => Ok(Next::To(self.here(next))),
                    Abstract::Constant(_) => Ok(Next::To(self.here(target))),
                    Abstract::Number(_) => Ok(Next::Branch(condition, self.here(target), self.here(next))),
                    Abstract::Frame(_) | Abstract::Unknown | Abstract::Low(_) => Err(Objection::new(
                        "this branch depends on where the role's stack frame is, which differs from copy to copy",
                    )
                    .on_some_ways()),
                }
            }
            Flow::Call(target) => {
                let target = match self.target(target)? {
                    Goes::To(target) => target,
                    Goes::Computed(chosen) => {
                        self.push(next)?;
                        return self.choice(chosen, &mut |own, target| own.called_place(target, next));
                    }
                };
                match self.stub_at(target)? {
                    Some(stub) => {
                        let next = self.here(next);
                        self.stub(stub, next)
                    }
                    None => {
                        self.push(next)?;
                        Ok(Next::To(self.called_place(target, next)?))
                    }
                }
            }
            Flow::Return(more) => self.return_to(more),
            Flow::System => Err(Objection::new("the system is called directly, which is not understood")),
            Flow::Trap => Ok(Next::Fail),
        }
    }

    /// Where a jump or a call goes.
    fn target(&mut self, target: Target) -> Result<Goes, Objection> {
        let (found, chosen) = match target {
            Target::Direct(address) => return Ok(Goes::To(self.behind_table(address))),
            Target::Register(family) => (self.after.family(family).whole(), Chosen::Register(family)),
            Target::Memory(memory) => (self.loaded(memory)?, Chosen::Loaded),
        };
        match found {
            Abstract::Constant(target) => Ok(Goes::To(target.cast_unsigned())),
            Abstract::Number(_) => Ok(Goes::Computed(chosen)),
            Abstract::Frame(_) | Abstract::Unknown | Abstract::Low(_) => Err(Objection::new(
                "this goes to an address of which nothing is known: it may be one in the role's own stack frame",
            )
            .on_some_ways()),
        }
    }

    /// The function of another file that an entry of the linker's table jumps to; other code stays
    /// what it is.
    fn behind_table(&self, address: u64) -> u64 {
        let memory = &self.knowledge.memory;
        let read = |address| memory.image.code(address).and_then(|code| decode(code, address, None).ok());
        let Some(mut entry) = read(address) else { return address };
        // `endbr64` says that jumps may come here.
        if let Kind::Nothing = entry.kind
            && let Some(next) = read(entry.next)
        {
            entry = next;
        }
        let Kind::Jump(Target::Memory(MemoryOperand { base: None, index: None, displacement, .. })) = entry.kind else {
            return address;
        };
        let function = memory.number(displacement.cast_unsigned(), 8);
        function.filter(|function| memory.image.is_import(*function)).unwrap_or(address)
    }

    /// What the operand of a jump or a call holds, which is loaded where it is no constant.
    pub(super) fn loaded(&mut self, memory: MemoryOperand) -> Result<Abstract, Objection> {
        let at = known(&address(memory), &self.after);
        if let Some(offset) = self.after.in_frame(at)
            && !self.knowledge.shares(at, 8)
            && let constant @ Abstract::Constant(_) = self.after.read_frame(offset, 8)
        {
            return Ok(constant);
        }
        if let Abstract::Constant(at) = at
            && let [Stretch { found: Loaded::Constant(value), .. }] =
                self.knowledge.load(at.cast_unsigned(), 8)?.as_slice()
        {
            return Ok(Abstract::Constant(*value));
        }
        let load = Micro::Load(memory);
        let applied = apply(&load, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(load);
        match applied.spots.as_slice() {
            [(Spot::Frame(offset), bytes)] => Ok(self.after.read_frame(*offset, *bytes)),
            _ => Ok(Abstract::Number(64)),
        }
    }

    /// Control goes to one of the addresses that runs have shown; where it goes elsewhere is found
    /// out by the search.
    fn choice(
        &mut self,
        chosen: Chosen,
        place: &mut dyn FnMut(&mut Self, u64) -> Result<Place, Objection>,
    ) -> Result<Next, Objection> {
        let targets = self.knowledge.targets.entry(self.place.address).or_default().clone();
        let mut options = Vec::new();
        for target in targets {
            if self.stub_at(target)?.is_some() {
                let name = self.knowledge.memory.image.function_at(target).unwrap_or("a function").to_owned();
                return Err(Objection::new(format!("`{name}` is called by its address, which is not understood")));
            }
            options.push((target, place(self, target)?));
        }
        Ok(Next::Choice(chosen, options))
    }

    /// The return address is pushed.
    fn push(&mut self, next: u64) -> Result<(), Objection> {
        for step in push_return(next, &self.after)? {
            apply(&step, self.place.address, &mut self.after, self.knowledge)?;
            self.more.push(step);
        }
        Ok(())
    }

    /// Where a function begins that is called here.
    fn called_place(&mut self, function: u64, next: u64) -> Result<Place, Objection> {
        let name = self.knowledge.memory.image.function_at(function).unwrap_or("a function").to_owned();
        let chain: Vec<Context> = self.contexts.chain(self.place.context).collect();
        if chain.iter().any(|context| context.function == function) {
            return Err(Objection::new(format!("`{name}` calls itself, which is not understood")));
        }
        if chain.len() >= DEEPEST {
            return Err(Objection::new(format!("the call of `{name}` is more than {DEEPEST} calls deep")));
        }
        let parent = Some(self.place.context);
        let (call, ways) = (self.place.address, WaysId::default());
        let context = self.contexts.id(Context { parent, call, return_to: next, function, ways });
        Ok(Place { context, address: function })
    }

    pub(super) fn return_to(&mut self, more: u64) -> Result<Next, Objection> {
        let pointer = self.after.family(STACK_POINTER);
        let Some(offset) = self.after.in_frame(pointer) else {
            return Err(Objection::new("the stack pointer is not known where this function returns"));
        };
        let context = self.contexts.get(self.place.context);
        debug_assert_eq!(at_stack(0).displacement, 0);
        // Where others may write, what stands there is looked at.
        let is_shared = self.knowledge.shares(pointer, 8) && context.parent.is_some();
        if is_shared {
            let load = Micro::Load(at_stack(0));
            apply(&load, self.place.address, &mut self.after, self.knowledge)?;
            self.more.push(load);
        } else if self.after.read_frame(offset, 8) != Abstract::Constant(context.return_to.cast_signed()) {
            return Err(Objection::new("this function does not return to where it was called"));
        }
        let step = move_stack(8 + more.cast_signed());
        apply(&step, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(step);
        // Signals may overwrite what is more than 128 bytes below the stack pointer.
        self.after.forget_below(offset - 128);
        match context.parent {
            Some(parent) => {
                let place = Place { context: parent, address: context.return_to };
                let chosen = || Next::Choice(Chosen::Loaded, vec![(context.return_to, place)]);
                Ok(if is_shared { chosen() } else { Next::To(place) })
            }
            None => Ok(Next::End),
        }
    }
}
