//! Where control is: an instruction, and the calls that have led to its function.

use std::collections::HashMap;

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
}

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

    /// The chain from its last call to the role's function.
    pub(crate) fn chain(&self, id: ContextId) -> impl Iterator<Item = Context> + '_ {
        std::iter::successors(Some(self.get(id)), |context| context.parent.map(|parent| self.get(parent)))
    }
}
