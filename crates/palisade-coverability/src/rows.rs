//! Rows of numbers in one piece of memory.

/// Rows of numbers, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Rows {
    /// Groups `(row, entry)` pairs by row, keeping their order within a row. Goes through the pairs
    /// twice.
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

    /// Rows in order, each with its entries.
    pub(super) fn of<E: Iterator<Item = u32>>(rows: impl ExactSizeIterator<Item = E>) -> Self {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let mut entries = Vec::with_capacity(2 * rows.len());
        starts.push(0);
        rows.for_each(|row| {
            entries.extend(row);
            starts.push(u32::try_from(entries.len()).expect("fewer than 2^32 entries fit in memory"));
        });
        Self { starts, entries }
    }

    /// The lengths of the rows.
    pub(super) fn lengths(&self) -> Vec<u32> {
        self.starts.windows(2).map(|ends| ends[1] - ends[0]).collect()
    }

    /// A row.
    pub(super) fn row(&self, row: u32) -> &[u32] {
        &self.entries[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}
