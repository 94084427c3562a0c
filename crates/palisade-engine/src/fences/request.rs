//! What a caller asks of the choice.

/// What a caller asks of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// All optima, at most so many; 0 for one.
    pub(super) alternatives: usize,
    /// Measures are to be judged one by one as well: whether all but one will do. Then attacks that
    /// the whole catalogue does not eliminate do not count.
    pub(super) one_by_one: bool,
}
