//! What threads and addresses know of an overwriting write, and how accesses and fences change it.
//!
//! Let e be a later event that reads what w' has overwritten, or comes right before w' in
//! modification order. The graph with e is inconsistent when a path comes back to e:
//!
//! * *Coherence*: a write at or behind w', or a reader of one, happens before e ([`Facts::KNOWS`]).
//! * *SC*: a path of `psc` comes back. It goes from a sequentially consistent event at or before e
//!   past e to such a write, or to a reader of one, and on by `psc`. A sequentially consistent
//!   event to which such a path leads is *reached*: fences by happens-before ([`Facts::REACHES`]
//!   says that a fence from here on is reached), or by modification order and from-reads from an
//!   access behind a reached one ([`Facts::FENCED`] says that a reached fence happens before here,
//!   [`Location::behind`] that an access of the address is behind one).
//!
//! Paths come in two families ([`Family`]). Those that begin at a fence before e may go on at
//! readers of the writes; those that begin at e itself, when it is a sequentially consistent
//! access, go on at the writes alone. All is for the axioms with the fewer guarantees,
//! [`WeakC11`](palisade_semantics::graphs::Axioms::WeakC11).

use palisade_evidence::Level;
use palisade_model::program::Ordering;

/// Where a path of sequentially consistent events begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// At the last event itself.
    Access,
    /// At a fence before it.
    Fence,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Access, Self::Fence];
}

/// Whether something holds, for each family of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Families(pub u8);

impl Families {
    /// Whether it holds for a family.
    pub fn has(self, family: Family) -> bool {
        self.0 >> family as u8 & 1 == 1
    }

    fn set(&mut self, family: Family, holds: bool) {
        self.0 = self.0 & !(1 << family as u8) | u8::from(holds) << family as u8;
    }
}

/// What is known at some point of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Facts(pub u8);

impl Facts {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// A write at or behind w', or a reader of one, happens before.
    pub const KNOWS: Self = Self(1);
    /// A fence from here on is reached, by family.
    pub const REACHES: [Self; 2] = [Self(2), Self(4)];
    /// A reached fence happens before, by family.
    pub const FENCED: [Self; 2] = [Self(8), Self(16)];

    /// Whether all of some facts are known.
    pub fn has(self, facts: Self) -> bool {
        self.0 & facts.0 == facts.0
    }

    /// Those facts together.
    #[must_use]
    pub fn and(self, facts: Self) -> Self {
        Self(self.0 | facts.0)
    }

    fn add(&mut self, facts: Self) {
        self.0 |= facts.0;
    }

    fn only(self, facts: Self) -> Self {
        Self(self.0 & facts.0)
    }

    fn reaches(self, family: Family) -> bool {
        self.has(Self::REACHES[family as usize])
    }

    fn is_fenced(self, family: Family) -> bool {
        self.has(Self::FENCED[family as usize])
    }
}

/// What a thread knows. The facts of `released` are among those of `current`, and these among those
/// of `acquirable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct View {
    /// Whether a path leads from w' to the thread.
    pub joined: bool,
    /// What happens before its next event.
    pub current: Facts,
    /// What happens before what follows an acquire fence.
    pub acquirable: Facts,
    /// What happened before its last release fence.
    pub released: Facts,
    /// The families of which it has made a reached sequentially consistent access.
    pub reached: Families,
}

/// What is known at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Location {
    /// The strongest access on a path from w'.
    pub level: Option<Level>,
    /// What an acquiring read of its last write learns.
    pub message: Facts,
    /// By family, the strongest access behind a reached fence: from it modification order and
    /// from-reads lead to later writes, and from a write to later reads.
    pub behind: [Option<Level>; 2],
    /// The families of which a sequentially consistent access of it is reached.
    pub reached: Families,
    /// The families of which its last write is sequentially consistent, and reached or behind a
    /// reached fence.
    pub last: Families,
}

/// An access, by what it is to the axioms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Its ordering.
    pub ordering: Ordering,
}

impl Access {
    /// The strongest of what it does.
    pub fn level(self) -> Level {
        if self.writes { Level::Store } else { Level::Load }
    }

    /// Whether it reads and acquires.
    pub fn acquires(self) -> bool {
        self.reads && self.ordering.acquires()
    }
}

impl Location {
    /// Whether a path leads from w' to an access of the address: one that reads comes behind a
    /// write, one that writes behind any access.
    pub fn leads_to(&self, access: Access) -> bool {
        if access.writes { self.level.is_some() } else { self.level == Some(Level::Store) }
    }

    fn is_behind(&self, access: Access, family: Family) -> bool {
        let level = self.behind[family as usize];
        (access.writes && level.is_some()) || (access.reads && level == Some(Level::Store))
    }
}

impl View {
    /// Makes an access on a path. `overwrites` says whether the address is that of w'; of what is
    /// learned, only `tracked` is kept.
    pub fn access(&mut self, location: &mut Location, access: Access, overwrites: bool, tracked: Facts) {
        let Access { reads, writes, ordering } = access;
        let before = *self;
        let message = location.message;
        self.joined = true;
        if reads && ordering != Ordering::Plain {
            self.acquirable.add(message);
        }
        if access.acquires() {
            self.current.add(message);
        }
        let mut learned = Facts::NONE;
        if overwrites {
            learned.add(Facts::KNOWS.and(Facts::REACHES[Family::Fence as usize]));
        }
        if overwrites && writes {
            learned.add(Facts::REACHES[Family::Access as usize]);
        }
        let mut reached = Families::default();
        for family in Family::ALL {
            let is_behind = location.is_behind(access, family);
            let follows = writes && location.reached.has(family);
            let reads_reached = access.acquires() && location.last.has(family);
            let is_reached = ordering == Ordering::SeqCst
                && (before.current.is_fenced(family)
                    || before.reached.has(family)
                    || (writes && location.behind[family as usize].is_some())
                    || (writes && overwrites)
                    || follows
                    || reads_reached);
            reached.set(family, is_reached);
            if is_behind || follows || reads_reached || is_reached {
                learned.add(Facts::REACHES[family as usize]);
            }
        }
        let learned = learned.only(tracked);
        self.current.add(learned);
        self.acquirable.add(learned);
        for family in Family::ALL {
            let is_reached = reached.has(family) && tracked.has(Facts::REACHES[family as usize]);
            if is_reached {
                self.reached.set(family, true);
                location.reached.set(family, true);
            }
            let is_fenced = self.current.is_fenced(family);
            if writes {
                location.last.set(family, ordering == Ordering::SeqCst && (is_reached || is_fenced));
            }
            let behind = &mut location.behind[family as usize];
            if is_fenced || (writes && behind.is_some()) {
                *behind = (*behind).max(Some(access.level()));
            }
        }
        if writes {
            let own = match ordering {
                Ordering::Plain => Facts::NONE,
                ordering if ordering.releases() => self.current,
                _ => self.released,
            };
            location.message = if reads { own.and(message) } else { own };
        }
        location.level = location.level.max(Some(access.level()));
    }

    /// Passes a fence.
    pub fn fence(&mut self, ordering: Ordering) {
        if ordering.acquires() {
            self.current = self.acquirable;
        }
        if ordering == Ordering::SeqCst {
            for family in Family::ALL {
                if self.current.reaches(family) || self.current.is_fenced(family) {
                    self.current.add(Facts::REACHES[family as usize].and(Facts::FENCED[family as usize]));
                }
            }
            self.acquirable.add(self.current);
        }
        if ordering.releases() {
            self.released = self.current;
        }
    }

    /// Whether the axioms admit an access as a last event that reads what w' has overwritten, or
    /// comes right before w'.
    pub fn admits(&self, ordering: Ordering) -> bool {
        self.joined
            && !self.current.has(Facts::KNOWS)
            && !self.current.is_fenced(Family::Fence)
            && !(ordering == Ordering::SeqCst && self.reached.has(Family::Access))
    }

    /// Whether an access that conflicts with the first one of a race is not ordered behind it.
    pub fn races(&self, location: &Location, access: Access) -> bool {
        !self.current.has(Facts::KNOWS) && !(access.acquires() && location.message.has(Facts::KNOWS))
    }
}
