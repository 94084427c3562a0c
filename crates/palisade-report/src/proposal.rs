//! Changes of sources that are proposed for a repair of machine code.

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

/// Changes that are proposed. Whether they do what they are to do is known once the sources are built and checked again.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The files.
    pub files: Vec<ChangedSource>,
    /// The unified diff of all of them.
    pub diff: String,
}
