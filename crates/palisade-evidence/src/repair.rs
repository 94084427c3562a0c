//! Evidence about the repair of a program: sets of changes that make it robust, and what shows that none is cheaper.

use super::subject::InputFile;
use super::{RobustCertificate, Witness};
use palisade_model::net::Count;
use palisade_model::program::{InstructionId, LabelId, ThreadId};

/// A change of a program that keeps a thread from delaying stores.
///
/// Each of them takes computations away and adds none: a fence and a locked exchange are a fence or a store that finds,
/// or leaves, the buffer empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// A fence at a label: the label's instructions move to a fresh label, to which a fence leads from the old one.
    Fence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store becomes a locked exchange whose result is discarded.
    Exchange {
        /// The thread.
        thread: ThreadId,
        /// The store.
        store: InstructionId,
    },
    /// A fence of the program stays. Where this change is on offer and not made, nothing happens in the fence's place.
    Keep {
        /// The thread.
        thread: ThreadId,
        /// The fence.
        fence: InstructionId,
    },
}

/// What is shown about the repair of a program.
///
/// Copies and domain are those of the program. The changes in `taken` are made in any case. By the *program with a set*
/// of measures is meant below: with these changes and those of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairEvidence {
    /// Changes made in any case.
    pub taken: Vec<Change>,
    /// The measures on offer, each with its cost. A measure without a cost is permitted, but no set here has it.
    pub measures: Vec<(Change, Option<Count>)>,
    /// Sets with which the program is robust, the one chosen first.
    pub valid: Vec<ValidSet>,
    /// Measures of which every set needs one that makes the program robust.
    pub rows: Vec<Row>,
    /// What every set costs that has one measure of each row.
    pub bound: Vec<Block>,
}

/// A set of measures with which the program is robust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidSet {
    /// Positions in the list of measures, ascending.
    pub set: Vec<usize>,
    /// The text of the program with the set, when the certificate is about that.
    pub repaired: Option<InputFile>,
    /// Why the program with the set is robust.
    pub certificate: RobustCertificate,
}

/// Measures of which every set needs one that makes the program robust: the program with all others is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Positions in the list of measures, ascending.
    pub measures: Vec<usize>,
    /// A violation of the program with all measures but these.
    pub witness: Witness,
}

/// Rows that share no measure with those of another block, and what a set costs at least that has one measure of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The least cost.
    pub least: Count,
    /// The tree of cases, each node before its children.
    pub cases: Vec<Case>,
}

/// A node of the tree of cases. It is about the sets that have the measures chosen on the way to it, and not those excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// One child for each measure of this row that is not excluded, in order: it chooses that measure and excludes those
    /// before it.
    Branch(usize),
    /// Weights of rows none of whose measures are chosen. The rows that contain a measure that is not excluded weigh no
    /// more together than it costs, so that a set costs as much as the rows weigh, besides what is chosen.
    Leaf(Vec<(usize, Count)>),
}
