//! From the places of a role to the code of a thread.
//!
//! Places are written in the order of control where that is possible. What is known to be constant
//! stands as a number in the code, and what points into the frame stands nowhere: all accesses
//! through it have become accesses to registers.

mod accesses;
mod futex;
mod heap;
mod posix;

pub(crate) use heap::counts_blocks;

use crate::lift::abstraction::Abstract;
use crate::lift::atomics::Made;
use crate::lift::cells::checked;
use crate::lift::contexts::{Contexts, Place};
use crate::lift::environment::Environment;
use crate::lift::explore::{Chosen, Done, Explored, Next, perform};
use crate::lift::frame::FrameLayout;
use crate::lift::futex::Futex;
use crate::lift::heap::{HeapStep, Taken, most_taken};
use crate::lift::knowledge::Knowledge;
use crate::lift::micro::Micro;
use crate::lift::posix::Effect;
use crate::lift::refusal::{Objection, ObjectionAt};
use crate::lift::stubs::ERROR_NUMBER;
use crate::lift::transfer::{Applied, Spot, apply};
use accesses::FIRST_PART;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Span, Value};
use palisade_syntax::x86::code::{Code, TextLabel};
use palisade_syntax::x86::lowerer::{LoweredThread, Lowerer, Operand, Slot};
use palisade_syntax::x86::{Access, Architecture, Flag, Meaning, SCRATCH};
use std::collections::{BTreeMap, BTreeSet};

/// The temporary for a loaded address that control goes to; lower ones are the lowerer's.
const TARGET: Slot = Slot::Temporary(9);

/// A role as code, with the place of each of its spans.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// The code.
    pub(crate) thread: LoweredThread,
    /// The places, in the order in which they were written: a span from `n` to `n + 1` is about the
    /// `n`th.
    pub(crate) places: Vec<(Place, String)>,
    /// Those of them whose code is not understood, by number.
    pub(crate) obstacles: BTreeMap<usize, Objection>,
    /// Those of them that access memory in parts, in any order, by number; whether the processor
    /// makes such an access at once.
    pub(crate) divided: BTreeMap<usize, bool>,
    /// Places of their own for parts of accesses to computed addresses, by number: where each
    /// begins, and its bytes.
    pub(crate) parts: BTreeMap<usize, (u8, u8)>,
    /// Places that look whether a block of the heap is in use, by number.
    pub(crate) lives: BTreeSet<usize>,
    /// The blocks that the role takes, by size class.
    pub(crate) takes: BTreeMap<u8, Taken>,
    /// Places that sleep or wake sleepers, by number.
    pub(crate) futexes: BTreeMap<usize, Futex>,
    /// Places that wait, sleep or wake sleepers by functions of POSIX, by number.
    pub(crate) effects: BTreeMap<usize, Effect>,
    /// Places that say how many were woken, whatever the number is, by number.
    pub(crate) guesses: BTreeSet<usize>,
}

/// What a role does when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returning {
    /// It ends.
    Ends,
    /// It begins again.
    Repeats,
    /// It ends or begins again.
    MayStop,
}

/// Writes the code of a role. With `checks`, computed addresses are held to those that were seen.
pub(crate) fn emit(
    explored: &mut Explored,
    returning: Returning,
    checks: bool,
    knowledge: &mut Knowledge<'_>,
) -> Result<Emitted, ObjectionAt> {
    let mut all = BTreeMap::new();
    let mut layout = FrameLayout::default();
    for (place, environment) in explored.places.clone() {
        if explored.obstacles.contains_key(&place) {
            continue;
        }
        let done = done(place, &environment, &mut explored.contexts, knowledge)?;
        lay_out(&done, place, environment, &mut layout, knowledge).map_err(|objection| objection.at(place))?;
        all.insert(place, done);
    }
    let takes = takes(&all, knowledge);
    let marks = marks(explored.start, &all);
    let mut emitter = Emitter {
        labels: marks.len(),
        lowerer: Lowerer::new(Architecture::X86_64).hiding_registers(),
        layout,
        marks,
        all: &all,
        explored,
        checks,
        returning,
        places: Vec::new(),
        obstacles: BTreeMap::new(),
        divided: BTreeMap::new(),
        parts: BTreeMap::new(),
        lives: BTreeSet::new(),
        futexes: BTreeMap::new(),
        effects: BTreeMap::new(),
        guesses: BTreeSet::new(),
        taken: BTreeMap::new(),
    };
    emitter.begin();
    emitter.everything(knowledge)?;
    let Emitter {
        mut lowerer,
        places,
        obstacles,
        divided,
        parts,
        lives,
        futexes,
        effects,
        guesses,
        taken,
        labels: count,
        ..
    } = emitter;
    let takes = takes.into_iter().map(|(class, most)| {
        let places = taken.get(&class).cloned().unwrap_or_default();
        (class, Taken { most, places })
    });
    let takes = takes.collect();
    lowerer.thread.clean_up();
    if let Some(error) = lowerer.undefined_flags().first() {
        let place = places[error.span.start].0;
        return Err(Objection::new(error.message.clone()).at(place));
    }
    let mut labels: Vec<TextLabel> = vec![TextLabel { name: "begin".to_owned(), span: Span::default() }];
    labels.extend((1..=count).map(|number| TextLabel { name: format!("n{number}"), span: Span::default() }));
    let thread = lowerer.finish(labels);
    Ok(Emitted { thread, places, obstacles, divided, parts, lives, takes, futexes, effects, guesses })
}

/// How many blocks of each size class are taken at most.
fn takes(all: &BTreeMap<Place, Done>, knowledge: &Knowledge<'_>) -> BTreeMap<u8, Option<u64>> {
    let ways = all.iter().map(|(place, done)| (*place, done.next.places())).collect();
    let of_place = |place: &Place, done: &Done| -> BTreeSet<u8> {
        let classes = |step: &Micro| match step {
            Micro::Heap(HeapStep::Take { class, .. }) => vec![*class],
            Micro::Heap(HeapStep::TakeComputed { alignment, .. }) => {
                knowledge.classes(place.address, *alignment).into_values().flatten().collect()
            }
            _ => Vec::new(),
        };
        done.steps.iter().flat_map(classes).collect()
    };
    let takes = all.iter().map(|(place, done)| (*place, of_place(place, done)));
    let takes = takes.filter(|(_, classes)| !classes.is_empty());
    most_taken(&ways, &takes.collect())
}

fn done(
    place: Place,
    environment: &Environment,
    contexts: &mut Contexts,
    knowledge: &mut Knowledge<'_>,
) -> Result<Done, ObjectionAt> {
    perform(place, environment, contexts, knowledge).map_err(|objection| objection.at(place))
}

/// Takes in the accesses to the frame that the steps of a place make.
fn lay_out(
    done: &Done,
    place: Place,
    mut environment: Environment,
    layout: &mut FrameLayout,
    knowledge: &mut Knowledge<'_>,
) -> Result<(), Objection> {
    for step in &done.steps {
        let sets_error = match step {
            Micro::Futex(_) => true,
            Micro::Posix(posix) => posix.sets_error(),
            _ => false,
        };
        if sets_error {
            layout.add(ERROR_NUMBER, 4);
        }
        let applied = apply(step, place.address, &mut environment, knowledge)?;
        for (spot, bytes) in applied.spots {
            if let Spot::Frame(offset) = spot {
                layout.add(offset, bytes);
            }
        }
    }
    Ok(())
}

/// Places that need a label, as control comes there from elsewhere than from the one before.
fn marks(start: Place, all: &BTreeMap<Place, Done>) -> BTreeMap<Place, usize> {
    let targets: BTreeSet<Place> = all.values().flat_map(|done| done.next.places()).chain([start]).collect();
    // Label 0 is the role's beginning.
    targets.into_iter().zip(1..).collect()
}

struct Emitter<'a> {
    lowerer: Lowerer,
    layout: FrameLayout,
    marks: BTreeMap<Place, usize>,
    all: &'a BTreeMap<Place, Done>,
    explored: &'a Explored,
    checks: bool,
    returning: Returning,
    places: Vec<(Place, String)>,
    obstacles: BTreeMap<usize, Objection>,
    divided: BTreeMap<usize, bool>,
    parts: BTreeMap<usize, (u8, u8)>,
    lives: BTreeSet<usize>,
    futexes: BTreeMap<usize, Futex>,
    effects: BTreeMap<usize, Effect>,
    guesses: BTreeSet<usize>,
    /// The places that take blocks, by size class.
    taken: BTreeMap<u8, BTreeSet<usize>>,
    /// The last label given out.
    labels: usize,
}

impl Emitter<'_> {
    /// The registers are given what they hold when the role begins.
    fn begin(&mut self) {
        self.lowerer.thread.code.push(Code::Mark(0));
        let initial = constants(&self.explored.initial, &self.layout);
        for (slot, value) in initial {
            self.lowerer.assign(slot, Expression::Constant(value));
        }
    }

    fn everything(&mut self, knowledge: &mut Knowledge<'_>) -> Result<(), ObjectionAt> {
        let mut written = BTreeSet::new();
        let mut open = vec![self.explored.start];
        while let Some(first) = open.pop() {
            if written.contains(&first) {
                continue;
            }
            let mut following = Some(first);
            while let Some(place) = following.take() {
                if !written.insert(place) {
                    self.jump(place);
                    break;
                }
                if let Some((text, objection)) = self.explored.obstacles.get(&place) {
                    self.obstacle(place, text, objection);
                    break;
                }
                self.place(place, knowledge).map_err(|objection| objection.at(place))?;
                following = self.next(place, &mut open);
            }
        }
        Ok(())
    }

    fn jump(&mut self, place: Place) {
        let label = self.marks[&place];
        self.lowerer.thread.code.push(Code::Jump(label, self.lowerer.span));
    }

    /// Control is about to come to a place; its number.
    fn begin_place(&mut self, place: Place, text: &str) -> usize {
        if let Some(label) = self.marks.get(&place) {
            self.lowerer.thread.code.push(Code::Mark(*label));
        }
        let number = self.places.len();
        self.places.push((place, text.to_owned()));
        self.lowerer.span = Span { start: number, end: number + 1 };
        number
    }

    /// Code that is not understood. To come here has no value, so that it is an error of the
    /// program: what looks at control flow alone says nothing of programs in which something is
    /// divided.
    fn obstacle(&mut self, place: Place, text: &str, objection: &Objection) {
        self.begin_place(place, text);
        self.not_understood(objection.clone());
    }

    /// What the current place does is not understood from here on.
    fn not_understood(&mut self, objection: Objection) {
        self.obstacles.insert(self.lowerer.span.start, objection);
        if self.checks {
            let nothing = Expression::binary(Op::Divide, Expression::Constant(0), Expression::Constant(0));
            self.lowerer.act(Action::Assume(nothing));
        }
        self.lowerer.thread.code.push(Code::Stop);
    }

    fn place(&mut self, place: Place, knowledge: &mut Knowledge<'_>) -> Result<(), Objection> {
        let done = &self.all[&place];
        self.begin_place(place, &done.decoded.text);
        let called = self.explored.atomics.get(&place.context).map(|call| call.made);
        if called == Some(Made::Fence) && self.explored.contexts.get(place.context).function == place.address {
            // Most fences of the language leave no instruction.
            self.lowerer.act(Action::Nop);
        }
        let mut environment = self.explored.places[&place].clone();
        for step in &done.steps {
            let before = environment.clone();
            let applied = apply(step, place.address, &mut environment, knowledge)?;
            self.step(step, place, &before, applied, knowledge)?;
        }
        Ok(())
    }

    /// Sets what is known before a step.
    fn know(&mut self, environment: &Environment) {
        self.lowerer.known = constants(environment, &self.layout);
        self.lowerer.machine = environment.machine();
    }

    fn step(
        &mut self,
        step: &Micro,
        place: Place,
        before: &Environment,
        applied: Applied,
        knowledge: &mut Knowledge<'_>,
    ) -> Result<(), Objection> {
        self.know(before);
        self.look_at_lives(step, place, before, knowledge);
        self.lowerer.omitted = applied.omitted;
        for (offset, bytes) in &applied.pointers {
            for piece in self.layout.pieces(*offset, *bytes) {
                self.lowerer.omitted.push(Slot::Private { byte: piece.byte, bytes: piece.bytes });
            }
        }
        match step {
            Micro::Table(meaning, _) => match applied.spots.first().cloned() {
                None => self.lowerer.effects(meaning, Operand::None),
                Some((spot, bytes)) if spot.is_divided() => {
                    self.in_parts(meaning, spot, bytes, place, before, knowledge)
                }
                Some((spot, bytes)) => {
                    let operand = self.operand(spot, bytes, &meaning.access, place, before, knowledge);
                    if self.may_fail(meaning, place) {
                        self.failing(meaning, operand);
                    } else {
                        self.lowerer.effects(meaning, operand);
                    }
                }
            },
            Micro::Copying(copying, bytes) => self.copying(*copying, *bytes, &applied.spots, place, before, knowledge),
            Micro::Load(_) => {
                let (spot, bytes) = applied.spots.first().cloned().expect("a load has an operand");
                let (loads, value) = self.loads(FIRST_PART, spot, bytes, place, before, knowledge);
                self.in_any_order(loads);
                self.lowerer.assign(TARGET, value);
            }
            Micro::Fence => self.lowerer.act(Action::Fence),
            Micro::StoreFence => self.lowerer.act(Action::StoreFence),
            Micro::Vector(to, from, bytes) => self.vector(*to, *from, *bytes, &applied.spots, place, before, knowledge),
            Micro::Heap(step) => self.heap(*step, place, knowledge)?,
            Micro::Futex(futex) => {
                let (spot, _) = applied.spots.first().cloned().expect("a futex is a word");
                self.futex(*futex, spot, place, before, knowledge);
            }
            Micro::Posix(posix) => {
                let address = |(spot, _): &(Spot, u8)| match spot {
                    Spot::Fixed(address) => Expression::Constant(address.cast_signed()),
                    other => unreachable!("a lock is a known word, and not {other:?}"),
                };
                let addresses: Vec<Expression> = applied.spots.iter().map(address).collect();
                self.posix(*posix, &addresses, knowledge.is_by_language);
            }
        }
        Ok(())
    }

    /// Whether a compare-and-exchange may fail for no reason.
    fn may_fail(&self, meaning: &Meaning, place: Place) -> bool {
        let call = self.explored.atomics.get(&place.context);
        let is_weak = call.is_some_and(|call| call.made == Made::CompareExchange { is_weak: true });
        is_weak && matches!(meaning.access, Access::CompareExchange { .. })
    }

    /// A compare-and-exchange that may fail for no reason: it then is a load.
    fn failing(&mut self, meaning: &Meaning, operand: Operand) {
        let span = self.lowerer.span;
        let (failure, end) = (self.fresh_label(), self.fresh_label());
        self.lowerer.thread.code.push(Code::Choice(failure, span));
        self.lowerer.effects(meaning, operand.clone());
        self.lowerer.thread.code.push(Code::Jump(end, span));
        self.lowerer.thread.code.push(Code::Mark(failure));
        self.lowerer.effects(&Meaning { access: Access::Load, ..meaning.clone() }, operand);
        self.set(Slot::Flag(Flag::Zero), Expression::Constant(0));
        self.lowerer.thread.code.push(Code::Mark(end));
    }

    fn set(&mut self, slot: Slot, value: Expression) {
        if !self.lowerer.omitted.contains(&slot) {
            self.lowerer.assign(slot, value);
        }
    }

    /// Writes where control goes; the place that may follow.
    fn next(&mut self, place: Place, open: &mut Vec<Place>) -> Option<Place> {
        let done = &self.all[&place];
        let span = self.lowerer.span;
        match &done.next {
            Next::To(next) => Some(*next),
            Next::Branch(condition, taken, other) => {
                self.know(&done.after);
                let condition = self.lowerer.of_atoms(condition, None);
                self.lowerer.thread.code.push(Code::Branch(condition, self.marks[taken], span));
                open.push(*taken);
                Some(*other)
            }
            Next::Choice(chosen, options) => {
                self.know(&done.after);
                self.choice(*chosen, options);
                open.extend(options.iter().map(|(_, option)| *option));
                None
            }
            Next::End => {
                if self.returning == Returning::MayStop {
                    self.lowerer.thread.code.push(Code::Choice(0, span));
                }
                let repeats = self.returning == Returning::Repeats;
                self.lowerer.thread.code.push(if repeats { Code::Jump(0, span) } else { Code::Stop });
                None
            }
            Next::Fail => {
                self.lowerer.act(Action::Fail);
                self.lowerer.thread.code.push(Code::Stop);
                None
            }
            Next::Stub(called, next) => {
                for family in called.clears() {
                    self.lowerer.assign(Slot::Family(family), Expression::Constant(0));
                }
                let flags: Vec<_> = done.after.flags().map(|(flag, _)| flag).collect();
                flags.into_iter().for_each(|flag| self.lowerer.assign(Slot::Flag(flag), Expression::Constant(0)));
                for number in 0..16 {
                    for upper in [false, true] {
                        self.lowerer.assign(Slot::Vector { number, upper }, Expression::Constant(0));
                    }
                }
                if !called.has_returned {
                    self.outcomes(&called.outcomes);
                }
                Some(*next)
            }
        }
    }

    /// Control goes where a computed address says. Anywhere else than where it was seen to go is an
    /// error, as with computed addresses of memory; before that is checked, runs are shown the
    /// address as that of an access.
    ///
    /// For what looks at control flow alone, unknown code stands there, which stores and loads: no
    /// attack through it is ruled out before the search has shown that control does not come there.
    fn choice(&mut self, chosen: Chosen, options: &[(u64, Place)]) {
        let target = self.lowerer.value_of(match chosen {
            Chosen::Register(family) => Slot::Family(family),
            Chosen::Loaded => TARGET,
        });
        let targets = options.iter().map(|(target, _)| *target).collect();
        let compared = if self.checks { checked(target.clone(), &targets) } else { target };
        let span = self.lowerer.span;
        for (option, place) in options {
            let is_meant = Expression::binary(Op::Equal, compared.clone(), Expression::Constant(option.cast_signed()));
            self.lowerer.thread.code.push(Code::Branch(is_meant, self.marks[place], span));
        }
        let register = self.lowerer.slot(Slot::Temporary(1));
        if self.checks {
            let unknown = self.fresh_label();
            self.lowerer.thread.code.push(Code::Mark(unknown));
            self.lowerer.act(Action::Store { address: compared.clone(), value: Expression::Constant(0) });
            self.lowerer.act(Action::Load { register, address: compared });
            self.lowerer.thread.code.push(Code::Jump(unknown, span));
        } else {
            self.lowerer.span = Span { end: span.start, ..span };
            self.lowerer.act(Action::Load { register, address: compared });
            self.lowerer.span = span;
            self.lowerer.thread.code.push(Code::Stop);
        }
    }

    /// One of the ways in which a call may come out, whichever.
    fn outcomes(&mut self, outcomes: &[Abstract]) {
        let span = self.lowerer.span;
        let end = self.fresh_label();
        for (index, outcome) in outcomes.iter().enumerate() {
            let is_last = index + 1 == outcomes.len();
            let other = if is_last { None } else { Some(self.fresh_label()) };
            if let Some(other) = other {
                self.lowerer.thread.code.push(Code::Choice(other, span));
            }
            if let Abstract::Constant(result) = outcome {
                self.lowerer.assign(Slot::Family(0), Expression::Constant(*result));
            }
            if let Some(other) = other {
                self.lowerer.thread.code.push(Code::Jump(end, span));
                self.lowerer.thread.code.push(Code::Mark(other));
            }
        }
        self.lowerer.thread.code.push(Code::Mark(end));
    }

    fn fresh_label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }
}

/// Registers, flags and pieces of the frame that hold known numbers.
fn constants(environment: &Environment, layout: &FrameLayout) -> Vec<(Slot, Value)> {
    let families = (0..16u8).filter_map(|family| Some((Slot::Family(family), environment.family(family).constant()?)));
    let flags = environment.flags().filter_map(|(flag, value)| Some((Slot::Flag(flag), value.constant()?)));
    let vectors = (0..=SCRATCH).flat_map(|number| [(number, false), (number, true)]).filter_map(|(number, upper)| {
        Some((Slot::Vector { number, upper }, environment.vector(number, upper).constant()?))
    });
    let frame =
        environment.frame_constants().filter_map(|(at, bytes, value)| Some((layout.exactly(at, bytes)?, value)));
    families.chain(flags).chain(vectors).chain(frame).collect()
}
