//! The marks that `sfence` leaves between buffered stores under PSO.

/// Where marks stand in a buffer: for each the number of stores before it, ascending.
///
/// A mark with no store before it orders nothing and vanishes, and two marks next to each other are
/// one. So an empty buffer has no marks, and buffers that behave alike are equal. Without marks –
/// always under SC and TSO – this is one word.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::box_collection, reason = "states without marks, nearly all, stay small")]
pub struct Marks(Option<Box<Vec<usize>>>);

impl Marks {
    /// How many stores stand before the first mark, if there is one.
    pub fn first(&self) -> Option<usize> {
        self.0.as_ref().map(|marks| marks[0])
    }

    /// For each mark, the number of stores before it, ascending.
    pub fn positions(&self) -> &[usize] {
        self.0.as_ref().map_or(&[], |marks| marks.as_slice())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Puts a mark behind all of so many stores.
    pub(super) fn put_behind(&mut self, stores: usize) {
        if stores > 0 && self.positions().last() != Some(&stores) {
            self.0.get_or_insert_default().push(stores);
        }
    }

    /// A store that no mark stands before leaves the buffer.
    pub(super) fn store_leaves(&mut self) {
        let Some(marks) = &mut self.0 else { return };
        // They are different numbers, so only the first can become 0.
        marks.iter_mut().for_each(|stores| *stores -= 1);
        if marks[0] == 0 {
            marks.remove(0);
        }
        if marks.is_empty() {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_vanish_and_merge() {
        let mut marks = Marks::default();
        marks.put_behind(0);
        assert!(marks.is_empty());
        marks.put_behind(2);
        marks.put_behind(2);
        marks.put_behind(3);
        assert_eq!(marks.positions(), [2, 3]);
        marks.store_leaves();
        assert_eq!(marks.positions(), [1, 2]);
        marks.store_leaves();
        assert_eq!(marks.positions(), [1]);
        marks.store_leaves();
        assert_eq!(marks, Marks::default());
    }
}
