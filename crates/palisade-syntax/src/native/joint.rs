//! Joint control states: `never t at cs, t at cs`.

use super::ast::{Name, RawPlace};
use super::resolve::Resolver;
use crate::suggest::did_you_mean_or_list;
use palisade_model::program::{JointState, Place, Program, Span, ThreadId};
use rustc_hash::FxHashMap;

/// The most joint control states that one `never` may stand for.
const MOST_JOINT_STATES: usize = 4096;

/// What to write in place of a name that no thread of the text has. The copies of a thread that
/// says `self` have names in reports alone.
fn help(program: &Program, families: &FxHashMap<&str, Vec<ThreadId>>, text: &str) -> Option<String> {
    let mut names: Vec<(&[ThreadId], &str)> = families.iter().map(|(name, ids)| (ids.as_slice(), *name)).collect();
    names.sort_unstable();
    let is_copy = |ids: &[ThreadId]| ids.iter().any(|id| program.thread(*id).name == text);
    match names.iter().find(|(ids, _)| is_copy(ids)) {
        Some((_, name)) => Some(format!("write `{name}`: a place of `{name}` is one of any of its copies")),
        None => did_you_mean_or_list(text, "thread", names.iter().map(|(_, name)| *name)),
    }
}

impl<'s> Resolver<'_, 's> {
    /// A joint control state. Threads in which something is wrong are missing in the program; the
    /// reader says nothing of these again. A thread that says `self` is several, and the state is
    /// one of any of them.
    pub(super) fn never(
        &mut self,
        program: &mut Program,
        thread_names: &FxHashMap<&'s str, Span>,
        families: &FxHashMap<&'s str, Vec<ThreadId>>,
        places: &[RawPlace<'s>],
        span: Span,
    ) {
        let mut found: Vec<Vec<Place>> = vec![Vec::with_capacity(places.len())];
        for RawPlace { thread: Name { text, span }, label } in places {
            let members: &[ThreadId] = families.get(text).map_or(&[], Vec::as_slice);
            let Some(first) = members.first().map(|id| program.thread(*id)) else {
                if !thread_names.contains_key(text) {
                    let help = help(program, families, text);
                    self.error(format!("there is no thread named `{text}`"), *span).help = help;
                }
                continue;
            };
            match first.label_named(label.text) {
                Some(label) => {
                    let chosen = |id: ThreadId| Place { thread: id, label };
                    let numbered = members.len() > 1;
                    let mut longer = Vec::new();
                    for state in &found {
                        // Two places of a thread that says `self` are about two of its copies.
                        let free = members.iter().filter(|id| !numbered || state.iter().all(|it| it.thread != **id));
                        longer.extend(free.map(|id| state.iter().copied().chain([chosen(*id)]).collect::<Vec<_>>()));
                    }
                    found = longer;
                    if found.len() > MOST_JOINT_STATES {
                        self.error("these are too many joint control states", *span);
                        return;
                    }
                }
                None => {
                    let names = first.labels.iter().map(|label| label.name.as_str());
                    let help = did_you_mean_or_list(label.text, "label", names);
                    let message = format!("the thread `{text}` has no label `{}`", label.text);
                    self.error(message, label.span).help = help;
                }
            }
        }
        for state in found {
            if let Some(joint) = JointState::new(state, span)
                && !program.never.iter().any(|before| before.span == span && before.places() == joint.places())
            {
                program.never.push(joint);
            }
        }
    }
}
