//! Sleeping, waking and marks of what waits, as lines of a thread.

use super::ast::{Head, Item, Name, RawInstruction};
use super::braced::Structured;
use super::orderings::Meaning;
use super::resolve::{Resolver, Scope};
use super::waiting::{WAKE_COUNT, wakes_all};
use crate::build::ThreadBuilder;
use palisade_model::program::{Action, Instruction, Patience, Program, Queue, ThreadId};
use rustc_hash::FxHashMap;

impl<'s> Resolver<'_, 's> {
    /// `sleep` and `wake`.
    pub(super) fn sleeping(
        &mut self,
        scope: Scope<'_, 's>,
        builder: &ThreadBuilder<'s>,
        raw: &RawInstruction<'s>,
    ) -> Option<Meaning<'s>> {
        let (action, queue) = match raw {
            RawInstruction::Sleep { address, expected, released, register, span } => {
                let into = match register {
                    Some(register) => Some(self.register(builder, *register)?),
                    None => None,
                };
                let address = self.expression(address, scope);
                let expected = expected.as_ref().map(|expected| self.expression(expected, scope));
                let released = released.as_ref().map(|released| self.expression(released, scope));
                let (mut action, queue) = match (expected, released) {
                    (Some(_), Some(_)) => {
                        let error = self.error("a sleep compares or releases, not both", *span);
                        error.help = Some("compare before, while the lock is held".to_owned());
                        return None;
                    }
                    (Some(expected), None) => Queue::sleep_if(address?, expected?),
                    (None, None) => Queue::sleep(address?, None),
                    (None, Some(released)) => Queue::sleep(address?, Some(released?)),
                };
                if let Action::Cas { register, .. } | Action::Rmw { register, .. } = &mut action {
                    *register = into;
                }
                (action, queue)
            }
            RawInstruction::Wake { address, count } => {
                let address = self.expression(address, scope);
                let Some(all) = wakes_all(&count.kind) else {
                    self.error("a wake-up wakes one sleeper or all", count.span).help = Some(WAKE_COUNT.to_owned());
                    return None;
                };
                Queue::wake(address?, all)
            }
            _ => return None,
        };
        Some(Meaning { queue: Some(queue), ..Meaning::from(action) })
    }

    /// `idle` or `timed` before an instruction.
    pub(super) fn mark(&mut self, instruction: &mut Instruction, mark: Option<Name<'s>>) {
        let Some(Name { text, span }) = mark else { return };
        if !instruction.may_wait() {
            let error = self.error(format!("`{text}` is said of what waits, and this does not"), span);
            error.help = Some("`await`, `await_cas`, `acquire` and `sleep` wait".to_owned());
        }
        instruction.set_patience(Patience::named(text).unwrap_or_default());
    }

    /// Marks the threads behind `daemon`.
    pub(super) fn daemons(
        &mut self,
        program: &mut Program,
        items: &[Item<'s>],
        structured: &Structured<'s>,
        families: &FxHashMap<&str, Vec<ThreadId>>,
    ) {
        for (index, item) in items.iter().enumerate() {
            let Item::Daemon(span) = item else { continue };
            let thread = match items.get(index + 1) {
                Some(Item::Thread(thread)) => Some((thread.head, thread.name)),
                Some(Item::Braced(number)) => structured.threads.get(*number).map(|thread| (thread.head, thread.name)),
                Some(Item::Error) => continue,
                _ => None,
            };
            let Some((Head::Thread, name)) = thread else {
                self.error("`daemon` stands before a thread", *span).help =
                    Some("write `daemon thread name …`".to_owned());
                continue;
            };
            for id in families.get(name.text).into_iter().flatten() {
                if let Some(thread) = program.threads.get_mut(id.index()) {
                    thread.is_daemon = true;
                }
            }
        }
    }
}
