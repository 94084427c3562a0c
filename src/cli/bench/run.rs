//! One run of a benchmark: a tool on a net.

use std::path::PathBuf;

/// A run to be made.
pub(super) struct Run {
    /// Its id (see [`Record::id`]).
    pub(super) id: String,
    /// The net.
    pub(super) net: PathBuf,
    /// The number of the tool.
    pub(super) tool: usize,
    /// The repetition, from 1.
    pub(super) repetition: u32,
}
