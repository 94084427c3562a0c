//! The attacker: from its first delayed store to the load, or the plain post, that oversteps it.
//!
//! With posts that drain, an attacker posts nothing and does not return while it delays. With plain
//! posts it posts, and the main thread returns, begins tasks and lets events occur, all with its
//! buffer. A step of the attacker that has no value is a fault here.

use super::control::{Attacker, Main, TaskControl};
use super::system::{Actor, Deed, StepLabel, TaskSystem};
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Helped, Move, Operation, Path, Phase, lookup, set};
use palisade_evidence::Level;
use palisade_model::program::{ThreadId, Value};

impl TaskSystem<'_> {
    /// The control in which an attacker is in a local state; nothing when its attack cannot come to
    /// an end from there.
    fn with_attacker(&mut self, control: TaskControl, attacker: Attacker) -> Option<TaskControl> {
        if let Some(local) = attacker.local {
            let local = self.local(local);
            if !self.model.hopeful.is_hopeful(local.thread, local.label, attacker.on_main) {
                return None;
            }
        }
        let attacker = self.model.attackers.intern(attacker).0;
        Some(control.with_attack(Phase::Delayed(attacker)))
    }

    /// A store is delayed, and who issues it becomes the attacker.
    pub(super) fn delaying_starts(
        &mut self,
        control: TaskControl,
        actor: Actor,
        local: u32,
        step: Move,
        take: Option<u32>,
    ) -> Result<(), Fault> {
        let Operation::Store(address, value) = step.operation else { return Ok(()) };
        if control.phase.attack != Phase::Sc || self.local(local).holding {
            return Ok(());
        }
        let Some(outcome) = self.locals.outcome(local, step, 0)? else { return Ok(()) };
        let on_main = actor == Actor::Main;
        let main = if on_main { Main::Blocked } else { control.phase.main };
        for target in self.settled(self.locals.targets(outcome.targets)) {
            let buffer = vec![(address, value)];
            let attacker = Attacker { on_main, local: Some(target), buffer, store_address: address };
            if let Some(after) = self.with_attacker(control.with_main(main), attacker) {
                let label = StepLabel { delays: true, ..StepLabel::of(actor, Deed::Execute(step.instruction)) };
                self.push(after, (take, None), label);
            }
        }
        Ok(())
    }

    /// The control after the attack's load, or a post without one.
    fn overstepped(&mut self, control: TaskControl, attacker: &Attacker, load: Option<Value>) -> TaskControl {
        let path = Path::from(load.map(|address| (address, Level::Load)));
        let helped = Helped { store_address: attacker.store_address, path };
        control.with_main_joined(false).with_attack(Phase::Helped(self.model.helped.intern(helped).0))
    }

    /// The steps of a delaying attacker that take no token.
    pub(super) fn attacker_steps(&mut self, control: TaskControl, number: u32) -> Result<(), Fault> {
        let attacker = self.attacker(number).clone();
        let Some(local) = attacker.local else { return Ok(()) };
        if self.returns(local) && self.is_plain() && attacker.on_main {
            let idle = Attacker { local: None, ..attacker.clone() };
            if let Some(after) = self.with_attacker(control, idle) {
                self.push(after, (None, None), StepLabel::of(Actor::Attacker, Deed::Return));
            }
        }
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            self.attacker_executes(control, &attacker, local, self.locals.move_at(index))?;
        }
        Ok(())
    }

    fn attacker_executes(
        &mut self,
        control: TaskControl,
        attacker: &Attacker,
        local: u32,
        step: Move,
    ) -> Result<(), Fault> {
        let label = StepLabel::of(Actor::Attacker, Deed::Execute(step.instruction));
        let attack = StepLabel { attacks: true, ..label };
        let mut buffer = attacker.buffer.clone();
        let mut read = 0;
        match step.operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Store(address, value) => set(&mut buffer, address, value),
            Operation::Load(_) if control.locked => return Ok(()),
            Operation::Load(address) => match lookup(&buffer, address) {
                Some(buffered) => read = buffered,
                None => {
                    read = self.read(control.memory, address);
                    let after = self.overstepped(control, attacker, Some(address));
                    self.push(after, (None, None), attack);
                }
            },
            Operation::Post if self.is_plain() => {
                if !control.locked {
                    for posted in self.posted(local, step, true)? {
                        let after = self.overstepped(control, attacker, None);
                        self.push(after, (None, None), StepLabel { posted, ..attack });
                    }
                }
            }
            _ => return Ok(()),
        }
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(()) };
        let settled = self.settled(self.locals.targets(outcome.targets));
        for posted in self.posted(local, step, false)? {
            for target in &settled {
                let next = Attacker { local: Some(*target), buffer: buffer.clone(), ..attacker.clone() };
                if let Some(after) = self.with_attacker(control, next) {
                    self.push(after, (None, None), StepLabel { posted, ..label });
                }
            }
        }
        Ok(())
    }

    /// The attacker of a control, when it is the main thread between two invocations.
    fn idle_attacker(&self, control: TaskControl) -> Option<Attacker> {
        let Phase::Delayed(number) = control.phase.attack else { return None };
        Some(self.attacker(number)).filter(|it| it.on_main && it.local.is_none()).cloned()
    }

    /// The control in which an attacker on the main thread has begun an invocation.
    pub(super) fn attacker_goes_on(&mut self, control: TaskControl, local: u32) -> Option<TaskControl> {
        let attacker = self.idle_attacker(control)?;
        self.with_attacker(control, Attacker { local: Some(local), ..attacker })
    }

    /// An event occurs while the main thread delays stores. Its guard may be the load that
    /// oversteps them.
    pub(super) fn attacker_occurrences(
        &mut self,
        control: TaskControl,
        event: ThreadId,
        take: Option<u32>,
    ) -> Result<(), Fault> {
        let Some(attacker) = self.idle_attacker(control) else { return Ok(()) };
        let read = |system: &Self, address| {
            lookup(&attacker.buffer, address).unwrap_or_else(|| system.read(control.memory, address))
        };
        let Some(read) = self.guard_holds(control, event, read) else { return Ok(()) };
        let label = StepLabel::of(Actor::Attacker, Deed::Occur(event));
        if let Some(address) = read.filter(|address| lookup(&attacker.buffer, *address).is_none()) {
            let after = self.overstepped(control, &attacker, Some(address));
            self.push(after, (take, None), StepLabel { attacks: true, ..label });
        }
        for local in self.first_locals(event, &[])? {
            if let Some(after) = self.attacker_goes_on(control, local) {
                self.push(after, (take, None), label);
            }
        }
        Ok(())
    }
}
