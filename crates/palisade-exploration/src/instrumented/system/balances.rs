//! What copies hold of counts (THEORY.md, "Counts").
//!
//! A count is at least what all copies hold of it. So after a step, those that have stayed where
//! they are hold at most what the count says, less what the copy holds that has taken the step: of
//! each place as many are left as fit in that.

use super::{InitialTokens, Instrumented, MemoryModel};
use crate::lazy::{Entry, Step, Tokens};
use palisade_model::program::{Balances, Value};
use std::sync::Arc;

impl<M: MemoryModel> Instrumented<'_, M> {
    /// The system of a program with balances.
    #[must_use]
    pub fn with_balances(mut self, balances: Arc<[Balances]>) -> Self {
        self.balances = balances;
        self
    }

    pub(super) fn leave_who_holds_no_more(&self, step: &Step, entries: &mut Vec<Entry>) {
        let memory = self.control(step.control).memory;
        for balances in &*self.balances {
            let Some(held) = balances.held(self.read(memory, balances.count.cell)) else { continue };
            let left = held - step.put.map_or(0, |place| i128::from(self.balance(balances, place)));
            entries.retain_mut(|entry| {
                let own = i128::from(self.balance(balances, entry.place));
                let most = if own > 0 { u32::try_from(left.max(0) / own).unwrap_or(u32::MAX) } else { u32::MAX };
                if entry.tokens.count().is_none_or(|count| count > most) && most < u32::MAX {
                    entry.tokens = Tokens::finite(most);
                }
                most > 0
            });
        }
    }

    /// What a copy at a place holds.
    fn balance(&self, balances: &Balances, place: u32) -> Value {
        if place == InitialTokens::SPARE {
            return 0;
        }
        let local = self.local(self.model.token(place).0);
        balances.of(local.thread, &local.registers)
    }
}
