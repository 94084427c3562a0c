//! Rows of numbers in one piece of memory.

/// Rows of numbers, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Rows {
    /// Groups `(row, entry)` pairs by row, keeping their order within a row. Goes through the pairs twice.
    pub(super) fn group(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; rows + 1];
        // Nested iterators go through their items faster than a loop over them.
        pairs.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[rows] as usize];
        pairs.for_each(|(row, entry)| {
            entries[next[row as usize] as usize] = entry;
            next[row as usize] += 1;
        });
        Self { starts, entries }
    }

    /// A row.
    pub(super) fn row(&self, row: u32) -> &[u32] {
        &self.entries[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}
