//! What every copy does on the way to a target: the path of an exploration as steps of thread
//! copies.

use palisade_evidence::BufferEntry;
use palisade_exploration::buffered::{Act, BufferSystem, Buffers, Goal, Order, Reaching, Search, StoreEffect};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::system::{InitialTokens, Local, Operation};
use palisade_exploration::lazy::{Exploration, Step};
use palisade_model::program::{Action, Copies, InstructionId, LabelId, Program, ThreadId, Value};
use palisade_semantics::CopyId;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// What one copy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It executes an instruction.
    Execute {
        /// The instruction.
        instruction: InstructionId,
        /// The value chosen by `r <- *`.
        chosen: Option<Value>,
        /// For a store, whether it will reach memory by a deed of its own.
        is_flushed: bool,
    },
    /// Its oldest store to this address, of those that are flushed by deeds, reaches memory.
    Flush(Value),
}

/// The deeds of all copies, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Who does what.
    pub(super) deeds: Vec<(CopyId, Deed)>,
    /// The copies that are there, in the order in which they act first.
    pub(super) copies: Vec<CopyId>,
}

/// Where a copy goes by local instructions.
#[derive(Clone, Copy)]
enum Destination {
    /// To this local state.
    Local(u32),
    /// To a violation of this target.
    Violation(u32),
}

/// Local instructions with their choices.
type Way = Vec<(InstructionId, Option<Value>)>;

/// The run to a target that an exact search has reached.
pub(super) fn run(search: &mut Search<'_>, goal: &Goal<'_>, target: u32) -> Result<Option<Run>, Fault> {
    let Some(reaching) = search.reached.get(&target).copied() else { return Ok(None) };
    let node = match reaching {
        Reaching::Node(node) => node,
        Reaching::AtFirst(thread) => {
            let mut tracing = Tracing::default();
            let copy = tracing.appear(thread);
            let from = initial(search.system.program(), thread);
            let way = way(&search.system, from, Destination::Violation(target))?;
            tracing.walk(copy, way.expect("the violation was found from there"));
            return Ok(Some(tracing.run));
        }
    };
    let mut tracing = Tracing::of(&mut search.system, &search.explored, node)?;
    if goal.final_states() == Some(target) {
        // Copies that have not touched memory have gone to their ends all the same.
        let root = search.explored.entries(search.explored.path(node)[0]).to_vec();
        for entry in root {
            let copies = entry.tokens.count().unwrap_or(0) as usize;
            let acted = tracing.positions.iter().filter(|(_, began, _)| *began == entry.place).count();
            for _ in acted..copies {
                tracing.begin(&search.system, entry.place)?;
            }
        }
    }
    Ok(Some(tracing.run))
}

/// Where a thread begins.
fn initial(program: &Program, thread: ThreadId) -> Local {
    let template = program.thread(thread);
    let registers = template.initial_registers().into_boxed_slice();
    Local { thread, label: template.initial, registers, holding: false }
}

/// A run along the path to a node.
#[derive(Default)]
pub(super) struct Tracing {
    pub(super) run: Run,
    /// Each copy with the place in which it began, and the one it is in; nothing when it has
    /// stopped.
    positions: Vec<(CopyId, u32, Option<u32>)>,
}

impl Tracing {
    /// What every copy does on the path to a node of an exact exploration.
    pub(super) fn of(system: &mut BufferSystem<'_>, explored: &Exploration, node: u32) -> Result<Self, Fault> {
        let mut tracing = Self::default();
        for pair in explored.path(node).windows(2) {
            let step = explored.step_to(system, pair[1])?.expect("a node is found by a step");
            tracing.step(system, explored.control(pair[0]), step)?;
        }
        Ok(tracing)
    }

    /// A copy that the run has led to a place, other than `other`; one that begins there where none
    /// has been led there.
    pub(super) fn copy_in(
        &mut self,
        system: &BufferSystem<'_>,
        place: u32,
        other: Option<CopyId>,
    ) -> Result<CopyId, Fault> {
        let is_there = |(copy, _, at): &&(CopyId, u32, Option<u32>)| *at == Some(place) && Some(*copy) != other;
        if let Some((copy, ..)) = self.positions.iter().find(is_there) {
            return Ok(*copy);
        }
        let begun = self.begin(system, place)?;
        Ok(self.positions[begun].0)
    }

    /// A further copy of a thread.
    fn appear(&mut self, thread: ThreadId) -> CopyId {
        let copies = self.run.copies.iter().filter(|copy| copy.thread == thread).count();
        let copy = CopyId { thread, copy: copies as u64 };
        self.run.copies.push(copy);
        copy
    }

    /// A further copy of a thread that settles in an initial place; its index.
    fn begin(&mut self, system: &BufferSystem<'_>, place: u32) -> Result<usize, Fault> {
        let thread = system.place(place).0.thread;
        let copy = self.appear(thread);
        let destination = Destination::Local(system.local_number(place));
        let way = way(system, initial(system.program(), thread), destination)?;
        self.walk(copy, way.expect("a thread begins where it settles"));
        self.positions.push((copy, place, Some(place)));
        Ok(self.positions.len() - 1)
    }

    fn walk(&mut self, copy: CopyId, way: Way) {
        for (instruction, chosen) in way {
            self.run.deeds.push((copy, Deed::Execute { instruction, chosen, is_flushed: false }));
        }
    }

    fn step(&mut self, system: &mut BufferSystem<'_>, control: u32, step: Step) -> Result<(), Fault> {
        let place = match step.take.expect("every step moves a token") {
            InitialTokens::SPARE => system.spare_place(control, &step)?,
            place => place,
        };
        let actor = self.positions.iter().position(|(_, _, at)| *at == Some(place) && step.take == Some(place));
        let actor = match actor {
            Some(actor) => actor,
            None => self.begin(system, place)?,
        };
        let copy = self.positions[actor].0;
        match system.act(step.label) {
            Act::Flush(index) => {
                let BufferEntry::Store(address, _) = system.buffers.entries(system.place(place).1)[index as usize]
                else {
                    unreachable!("a store reaches memory")
                };
                self.run.deeds.push((copy, Deed::Flush(address)));
            }
            Act::Execute(_, id) => self.execute(system, control, place, copy, id, &step)?,
        }
        self.positions[actor].2 = step.put;
        Ok(())
    }

    fn execute(
        &mut self,
        system: &mut BufferSystem<'_>,
        control: u32,
        place: u32,
        copy: CopyId,
        id: InstructionId,
        step: &Step,
    ) -> Result<(), Fault> {
        let local = system.local_number(place);
        let (Local { thread, registers, holding, .. }, buffer) = system.place(place);
        let (thread, registers, mut holding) = (*thread, registers.clone(), *holding);
        let before = system.control(control);
        let (first, last) = system.locals.moves(local);
        let operation = (first..last).map(|index| system.locals.move_at(index)).find(|it| it.instruction == id);
        let operation = operation.expect("the instruction stands there").operation;
        let (mut read, mut at_once, mut is_flushed) = (0, None, false);
        match operation {
            Operation::Load(address) => {
                let buffer = system.place(place).1;
                read = system.buffers.youngest(buffer, address).unwrap_or_else(|| system.read(before.memory, address));
            }
            Operation::Update(address) => read = system.read(before.memory, address),
            Operation::Store(address, value) => {
                let effect = system.store_effect(before, place, id, (address, value));
                is_flushed = effect != StoreEffect::Silent;
                at_once = (effect == StoreEffect::AtOnce).then_some(address);
            }
            Operation::Lock => holding = true,
            Operation::Unlock => holding = false,
            Operation::Fence => debug_assert!(buffer == Buffers::EMPTY || system.shape().order == Order::Noted),
            Operation::Mark | Operation::Post | Operation::Faulty(_) => {}
        }
        self.run.deeds.push((copy, Deed::Execute { instruction: id, chosen: None, is_flushed }));
        self.run.deeds.extend(at_once.map(|address| (copy, Deed::Flush(address))));
        let (registers, _) = system.locals.execute(thread, id, registers, read)?;
        let label = system.program().thread(thread).instruction(id).target;
        let destination = match (BufferSystem::target_of(step.control), step.put) {
            (Some(target), _) => Destination::Violation(target),
            (None, Some(put)) => Destination::Local(system.local_number(put)),
            // A thread that has stopped does nothing more.
            (None, None) => return Ok(()),
        };
        if let Destination::Local(number) = destination
            && system.locals.table.get(number).is_stopped()
        {
            return Ok(());
        }
        let way = way(system, Local { thread, label, registers, holding }, destination)?;
        self.walk(copy, way.expect("a step settles where it leads to"));
        Ok(())
    }
}

/// How a local state was reached: from that of this number, by an instruction, and the value that
/// it chose.
type Origin = Option<(usize, InstructionId, Option<Value>)>;

/// A label with the values of the registers.
type At = (LabelId, Box<[Value]>);

/// The fewest local instructions that lead from a state of a thread to a destination.
fn way(system: &BufferSystem<'_>, from: Local, destination: Destination) -> Result<Option<Way>, Fault> {
    let locals = &system.locals;
    let thread = from.thread;
    let mut origins: Vec<Origin> = Vec::new();
    let mut seen: FxHashSet<At> = FxHashSet::default();
    let mut open: VecDeque<(At, Origin)> = VecDeque::from([((from.label, from.registers), None)]);
    let mut steps = 0;
    let goal = match destination {
        Destination::Local(number) => Some(locals.table.get(number)),
        Destination::Violation(_) => None,
    };
    while let Some(((label, mut registers), origin)) = open.pop_front() {
        locals.liveness[thread.index()].forget_dead(label, &mut registers);
        if !seen.insert((label, registers.clone())) {
            continue;
        }
        let index = origins.len();
        origins.push(origin);
        if goal.is_some_and(|goal| goal.label == label && goal.registers == registers) {
            return Ok(Some(back(&origins, index, None)));
        }
        for id in locals.instructions_at(thread, label) {
            let instruction = system.program().thread(thread).instruction(*id);
            if !locals.is_local(&instruction.action) {
                continue;
            }
            if let Destination::Violation(target) = destination
                && locals.violates(thread, *id, &registers)? == Some(target)
            {
                return Ok(Some(back(&origins, index, Some(*id))));
            }
            for after in locals.local_successors(thread, *id, &registers)? {
                locals.count_step(thread, *id, &mut steps)?;
                let chosen = match instruction.action {
                    Action::Havoc { register } => Some(after[register.index()]),
                    _ => None,
                };
                open.push_back(((instruction.target, after), Some((index, *id, chosen))));
            }
        }
    }
    Ok(None)
}

fn back(origins: &[Origin], from: usize, last: Option<InstructionId>) -> Way {
    let mut way: Way = last.map(|id| (id, None)).into_iter().collect();
    let mut origin = origins[from];
    while let Some((before, id, chosen)) = origin {
        way.push((id, chosen));
        origin = origins[before];
    }
    way.reverse();
    way
}

/// How many copies of each thread run in an instance with these copies: as many as the program says
/// where it says so.
pub(super) fn counts(program: &Program, copies: &[CopyId]) -> Vec<u64> {
    let acting = |thread: ThreadId| copies.iter().filter(|copy| copy.thread == thread).count() as u64;
    let counts = program.thread_ids().map(|(id, thread)| match thread.copies {
        Copies::Exactly(count) => count,
        Copies::Any => acting(id),
    });
    counts.collect()
}
