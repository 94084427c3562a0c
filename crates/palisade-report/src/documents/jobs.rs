//! `palisade/job/1`, `palisade/result/1`, and what `plan`, `run` and `merge` print.

use super::Header;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A job, a line of a plan: a command line and the inputs that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobDocument {
    /// The kind of the document.
    pub schema: String,
    /// The program that wrote it.
    pub tool: String,
    /// That program's version, which has to do the job.
    pub version: String,
    /// What the job is known by: the SHA-256 of version, arguments and inputs.
    pub job: String,
    /// Its number in the plan, from 1.
    pub number: usize,
    /// How many jobs the plan has.
    pub of: usize,
    /// The command line, without the name of the program.
    pub arguments: Vec<String>,
    /// What the command reads.
    pub inputs: Vec<JobInput>,
}

/// A file that a job reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobInput {
    /// Its path, seen from where the job is done.
    pub path: String,
    /// The SHA-256 of its content, as evidence states it.
    pub sha256: String,
}

/// What came of a job, a line of a file of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultDocument {
    /// The kind of the document.
    pub schema: String,
    /// The program that wrote it.
    pub tool: String,
    /// That program's version.
    pub version: String,
    /// The job.
    pub job: String,
    /// The exit status of the command.
    pub exit: u8,
    /// What the command printed with `--json`.
    pub document: Value,
    /// The evidence for it.
    pub evidence: Vec<EvidenceText>,
    /// Seconds from start to end.
    pub seconds: f64,
}

/// A file of evidence, or one that belongs to evidence, such as a repaired program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceText {
    /// The name of the file.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// A plan that was written.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The plan's file.
    pub plan: &'a str,
    /// How many jobs it has.
    pub jobs: usize,
}

impl<'a> PlanDocument<'a> {
    /// The document of a plan.
    pub const fn new(plan: &'a str, jobs: usize) -> Self {
        Self { header: Header::new("palisade/plan/1"), plan, jobs }
    }
}

/// Jobs that were done.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The plan's file.
    pub plan: &'a str,
    /// The file of results.
    pub results: &'a str,
    /// How many jobs there were to do.
    pub jobs: usize,
    /// How many of them were done before.
    pub done_before: usize,
    /// How many of them were done now.
    pub done: usize,
    /// Those that came to no end, and why.
    pub unfinished: &'a [UnfinishedJob],
    /// Seconds from start to end.
    pub seconds: f64,
}

/// A job that came to no end.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnfinishedJob {
    /// The job.
    pub job: String,
    /// Its command line.
    pub arguments: Vec<String>,
    /// Why.
    pub reason: String,
}

impl<'a> RunDocument<'a> {
    /// The document of a run that has done nothing yet.
    pub const fn new(plan: &'a str, results: &'a str) -> Self {
        let header = Header::new("palisade/run/1");
        Self { header, plan, results, jobs: 0, done_before: 0, done: 0, unfinished: &[], seconds: 0.0 }
    }
}

/// The one answer of all jobs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergeDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: Header,
    /// The plan's file.
    pub plan: &'a str,
    /// How many jobs it has.
    pub jobs: usize,
    /// What the files of results hold besides one line for each job.
    pub lines: LineCounts,
    /// The answers, in the order of the plan; one for all parts of a program's attacks.
    pub answers: Vec<MergedAnswer>,
}

/// Lines of results that were passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineCounts {
    /// Lines that are no results, such as the last one of a worker that was killed.
    pub damaged: usize,
    /// Results of jobs that have another one.
    pub repeated: usize,
    /// Results of jobs that are not in the plan.
    pub foreign: usize,
}

/// A property of a query, with what the accepted evidence says of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergedProperty {
    /// The id.
    pub id: String,
    /// `TRUE`, `FALSE`, a bound or `UNBOUNDED`; null where it is unknown.
    pub value: Option<String>,
}

/// The answer of one job, or of all parts of one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergedAnswer {
    /// The command line, without the attacks that a part was about.
    pub arguments: Vec<String>,
    /// How many jobs it comes from.
    pub jobs: usize,
    /// The exit status.
    pub exit: u8,
    /// The verdict that the accepted evidence gives; null where the evidence is rejected or the
    /// input was refused.
    pub verdict: Option<String>,
    /// Why there is none, or why it is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the repair costs that the evidence shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Whether the evidence shows that no repair is cheaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheapest: Option<bool>,
    /// The properties of a query that all are asked of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<MergedProperty>,
    /// The kinds of the evidence that was checked and accepted.
    pub accepted: Vec<String>,
    /// The files with that evidence, where they were asked for.
    pub certificates: Vec<String>,
    /// Seconds that its jobs took.
    pub seconds: f64,
    /// What the checker says of that evidence, as `palisade verify --json` does. What the jobs
    /// printed is not repeated.
    pub documents: Vec<Value>,
}

impl<'a> MergeDocument<'a> {
    /// The document of merged answers.
    pub const fn new(plan: &'a str, jobs: usize, lines: LineCounts, answers: Vec<MergedAnswer>) -> Self {
        Self { header: Header::new("palisade/merge/1"), plan, jobs, lines, answers }
    }
}
