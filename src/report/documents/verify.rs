//! `palisade/verify/1`: how evidence fared; and the same of a verdict's own evidence, as it stands in other documents.

use super::FileHeader;
use serde::Serialize;

/// How a file of evidence fared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifyDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The verdict on the evidence.
    pub verdict: EvidenceVerdict,
    /// What accepted evidence shows of its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'a str>,
    /// The input that accepted evidence is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a str>,
    /// Why the evidence was rejected, or what limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Seconds to read and check it.
    pub seconds: f64,
}

impl<'a> VerifyDocument<'a> {
    /// The document of a verdict on evidence, with nothing else said.
    pub const fn new(file: &'a str, verdict: EvidenceVerdict, seconds: f64) -> Self {
        let header = FileHeader::new("palisade/verify/1", file);
        Self { header, verdict, kind: None, input: None, reason: None, seconds }
    }
}

/// The verdicts on evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum EvidenceVerdict {
    /// It shows what it claims.
    Accepted,
    /// It does not.
    Rejected,
    /// A limit was reached.
    Unknown,
}

/// How the evidence of a verdict fared before the verdict was reported.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConfirmationDocument<'a> {
    /// The verdict on the evidence.
    pub verdict: EvidenceVerdict,
    /// Why the evidence was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Seconds to check it.
    pub seconds: f64,
    /// Seconds of processor time to check it.
    pub cpu_seconds: f64,
}
