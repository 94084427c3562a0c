//! The counter abstraction of one attack as an eager Petri net, for the coverability engine and for
//! other tools: every place and transition that value sets admit.
//!
//! A place is added when it can be marked if tokens were never used up (which closes the value sets
//! of the instrumented program, thread by thread and address by address), a transition when all of
//! its places are there. Addresses, their access levels, the lock, the stage and the attacker are
//! units; local states of threads are counters. `success` can be marked exactly when the attack is
//! feasible. Unlike the search, the net lets helpers move while the attacker has local instructions
//! to do; that changes no answer.

mod arcs;
mod attacker;
mod builder;
mod meaning;
mod symmetry;
mod tokens;
mod turned;
mod units;

pub use meaning::Firing;
pub use symmetry::Symmetry;
pub use turned::TurnedNet;

use super::attacks::Attack;
use super::fault::Fault;
use super::system::Counting;
use super::tso::System;
use crate::lazy::NetError;
use builder::Builder;
use meaning::Meaning;
use palisade_evidence::Fact;
use palisade_model::limits::{Halt, Limits};
use palisade_model::net::{PlaceId, Problem, TransitionId};
use palisade_model::program::{InstructionId, Program};
use rustc_hash::FxHashMap;

/// The net of an attack with the question whether `success` can be marked. `values` is how many
/// distinct values of a register or an address are admitted in a program without a domain.
///
/// # Errors
///
/// A fault when value sets do not close without a domain (they are thread-modular, so they can
/// diverge where reachable values do not), or an expression they reach has no value.
pub fn attack_net(program: &Program, attack: &Attack, values: usize, limits: &Limits) -> Result<Problem, Halt<Fault>> {
    let bounds = Bounds { values, copies: None, transitions: u64::MAX };
    Ok(AttackNet::build(program, attack, bounds, limits)?.problem)
}

/// How large the net of an attack may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// How many copies replicated threads have together, each free to be any of them; any number
    /// when not given.
    pub copies: Option<u32>,
    /// When more transitions than this have been listed, some of them again and again, there is no
    /// net.
    pub transitions: u64,
}

/// The net of an attack, with what its places and transitions stand for.
pub struct AttackNet<'p> {
    /// The net and the question.
    pub problem: Problem,
    /// What each transition does.
    pub firings: Vec<Firing>,
    /// Other instructions of the attacker that a transition does as well, in the order they were
    /// listed.
    pub also: FxHashMap<TransitionId, Vec<InstructionId>>,
    meanings: Vec<Meaning>,
    /// The tables that firings refer to.
    pub system: System<'p>,
}

impl<'p> AttackNet<'p> {
    /// Lists the net.
    pub fn build(program: &'p Program, attack: &Attack, bounds: Bounds, limits: &Limits) -> Result<Self, Halt<Fault>> {
        let mut builder = Builder::new(program, *attack, bounds, limits.clone());
        builder.start().map_err(NetError::halt)?;
        builder.close()?;
        builder.finish()
    }

    /// The net, with its turns where these are at least so many.
    pub fn with_turns(self, counting: &Counting, fewest: usize) -> (Self, Option<Symmetry>) {
        let mut net = Self { system: self.system.counting(Some(counting)), ..self };
        let symmetry = Symmetry::of(&mut net, counting, fewest);
        (net, symmetry)
    }

    /// What a place stands for in evidence.
    pub fn fact(&self, place: PlaceId) -> Fact {
        self.meanings[place.index()].fact(&self.system)
    }
}
