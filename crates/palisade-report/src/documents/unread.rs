//! `palisade/unread/1`: a limit was reached before anything was known of an input.

use super::FileHeader;
use super::simulate::UnknownWord;
use palisade_model::limits::{StopReason, peak_resident_bytes, processor_time};
use serde::Serialize;

/// An input that was not read to its end, or of which nothing was found out before a limit was
/// reached.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// That there is no answer.
    pub verdict: UnknownWord,
    /// The limit.
    pub reason: String,
    /// What it took.
    pub statistics: UnreadStatistics,
}

/// What it took so far.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadStatistics {
    /// Seconds of processor time.
    pub cpu_seconds: f64,
    /// The most memory in use, in bytes; null where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> UnreadDocument<'a> {
    /// The document of a file of which nothing was known when a limit was reached.
    pub fn new(file: &'a str, reason: StopReason) -> Self {
        Self {
            header: FileHeader::new("palisade/unread/1", file),
            verdict: UnknownWord::Unknown,
            reason: reason.to_string(),
            statistics: UnreadStatistics {
                cpu_seconds: processor_time().as_secs_f64(),
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}
