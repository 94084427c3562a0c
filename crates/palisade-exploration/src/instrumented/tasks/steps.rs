//! The steps of everyone but a delaying attacker, and of the whole net.

use super::control::{Control, Main, Phase};
use super::place::{NO_TOKEN, Place};
use super::system::{Actor, Deed, StepLabel, TaskSystem};
use crate::instrumented::fault::{Fault, FaultKind};
use crate::instrumented::system::{Memory, Move, OffPath, Operation, Targets, access, number, off_path, raise, set};
use crate::lazy::{Entry, LazyNet, Step};
use palisade_evidence::Level;
use palisade_model::limits::Limits;
use palisade_model::program::{Action, Copies, Executor, ThreadId, Value};

/// What one instruction makes of a control, off the main thread's state: the control, whether who executed it is on the path, and where
/// that one settles.
type Moved = (Control, bool, Targets);

impl TaskSystem<'_> {
    /// The steps that take a token from a place, or none ([`NO_TOKEN`]); computed once per control and place.
    fn steps_at(&mut self, control: u32, place: u32) -> Result<(u32, u32), Fault> {
        if let Some(range) = self.cache.get(&(control, place)) {
            return Ok(*range);
        }
        let mut steps = Vec::new();
        if place == NO_TOKEN {
            self.steps_without_token(self.control(control), &mut steps)?;
        } else {
            self.steps_of_token(self.control(control), Place::of_number(place), &mut steps)?;
        }
        let start = number(self.arena.len());
        self.arena.extend_from_slice(&steps);
        let range = (start, number(self.arena.len()));
        self.cache.insert((control, place), range);
        Ok(range)
    }

    /// The main thread's steps, the attacker's, and events that occur any number of times.
    fn steps_without_token(&mut self, control: Control, steps: &mut Vec<Step>) -> Result<(), Fault> {
        if let Phase::Delayed(attacker) = control.phase {
            self.attacker_steps(control, attacker, steps)?;
        }
        if let Main::Runs(local) = control.main {
            if self.returns(local) {
                let after = Control { main: Main::Idle, ..control };
                self.push(steps, after, (None, None), StepLabel::of(Actor::Main, Deed::Return));
            }
            self.executions(control, Actor::Main, local, control.main_joined, None, steps)?;
        }
        if self.is_any_number() {
            let program = self.program();
            for (event, _) in program.events().filter(|(_, it)| it.copies == Copies::Any) {
                self.occurrences(control, event, None, steps)?;
            }
        }
        Ok(())
    }

    fn steps_of_token(&mut self, control: Control, place: Place, steps: &mut Vec<Step>) -> Result<(), Fault> {
        let take = Some(place.number());
        match place {
            Place::Own(local, joined) => self.executions(control, Actor::Own, local, joined, take, steps)?,
            Place::Pending(local, joined) => self.begins(control, local, joined, steps),
            Place::Start(event) => self.occurrences(control, event, take, steps)?,
            Place::Spare => {
                let program = self.program();
                for (event, _) in program.events().filter(|(_, it)| it.copies == Copies::Any) {
                    self.occurrences(control, event, take, steps)?;
                }
                for put in self.spare_places.clone() {
                    self.push(steps, control, (take, Some(put)), StepLabel::of(Actor::Own, Deed::Wake));
                }
            }
        }
        Ok(())
    }

    /// Adds a step that takes a token and puts one.
    pub(super) fn push(
        &mut self,
        steps: &mut Vec<Step>,
        after: Control,
        (take, put): (Option<u32>, Option<u32>),
        label: StepLabel,
    ) {
        let (control, label) = (self.intern(after), self.labels.intern(label).0);
        steps.push(Step { control, take, put, label });
    }

    /// What the main thread does in a local state.
    pub(super) fn main_in(&self, local: u32) -> Main {
        if self.local(local).is_stopped() { Main::Blocked } else { Main::Runs(local) }
    }

    /// A pending task begins.
    fn begins(&mut self, control: Control, local: u32, joined: bool, steps: &mut Vec<Step>) {
        let take = Some(Place::Pending(local, joined).number());
        if let Some(after) = self.attacker_goes_on(control, local) {
            self.push(steps, after, (take, None), StepLabel::of(Actor::Attacker, Deed::Begin));
        }
        let main_joined = control.main_joined || joined;
        if control.main != Main::Idle || matches!(control.phase, Phase::Helped(_)) && !main_joined {
            return;
        }
        let after = Control { main: self.main_in(local), main_joined, ..control };
        self.push(steps, after, (take, None), StepLabel::of(Actor::Main, Deed::Begin));
    }

    /// An event occurs; its guard is a read by the main thread.
    fn occurrences(
        &mut self,
        control: Control,
        event: ThreadId,
        take: Option<u32>,
        steps: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        self.attacker_occurrences(control, event, take, steps)?;
        if control.main != Main::Idle {
            return Ok(());
        }
        let mut after = control;
        match self.guard_holds(control, event, |system, address| system.read(control.memory, address)) {
            None => return Ok(()),
            Some(None) => {
                if matches!(control.phase, Phase::Helped(_)) && !control.main_joined {
                    return Ok(());
                }
            }
            Some(Some(address)) => {
                let read = (Operation::Load(address), Some((address, Level::Load)));
                let Some((phase, joined)) = self.phase_after(control.phase, control.main_joined, false, read) else {
                    return Ok(());
                };
                (after.phase, after.main_joined) = (phase, joined);
            }
        }
        for local in self.first_locals(event, &[])? {
            let after = Control { main: self.main_in(local), ..after };
            self.push(steps, after, (take, None), StepLabel::of(Actor::Main, Deed::Occur(event)));
        }
        Ok(())
    }

    /// The address that an event's guard reads, if it has one; nothing when the event cannot occur.
    #[allow(clippy::option_option, reason = "an event may lack a guard")]
    pub(super) fn guard_holds(
        &self,
        control: Control,
        event: ThreadId,
        read: impl Fn(&Self, Value) -> Value,
    ) -> Option<Option<Value>> {
        let Some(guard) = self.program().thread(event).guard() else { return Some(None) };
        let address = guard.read_address().ok()?;
        let holds = !control.locked && guard.admits(read(self, address), self.program().domain).unwrap_or(false);
        holds.then_some(Some(address))
    }

    /// The steps by instructions at a local state of the main thread, a thread or a task on a thread of its own.
    fn executions(
        &mut self,
        control: Control,
        actor: Actor,
        local: u32,
        joined: bool,
        take: Option<u32>,
        steps: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            let step = self.locals.move_at(index);
            self.delaying_starts(control, actor, local, step, take, steps)?;
            let Some((after, joined, targets)) = self.execute(control, local, joined, step)? else { continue };
            let label = StepLabel::of(actor, Deed::Execute(step.instruction));
            let settled = self.settled(self.locals.targets(targets));
            for posted in self.posted(local, step, joined)? {
                for target in &settled {
                    let label = StepLabel { posted, ..label };
                    if actor == Actor::Main {
                        let after = Control { main: self.main_in(*target), main_joined: joined, ..after };
                        self.push(steps, after, (take, None), label);
                    } else {
                        self.push(steps, after, (take, self.own_place(*target, joined)), label);
                    }
                }
            }
        }
        Ok(())
    }

    /// The places in which a task that is posted may be: one nothing for instructions that post none, and for tasks that do nothing.
    pub(super) fn posted(&mut self, local: u32, step: Move, joined: bool) -> Result<Vec<Option<u32>>, Fault> {
        let thread = self.local(local).thread;
        let program = self.program();
        let Action::Post { executor, task, arguments } = &program.thread(thread).instruction(step.instruction).action
        else {
            return Ok(vec![None]);
        };
        let registers = &self.local(local).registers;
        let values = arguments.iter().map(|argument| argument.evaluate(registers, program.domain));
        let values = values.collect::<Result<Vec<Value>, _>>().map_err(|error| Fault {
            thread,
            instruction: step.instruction,
            kind: FaultKind::Evaluation(error),
        })?;
        let locals = self.first_locals(*task, &values)?;
        Ok(match executor {
            // A task that stops at once would only block the main thread, and need not begin.
            Executor::Main => {
                let pending = |it| (!self.local(it).is_stopped()).then(|| Place::Pending(it, joined).number());
                locals.into_iter().map(pending).collect()
            }
            Executor::Any => locals.into_iter().map(|it| self.own_place(it, joined)).collect(),
        })
    }

    /// One instruction under SC; nothing when it is disabled.
    fn execute(&mut self, before: Control, local: u32, joined: bool, step: Move) -> Result<Option<Moved>, Fault> {
        let holding = self.local(local).holding;
        let enabled = match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Lock => !before.locked && !holding,
            Operation::Unlock => holding,
            Operation::Post => true,
            _ => !before.locked || holding,
        };
        if !enabled {
            return Ok(None);
        }
        let read = match step.operation {
            Operation::Load(address) | Operation::Update(address) => self.read(before.memory, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(None) };
        let made = (step.operation, access(step.operation, outcome.stored.is_some()));
        let Some((phase, joined)) = self.phase_after(before.phase, joined, holding, made) else { return Ok(None) };
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
        Ok(Some((Control { memory, locked, phase, ..before }, joined, outcome.targets)))
    }

    /// The phase after an operation with its access, and whether who made it is on the path; nothing when it may not be made.
    fn phase_after(
        &mut self,
        before: Phase,
        joined: bool,
        holding: bool,
        (operation, access): (Operation, Option<(Value, Level)>),
    ) -> Option<(Phase, bool)> {
        let Phase::Helped(number) = before else { return Some((before, false)) };
        if joined {
            return Some((self.with_access(number, access), true));
        }
        let known = self.helped(number);
        match off_path(operation, holding, access.map(|(address, kind)| (kind, known.level(address)))) {
            OffPath::Joins => Some((self.with_access(number, access), true)),
            OffPath::Passes => Some((before, false)),
            OffPath::Stops => None,
            OffPath::Records => {
                let (address, kind) = access?;
                let mut after = known.clone();
                raise(&mut after.section, address, kind);
                Some((Phase::Helped(self.controls.helped.intern(after).0), false))
            }
        }
    }

    /// The phase after an access on the path; the accesses of its section so far count with it.
    fn with_access(&mut self, number: u32, access: Option<(Value, Level)>) -> Phase {
        let Some((address, level)) = access else { return Phase::Helped(number) };
        let mut after = self.helped(number).clone();
        for (address, level) in std::mem::take(&mut after.section) {
            raise(&mut after.levels, address, level);
        }
        raise(&mut after.levels, address, level);
        Phase::Helped(self.controls.helped.intern(after).0)
    }

    fn write(&mut self, memory: u32, address: Value, value: Value) -> u32 {
        let mut changed = self.memory(memory).changed.clone();
        if value == self.program().initial_value(address) {
            changed.retain(|pair| pair.0 != address);
        } else {
            set(&mut changed, address, value);
        }
        self.controls.memories.intern(Memory { changed }).0
    }
}

impl LazyNet for TaskSystem<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.locals.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        for place in std::iter::once(NO_TOKEN).chain(entries.iter().map(|entry| entry.place)) {
            let (start, end) = self.steps_at(control, place)?;
            steps.extend_from_slice(&self.arena[start as usize..end as usize]);
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        matches!(Place::of_number(place), Place::Own(..) | Place::Pending(..))
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        let Some(place) = step.take else { return Ok(false) };
        let (start, end) = self.steps_at(step.control, place)?;
        Ok(self.arena[start as usize..end as usize].contains(step))
    }

    fn also_puts(&self, step: &Step) -> Option<u32> {
        self.label(step).posted
    }
}
