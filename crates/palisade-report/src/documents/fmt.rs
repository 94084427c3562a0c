//! `palisade/fmt/1`: a native text laid out afresh.

use super::FileHeader;
use serde::Serialize;

/// What `palisade fmt` makes of a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FmtDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// Whether the file was laid out otherwise.
    pub changed: bool,
    /// The text as it is laid out now.
    pub text: &'a str,
}

impl FmtDocument<'_> {
    /// The header of such documents.
    pub const fn header(file: &str) -> FileHeader<'_> {
        FileHeader::new("palisade/fmt/1", file)
    }
}
