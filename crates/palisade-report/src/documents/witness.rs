//! `palisade/witness/1`: the violation of a program; and the violation itself, as it stands in
//! other documents too.

use super::step::{StepDocument, steps};
use super::{ConfirmationDocument, VerdictHeader, VerdictWord};
use crate::computation::address_text;
use crate::relations::herd_name;
use crate::violation::{computation, node};
use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade witness` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WitnessDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: VerdictHeader<'a>,
    /// The violation, where there is one.
    #[serde(flatten)]
    pub violation: Option<ViolationDocument<'a>>,
    /// The violation in the form that the command line names.
    #[serde(flatten)]
    pub picture: Option<Picture>,
    /// The file that the form was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// How often this machine's processor showed the outcome, with `--run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunsDocument>,
    /// How the evidence fared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
}

impl<'a> WitnessDocument<'a> {
    /// The document of a verdict on a program.
    pub fn new(file: &'a str, program: &'a Program, verdict: VerdictWord) -> Self {
        Self {
            header: VerdictHeader::new("palisade/witness/1", file, program, verdict),
            violation: None,
            picture: None,
            written: None,
            run: None,
            evidence: None,
        }
    }
}

/// A form of the violation for other tools.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Picture {
    /// The form.
    pub format: PictureFormat,
    /// The violation in this form; left out where it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The forms of a violation for other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum PictureFormat {
    /// A Mermaid sequence diagram.
    Mermaid,
    /// A litmus test for herd7 and litmus7.
    Litmus,
    /// The trace with its relations, for Graphviz.
    Dot,
    /// The computation as a picture.
    Svg,
}

/// Runs on this machine's processor.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunsDocument {
    /// How many there were.
    pub runs: u64,
    /// In how many of them the outcome was seen.
    pub seen: u64,
}

/// A violation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ViolationDocument<'a> {
    /// How many copies of each thread it takes.
    pub instance: BTreeMap<&'a str, u64>,
    /// Whether every instance with fewer copies of replicated threads in all was shown robust.
    pub instance_minimal: bool,
    /// The copy that delays stores.
    pub attacker: String,
    /// Whether no computation of an instance with as many copies in all shows the attack in fewer
    /// steps.
    pub shortest: bool,
    /// The computation.
    pub steps: Vec<StepDocument<'a>>,
    /// A happens-before cycle of its trace.
    pub cycle: Vec<EdgeDocument>,
}

/// An edge of a happens-before cycle.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EdgeDocument {
    /// The access it leaves.
    pub from: String,
    /// The access it enters.
    pub to: String,
    /// The relation: `po` program order, `st` store order, `src` source, `cf` conflict; of
    /// execution graphs `po`, `rf`, `mo` and `fr`.
    pub relation: &'static str,
    /// Of litmus tests the edge as herd and diy name it: `PodWR`, `Rfe`, `Coe`, `Fre`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub herd: Option<String>,
    /// The address of both; null for program order.
    pub address: Option<String>,
}

impl<'a> ViolationDocument<'a> {
    /// The document of a program's violation.
    pub fn new(program: &'a Program, violation: &'a Violation) -> Self {
        let copies = program.threads.iter().zip(violation.instance.counts());
        let edges = violation.cycle.iter().map(|edge| EdgeDocument {
            from: node(program, violation, edge.from),
            to: node(program, violation, edge.to),
            relation: edge.relation.name(),
            herd: program.source.is_litmus.then(|| herd_name(&violation.replay.trace, edge)),
            address: edge.address.map(|address| address_text(program, address)),
        });
        Self {
            instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
            instance_minimal: violation.instance_minimal,
            attacker: violation.instance.copy_name(program, violation.attacker),
            shortest: violation.shortest,
            steps: steps(&computation(program, violation)),
            cycle: edges.collect(),
        }
    }
}
