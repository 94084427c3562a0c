//! Final states, and what they are asked.

use super::buffer::Buffers;
use super::goal::Goal;
use super::system::BufferSystem;
use crate::lazy::Entry;
use palisade_model::program::LabelId;
use palisade_semantics::Observable;

impl BufferSystem<'_> {
    /// Whether all copies have come to their ends, all buffers are empty, and the question is
    /// answered.
    pub(super) fn answers(&self, goal: &Goal<'_>, copies: u64, control: u32, entries: &[Entry]) -> bool {
        let mut ended = 0u64;
        for entry in entries {
            let (local, buffer) = self.place(entry.place);
            let at_end =
                |label: LabelId| !local.is_stopped() && self.locals.instructions_at(local.thread, label).is_empty();
            if buffer != Buffers::EMPTY || !at_end(local.label) {
                return false;
            }
            ended += entry.tokens.count().map_or(0, u64::from);
        }
        if ended != copies {
            return false;
        }
        let memory = self.control(control).memory;
        let mut first = vec![None; self.program().threads.len()];
        self.is_answered_by_some(goal, memory, entries, 0, &mut first)
    }

    /// A question speaks of the first copy of a thread: any copy can be the first.
    fn is_answered_by_some(
        &self,
        goal: &Goal<'_>,
        memory: u32,
        entries: &[Entry],
        thread: usize,
        first: &mut Vec<Option<u32>>,
    ) -> bool {
        if thread == first.len() {
            return goal.is_answered(&|observable| match observable {
                Observable::Address(address) => self.read(memory, address),
                Observable::Register { thread, register } => match first[thread.index()] {
                    Some(place) => self.place(place).0.registers[register.index()],
                    None => self.program().thread(thread).registers[register.index()].initial,
                },
            });
        }
        let mut is_there = false;
        for entry in entries.iter().filter(|entry| self.place(entry.place).0.thread.index() == thread) {
            is_there = true;
            first[thread] = Some(entry.place);
            if self.is_answered_by_some(goal, memory, entries, thread + 1, first) {
                return true;
            }
        }
        first[thread] = None;
        !is_there && self.is_answered_by_some(goal, memory, entries, thread + 1, first)
    }
}
