//! The file of roles: which image, which functions of it run, and how many copies of each.

use palisade_model::text::{Diagnostic, SourceText, Span};
use serde::Deserialize;
use toml::Spanned;

/// The file as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RolesFile {
    /// The path of the ELF file, from the folder of this file.
    pub(crate) image: Spanned<String>,
    /// The digest of that file, if another build is to be refused: a snapshot is one of its own.
    pub(crate) image_sha256: Option<Spanned<String>>,
    /// The path of the snapshot, if there is one.
    pub(crate) snapshot: Option<Spanned<String>>,
    /// How the image is built again, and the snapshot written, when sources have changed: a command
    /// for the shell, in the folder of this file.
    pub(crate) build: Option<String>,
    /// The file of roles about a build without optimisation of the same sources, from the folder of
    /// this file: what is to be said of every compilation follows from it.
    pub(crate) unoptimised: Option<String>,
    /// Whether this image was built without optimisation, and the orderings of its accesses are to
    /// be read in its sources.
    #[serde(default)]
    pub(crate) source_order: bool,
    /// Whether this image was built without optimisation, and the program is to have the orderings
    /// of its sources: it then is one of their language.
    #[serde(default)]
    pub(crate) orderings: bool,
    /// Counters that are to be computed in fewer bits.
    #[serde(default)]
    pub(crate) narrow: Vec<Spanned<WrittenNarrowing>>,
    /// Delays that are accepted.
    #[serde(default)]
    pub(crate) accept: Vec<Spanned<WrittenDelay>>,
    /// Places of loads that may find any value that their cells may hold.
    #[serde(default)]
    pub(crate) hint: Vec<Spanned<String>>,
    /// Places at which anybody may wait for ever.
    #[serde(default)]
    pub(crate) idle: Vec<Spanned<String>>,
    /// How many new blocks of each size a copy of a role may take from the heap.
    pub(crate) heap: Option<Spanned<u8>>,
    /// Whether copies may access what lies on the stacks of others.
    #[serde(default)]
    pub(crate) stacks: bool,
    /// The roles; with a snapshot, its own where there are none here.
    #[serde(default)]
    pub(crate) role: Vec<Spanned<WrittenRole>>,
}

/// Counters that are to be computed in fewer bits, as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenNarrowing {
    /// The names of cells.
    pub(crate) cells: Vec<Spanned<String>>,
    /// The number of bits.
    pub(crate) bits: Spanned<u8>,
}

/// A delay that is accepted, as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenDelay {
    /// The place of the stores: `queue.rs:186`.
    pub(crate) store: Spanned<String>,
    /// The place of the loads.
    pub(crate) load: Spanned<String>,
}

/// A role as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenRole {
    /// Its name; by default that of its function.
    pub(crate) name: Option<String>,
    /// The function's name, or its address.
    pub(crate) function: Spanned<String>,
    /// The number of copies, `"*"` for any number; 1 by default.
    pub(crate) copies: Option<Spanned<WrittenCopies>>,
    /// Whether a copy begins again when it returns.
    #[serde(default)]
    pub(crate) repeat: bool,
    /// Whether copies may wait for ever.
    #[serde(default)]
    pub(crate) daemon: bool,
    /// What it is called with.
    #[serde(default)]
    pub(crate) args: Vec<Spanned<WrittenArgument>>,
}

/// A number of copies.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum WrittenCopies {
    /// So many.
    Count(u64),
    /// `*`.
    Word(String),
    /// What is no number of copies.
    Other(serde::de::IgnoredAny),
}

/// An argument.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum WrittenArgument {
    /// A number.
    Number(i64),
    /// The address of an object: `&name`, `&name+16`.
    Address(String),
}

/// Reads the file.
pub(crate) fn read(source: &SourceText) -> Result<RolesFile, Diagnostic> {
    toml::from_str(&source.text).map_err(|error| {
        let span = error.span().map_or(Span::default(), |range| Span { start: range.start, end: range.end });
        Diagnostic::error(error.message().trim_end_matches('.').to_owned(), span)
            .with_help("a role is `[[role]]` with `function = \"name\"`, and `copies = \"*\"` for any number of copies")
    })
}

/// The span of a value of the file.
pub(crate) fn span<T>(value: &Spanned<T>) -> Span {
    let range = value.span();
    Span { start: range.start, end: range.end }
}
