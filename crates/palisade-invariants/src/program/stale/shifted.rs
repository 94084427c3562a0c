//! Sets that are closed up to shifts of counters, and do not tell apart what is far behind.
//!
//! What threads and addresses know depends on which instruction accesses which address, and on no
//! value. So a shift commutes with a step of the instrumented program that shifts the overwritten
//! value with its address, and what is far behind stands for what it stands for without a guess:
//! docs/src/arm.md ("Counters") has the proof.

use super::Guessing;
use super::configuration::{Configuration, Control, Guess, Token};
use crate::CheckFailure;
use crate::failure::reject;
use crate::program::shifts::{put_in_memory, shifted_registers};
use crate::program::spans::Variable;
use crate::tokens::together;
use palisade_evidence::{LocalState, StaleGoal};
use palisade_model::program::{Action, Expression, Value};
use std::rc::Rc;

impl Guessing<'_> {
    /// From here on the set has to be closed up to shifts alone, and values are not told apart that
    /// are as far behind these addresses, or farther.
    pub(super) fn take_shifts(&mut self, far: &[(Value, Value)]) -> Result<(), CheckFailure> {
        self.check_waits()?;
        let Some(mut counters) = self.model.found_counters() else {
            reject!(Form, "there are no counters that could be shifted")
        };
        if !far.is_empty() {
            counters.forget_far(self.model.program, far)?;
        }
        self.model.change_terms(|terms| terms.counters = Some(Rc::new(counters)));
        Ok(())
    }

    /// What a read waits for has to stand behind it as a condition, so that counters are those of
    /// such conditions as well.
    fn check_waits(&self) -> Result<(), CheckFailure> {
        for (thread, own) in self.model.program.thread_ids() {
            for (id, instruction) in own.instruction_ids() {
                let Some(until) = instruction.until() else { continue };
                let Action::Load { register, .. } = instruction.action else {
                    reject!(Form, "instruction {id} of thread {thread} waits with what it stores, beside counters")
                };
                let read = Expression::Register(register);
                let behind = until.replaced(&|part: &Expression| (*part == Expression::Old).then(|| read.clone()));
                let mentions_old =
                    until.replaced(&|part: &Expression| (*part == read).then_some(Expression::Old)) != *until;
                let mut others = own.instructions.iter().filter(|other| other.source == instruction.target);
                let stands_behind = others.any(|other| other.action == Action::Assume(behind.clone()));
                if mentions_old || !stands_behind {
                    reject!(Form, "no condition behind instruction {id} of thread {thread} says what it waits for");
                }
            }
        }
        Ok(())
    }

    /// The configuration that stands for one and all that are it shifted.
    pub(super) fn unshifted(&mut self, configuration: Configuration) -> Result<Configuration, CheckFailure> {
        let Some(counters) = self.model.terms().counters.clone() else { return Ok(configuration) };
        let Configuration { control: Control { memory, guess }, tokens } = configuration;
        let by = counters.shifts(self.model.program, |address| self.model.value_in(memory, address));
        counters.check_rise(&by)?;
        let shifted = put_in_memory(&mut self.model, &counters, &by, memory)?;
        let guess = match guess {
            Some(Guess { address, goal: StaleGoal::Stale { old: Some(old), is_update }, places }) => {
                let old = match counters.members.get(&Variable::Cell(address)) {
                    Some(member) => counters.put(*member, old, by[member.0])?,
                    None => old,
                };
                Some(Guess { address, goal: StaleGoal::Stale { old: Some(old), is_update }, places })
            }
            other => other,
        };
        let mut shifted_tokens = Vec::with_capacity(tokens.len());
        for (Token { local, thread: known }, count) in tokens {
            let LocalState { thread, label, registers, holding } = self.model.local(local).clone();
            let registers = shifted_registers(&counters, &by, thread, label, registers)?;
            let local = self.model.local_number(LocalState { thread, label, registers, holding });
            shifted_tokens.push((Token { local, thread: known }, count));
        }
        Ok(Configuration { control: Control { memory: shifted, guess }, tokens: together(shifted_tokens)? })
    }
}
