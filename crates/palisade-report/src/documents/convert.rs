//! `palisade/convert/1`: a program in another format.

use super::{FileHeader, Finding};
use serde::Serialize;

/// What `palisade convert` wrote.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvertDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The format that was read.
    pub from: &'static str,
    /// The format that was written.
    pub to: &'static str,
    /// The file that was written; null for none.
    pub output: Option<String>,
    /// The program in the new format.
    pub text: &'a str,
    /// What is doubtful in the program, and what the new format cannot say.
    pub warnings: Vec<Finding<'a>>,
}

impl ConvertDocument<'_> {
    /// The header of such documents.
    pub const fn header(file: &str) -> FileHeader<'_> {
        FileHeader::new("palisade/convert/1", file)
    }
}
