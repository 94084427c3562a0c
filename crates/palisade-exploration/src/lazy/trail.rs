//! The way from a root to the node that is being explored, by controls: the ancestors that a
//! marking can grow from.

use super::store::Store;
use rustc_hash::FxHashMap;

/// A node and its ancestors. A depth-first search changes little of it from one node to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// From a root on.
    nodes: Vec<u32>,
    /// Of these, those with a control, in the same order.
    by_control: FxHashMap<u32, Vec<u32>>,
}

impl Trail {
    /// Goes to a node.
    pub(super) fn lead_to(&mut self, store: &Store, node: u32) {
        let mut missing = vec![node];
        let mut next = store.parent(node);
        while let Some(parent) = next {
            // Ancestors have lower numbers than their descendants.
            while self.nodes.last().is_some_and(|last| *last > parent) {
                self.leave_last(store);
            }
            if self.nodes.last() == Some(&parent) {
                break;
            }
            missing.push(parent);
            next = store.parent(parent);
        }
        while next.is_none() && !self.nodes.is_empty() {
            self.leave_last(store);
        }
        for node in missing.into_iter().rev() {
            self.nodes.push(node);
            self.by_control.entry(store.control(node)).or_default().push(node);
        }
    }

    fn leave_last(&mut self, store: &Store) {
        let Some(last) = self.nodes.pop() else { return };
        self.by_control.get_mut(&store.control(last)).expect("it was entered").pop();
    }

    /// The node and its ancestors that have a control, from a root on.
    pub(super) fn with_control(&self, control: u32) -> &[u32] {
        self.by_control.get(&control).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_those_of_the_store() {
        let mut store = Store::default();
        let mut trail = Trail::default();
        let mut number: u32 = 7;
        for node in 0..400u32 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let parent = (number >> 8) % (node + 1);
            store.push((number >> 4) % 5, &[], (parent != node && node > 2).then_some(parent), 0);
            let visited = (number >> 12) % (node + 1);
            trail.lead_to(&store, visited);
            for control in 0..5 {
                let mut ancestors: Vec<u32> =
                    std::iter::successors(Some(visited), |node| store.parent(*node)).collect();
                ancestors.retain(|node| store.control(*node) == control);
                ancestors.reverse();
                assert_eq!(trail.with_control(control), ancestors, "node {visited}");
            }
        }
    }
}
