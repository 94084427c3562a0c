//! The nodes of an exploration: their markings in one arena, and the way to each from its root.

use super::Entry;
use rustc_hash::FxHashMap;

/// A configuration that was found.
#[derive(Clone, Debug)]
struct Node {
    control: u32,
    /// Where the entries start in the arena.
    offset: u32,
    /// How many there are.
    length: u32,
    /// The node it was found from; itself for a root.
    parent: u32,
    /// The number of steps from the beginning, counting those before its root.
    depth: u32,
    /// A newer node covers it.
    covered: bool,
}

/// All nodes, numbered in order of discovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    nodes: Vec<Node>,
    /// The entries of all markings, one after the other.
    arena: Vec<Entry>,
    /// The symmetry that has taken a node from its root to its form, where it is not 0.
    symmetries: FxHashMap<u32, u32>,
}

impl Store {
    /// The number of nodes, covered ones included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number that the next node gets.
    pub(super) fn next_number(&self) -> u32 {
        number(self.nodes.len())
    }

    /// The control of a node.
    pub(super) fn control(&self, node: u32) -> u32 {
        self.nodes[node as usize].control
    }

    /// The tokens of a node.
    pub(super) fn entries(&self, node: u32) -> &[Entry] {
        let node = &self.nodes[node as usize];
        &self.arena[node.offset as usize..(node.offset + node.length) as usize]
    }

    /// The number of steps from the beginning.
    pub(super) fn depth(&self, node: u32) -> u32 {
        self.nodes[node as usize].depth
    }

    /// The node a node was found from; none for a root.
    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.nodes[node as usize].parent;
        (parent != node).then_some(parent)
    }

    /// The symmetry that has taken a node from its root to its form; 0 for none.
    pub(super) fn symmetry(&self, node: u32) -> u32 {
        if self.symmetries.is_empty() { 0 } else { self.symmetries.get(&node).copied().unwrap_or(0) }
    }

    /// Notes the symmetry that has taken a node from its root to its form.
    pub(super) fn set_symmetry(&mut self, node: u32, symmetry: u32) {
        if symmetry != 0 {
            self.symmetries.insert(node, symmetry);
        }
    }

    /// Whether a newer node covers a node.
    pub(super) fn is_covered(&self, node: u32) -> bool {
        self.nodes[node as usize].covered
    }

    /// Notes whether a newer node covers a node.
    pub(super) fn set_covered(&mut self, node: u32, covered: bool) {
        self.nodes[node as usize].covered = covered;
    }

    /// The nodes that no newer one covers, in order of discovery.
    pub(super) fn maximal(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes.len()).filter(|index| !self.nodes[*index].covered).map(number)
    }

    /// Adds a node; a root, where it has no parent.
    pub(super) fn push(&mut self, control: u32, entries: &[Entry], parent: Option<u32>, depth: u32) -> u32 {
        debug_assert!(entries.is_sorted_by(|a, b| a.place < b.place), "markings list each place once, in order");
        let node = self.next_number();
        let offset = u32::try_from(self.arena.len()).expect("fewer than 2^32 tokens entries fit in memory");
        self.arena.extend_from_slice(entries);
        let length = u32::try_from(entries.len()).expect("markings are short");
        self.nodes.push(Node { control, offset, length, parent: parent.unwrap_or(node), depth, covered: false });
        node
    }

    /// How many entries all markings have together.
    pub(super) fn entry_count(&self) -> usize {
        self.arena.len()
    }

    /// Drops all nodes from a number on.
    pub(super) fn truncate(&mut self, first: u32) {
        if let Some(node) = self.nodes.get(first as usize) {
            self.arena.truncate(node.offset as usize);
        }
        self.nodes.truncate(first as usize);
        self.symmetries.retain(|node, _| *node < first);
    }
}

/// An index as the number of a node.
fn number(index: usize) -> u32 {
    u32::try_from(index).expect("node numbers fit 32 bits")
}
