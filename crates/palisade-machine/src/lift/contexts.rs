//! Where control is: an instruction, the calls that have led to its function, and the ways inside
//! of it that are kept apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A chain of calls, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContextId(u32);

/// A function on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    /// The chain before the call; nothing for the role's own function.
    pub(crate) parent: Option<ContextId>,
    /// The address of the call.
    pub(crate) call: u64,
    /// The address behind it.
    pub(crate) return_to: u64,
    /// The address of the function.
    pub(crate) function: u64,
    /// The ways inside of it.
    pub(crate) ways: WaysId,
}

/// Where control has come from at each meeting of ways that are kept apart, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct WaysId(u32);

/// The address of each meeting that was passed, with that of the instruction before it.
type Ways = BTreeMap<u64, u64>;

/// A place of the lifted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The calls.
    pub(crate) context: ContextId,
    /// The instruction.
    pub(crate) address: u64,
}

/// All chains of calls that were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contexts {
    all: Vec<Context>,
    known: HashMap<Context, ContextId>,
    /// The ways by number, from 1 on; 0 has none.
    ways: Vec<Ways>,
    /// Which ways are kept apart.
    apart: KeptApart,
}

/// Which ways are kept apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptApart {
    /// The addresses at which they meet.
    pub(crate) meetings: BTreeSet<u64>,
    /// The instructions behind which it no longer matters where control has come from, each with
    /// meetings.
    pub(crate) until: BTreeMap<u64, Vec<u64>>,
}

impl Contexts {
    /// The number of a chain.
    pub(crate) fn id(&mut self, context: Context) -> ContextId {
        *self.known.entry(context).or_insert_with(|| {
            self.all.push(context);
            ContextId(u32::try_from(self.all.len() - 1).expect("fewer chains than places"))
        })
    }

    /// The last call of a chain.
    pub(crate) fn get(&self, id: ContextId) -> Context {
        self.all[id.0 as usize]
    }

    /// None yet, with ways that are to be kept apart.
    pub(crate) fn with_ways(apart: KeptApart) -> Self {
        Self { apart, ..Self::default() }
    }

    /// Where control is when it comes from a place to an address in the same function.
    pub(crate) fn place_behind(&mut self, before: Place, address: u64) -> Place {
        let is_meeting = self.apart.meetings.contains(&address);
        let over = self.apart.until.get(&before.address);
        if !is_meeting && over.is_none() {
            return Place { address, ..before };
        }
        let context = self.get(before.context);
        let mut ways = self.passed(context.ways).cloned().unwrap_or_default();
        ways.retain(|meeting, _| over.is_none_or(|over| !over.contains(meeting)));
        if is_meeting {
            ways.insert(address, before.address);
        }
        let ways = self.number(ways);
        Place { context: self.id(Context { ways, ..context }), address }
    }

    fn number(&mut self, ways: Ways) -> WaysId {
        if ways.is_empty() {
            return WaysId::default();
        }
        let known = self.ways.iter().position(|known| *known == ways);
        let number = known.unwrap_or_else(|| {
            self.ways.push(ways);
            self.ways.len() - 1
        });
        WaysId(u32::try_from(number + 1).expect("fewer ways than places"))
    }

    fn passed(&self, id: WaysId) -> Option<&Ways> {
        self.ways.get((id.0 as usize).checked_sub(1)?)
    }

    /// The chain from its last call to the role's function.
    pub(crate) fn chain(&self, id: ContextId) -> impl Iterator<Item = Context> + '_ {
        std::iter::successors(Some(self.get(id)), |context| context.parent.map(|parent| self.get(parent)))
    }
}
