//! Certificates about programs in which addresses count what copies hold.
//!
//! Of such an address the certificate may know no more than that its value is *many*: above a few.
//! The checker follows in each thread which registers hold what the address held, writes down the
//! program in which copies keep a *balance*, and in which each expression that depends on many has,
//! in turn, all the values that it may have; and it lets no more copies stay than the count admits
//! ([`Counts`]). docs/src/counts.md says what is accepted, and THEORY.md ("Counts") why the program
//! does nothing that this one does not do.

use super::carried::flow;
use super::counted::{MARGIN, Scale};
use super::rewritten::Writer;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{CountEvidence, Tokens};
use palisade_model::program::{Copies, Program, Role, ThreadId, Value};

/// The counts of a program with balances.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<Balances>);

/// One count.
#[derive(Clone, Debug)]
struct Balances {
    scale: Scale,
    /// For each thread, the number of the register that keeps the balance.
    registers: Vec<usize>,
}

/// The program with balances, and its counts.
pub(super) fn counted(program: &Program, listed: &[CountEvidence]) -> Result<(Program, Counts), CheckFailure> {
    if program.domain.is_some() || program.threads.iter().any(|thread| thread.role != Role::Thread) {
        reject!(Form, "counts in a program with a domain, events or tasks");
    }
    if !listed.windows(2).all(|pair| pair[0].address < pair[1].address) {
        reject!(Form, "the addresses that count are not ascending");
    }
    let mut result = program.clone();
    let mut counts = Vec::with_capacity(listed.len());
    for count in listed {
        let scale = scale(program, count)?;
        let registers = result.threads.iter().map(|thread| thread.registers.len()).collect();
        let mut next = result.clone();
        for (id, thread) in result.thread_ids() {
            let known = flow(&scale, id, thread)?;
            let owned = count.owned[id.index()];
            Writer::new(&scale, id, &mut next.threads[id.index()], owned).write(thread, &known)?;
        }
        result = next;
        counts.push(Balances { scale, registers });
    }
    Ok((result, Counts(counts)))
}

/// The values of a count, if what the certificate says of them makes sense.
fn scale(program: &Program, count: &CountEvidence) -> Result<Scale, CheckFailure> {
    let CountEvidence { address, few, most, owned } = count;
    let initial = program.initial_value(*address);
    if owned.len() != program.threads.len() {
        reject!(Form, "address {address} is owned by {} threads of {}", owned.len(), program.threads.len());
    }
    if *few < 0 || *few < initial || most.is_some_and(|most| most <= *few) || few.checked_add(1).is_none() {
        reject!(Form, "address {address}: its initial value is not among the few, or many is among them");
    }
    let mut floor = i128::from(initial);
    for (thread, owned) in program.threads.iter().zip(owned) {
        match thread.copies {
            _ if *owned < 0 => reject!(Form, "a copy of `{}` owns less than nothing of address {address}", thread.name),
            Copies::Any if *owned > 0 => {
                reject!(Form, "any number of copies of `{}` own something of address {address}", thread.name)
            }
            Copies::Any => {}
            Copies::Exactly(copies) => floor -= i128::from(copies) * i128::from(*owned),
        }
    }
    if most.is_some() && floor < 0 {
        reject!(Form, "address {address} may become negative");
    }
    let high = most.map(|most| i128::from(most) + i128::from(MARGIN));
    Ok(Scale { cell: *address, many: few + 1, high, floor })
}

impl Counts {
    /// Whether an address counts.
    pub(super) fn has(&self, address: Value) -> bool {
        self.0.iter().any(|balances| balances.scale.cell == address)
    }

    /// The most of each kind of tokens that may stay where they are after a step that leaves memory
    /// with these values, and its own thread, if it has not stopped, with these registers.
    pub(super) fn leave<'s, T: Copy>(
        &self,
        value_at: impl Fn(Value) -> Value,
        moved: Option<(ThreadId, &[Value])>,
        tokens: Vec<(T, Tokens)>,
        state: impl Fn(T) -> (ThreadId, &'s [Value]),
    ) -> Vec<(T, Tokens)> {
        let mut left = tokens;
        for Balances { scale, registers } in &self.0 {
            let balance = |thread: ThreadId, own: &[Value]| i128::from(own[registers[thread.index()]]);
            let value = match (value_at(scale.cell), scale.high) {
                (value, Some(high)) if value == scale.many => high,
                (value, None) if value == scale.many => continue,
                (value, _) => i128::from(value),
            };
            let rest = value - scale.floor - moved.map_or(0, |(thread, own)| balance(thread, own));
            left = left
                .into_iter()
                .filter_map(|(token, count)| {
                    let (thread, own) = state(token);
                    let own = balance(thread, own);
                    if own <= 0 {
                        return Some((token, count));
                    }
                    let most = u64::try_from(rest.max(0) / own).unwrap_or(u64::MAX);
                    let count = match count {
                        Tokens::Finite(count) => count.min(most),
                        Tokens::Omega if most >= u64::from(u32::MAX) => return Some((token, count)),
                        Tokens::Omega => most,
                    };
                    (count > 0).then_some((token, Tokens::Finite(count)))
                })
                .collect();
        }
        left
    }
}
