//! Turns that threads take in programs without tickets.

use super::model::Model;
use palisade_model::program::{ThreadId, Value};

impl Model<'_> {
    /// Memory after a thread's registers change from `before` to `after`, and whether the thread
    /// takes a turn thereby; no memory where another one has that turn.
    pub(super) fn with_turns(
        &mut self,
        memory: u32,
        thread: ThreadId,
        before: &[Value],
        after: &[Value],
    ) -> (Option<u32>, bool) {
        let Some(turns) = &self.terms().turns else { return (Some(memory), false) };
        let taken = turns.taken(thread, before, after);
        let mut result = memory;
        for served in &taken {
            if self.value_in(result, *served) != 0 {
                return (None, true);
            }
            result = self.written(result, *served, 1);
        }
        (Some(result), !taken.is_empty())
    }
}
