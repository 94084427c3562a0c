//! `palisade/bench/1`: a benchmark.

use super::Header;
use crate::bench::{Comparison, Record, Row, Setting, Summary};
use serde::Serialize;

/// What `palisade bench` measured.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// What the runs have in common.
    pub setting: &'a Setting,
    /// Every run.
    pub runs: &'a [Record],
    /// The runs summed up, per family and tool, then per tool.
    pub summary: &'a [Row],
    /// The first tool against each other one.
    pub comparisons: &'a [Comparison],
    /// Answers whose evidence was checked and accepted.
    pub accepted: usize,
    /// Answers whose evidence was rejected, each in a sentence.
    pub rejections: &'a [String],
    /// Nets on which answers differ, each in a sentence.
    pub disagreements: &'a [String],
    /// Tools that left nets unanswered, each in a sentence.
    pub unanswered: &'a [String],
}

impl<'a> BenchDocument<'a> {
    /// The document of a benchmark.
    pub fn new(setting: &'a Setting, records: &'a [Record], summary: &'a Summary) -> Self {
        Self {
            header: Header::new("palisade/bench/1"),
            setting,
            runs: records,
            summary: &summary.rows,
            comparisons: &summary.comparisons,
            accepted: summary.accepted,
            rejections: &summary.rejections,
            disagreements: &summary.disagreements,
            unanswered: &summary.unanswered,
        }
    }
}
