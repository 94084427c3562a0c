//! Evidence about the repair of a program: sets of changes that make it robust, or with which its
//! properties hold, and what shows that none is cheaper.

use super::subject::InputFile;
use super::{
    FreeCertificate, GraphWitness, PropertyEvidence, PropertyWitness, RobustCertificate, StaleCertificate,
    StuckWitness, TaskCertificate, TaskWitness, Witness,
};
use palisade_model::net::Count;
use palisade_model::program::Measure;
use palisade_semantics::graphs::Axioms;
use palisade_semantics::{Model, Target};
use std::sync::Arc;

/// What a set of changes is to bring about; it *does* when the changed program is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairClaim {
    /// The program is robust against TSO.
    Robust,
    /// The program is robust against a language, and has no race.
    Language(Axioms),
    /// The program never reaches these targets under a memory model. Targets keep their numbers in
    /// changed programs.
    Properties {
        /// The memory model.
        model: Model,
        /// The targets, strictly ascending; at least one.
        targets: Vec<Target>,
    },
    /// The program has no stuck state under a memory model.
    Hangs {
        /// The memory model.
        model: Model,
        /// By the axioms of a language, in place of a model of machines: the model is SC.
        graphs: Option<Axioms>,
        /// Whether it is about programs in which no time runs out.
        ignores_timeouts: bool,
    },
}

impl RepairClaim {
    /// The language that it is about, if it is about one.
    pub fn language(&self) -> Option<Axioms> {
        match self {
            Self::Language(axioms) => Some(*axioms),
            Self::Hangs { graphs, .. } => *graphs,
            Self::Robust | Self::Properties { .. } => None,
        }
    }
}

/// What is shown about the repair of a program.
///
/// Copies and domain are those of the program. The changes in `taken` are made in any case. By the
/// *program with a set* of measures is meant below: with these changes and those of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairEvidence {
    /// What sets of changes are to bring about.
    pub claim: RepairClaim,
    /// Changes made in any case.
    pub taken: Vec<Measure>,
    /// The measures on offer, each with its cost. A measure without a cost is permitted, but no set
    /// here has it.
    pub measures: Vec<(Measure, Option<Count>)>,
    /// Sets that bring it about, the one chosen first.
    pub valid: Vec<ValidSet>,
    /// Measures of which every set needs one that brings it about.
    pub rows: Vec<Row>,
    /// What every set costs that has one measure of each row.
    pub bound: Vec<Block>,
}

/// A set of measures that brings about what is claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidSet {
    /// Positions in the list of measures, ascending.
    pub set: Vec<usize>,
    /// The text of the program with the set, when the proof is about that. Final states as a target
    /// are shown of the program with the set itself.
    pub repaired: Option<InputFile>,
    /// Why the program with the set is as claimed.
    pub proof: ValidProof,
}

/// Why a program is as claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidProof {
    /// Why it is robust.
    Robust(Arc<RobustCertificate>),
    /// Why it is robust, where it has events or tasks.
    Tasks(TaskCertificate),
    /// Why it is robust against a language.
    Language(StaleCertificate),
    /// Why it reaches none of the targets.
    Properties(PropertyEvidence),
    /// Why it has no stuck state.
    Free(Arc<FreeCertificate>),
}

/// Measures of which every set needs one that brings about what is claimed: the program with all
/// others is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Positions in the list of measures, ascending.
    pub measures: Vec<usize>,
    /// A violation of the program with all measures but these.
    pub witness: RowWitness,
}

/// What shows that a program is not as claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowWitness {
    /// It is not robust.
    NotRobust(Witness),
    /// It is not robust, and has events or tasks.
    Tasks(TaskWitness),
    /// It is not robust against a language, or has a race.
    Graph(GraphWitness),
    /// It reaches a target.
    Violated(PropertyWitness),
    /// It has a stuck state.
    Stuck(StuckWitness),
}

/// Rows that share no measure with those of another block, and what a set costs at least that has
/// one measure of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The least cost.
    pub least: Count,
    /// The tree of cases, each node before its children.
    pub cases: Vec<Case>,
}

/// A node of the tree of cases. It is about the sets that have the measures chosen on the way to
/// it, and not those excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// One child for each measure of this row that is not excluded, in order: it chooses that
    /// measure and excludes those before it.
    Branch(usize),
    /// Weights of rows none of whose measures are chosen. The rows that contain a measure that is
    /// not excluded weigh no more together than it costs, so that a set costs as much as the rows
    /// weigh, besides what is chosen.
    Leaf(Vec<(usize, Count)>),
}
