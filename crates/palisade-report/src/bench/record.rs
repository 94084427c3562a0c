//! What one run of one tool on one net gave.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    /// No target can be covered.
    Uncoverable,
    /// A target can be covered.
    Coverable,
    /// The tool had no answer.
    Unknown,
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The tool failed, or its answer was not understood.
    Error,
    /// The answer's evidence was rejected.
    Rejected,
    /// The net cannot be given to the tool in its format.
    Unsupported,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Uncoverable => "uncoverable",
            Self::Coverable => "coverable",
            Self::Unknown => "unknown",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Error => "error",
            Self::Rejected => "rejected",
            Self::Unsupported => "unsupported",
        }
    }

    /// Whether it is an answer.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Uncoverable | Self::Coverable)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// A hash of the net's content, the tool, the repetition and the limits: the same run has the
    /// same id.
    pub id: String,
    /// The net's path.
    pub file: String,
    /// The strategy, or the name of another tool.
    pub tool: String,
    /// The repetition, from 1.
    pub repetition: u32,
    /// How it ended.
    pub verdict: Verdict,
    /// The strategy that answered, where the tool says so.
    pub answered_by: Option<String>,
    /// Wall time, from the start of the process to its end, without the check of the evidence.
    pub seconds: f64,
    /// Processor time of the process and of those it started, without that check, where it ended by
    /// itself.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// The largest resident memory of the process and those it started.
    pub peak_bytes: Option<u64>,
    /// What the tool said, where it had no answer.
    pub message: Option<String>,
    /// The time to check the answer's evidence, which does not count; none for other tools, whose
    /// answers have none.
    pub evidence_seconds: Option<f64>,
}

/// What the runs have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Setting {
    /// The tools, in the order given.
    pub tools: Vec<String>,
    /// Seconds for each run.
    pub timeout_seconds: Option<f64>,
    /// Bytes for each run.
    pub memory_bytes: Option<u64>,
    /// Runs of each tool on each net.
    pub repeat: u32,
    /// Whether a question is one of reachability: then its words are those of all answers, as a
    /// target that can be covered can be reached.
    pub asks_reachability: bool,
}

impl Setting {
    /// The word for how a run ended.
    pub fn word(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Uncoverable if self.asks_reachability => "unreachable",
            Verdict::Coverable if self.asks_reachability => "reachable",
            other => other.word(),
        }
    }
}
