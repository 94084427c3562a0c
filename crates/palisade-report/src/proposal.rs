//! Changes of sources that are proposed for a repair of machine code.

use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// A file of the sources with the changes made.
#[derive(Clone, Debug)]
pub struct ChangedSource {
    /// Where it is.
    pub path: PathBuf,
    /// Its text as it is.
    pub before: String,
    /// The text with the changes.
    pub after: String,
    /// Whether it belongs to a dependency or to the compiler, which are not written.
    pub is_of_a_dependency: bool,
}

/// Changes that are proposed. Whether they do what they are to do is known once the sources are
/// built and checked again.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The files.
    pub files: Vec<ChangedSource>,
    /// The unified diff of all of them.
    pub diff: String,
}

/// A place of the sources where no change, or not every change, can be made, so that none of these
/// was considered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KeptPlace {
    /// The place: a file, a line, a column.
    pub place: String,
    /// What stands in the way.
    pub reason: String,
}

/// A line for each kept place.
pub(crate) fn kept_lines(kept: &[KeptPlace]) -> String {
    kept.iter().fold(String::new(), |mut out, KeptPlace { place, reason }| {
        let _ = writeln!(out, "  kept     {place}: {reason}");
        out
    })
}

/// What is said in front of the diff of sources.
pub(crate) const PROPOSED: &str = "  proposed changes of the sources, not yet built and checked again\n";
