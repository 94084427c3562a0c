//! Calls of functions that are not followed: their steps, and where control goes then.

use super::abstraction::Abstract;
use super::contexts::Place;
use super::copies::Copying;
use super::decode::MemoryOperand;
use super::environment::ARGUMENTS;
use super::explore::{Next, Performing};
use super::futex::Futex;
use super::heap::HeapFunction;
use super::micro::{Micro, set, stored};
use super::posix::Posix;
use super::refusal::Objection;
use super::stubs::{self, Called, ERROR_NUMBER, Stub, TIME};
use super::transfer::apply;

/// `any` may choose from fewer numbers than this.
const MOST_CHOICES: i64 = 256;

impl Performing<'_, '_> {
    /// What a function means that is not followed.
    pub(super) fn stub_at(&self, target: u64) -> Result<Option<Stub>, Objection> {
        let image = &self.knowledge.memory.image;
        let names = image.functions_at(target);
        let of_heap = names.iter().find_map(|name| stubs::heap_stub(name)).filter(|_| self.knowledge.follows_heap());
        let is_followed = |stub: &Stub| matches!(stub, Stub::Posix(_)) && self.knowledge.follows_locks(target);
        let listed = names.iter().find_map(|name| stubs::stub(name)).filter(|stub| !is_followed(stub));
        if let Some(stub) = of_heap.or(listed) {
            return Ok(Some(stub));
        }
        let refused = names.iter().find(|name| image.is_import(target) || stubs::is_refused(name));
        if let Some(name) = refused {
            return Err(Objection::new(stubs::refusal(name)).with_help(stubs::advice(name)));
        }
        Ok(None)
    }

    pub(super) fn stub(&mut self, stub: Stub, next: Place) -> Result<Next, Objection> {
        match stub {
            Stub::Fails => return Ok(Next::Fail),
            Stub::Ends => return Ok(Next::End),
            _ => self.steps_of(stub)?,
        }
        let called = self.called(stub)?;
        called.clears().for_each(|family| self.after.set_family(family, Abstract::Constant(0)));
        let results = called.outcomes.iter().copied();
        self.after.set_family(0, results.reduce(Abstract::join).expect("a call comes out somehow"));
        let flags: Vec<_> = self.after.flags().map(|(flag, _)| flag).collect();
        flags.into_iter().for_each(|flag| self.after.set_flag(flag, Abstract::Constant(0)));
        for number in 0..16 {
            self.after.set_vector(number, false, Abstract::Constant(0));
            self.after.set_vector(number, true, Abstract::Constant(0));
        }
        Ok(Next::Stub(called, next))
    }

    /// The steps of a function that does something to memory.
    fn steps_of(&mut self, stub: Stub) -> Result<(), Objection> {
        match stub {
            Stub::Copying(copying) => self.copying(copying),
            Stub::Heap(function) => self.heap(function),
            Stub::SystemCall => self.system_call(),
            Stub::Clock => self.clock(),
            Stub::Posix(posix) => self.posix(posix),
            Stub::SleepUnlocked => self.sleep_unlocked(),
            Stub::Nothing | Stub::ErrorNumber | Stub::Any | Stub::Fails | Stub::Ends => Ok(()),
        }
    }

    /// The system is called: of its calls, `futex` is understood.
    fn system_call(&mut self) -> Result<(), Objection> {
        let step = Micro::Futex(Futex::called(&self.after)?);
        apply(&step, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(step);
        Ok(())
    }

    /// A function of POSIX.
    fn posix(&mut self, posix: Posix) -> Result<(), Objection> {
        let step = Micro::Posix(posix);
        apply(&step, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(step);
        Ok(())
    }

    /// A copy sleeps at a condition variable of C++. The mutex is what its second argument, a
    /// `unique_lock`, points to at first.
    fn sleep_unlocked(&mut self) -> Result<(), Objection> {
        let lock = MemoryOperand { base: Some(ARGUMENTS[1]), index: None, displacement: 0, bytes: 8 };
        let Abstract::Constant(mutex) = self.loaded(lock)? else {
            return Err(Objection::new("it is not known which mutex this wait gives back").on_some_ways());
        };
        let step = set(ARGUMENTS[1], mutex);
        apply(&step, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(step);
        self.posix(Posix::Sleep { is_timed: false })
    }

    /// The time is put where the second argument points to: seconds, then parts of one.
    fn clock(&mut self) -> Result<(), Objection> {
        self.knowledge.reads_clock = true;
        for (number, displacement) in [(TIME, 0), (0, 8)] {
            let to = MemoryOperand { base: Some(ARGUMENTS[1]), index: None, displacement, bytes: 8 };
            let step = stored(number, to, &self.after)?;
            apply(&step, self.place.address, &mut self.after, self.knowledge)?;
            self.more.push(step);
        }
        Ok(())
    }

    /// Memory is copied, filled or compared by a function.
    fn copying(&mut self, copying: Copying) -> Result<(), Objection> {
        let bytes = match self.after.family(ARGUMENTS[2]) {
            Abstract::Constant(bytes) if (0..=copying.most()).contains(&bytes) => bytes,
            Abstract::Constant(bytes) => {
                return Err(Objection::new(format!("{bytes} bytes are copied, filled or compared at once")));
            }
            _ => {
                return Err(Objection::new(
                    "memory is copied, filled or compared by a function, and how much is not known",
                )
                .on_some_ways());
            }
        };
        let step = Micro::Copying(copying, u16::try_from(bytes).expect("few bytes"));
        apply(&step, self.place.address, &mut self.after, self.knowledge)?;
        self.more.push(step);
        Ok(())
    }

    /// Memory is taken from the heap, or given back.
    fn heap(&mut self, function: HeapFunction) -> Result<(), Objection> {
        for step in function.steps(&self.after, self.knowledge)? {
            apply(&step, self.place.address, &mut self.after, self.knowledge)?;
            self.more.push(step);
        }
        Ok(())
    }

    /// What a call does, with the arguments that it is given.
    fn called(&self, stub: Stub) -> Result<Called, Objection> {
        let argument = |index: usize| self.after.family(ARGUMENTS[index]);
        match stub {
            Stub::ErrorNumber => Ok(Called::returning(self.after.frame_at(ERROR_NUMBER))),
            Stub::Any => match (argument(0), argument(1)) {
                (Abstract::Constant(low), Abstract::Constant(high)) if low <= high && high - low < MOST_CHOICES => {
                    let outcomes = (low..=high).map(Abstract::Constant).collect();
                    Ok(Called { outcomes, has_returned: false })
                }
                _ => Err(Objection::new(format!(
                    "`any` is given numbers that are not known here, or more than {MOST_CHOICES} of them"
                ))),
            },
            Stub::Copying(_) | Stub::Heap(_) | Stub::SystemCall | Stub::Posix(_) | Stub::SleepUnlocked => {
                Ok(Called { has_returned: true, ..Called::returning(self.after.family(0)) })
            }
            _ => Ok(Called::returning(Abstract::Constant(0))),
        }
    }

    /// A jump to a function that is not followed: it returns where this one does.
    pub(super) fn tail_stub(&mut self, stub: Stub) -> Result<Next, Objection> {
        if matches!(stub, Stub::Fails | Stub::Ends) {
            return self.stub(stub, self.place);
        }
        let returned = self.return_to(0)?;
        match returned {
            Next::To(place) => self.stub(stub, place),
            Next::End => {
                self.steps_of(stub)?;
                Ok(Next::End)
            }
            _ => Err(Objection::new("a function that is not followed returns to where a shared stack says")),
        }
    }
}
