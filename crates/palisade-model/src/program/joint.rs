//! Joint control states: labels at which different copies stand at the same time.

use super::ids::{LabelId, ThreadId};
use crate::ordered;
use crate::text::Span;

/// A label of a thread, as a place where one copy of the thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The thread.
    pub thread: ThreadId,
    /// Its label.
    pub label: LabelId,
}

/// A joint control state that a program must never reach: so many *different* copies stand at these
/// labels at once, all others anywhere, whatever memory and the store buffers hold.
///
/// A copy stands at a label from the step that goes there until its next step. As a copy stands at
/// one label at a time, the state is reached when each label has at least as many copies as places
/// name it ([`groups`](Self::groups)): a marking to cover, for any number of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointState {
    /// One place for each copy, ascending; a place that occurs twice asks for two copies. Never
    /// empty.
    places: Vec<Place>,
    /// Where the text forbids it.
    pub span: Span,
}

impl JointState {
    /// The state in which one copy stands at each of these places; nothing without a place.
    pub fn new(mut places: Vec<Place>, span: Span) -> Option<Self> {
        ordered::sort_by_key(&mut places, |place| *place);
        (!places.is_empty()).then_some(Self { places, span })
    }

    /// The places, ascending.
    #[inline]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Each place once, ascending, with the number of copies that it asks for.
    #[inline]
    pub fn groups(&self) -> impl Iterator<Item = (Place, usize)> + '_ {
        self.places.chunk_by(|one, other| one == other).map(|group| (group[0], group.len()))
    }

    /// How many copies of a thread the state asks for.
    #[inline]
    pub fn copies_of(&self, thread: ThreadId) -> u64 {
        self.places.iter().map(|place| u64::from(place.thread == thread)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_places_ask_for_different_copies() {
        let place = |thread, label| Place { thread: ThreadId::from_index(thread), label: LabelId::from_index(label) };
        let joint = JointState::new(vec![place(1, 0), place(0, 2), place(1, 0)], Span::default()).expect("has places");
        assert_eq!(joint.groups().collect::<Vec<_>>(), [(place(0, 2), 1), (place(1, 0), 2)]);
        assert_eq!(joint.copies_of(ThreadId::from_index(1)), 2);
        assert_eq!(JointState::new(Vec::new(), Span::default()), None);
    }
}
