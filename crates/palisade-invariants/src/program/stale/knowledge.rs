//! What threads and addresses know of a guessed access, and how a step changes it.
//!
//! Bits are as docs/certificate/language.md lists them. The rules are written out one by one in its
//! order.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{StaleLocation, StaleView};
use palisade_model::program::Ordering;

/// What happens before some point of the execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Past {
    /// A later write than the overwritten one, or a reader of such a write.
    pub(super) later: bool,
    /// What makes a fence from here on reached, by the family of paths: from the last event, and
    /// from a fence before it.
    reach: [bool; 2],
    /// A reached fence.
    fence: [bool; 2],
}

/// What a thread knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Thread {
    /// Whether a path leads from the guessed access to it.
    pub(super) on_path: bool,
    /// What happens before its next event.
    pub(super) now: Past,
    /// What happens before what stands behind an acquire fence.
    pub(super) acquirable: Past,
    /// What happened before its last release fence.
    pub(super) released: Past,
    /// Whether it has made a sequentially consistent access that is reached.
    reached: [bool; 2],
}

/// What is known at an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// On the path, it was not accessed (0), read (1), or written (2).
    accessed: u8,
    /// What happens before the message of its last write.
    pub(super) message: Past,
    /// Behind a reached fence, it was not accessed (0), read (1), or written (2).
    behind: [u8; 2],
    /// Whether a sequentially consistent access of it is reached.
    reached: [bool; 2],
    /// Whether its last write is sequentially consistent, and reached or behind a reached fence.
    last: [bool; 2],
}

/// An access as the axioms see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) ordering: Ordering,
}

/// The families of paths that there are: from the last event if some access is sequentially
/// consistent, from a fence if anything is.
pub(super) type Families = [bool; 2];

const BOTH: [usize; 2] = [0, 1];

impl Event {
    /// 1 for a read, 2 for a write or an update.
    fn strength(self) -> u8 {
        if self.writes { 2 } else { 1 }
    }

    pub(super) fn acquires(self) -> bool {
        self.reads && self.ordering.acquires()
    }
}

impl Past {
    fn join(&mut self, other: Self) {
        self.later |= other.later;
        for family in BOTH {
            self.reach[family] |= other.reach[family];
            self.fence[family] |= other.fence[family];
        }
    }

    fn decode(bits: u8) -> Result<Self, CheckFailure> {
        if bits >= 32 {
            reject!(Form, "{bits} are no facts");
        }
        let bit = |number: u8| bits >> number & 1 == 1;
        Ok(Self { later: bit(0), reach: [bit(1), bit(2)], fence: [bit(3), bit(4)] })
    }
}

fn families(bits: u8) -> Result<[bool; 2], CheckFailure> {
    match bits {
        0..4 => Ok([bits & 1 == 1, bits & 2 == 2]),
        _ => reject!(Form, "{bits} are no families"),
    }
}

fn strength(number: u8) -> Result<u8, CheckFailure> {
    match number {
        0..3 => Ok(number),
        _ => reject!(Form, "{number} is no access"),
    }
}

impl Thread {
    /// What evidence says a thread knows.
    pub(super) fn decode([on_path, now, acquirable, released, reached]: StaleView) -> Result<Self, CheckFailure> {
        let on_path = match on_path {
            0 => false,
            1 => true,
            _ => reject!(Form, "{on_path} is not 0 or 1"),
        };
        let (now, acquirable, released) = (Past::decode(now)?, Past::decode(acquirable)?, Past::decode(released)?);
        Ok(Self { on_path, now, acquirable, released, reached: families(reached)? })
    }

    /// A thread that knows nothing, on the path or not.
    pub(super) fn that_knows_nothing(on_path: bool) -> Self {
        Self { on_path, ..Self::default() }
    }

    /// The thread that makes the first access of a race.
    pub(super) fn of_race() -> Self {
        let past = Past { later: true, ..Past::default() };
        Self { now: past, acquirable: past, ..Self::default() }
    }

    /// Makes an access. `is_later` says whether its address is the overwritten one.
    pub(super) fn access(&mut self, place: &mut Place, event: Event, is_later: bool, there_are: Families) {
        let Event { reads, writes, ordering } = event;
        let (seen, entered, message) = (self.now, self.reached, place.message);
        self.on_path = true;
        place.accessed = place.accessed.max(event.strength());
        // The message of the write that is read.
        if event.acquires() {
            self.now.join(message);
        }
        if reads && ordering != Ordering::Plain {
            self.acquirable.join(message);
        }
        let mut gained = Past { later: is_later, reach: [is_later && writes, is_later], fence: [false; 2] };
        let mut reached = [false; 2];
        for family in BOTH {
            let ordered = (writes && place.behind[family] > 0) || (reads && place.behind[family] == 2);
            let follows = writes && place.reached[family];
            let reads_reached = event.acquires() && place.last[family];
            let is_seq_cst = ordering == Ordering::SeqCst;
            let in_order = seen.fence[family] || entered[family];
            let comes_behind = writes && (place.behind[family] > 0 || is_later);
            reached[family] = is_seq_cst && (in_order || comes_behind || follows || reads_reached);
            gained.reach[family] |= ordered || follows || reads_reached || reached[family];
        }
        for family in BOTH {
            gained.reach[family] &= there_are[family];
            reached[family] &= there_are[family];
        }
        self.now.join(gained);
        self.acquirable.join(gained);
        for family in BOTH {
            self.reached[family] |= reached[family];
            place.reached[family] |= reached[family];
            if writes {
                place.last[family] = ordering == Ordering::SeqCst && (reached[family] || self.now.fence[family]);
            }
            if self.now.fence[family] {
                place.behind[family] = place.behind[family].max(event.strength());
            } else if writes && place.behind[family] > 0 {
                place.behind[family] = 2;
            }
        }
        // The message that is left.
        if writes {
            place.message = match ordering {
                Ordering::Plain => Past::default(),
                Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => self.now,
                Ordering::Relaxed | Ordering::Acquire => self.released,
            };
            if reads {
                place.message.join(message);
            }
        }
    }

    /// Passes a fence.
    pub(super) fn fence(&mut self, ordering: Ordering) {
        if matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
            self.now.join(self.acquirable);
        }
        if ordering == Ordering::SeqCst {
            for family in BOTH {
                let is_reached = self.now.reach[family] || self.now.fence[family];
                self.now.reach[family] |= is_reached;
                self.now.fence[family] |= is_reached;
            }
        }
        self.acquirable.join(self.now);
        if matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
            self.released = self.now;
        }
    }

    /// Whether the axioms admit an access of the overwritten address as a stale last event.
    pub(super) fn may_be_stale(&self, ordering: Ordering) -> bool {
        let is_refused = self.now.later || self.now.fence[1] || (ordering == Ordering::SeqCst && self.reached[0]);
        self.on_path && !is_refused
    }
}

impl Place {
    /// What evidence says is known at an address.
    pub(super) fn decode(
        [accessed, message, behind, behind_fence, reached, last]: StaleLocation,
    ) -> Result<Self, CheckFailure> {
        Ok(Self {
            accessed: strength(accessed)?,
            message: Past::decode(message)?,
            behind: [strength(behind)?, strength(behind_fence)?],
            reached: families(reached)?,
            last: families(last)?,
        })
    }

    /// Whether a path leads from the guessed access to an access of the address.
    pub(super) fn leads_to(&self, event: Event) -> bool {
        (event.writes && self.accessed > 0) || (event.reads && self.accessed == 2)
    }

    /// Whether an access by a thread is not ordered behind the first one of a race.
    pub(super) fn races(&self, thread: &Thread, event: Event) -> bool {
        !thread.now.later && !(event.acquires() && self.message.later)
    }
}
