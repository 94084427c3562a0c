//! The steps of everyone but a delaying attacker.

use super::control::{Main, TaskControl};
use super::place::Place;
use super::system::{Actor, Deed, StepLabel, TaskSystem, Tasks};
use crate::instrumented::fault::{Fault, FaultKind};
use crate::instrumented::system::{Move, Moved, Operation, Phase, phase_after};
use palisade_evidence::Level;
use palisade_model::program::{Action, Copies, Executor, ThreadId, Value};

impl TaskSystem<'_> {
    /// The main thread's steps, the attacker's, and events that occur any number of times.
    pub(super) fn steps_of_main(&mut self, control: TaskControl) -> Result<(), Fault> {
        if let Phase::Delayed(attacker) = control.phase.attack {
            self.attacker_steps(control, attacker)?;
        }
        if let Main::Runs(local) = control.phase.main {
            if self.returns(local) {
                let after = control.with_main(Main::Idle);
                self.push(after, (None, None), StepLabel::of(Actor::Main, Deed::Return));
            }
            self.executions(control, Actor::Main, (local, control.phase.main_joined), None)?;
        }
        if self.is_any_number() {
            let program = self.program();
            for (event, _) in program.events().filter(|(_, it)| it.copies == Copies::Any) {
                self.occurrences(control, event, None)?;
            }
        }
        Ok(())
    }

    /// The steps of a token on a place.
    pub(super) fn steps_of_place(&mut self, control: TaskControl, place: Place) -> Result<(), Fault> {
        let take = Some(place.number());
        match place {
            Place::Own(local, joined) => self.executions(control, Actor::Own, (local, joined), take)?,
            Place::Pending(local, joined) => self.begins(control, local, joined),
            Place::Start(event) => self.occurrences(control, event, take)?,
            Place::Spare => {
                let program = self.program();
                for (event, _) in program.events().filter(|(_, it)| it.copies == Copies::Any) {
                    self.occurrences(control, event, take)?;
                }
                for put in self.spare_places().to_vec() {
                    self.push(control, (take, Some(put)), StepLabel::of(Actor::Own, Deed::Wake));
                }
            }
        }
        Ok(())
    }

    /// What the main thread does in a local state.
    pub(super) fn main_in(&self, local: u32) -> Main {
        if self.local(local).is_stopped() { Main::Blocked } else { Main::Runs(local) }
    }

    /// A pending task begins.
    fn begins(&mut self, control: TaskControl, local: u32, joined: bool) {
        let take = Some(Place::Pending(local, joined).number());
        if let Some(after) = self.attacker_goes_on(control, local) {
            self.push(after, (take, None), StepLabel::of(Actor::Attacker, Deed::Begin));
        }
        let main_joined = control.phase.main_joined || joined;
        let is_off_path = matches!(control.phase.attack, Phase::Helped(_)) && !main_joined;
        if control.phase.main != Main::Idle || is_off_path {
            return;
        }
        let after = control.with_main(self.main_in(local)).with_main_joined(main_joined);
        self.push(after, (take, None), StepLabel::of(Actor::Main, Deed::Begin));
    }

    /// An event occurs; its guard is a read by the main thread.
    fn occurrences(&mut self, control: TaskControl, event: ThreadId, take: Option<u32>) -> Result<(), Fault> {
        self.attacker_occurrences(control, event, take)?;
        if control.phase.main != Main::Idle {
            return Ok(());
        }
        let mut after = control;
        match self.guard_holds(control, event, |system, address| system.read(control.memory, address)) {
            None => return Ok(()),
            Some(None) => {
                if matches!(control.phase.attack, Phase::Helped(_)) && !control.phase.main_joined {
                    return Ok(());
                }
            }
            Some(Some(address)) => {
                let read = (Operation::Load(address), Some((address, Level::Load)));
                let helped = &mut self.model.helped;
                let after_read = phase_after(helped, control.phase.attack, control.phase.main_joined, false, read);
                let Some((attack, joined)) = after_read else { return Ok(()) };
                after = after.with_attack(attack).with_main_joined(joined);
            }
        }
        for local in self.first_locals(event, &[])? {
            let after = after.with_main(self.main_in(local));
            self.push(after, (take, None), StepLabel::of(Actor::Main, Deed::Occur(event)));
        }
        Ok(())
    }

    /// The address that an event's guard reads, if it has one; nothing when the event cannot occur.
    #[allow(clippy::option_option, reason = "an event may lack a guard")]
    pub(super) fn guard_holds(
        &self,
        control: TaskControl,
        event: ThreadId,
        read: impl Fn(&Self, Value) -> Value,
    ) -> Option<Option<Value>> {
        let Some(guard) = self.program().thread(event).guard() else { return Some(None) };
        let address = guard.read_address().ok()?;
        let holds = !control.locked && guard.admits(read(self, address), self.program().domain).unwrap_or(false);
        holds.then_some(Some(address))
    }

    /// The steps by instructions at a local state of the main thread, a thread or a task on a
    /// thread of its own.
    fn executions(
        &mut self,
        control: TaskControl,
        actor: Actor,
        (local, joined): (u32, bool),
        take: Option<u32>,
    ) -> Result<(), Fault> {
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            let step = self.locals.move_at(index);
            self.delaying_starts(control, actor, local, step, take)?;
            let Some(moved) = self.execute(&control, (local, joined), step)? else { continue };
            let Moved { after, mark: joined, targets, .. }: Moved<Tasks> = moved;
            let label = StepLabel::of(actor, Deed::Execute(step.instruction));
            let settled = self.settled(self.locals.targets(targets));
            for posted in self.posted(local, step, joined)? {
                for target in &settled {
                    let label = StepLabel { posted, ..label };
                    if actor == Actor::Main {
                        let after = after.with_main(self.main_in(*target)).with_main_joined(joined);
                        self.push(after, (take, None), label);
                    } else {
                        self.push(after, (take, self.own_place(*target, joined)), label);
                    }
                }
            }
        }
        Ok(())
    }

    /// The places in which a task that is posted may be: one nothing for instructions that post
    /// none, and for tasks that do nothing.
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
}
