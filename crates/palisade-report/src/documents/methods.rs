//! `palisade/methods/1`: how methods for pairs of statements grow.

use super::Header;
use crate::bench::methods::{MethodRun, disagreements};
use serde::Serialize;

/// What `palisade bench --methods` measured.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodsDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// Every run.
    pub runs: &'a [MethodRun],
    /// Programs for which methods ban different numbers of pairs, each in a sentence.
    pub disagreements: Vec<String>,
}

impl<'a> MethodsDocument<'a> {
    /// The document of these runs.
    pub fn new(runs: &'a [MethodRun]) -> Self {
        Self { header: Header::new("palisade/methods/1"), runs, disagreements: disagreements(runs) }
    }
}
