//! Whether orderings suffice for every compilation, by code of the checker's own:
//! docs/certificate/compilations.md has the rules.
//!
//! The listing of a build in source order has in front of the place of each access what the source
//! says of it. Along every path of a thread the checker keeps the earlier accesses that compilers
//! may move later ones before, and holds each later one against them.

mod values;

use crate::{CheckFailure, Obligation};
use palisade_evidence::RobustCertificate;
use palisade_invariants::check_without_races;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{
    Action, Heading, Instruction, LabelId, Liveness, Ordering, Program, RegisterId, SourceAccess, Thread, Value,
};
use std::collections::BTreeSet;
use std::iter;
use values::{ANYTHING, Partial};

/// More states of a thread are not followed.
const LIMIT: usize = 200_000;

/// Whether the listing is one of a build in source order, for which [`check_every_compilation`]
/// decides.
pub fn is_in_source_order(program: &Program) -> bool {
    Heading::of(&program.source).is_some_and(|heading| heading.is_in_source_order)
}

/// Checks that what evidence has shown of a program in source order holds of every compilation: why
/// it need not, otherwise. The certificate of robustness, which was accepted, shows that data
/// without atomics has no races.
pub fn check_every_compilation(program: &Program, certificate: &RobustCertificate) -> Result<(), CheckFailure> {
    let refused = |detail: String| Err(CheckFailure { obligation: Obligation::Safe, detail });
    let Some(heading) = Heading::of(&program.source).filter(|heading| heading.is_in_source_order) else {
        return refused("no orderings were read".to_owned());
    };
    if !program.accepted.is_empty() {
        return refused("delays are accepted".to_owned());
    }
    if let Some((place, reason)) = heading.unknown {
        return refused(format!("unknown {place} {reason}"));
    }
    if let Some(hint) = heading.hints.first() {
        return refused(format!("hint {hint}"));
    }
    if let Some((store, load)) = heading.accepted.first() {
        return refused(format!("accept {store} past {load}"));
    }
    let threads = || program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
    let (mut all_are_strong, mut plain) = (true, BTreeSet::new());
    for (id, thread) in threads() {
        for (number, instruction) in thread.instruction_ids().filter(|(_, own)| touches(&own.action)) {
            match in_source(program, instruction) {
                Some(access) if access.is_plain() => {
                    plain.insert((id, number));
                }
                Some(access) => all_are_strong &= access.orderings().all(|ordering| ordering == Ordering::SeqCst),
                None => return refused(format!("nothing is known of: {}", program.source.slice(instruction.span))),
            }
        }
    }
    if !plain.is_empty() {
        check_without_races(program, &plain, certificate)
            .map_err(|failure| failure.within(format_args!("races of data without atomics")))?;
    }
    if all_are_strong {
        return Ok(());
    }
    for (_, thread) in threads() {
        if let Err(pair) = follow(program, thread) {
            return refused(format!("role `{}`: {pair}", thread.name));
        }
    }
    Ok(())
}

/// Whether an action is about shared memory or the store buffer.
fn touches(action: &Action) -> bool {
    match action {
        Action::Load { .. }
        | Action::Store { .. }
        | Action::Cas { .. }
        | Action::Rmw { .. }
        | Action::Fence
        | Action::StoreFence
        | Action::Lock
        | Action::Unlock => true,
        Action::Assign { .. }
        | Action::Havoc { .. }
        | Action::Assume(_)
        | Action::Nop
        | Action::Ensure(_)
        | Action::Fail
        | Action::Post { .. } => false,
    }
}

/// What the listing says that the source does; nothing where it is not said, or does not fit the
/// instruction.
fn in_source(program: &Program, instruction: &Instruction) -> Option<SourceAccess> {
    let access = program.listed(instruction)?.access?;
    let is_strong = access.orderings().next() == Some(Ordering::SeqCst);
    let fits = match &instruction.action {
        Action::Load { .. } => matches!(access, SourceAccess::Load(_) | SourceAccess::ReadModifyWrite(_)),
        Action::Store { .. } => matches!(access, SourceAccess::Store(_)) && !is_strong,
        Action::Rmw { .. } => match access {
            SourceAccess::ReadModifyWrite(_) => true,
            SourceAccess::Store(_) => is_strong,
            _ => false,
        },
        Action::Cas { .. } => matches!(access, SourceAccess::CompareExchange(..) | SourceAccess::ReadModifyWrite(_)),
        Action::Fence => match access {
            SourceAccess::ReadModifyWrite(_) => true,
            SourceAccess::Fence(_) => is_strong,
            _ => false,
        },
        _ => false,
    };
    fits.then_some(access)
}

/// An earlier access that later ones may have to be held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Earlier {
    /// A load that does not acquire; with its address while an acquiring access of the same one
    /// would end this.
    Weak(Option<Value>),
    /// A store to an address.
    Stored(Option<Value>),
    /// A sequentially consistent store, which is a store to an address as well.
    Exchanged,
    /// An access without atomics, after which nothing has released.
    Plain,
}

type History = BTreeSet<Earlier>;

fn acquires(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

fn is_same(one: Option<Value>, two: Option<Value>) -> bool {
    one.is_some() && one == two
}

/// A load, or the load of a read-modify-write, after earlier accesses.
fn load(history: &mut History, address: Option<Value>, ordering: Ordering) -> Result<(), String> {
    for earlier in history.iter() {
        match earlier {
            Earlier::Weak(other) if !is_same(*other, address) => {
                return Err("a load may come before an earlier one".to_owned());
            }
            Earlier::Exchanged => return Err("a load may come before a SeqCst store".to_owned()),
            // What a store buffer does as well.
            Earlier::Weak(_) | Earlier::Stored(_) | Earlier::Plain => {}
        }
    }
    if acquires(ordering) {
        // All weak loads left are of this address, and stay before it.
        history.retain(|earlier| !matches!(earlier, Earlier::Weak(_)));
    } else {
        history.insert(Earlier::Weak(address));
    }
    Ok(())
}

/// An access without atomics.
fn plain(history: &mut History) -> Result<(), String> {
    if history.iter().any(|earlier| matches!(earlier, Earlier::Weak(_))) {
        return Err("an access without atomics may come before a load".to_owned());
    }
    history.insert(Earlier::Plain);
    Ok(())
}

/// What others may see: all accesses without atomics stay before it, or there are none.
fn published(history: &mut History, ordering: Ordering) -> Result<(), String> {
    if releases(ordering) {
        history.remove(&Earlier::Plain);
    }
    if history.contains(&Earlier::Plain) {
        return Err("a store may come before an access without atomics".to_owned());
    }
    Ok(())
}

fn store(history: &mut History, address: Option<Value>, ordering: Ordering) -> Result<(), String> {
    published(history, ordering)?;
    for earlier in history.iter().filter(|_| !releases(ordering)) {
        match earlier {
            Earlier::Weak(other) | Earlier::Stored(other) if !is_same(*other, address) => {
                return Err("a store may come before an earlier access".to_owned());
            }
            _ => {}
        }
    }
    // Later loads of the address may find this store, and then end nothing.
    if history.remove(&Earlier::Weak(address)) {
        history.insert(Earlier::Weak(None));
    }
    history.insert(Earlier::Stored(address));
    if ordering == Ordering::SeqCst {
        history.insert(Earlier::Exchanged);
    }
    Ok(())
}

/// A locked instruction that the source has not as a fence: nothing may be in the buffer.
fn drained(history: &History) -> Result<(), String> {
    if history.iter().any(|earlier| matches!(earlier, Earlier::Stored(_))) {
        return Err("a store may come after a later read-modify-write".to_owned());
    }
    Ok(())
}

fn read_modify_write(history: &mut History, address: Option<Value>, ordering: Ordering) -> Result<(), String> {
    drained(history)?;
    published(history, ordering)?;
    // It may become a load, if it changes nothing.
    load(history, address, ordering)?;
    if history.remove(&Earlier::Weak(address)) {
        history.insert(Earlier::Weak(None));
    }
    Ok(())
}

/// Where a thread is, with what is known of the registers that it reads from there on.
type At = (LabelId, Vec<Partial>, History);

/// Follows all paths of a thread.
fn follow(program: &Program, thread: &Thread) -> Result<(), String> {
    let by_label = thread.instructions_by_label();
    let live = Liveness::of(thread);
    let start: At = (thread.initial, vec![ANYTHING; thread.registers.len()], History::new());
    let (mut seen, mut left) = (iter::once(start.clone()).collect_set(), vec![start]);
    while let Some(at) = left.pop() {
        for id in &by_label[at.0.index()] {
            for (label, mut registers, history) in steps(program, thread.instruction(*id), &at)? {
                for (index, register) in registers.iter_mut().enumerate() {
                    if !live.is_live(label, RegisterId::from_index(index)) {
                        *register = ANYTHING;
                    }
                }
                let next = (label, registers, history);
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        if seen.len() > LIMIT {
            return Err(format!("there are more than {LIMIT} states"));
        }
    }
    Ok(())
}

fn steps(program: &Program, instruction: &Instruction, (_, registers, history): &At) -> Result<Vec<At>, String> {
    let of = |expression| values::of(expression, &|register| registers[register.index()]);
    let address = instruction.action.address().and_then(|address| values::value(of(address)));
    let go = |written: Option<(RegisterId, Partial)>, history: History| {
        let mut registers = registers.clone();
        if let Some((register, value)) = written {
            registers[register.index()] = value;
        }
        (instruction.target, registers, history)
    };
    let mut after = history.clone();
    let access = if touches(&instruction.action) { in_source(program, instruction) } else { None };
    let unsaid = || "nothing is known of an access".to_owned();
    Ok(match &instruction.action {
        Action::Assign { register, value } => vec![go(Some((*register, of(value))), after)],
        Action::Assume(condition) if of(condition).truth() == Some(false) => Vec::new(),
        Action::Assume(_) | Action::Nop | Action::Ensure(_) | Action::Post { .. } => vec![go(None, after)],
        Action::Havoc { register } => vec![go(Some((*register, ANYTHING)), after)],
        Action::Fail => Vec::new(),
        Action::Load { register, .. } => {
            match access {
                Some(SourceAccess::Load(Ordering::Plain)) => plain(&mut after)?,
                Some(SourceAccess::Load(ordering)) => load(&mut after, address, ordering)?,
                // The first guess of a read-modify-write is nothing that the source does.
                _ => {}
            }
            vec![go(Some((*register, ANYTHING)), after)]
        }
        Action::Store { .. } => {
            match access.ok_or_else(unsaid)? {
                SourceAccess::Store(Ordering::Plain) => plain(&mut after)?,
                access => store(&mut after, address, first(access))?,
            }
            vec![go(None, after)]
        }
        Action::Rmw { register, .. } => {
            match access.ok_or_else(unsaid)? {
                SourceAccess::Store(ordering) => store(&mut after, address, ordering)?,
                access => read_modify_write(&mut after, address, first(access))?,
            }
            vec![go(register.map(|register| (register, ANYTHING)), after)]
        }
        Action::Cas { register, expected, .. } => {
            drained(history)?;
            let expected = of(expected);
            let written = |value| register.map(|register| (register, value));
            let access = access.ok_or_else(unsaid)?;
            read_modify_write(&mut after, address, first(access))?;
            let succeeded = go(written(expected), after);
            let mut after = history.clone();
            if let SourceAccess::CompareExchange(_, failure) = access {
                load(&mut after, address, failure)?;
            }
            vec![succeeded, go(written(expected.only().map_or(ANYTHING, Partial::all_but)), after)]
        }
        Action::Fence if matches!(access, Some(SourceAccess::Fence(_))) => vec![go(None, History::new())],
        Action::Fence => {
            drained(history)?;
            vec![go(None, after)]
        }
        Action::StoreFence | Action::Lock | Action::Unlock => return Err("an instruction is not understood".to_owned()),
    })
}

/// The ordering of an access, where it has two that of its success.
fn first(access: SourceAccess) -> Ordering {
    access.orderings().next().expect("an access has an ordering")
}
