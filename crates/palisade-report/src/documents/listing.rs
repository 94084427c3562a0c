//! `palisade/completions/1`, `palisade/man/1`, `palisade/schema/1`: texts about the command itself.

use super::Header;
use serde::Serialize;

/// The completions for a shell.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompletionsDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The shell.
    pub shell: String,
    /// The script.
    pub text: &'a str,
}

impl<'a> CompletionsDocument<'a> {
    /// The document of a script for a shell.
    pub const fn new(shell: String, text: &'a str) -> Self {
        Self { header: Header::new("palisade/completions/1"), shell, text }
    }
}

/// A page of the manual.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ManDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The name of the page.
    pub page: String,
    /// The page in roff.
    pub text: &'a str,
}

impl<'a> ManDocument<'a> {
    /// The document of a page.
    pub const fn new(page: String, text: &'a str) -> Self {
        Self { header: Header::new("palisade/man/1"), page, text }
    }
}

/// The names of the documents' schemas.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaDocument {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The names, for `palisade schema NAME`.
    pub names: Vec<&'static str>,
}

impl SchemaDocument {
    /// The document of the schemas of these names.
    pub fn new(names: impl Iterator<Item = &'static str>) -> Self {
        Self { header: Header::new("palisade/schema/1"), names: names.collect() }
    }
}
