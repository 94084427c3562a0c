//! The nodes that are still to be explored.

/// Nodes in buckets, taken from the lowest bucket, the latest first: with one bucket per depth
/// breadth first, with one bucket for all depth first.
#[derive(Clone, Debug)]
pub(super) struct Frontier {
    buckets: Vec<Vec<u32>>,
    /// The lowest bucket that may hold a node.
    lowest: usize,
}

impl Frontier {
    /// Nothing is to be explored.
    pub(super) fn new() -> Self {
        Self { buckets: vec![Vec::new()], lowest: 0 }
    }

    /// Adds a node to a bucket.
    pub(super) fn push(&mut self, node: u32, bucket: usize) {
        if self.buckets.len() <= bucket {
            self.buckets.resize_with(bucket + 1, Vec::new);
        }
        self.lowest = self.lowest.min(bucket);
        self.buckets[bucket].push(node);
    }

    /// Takes the next node.
    pub(super) fn pop(&mut self) -> Option<u32> {
        while self.lowest < self.buckets.len() {
            if let Some(node) = self.buckets[self.lowest].pop() {
                return Some(node);
            }
            self.lowest += 1;
        }
        None
    }
}
