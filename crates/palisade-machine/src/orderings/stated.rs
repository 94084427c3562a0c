//! The program of the sources' language: each access of a build without optimisation as what the
//! source makes of it.
//!
//! What an access is stands in the function of the library, or of the header for C, that makes it,
//! and its ordering in the numbers that this function is called with ([`crate::lift::AtomicCall`]);
//! where a source of Rust is at hand that says otherwise, the program is refused. Other accesses of
//! Rust's, or of C's that was read with the header, are *plain*: of data
//! without atomics, where an access at the same time by another thread is a race. A load of C may
//! also be one by an operator on an `_Atomic` variable, so that it counts as plain, but a violation
//! which rests on that is none. What is not known
//! counts as relaxed, which is weaker than all else that atomics do, and the listing's heading says
//! where. Fences of x86 that no fence of the source makes are none. A loop that only loads until a
//! condition holds waits for it, as `await` does.

use super::{Orderings, Said, Sources, chain, is_atomics, shown};
use crate::image::{Frame, Lines, is_header};
use crate::lift::{
    AtomicCall, ContextId, Effect, Lifted, LiftedRole, Made, Objection, Refused, conditions, drop_unreachable,
};
use palisade_model::program::{Action, Expression, Instruction, Liveness, Operation, Ordering, RegisterId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What an access is in the source.
enum Meant {
    /// This.
    Is(Operation),
    /// Nothing: a fence of x86 alone.
    Nothing,
}

/// Why a fence that no fence of the source makes is left out.
const OF_X86: &str = "a fence of x86 orders nothing in the language, and is left out";

/// What an access is, with the reason why it counts as relaxed, if it does for want of knowledge.
type Known = (Meant, Option<String>);

/// States the orderings of all accesses.
pub(crate) fn state(
    lifted: &mut Lifted,
    lines: &Lines<'_>,
    open: &mut dyn FnMut(&str) -> Option<(String, String)>,
) -> Result<Orderings, Box<Refused>> {
    let mut sources = Sources { open, read: BTreeMap::new() };
    let (mut words, mut plain, mut relaxed, mut consumed) =
        (Vec::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for number in 0..lifted.roles.len() {
        let role = &lifted.roles[number];
        let reader = Reader::new(role, lines);
        let (mut of_role, mut stated) = (BTreeMap::new(), Vec::new());
        let mut awaited = conditions(&role.thread);
        for (id, own) in role.thread.instruction_ids() {
            let Some(frames) = reader.frames(own) else { continue };
            let (mut meant, unknown) = match reader.meant(own, &frames) {
                Ok(known) => known,
                Err(why) => return Err(lifted.refused(number, own.span, Objection::new(why))),
            };
            let place = frames.iter().find(|frame| !frame.is_of_the_language()).or(frames.first());
            let place = place.map_or_else(|| format!("{:#x}", role.places[own.span.start].0.address), shown);
            if let Meant::Is(Operation::Load { until, ordering, .. }) = &mut meant
                && *ordering != Ordering::Plain
            {
                *until = awaited.remove(&id);
            }
            if let Meant::Is(operation) = &meant {
                let said = Said::of(operation);
                if said.is_plain() {
                    plain.insert(place.clone());
                }
                let mark = if unknown.is_some() { "?" } else { "" };
                if unknown.is_none() && is_contradicted(said, own, &frames, &mut sources) {
                    let why = "the source gives this access another ordering than its call";
                    return Err(lifted.refused(
                        number,
                        own.span,
                        Objection::new(why).with_help("build again if the source has changed since"),
                    ));
                }
                of_role.insert(own.span.start, format!("{said}{mark}"));
            }
            if reader.call(own).is_some_and(|call| call.consumes) {
                consumed.insert(format!("consume {place}\n"));
            }
            relaxed.extend(unknown.map(|reason| format!("relaxed {place} {reason}\n")));
            stated.push((id, meant));
        }
        for (id, meant) in stated {
            let own = &mut lifted.roles[number].thread.instructions[id.index()];
            match meant {
                Meant::Is(operation) => own.set_operation(operation),
                Meant::Nothing => own.action = Action::Nop,
            }
        }
        state_weak(&mut lifted.roles[number]);
        words.push(of_role);
    }
    let mut heading = "language orderings are those of the sources, read in a build without optimisation\n".to_owned();
    if !plain.is_empty() {
        let _ = writeln!(heading, "plain data is accessed at {} places", plain.len());
    }
    heading.extend(consumed);
    heading.extend(relaxed);
    Ok(Orderings { words, heading })
}

/// Whether the source at the call of a method says another ordering. Where no source can be read,
/// nothing does.
fn is_contradicted(said: Said, own: &Instruction, frames: &[Frame], sources: &mut Sources<'_>) -> bool {
    let caller = frames.iter().position(|frame| !frame.is_of_the_language());
    let Some(caller) = caller.filter(|at| at.checked_sub(1).is_some_and(|inner| is_atomics(&frames[inner]))) else {
        return false;
    };
    sources.said(&frames[caller], &own.action).is_ok_and(|written| said.contradicts(written))
}

/// Lets weak compare-exchanges say where they go when they fail for no reason, in place of the
/// loads that stand for this.
fn state_weak(role: &mut LiftedRole) {
    let is_weak = |own: &Instruction| {
        let call = role.places.get(own.span.start).and_then(|(place, _)| role.atomics.get(&place.context));
        call.is_some_and(|call| call.made == Made::CompareExchange { is_weak: true })
    };
    let thread = &mut role.thread;
    let own: Vec<&Instruction> = thread.instructions.iter().filter(|own| is_weak(own)).collect();
    let loads: Vec<Instruction> =
        own.into_iter().filter(|own| matches!(own.action, Action::Load { .. })).cloned().collect();
    for load in loads {
        let is_its = |own: &Instruction| own.span == load.span && matches!(own.action, Action::Cas { .. });
        let Some(exchange) = thread.instructions.iter_mut().find(|own| is_its(own)) else { continue };
        exchange.set_weak(load.target);
        let source = exchange.source;
        // The choice between the two.
        let chooses = |own: &Instruction| own.action == Action::Nop && own.target == load.source;
        thread.instructions.retain(|own| *own != load && (load.source == source || !chooses(own)));
    }
    drop_unreachable(thread);
}

/// What is known of the accesses of a role.
struct Reader<'a, 'l> {
    role: &'a LiftedRole,
    lines: &'a Lines<'l>,
    liveness: Liveness,
    /// The calls in which something is compared and exchanged.
    exchanging: BTreeSet<ContextId>,
}

impl<'a, 'l> Reader<'a, 'l> {
    fn new(role: &'a LiftedRole, lines: &'a Lines<'l>) -> Self {
        let exchanges = role.thread.instructions.iter().filter(|own| matches!(own.action, Action::Cas { .. }));
        let exchanging = exchanges.filter_map(|own| Some(role.places.get(own.span.start)?.0.context)).collect();
        Self { role, lines, liveness: Liveness::of(&role.thread), exchanging }
    }

    /// All functions that an access or a fence belongs to, the innermost first; nothing for local
    /// instructions.
    fn frames(&self, own: &Instruction) -> Option<Vec<Frame>> {
        let is_fence = matches!(own.action, Action::Fence) || self.is_silent_fence(own);
        let is_asked = is_fence || own.action.address().is_some();
        let (place, _) = self.role.places.get(own.span.start).filter(|_| is_asked)?;
        Some(chain(self.role, *place, &self.lines.frames(place.address), self.lines))
    }

    fn call(&self, own: &Instruction) -> Option<AtomicCall> {
        let (place, _) = self.role.places.get(own.span.start)?;
        self.role.atomics.get(&place.context).copied()
    }

    /// Whether it stands for a fence of the source that leaves no instruction.
    fn is_silent_fence(&self, own: &Instruction) -> bool {
        let at_start =
            |(place, _): &(crate::lift::Place, String)| self.role.contexts.get(place.context).function == place.address;
        own.action == Action::Nop
            && self.call(own).is_some_and(|call| call.made == Made::Fence)
            && self.role.places.get(own.span.start).is_some_and(at_start)
    }

    /// What an access or a fence is; why the program has to be refused where that cannot be said.
    fn meant(&self, own: &Instruction, frames: &[Frame]) -> Result<Known, String> {
        if let Some(operation) = self.role.effects.get(&own.span.start).and_then(|effect| of_posix(effect, own)) {
            return Ok((Meant::Is(operation), None));
        }
        let address = self.role.places[own.span.start].0.address;
        let is_compiled = !self.lines.is_of_this_build(address);
        let inlined = || {
            let made = frames.iter().filter(|frame| is_atomics(frame)).find_map(|frame| made(frame))?;
            Some(AtomicCall { made, ordering: None, failure: None, consumes: false })
        };
        if let Some(call) = self.call(own).or_else(inlined) {
            return self.atomic(own, call, is_compiled);
        }
        let is_rust = frames.first().is_some_and(|frame| frame.file.ends_with(".rs"));
        let is_read = is_rust || self.lines.is_read_with_header(address);
        let is_of_header = frames.first().is_some_and(|frame| is_header(&frame.file));
        let reason = match (is_compiled, is_read) {
            (true, _) => Some("its code comes compiled with optimisation"),
            (false, true) if is_of_header => Some("a function of palisade_atomics.h makes it whose name is not known"),
            (false, true) => None,
            (false, false) => Some("its source is neither Rust nor read with palisade_atomics.h"),
        };
        let ordering = if reason.is_none() { Ordering::Plain } else { Ordering::Relaxed };
        // Stores by operators are locked.
        let is_load = matches!(own.action, Action::Load { .. });
        let may_be_atomic = !is_rust && is_read && is_load && self.lines.has_atomic_types(address);
        let reason = reason.or_else(|| may_be_atomic.then_some(LOADED));
        let assumed = |operation| Ok((Meant::Is(operation), Some(reason.unwrap_or(OPERATOR).to_owned())));
        let operation = match own.action.clone() {
            Action::Load { register, address } => Operation::Load { register, address, ordering, until: None },
            Action::Store { address, value } => Operation::Store { address, value, ordering },
            Action::Fence => return Ok((Meant::Nothing, Some(OF_X86.to_owned()))),
            Action::Nop => return Ok((Meant::Nothing, None)),
            Action::Rmw { register, address, new } if !is_rust && !is_compiled => {
                return assumed(update(register, address, None, new, [Ordering::Relaxed; 2]));
            }
            Action::Cas { register, address, expected, new } if !is_rust && !is_compiled => {
                return assumed(update(register, address, Some(expected), new, [Ordering::Relaxed; 2]));
            }
            _ => return Err("no method of an atomic makes this access, so that its ordering is not known".to_owned()),
        };
        Ok((Meant::Is(operation), reason.map(str::to_owned)))
    }

    /// What an access or a fence is that a function of the library makes.
    fn atomic(&self, own: &Instruction, call: AtomicCall, is_compiled: bool) -> Result<Known, String> {
        let place = self.role.places[own.span.start].0;
        let ordering = call.ordering.unwrap_or(Ordering::Relaxed);
        let failure = call.failure.unwrap_or(Ordering::Relaxed);
        let exchanges = self.exchanging.contains(&place.context);
        let operation = match (call.made, own.action.clone()) {
            (Made::Load, Action::Load { register, address }) => {
                Operation::Load { register, address, ordering, until: None }
            }
            (Made::Store, Action::Store { address, value }) => Operation::Store { address, value, ordering },
            (Made::Store, Action::Rmw { register, address, new: value }) => {
                if register.is_some_and(|register| self.liveness.is_live(own.target, register)) {
                    return Err("this store is an exchange, and something reads what it has found".to_owned());
                }
                Operation::Store { address, value, ordering }
            }
            (Made::Update, Action::Rmw { register, address, new }) => {
                update(register, address, None, new, [ordering, ordering.of_failure()])
            }
            // The compiler makes a loop of some updates: what is loaded first is a guess.
            (Made::Update, Action::Cas { register, address, expected, new }) => {
                update(register, address, Some(expected), new, [ordering, Ordering::Relaxed])
            }
            (Made::Update, Action::Load { register, address }) if exchanges => {
                Operation::Load { register, address, ordering: Ordering::Relaxed, until: None }
            }
            // An update that changes nothing is compiled as a fence and a load.
            (Made::Update, Action::Load { register, address }) => {
                update(Some(register), address, None, Expression::Old, [ordering, ordering.of_failure()])
            }
            (Made::CompareExchange { .. }, Action::Cas { register, address, expected, new }) => {
                update(register, address, Some(expected), new, [ordering, failure])
            }
            // It fails for no reason.
            (Made::CompareExchange { is_weak: true }, Action::Load { register, address }) => {
                Operation::Load { register, address, ordering: failure, until: None }
            }
            (Made::Fence, Action::Fence) => Operation::Fence { ordering: Ordering::SeqCst },
            (Made::Fence, Action::Nop) => match call.ordering {
                Some(ordering @ (Ordering::Acquire | Ordering::Release | Ordering::AcqRel)) => {
                    Operation::Fence { ordering }
                }
                // Behind it stands the instruction for it, or nothing that is known.
                _ => return Ok((Meant::Nothing, None)),
            },
            (_, Action::Fence) => return Ok((Meant::Nothing, None)),
            _ => return Err("this access is not the one that the library's function for it makes".to_owned()),
        };
        let is_known = call.ordering.is_some()
            && (call.failure.is_some() || !matches!(call.made, Made::CompareExchange { .. }))
            || call.made == Made::Fence;
        let unknown = match is_compiled {
            true => "its code comes compiled with optimisation",
            false => "no constant stands in the place of its ordering",
        };
        Ok((Meant::Is(operation), (!is_known).then(|| unknown.to_owned())))
    }
}

/// Why the ordering of a locked instruction of C is not known that no function of the header makes.
const OPERATOR: &str = "an operator or assembly makes it, and no function of palisade_atomics.h";

/// Why the ordering of a load of C is not known that no function of the header makes.
const LOADED: &str = "it is a load of plain data, or one by an operator on an `_Atomic` variable";

/// An update with its orderings when it stores and when it does not.
fn update(
    register: Option<RegisterId>,
    address: Expression,
    expected: Option<Expression>,
    new: Expression,
    [success, failure]: [Ordering; 2],
) -> Operation {
    Operation::Update { register, address, expected, new, success, failure, until: None, spurious: None }
}

/// What an access is that a function of POSIX makes: who takes something acquires, and who gives it
/// back releases, as the locks of C11 and C++ do [C11, 7.26.4; C++20, 32.5.4].
fn of_posix(effect: &Effect, own: &Instruction) -> Option<Operation> {
    let success = match effect {
        Effect::Until(..) | Effect::Try => Ordering::Acquire,
        Effect::Give | Effect::Sleep { .. } => Ordering::Release,
        Effect::Look | Effect::Wake { .. } => Ordering::Relaxed,
    };
    let orderings = [success, Ordering::Relaxed];
    match own.action.clone() {
        Action::Load { register, address } => {
            Some(Operation::Load { register, address, ordering: Ordering::Relaxed, until: None })
        }
        Action::Rmw { register, address, new } => Some(update(register, address, None, new, orderings)),
        Action::Cas { register, address, expected, new } => {
            Some(update(register, address, Some(expected), new, orderings))
        }
        _ => None,
    }
}

/// What the function of a frame makes, by its name with or without its path.
fn made(frame: &Frame) -> Option<Made> {
    let name = frame.function.as_deref()?;
    let name = name.split('<').next().unwrap_or(name).trim_end_matches("::");
    let name = name.rsplit("::").next().unwrap_or(name);
    Made::named(&format!("core::sync::atomic::{name}"))
}
