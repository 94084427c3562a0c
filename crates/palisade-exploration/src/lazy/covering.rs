//! What is known of markings: found before, or covered by one that was.

use super::numbers::Numbers;
use super::store::Store;
use super::{Entry, is_covered};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Whether markings are enumerated or covered by ω-markings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every place is bounded: each marking once, breadth first.
    Exact,
    /// Some places are unbounded: ω-markings, depth first.
    Omega,
}

/// The nodes by what they cover.
#[derive(Clone, Debug)]
pub(super) enum Covering {
    /// Each marking covers itself alone: the node with a given marking.
    Exact(Numbers),
    /// For each control, the nodes not covered by others.
    Omega(FxHashMap<u32, Vec<u32>>),
}

impl Covering {
    /// Nothing is covered.
    pub(super) fn new(mode: Mode) -> Self {
        match mode {
            Mode::Exact => Self::Exact(Numbers::default()),
            Mode::Omega => Self::Omega(FxHashMap::default()),
        }
    }

    /// What a marking is sought by, where markings are enumerated; where they are covered, their
    /// controls do.
    pub(super) fn hash(&self, control: u32, entries: &[Entry]) -> u64 {
        match self {
            Self::Exact(_) => hash(control, entries),
            Self::Omega(_) => 0,
        }
    }

    /// The node with a marking of this hash, where markings are enumerated.
    pub(super) fn find(&self, store: &Store, hash: u64, control: u32, entries: &[Entry]) -> Option<u32> {
        match self {
            Self::Exact(nodes) => {
                nodes.find(hash, |node| store.control(node) == control && store.entries(node) == entries)
            }
            Self::Omega(_) => None,
        }
    }

    /// Whether some node covers a marking of this hash.
    pub(super) fn covers(&self, store: &Store, hash: u64, control: u32, entries: &[Entry]) -> bool {
        match self {
            Self::Exact(_) => self.find(store, hash, control, entries).is_some(),
            Self::Omega(maximal) => maximal
                .get(&control)
                .is_some_and(|nodes| nodes.iter().any(|node| is_covered(entries, store.entries(*node)))),
        }
    }

    /// Whether no node from number `settled` on is covered by another, as far as a few comparisons
    /// tell.
    pub(super) fn is_antichain(&self, store: &Store, settled: u32) -> bool {
        const NODES: usize = 8;
        let Self::Omega(maximal) = self else { return true };
        maximal.values().all(|nodes| {
            let some = nodes.iter().filter(|node| **node >= settled).take(NODES);
            some.clone().all(|node| {
                let others = some.clone().filter(|other| *other != node);
                others.into_iter().all(|other| !is_covered(store.entries(*node), store.entries(*other)))
            })
        })
    }

    /// How many nodes a marking is compared with.
    pub(super) fn candidates(&self, control: u32) -> usize {
        match self {
            Self::Exact(_) => 0,
            Self::Omega(maximal) => maximal.get(&control).map_or(0, Vec::len),
        }
    }

    /// Enters a node of this hash that no other covers; marks those that it covers, from number
    /// `settled` on.
    pub(super) fn enter(&mut self, store: &mut Store, hash: u64, node: u32, settled: u32) {
        match self {
            Self::Exact(nodes) => nodes.insert(hash, node),
            Self::Omega(maximal) => {
                let nodes = maximal.entry(store.control(node)).or_default();
                nodes.retain(|old| {
                    let covered = *old >= settled && is_covered(store.entries(*old), store.entries(node));
                    if covered {
                        store.set_covered(*old, true);
                    }
                    !covered
                });
                nodes.push(node);
            }
        }
    }

    /// Forgets the nodes from a number on, which are still in the store.
    pub(super) fn forget_from(&mut self, store: &Store, first: u32) {
        for node in first..store.next_number() {
            match self {
                Self::Exact(nodes) => nodes.remove(hash(store.control(node), store.entries(node)), node),
                Self::Omega(maximal) => {
                    if let Some(nodes) = maximal.get_mut(&store.control(node)) {
                        nodes.retain(|old| *old < first);
                    }
                }
            }
        }
    }
}

fn hash(control: u32, entries: &[Entry]) -> u64 {
    FxBuildHasher.hash_one((control, entries))
}
