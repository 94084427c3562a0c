//! The happens-before path after ld_A: which helpers join it, and what a helper off it may do
//! [ESOP13, Lemma 3, Eqs. 7–12].
//!
//! The lazily built nets and the eager net of an attack both ask here; how they keep levels
//! differs, the rule does not.

use super::{Operation, Phase};
use crate::lazy::Interner;
use palisade_evidence::Level;
use palisade_model::program::Value;

/// What an action of a helper off the path is after ld_A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffPath {
    /// The helper joins the path; the accesses of its section so far count with this one.
    Joins,
    /// The access is kept with those of the open section, which may join later as a whole.
    Records,
    /// The action leaves the path as it is.
    Passes,
    /// The helper cannot take it (Eq. 7).
    Stops,
}

/// The access that an operation makes, if it makes one. A read-modify-write that does not store is
/// a load.
pub(crate) fn access(operation: Operation, stores: bool) -> Option<(Value, Level)> {
    match operation {
        Operation::Load(address) => Some((address, Level::Load)),
        Operation::Store(address, _) => Some((address, Level::Store)),
        Operation::Update(address) => Some((address, if stores { Level::Store } else { Level::Load })),
        _ => None,
    }
}

/// Lemma 3: (ii) a load joins when its address has been stored, (iii) a store when its address has
/// been accessed.
fn joins(kind: Level, known: Option<Level>) -> bool {
    match kind {
        Level::Load => known == Some(Level::Store),
        Level::Store => known.is_some(),
    }
}

/// What an action of a helper off the path is: `access` is the kind of its access with the level of
/// the address so far.
pub(crate) fn off_path(operation: Operation, holding: bool, access: Option<(Level, Option<Level>)>) -> OffPath {
    match (operation, access) {
        // A section may yet join; one that does not is never left.
        (Operation::Lock, _) => OffPath::Passes,
        (Operation::Fence, _) if holding => OffPath::Passes,
        (_, Some((kind, known))) if joins(kind, known) => OffPath::Joins,
        (_, Some(_)) if holding => OffPath::Records,
        _ => OffPath::Stops,
    }
}

/// Raises the level of an address.
pub(crate) fn raise(levels: &mut Vec<(Value, Level)>, address: Value, level: Level) {
    match levels.binary_search_by_key(&address, |entry| entry.0) {
        Ok(index) => levels[index].1 = levels[index].1.max(level),
        Err(index) => levels.insert(index, (address, level)),
    }
}

/// What has been accessed on the path, and in an open section that is not on it yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// Access levels, sorted by address.
    pub levels: Vec<(Value, Level)>,
    /// The accesses of the open section of a thread that has not joined, sorted by address.
    pub section: Vec<(Value, Level)>,
}

/// An operation with the access that it makes.
pub(crate) type OnPath = (Operation, Option<(Value, Level)>);

/// What an action makes of the path: what the path is then, nothing where it stays as it is, and
/// whether who acts is on it.
pub(crate) type Along = (Option<Path>, bool);

impl Path {
    /// The path that begins with an access.
    pub(crate) fn from(access: Option<(Value, Level)>) -> Self {
        Self { levels: access.into_iter().collect(), section: Vec::new() }
    }

    /// The level of an address.
    pub fn level(&self, address: Value) -> Option<Level> {
        self.levels.binary_search_by_key(&address, |entry| entry.0).ok().map(|index| self.levels[index].1)
    }

    /// What an action makes of the path, by a thread that is on it or not, and holds the lock or
    /// not; nothing when Eq. (7) stops the thread.
    pub(crate) fn after(&self, joined: bool, holding: bool, (operation, access): OnPath) -> Option<Along> {
        if joined {
            return Some((self.with_access(access), true));
        }
        match off_path(operation, holding, access.map(|(address, kind)| (kind, self.level(address)))) {
            OffPath::Joins => Some((self.with_access(access), true)),
            OffPath::Passes => Some((None, false)),
            OffPath::Stops => None,
            OffPath::Records => {
                let (address, kind) = access?;
                let mut after = self.clone();
                raise(&mut after.section, address, kind);
                Some((Some(after), false))
            }
        }
    }

    /// The path after an access on it, where that changes it; the accesses of its section so far
    /// count with it.
    pub(crate) fn with_access(&self, access: Option<(Value, Level)>) -> Option<Self> {
        let (address, level) = access?;
        if self.level(address) >= Some(level) && self.section.is_empty() {
            return None;
        }
        let mut after = self.clone();
        for (address, level) in std::mem::take(&mut after.section) {
            raise(&mut after.levels, address, level);
        }
        raise(&mut after.levels, address, level);
        Some(after)
    }
}

/// What is known after ld_A.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Helped {
    /// The address of st_A.
    pub store_address: Value,
    /// The path.
    pub path: Path,
}

impl Helped {
    /// Whether the address of st_A has been accessed: the happens-before cycle is closed (Eq. 13).
    pub fn is_closed(&self) -> bool {
        self.path.level(self.store_address).is_some()
    }
}

/// The phase after an action of who is on the path or not, and holds the lock or not, and whether
/// it is on the path then; nothing when it may not act.
pub(crate) fn phase_after(
    helped: &mut Interner<Helped>,
    before: Phase,
    joined: bool,
    holding: bool,
    made: OnPath,
) -> Option<(Phase, bool)> {
    let Phase::Helped(number) = before else { return Some((before, false)) };
    let Helped { store_address, path } = helped.get(number);
    let (path, joined) = path.after(joined, holding, made)?;
    let Some(path) = path else { return Some((before, joined)) };
    let after = Helped { store_address: *store_address, path };
    Some((Phase::Helped(helped.intern(after).0), joined))
}
