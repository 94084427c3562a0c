//! How every document begins.

use super::{ClaimDocument, VerdictWord};
use palisade_model::program::Program;
use serde::Serialize;

/// The kind of a document, and the program that wrote it.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Header {
    /// The kind of the document, with the version of its form.
    pub schema: &'static str,
    /// The program that wrote it.
    pub tool: &'static str,
    /// That program's version.
    pub version: &'static str,
}

impl Header {
    /// The header of documents of a kind, `palisade/check/1` for instance.
    pub const fn new(schema: &'static str) -> Self {
        Self { schema, tool: "palisade", version: env!("CARGO_PKG_VERSION") }
    }
}

/// The header of a document about a file.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileHeader<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The path of the input as it was given; `-` or `<stdin>` is standard input.
    pub file: &'a str,
}

impl<'a> FileHeader<'a> {
    /// The header of a document of a kind about a file.
    pub const fn new(schema: &'static str, file: &'a str) -> Self {
        Self { header: Header::new(schema), file }
    }
}

/// The header of a document with a verdict on a program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerdictHeader<'a, V = VerdictWord> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The verdict on the program as it is.
    pub verdict: V,
    /// What the verdict is about, where it is about machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimDocument<'a>>,
    /// Why the verdict is unknown, or what was left undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl<'a, V> VerdictHeader<'a, V> {
    /// The header of a document of a kind with a verdict on a program.
    pub fn new(schema: &'static str, file: &'a str, program: &'a Program, verdict: V) -> Self {
        Self {
            header: FileHeader::new(schema, file),
            program: &program.name,
            verdict,
            claim: ClaimDocument::of(program),
            reason: None,
        }
    }
}
