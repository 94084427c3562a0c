//! Rows in one piece of memory, which is made and let go at once.

use std::ops::Index;

/// Rows of numbers, or of something as small, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rows<T = u32> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Groups `(row, entry)` pairs by row, keeping their order within a row. Goes through the pairs
    /// twice.
    pub(super) fn group(rows: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0u32; rows + 1];
        // Nested iterators go through their items faster than a loop over them.
        pairs.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![T::default(); starts[rows] as usize];
        pairs.for_each(|(row, entry)| {
            entries[next[row as usize] as usize] = entry;
            next[row as usize] += 1;
        });
        Self { starts, entries }
    }
}

impl<T> Rows<T> {
    /// Rows in order, each with its entries.
    pub(super) fn of<E: IntoIterator<Item = T>>(rows: impl ExactSizeIterator<Item = E>) -> Self {
        let mut all = Self { starts: Vec::with_capacity(rows.len() + 1), entries: Vec::with_capacity(2 * rows.len()) };
        all.starts.push(0);
        rows.for_each(|row| all.push(row));
        all
    }

    /// One row more.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.entries.extend(row);
        self.starts.push(u32::try_from(self.entries.len()).expect("fewer than 2^32 entries fit in memory"));
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The lengths of the rows.
    pub(super) fn lengths(&self) -> Vec<u32> {
        self.starts.windows(2).map(|ends| ends[1] - ends[0]).collect()
    }

    /// The rows in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.starts.windows(2).map(|ends| &self.entries[ends[0] as usize..ends[1] as usize])
    }

    /// The rows with their numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (u32, &[T])> + Clone {
        (0u32..).zip(self.iter())
    }

    /// A row.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[T] {
        &self[row as usize]
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { starts: vec![0], entries: Vec::new() }
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = [T];

    #[inline]
    fn index(&self, row: usize) -> &[T] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}
