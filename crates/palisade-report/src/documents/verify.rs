//! `palisade/verify/1`: how evidence fared; and the same of a verdict's own evidence, as it stands
//! in other documents.

use super::program::{CopiesWord, DomainDocument};
use super::{ClaimDocument, FileHeader};
use crate::claim::Claim;
use crate::models::model_word;
use crate::subject::Subject;
use crate::targets::{ShownProperties, ShownTarget};
use palisade_evidence::{CopiesOrigin, InputFile, ThreadSubject};
use palisade_verify::RepairFacts;
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
    /// The language that accepted evidence is about: `c11` or `ra`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// The input that accepted evidence is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a str>,
    /// What exactly it is about.
    #[serde(flatten)]
    pub subject: SubjectDocument<'a>,
    /// What accepted evidence about a repair shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairDocument>,
    /// What accepted evidence about properties shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<PropertiesDocument<'a>>,
    /// For evidence that a build without optimisation is robust: whether every compilation of its
    /// sources is, by the checker's own judgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_compilation: Option<bool>,
    /// What the checker whose soundness is proved says of accepted evidence, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<String>,
    /// Why the evidence was rejected, or what limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Seconds to read and check it.
    pub seconds: f64,
}

impl<'a> VerifyDocument<'a> {
    /// The document of a verdict on evidence, with nothing else said.
    pub fn new(file: &'a str, verdict: EvidenceVerdict, seconds: f64) -> Self {
        let header = FileHeader::new("palisade/verify/1", file);
        Self {
            header,
            verdict,
            kind: None,
            language: None,
            input: None,
            subject: SubjectDocument::default(),
            repair: None,
            properties: None,
            every_compilation: None,
            proved: None,
            reason: None,
            seconds,
        }
    }
}

/// What evidence about a repair shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RepairDocument {
    /// What each set of measures costs that makes the program robust.
    pub costs: Vec<String>,
    /// What every such set costs at least.
    pub bound: String,
    /// Whether the first of the sets is a cheapest one.
    pub optimal: bool,
    /// Whether no set of the measures on offer makes the program robust.
    pub impossible: bool,
}

impl RepairDocument {
    /// The document of what a checker has found.
    pub fn new(facts: &RepairFacts) -> Self {
        Self {
            costs: facts.costs.iter().map(ToString::to_string).collect(),
            bound: facts.bound.to_string(),
            optimal: facts.is_optimal(),
            impossible: facts.is_impossible,
        }
    }
}

/// What evidence about properties shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertiesDocument<'a> {
    /// The memory model: `sc`, `tso` or `pso`.
    pub model: &'static str,
    /// The properties that hold.
    pub hold: Vec<PropertyPlace<'a>>,
    /// The property that is violated; null in a proof.
    pub violated: Option<PropertyPlace<'a>>,
    /// The program's other properties, of which a proof says nothing.
    pub others: Vec<PropertyPlace<'a>>,
    /// How many joint control states the program must not reach, of which nothing is said.
    pub joint_states: usize,
}

/// A property by its place in the program's text.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PropertyPlace<'a> {
    /// `ensure`, `fail`, `never`, or `final states` for the question of a litmus test.
    pub kind: &'a str,
    /// The thread; null for a `never` and for final states.
    pub thread: Option<&'a str>,
    /// The label; null for a `never` and for final states.
    pub label: Option<&'a str>,
    /// The line in the program's text, from 1; null for final states.
    pub line: Option<usize>,
}

impl<'a> PropertiesDocument<'a> {
    /// The document of what a checker has found.
    pub fn new(shown: &'a ShownProperties) -> Self {
        Self {
            model: model_word(shown.model),
            hold: shown.hold.iter().map(PropertyPlace::new).collect(),
            violated: shown.violated.as_ref().map(PropertyPlace::new),
            others: shown.others.iter().map(PropertyPlace::new).collect(),
            joint_states: shown.joint_states,
        }
    }
}

impl<'a> PropertyPlace<'a> {
    fn new(target: &'a ShownTarget) -> Self {
        let label = target.label.as_ref();
        Self {
            kind: target.kind,
            thread: label.map(|(thread, _)| thread.as_str()),
            label: label.map(|(_, label)| label.as_str()),
            line: target.line,
        }
    }
}

/// What accepted evidence is about, its input apart: copies and domain of a program, or the
/// question of a net.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubjectDocument<'a> {
    /// The format in which the input was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'a str>,
    /// The SHA-256 of a program's text, or of a net's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<&'a str>,
    /// The threads of a program with their copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Vec<ThreadDocument<'a>>>,
    /// The domain of a program's values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainDocument>,
    /// The file of the question about a net; null when that is in the net's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Option<QueryDocument<'a>>>,
    /// The property meant, when the question's file has several; else null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<Option<&'a str>>,
    /// What the verdict is about where the program is machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimDocument<'a>>,
}

/// The copies of a thread that evidence is about.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThreadDocument<'a> {
    /// The thread.
    pub name: &'a str,
    /// How many copies.
    pub copies: CopiesWord,
    /// Where it comes from: the program's text (`file`) or an option.
    pub origin: &'static str,
}

/// The file of a question.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QueryDocument<'a> {
    /// Where it was read from.
    pub path: &'a str,
    /// Its format.
    pub format: &'a str,
    /// The SHA-256 of its contents.
    pub sha256: &'a str,
}

impl<'a> SubjectDocument<'a> {
    /// What a subject says of itself.
    pub fn new(subject: &'a Subject) -> Self {
        match subject {
            Subject::Program { stated, source, .. } => Self {
                format: Some(&stated.input.format),
                sha256: Some(&stated.input.sha256),
                threads: Some(stated.threads.iter().map(ThreadDocument::new).collect()),
                domain: Some(DomainDocument::of(stated.domain)),
                claim: Claim::about(source, &stated.accepted).map(ClaimDocument::from),
                ..Self::default()
            },
            Subject::Net { stated, query, .. } => {
                let file = stated.query.as_ref().zip(query.as_deref());
                Self {
                    format: Some(&stated.input.format),
                    sha256: Some(&stated.input.sha256),
                    query: Some(file.map(|(input, path)| QueryDocument::new(input, path))),
                    property: Some(stated.property.as_deref()),
                    ..Self::default()
                }
            }
        }
    }
}

impl<'a> ThreadDocument<'a> {
    fn new(thread: &'a ThreadSubject) -> Self {
        let origin = match thread.origin {
            CopiesOrigin::File => "file",
            CopiesOrigin::Option => "option",
        };
        Self { name: &thread.name, copies: thread.copies.into(), origin }
    }
}

impl<'a> QueryDocument<'a> {
    fn new(input: &'a InputFile, path: &'a str) -> Self {
        Self { path, format: &input.format, sha256: &input.sha256 }
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
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConfirmationDocument {
    /// The verdict on the evidence.
    pub verdict: EvidenceVerdict,
    /// Why the evidence was rejected, or what limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Seconds to check it.
    pub seconds: f64,
    /// Seconds of processor time to check it.
    pub cpu_seconds: f64,
}
