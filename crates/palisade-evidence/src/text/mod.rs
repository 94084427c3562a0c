//! Evidence as text: one JSON document per file, as CERTIFICATE.md describes it.
//!
//! Reading trusts nothing: it refuses fields that it does not know and numbers out of range;
//! nesting is limited by the JSON reader, and what is read is never larger than a fixed multiple of
//! the text, since nothing in it refers to shared parts that would have to be copied.

mod attack_net;
mod concurrency;
mod field;
mod hangs;
mod header;
mod net;
mod number;
mod packed;
mod program;
mod property;
mod pso;
mod race;
mod reach;
mod repair;
mod stale;
mod strict;
mod tasks;
mod witness;

use super::{
    BufferInvariant, ConcurrencyCertificate, ConcurrencyWitness, FreeCertificate, GraphWitness, NetCertificate, NetRun,
    NetSubject, ProgramSubject, PropertyEvidence, PropertyWitness, PsoCertificate, RaceWitness, ReachCertificate,
    RepairEvidence, RobustCertificate, StaleCertificate, StuckWitness, TaskCertificate, TaskWitness, Witness,
};
use header::{NetHeader, ProgramHeader};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::Arc;
use strict::{Object, present};
use thiserror::Error;

/// The name of the format, in every file.
const FORMAT: &str = "palisade/evidence";

/// The version of the format that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The longest evidence that is read, in bytes.
pub const MAX_EVIDENCE_BYTES: u64 = 1 << 30;

/// Evidence with what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A program is robust.
    Robust(ProgramSubject, RobustCertificate),
    /// A program is not robust.
    NotRobust(ProgramSubject, Witness),
    /// How a program can be made robust, and at what cost.
    Repair(ProgramSubject, RepairEvidence),
    /// A program never reaches some of its targets.
    Property(ProgramSubject, PropertyEvidence),
    /// A program reaches a target.
    PropertyWitness(ProgramSubject, PropertyWitness),
    /// A program is robust against concurrency.
    ConcurrencyRobust(ProgramSubject, ConcurrencyCertificate),
    /// A program is not robust against concurrency.
    NotConcurrencyRobust(ProgramSubject, ConcurrencyWitness),
    /// A program has no triangular race.
    RaceFree(ProgramSubject, BufferInvariant),
    /// A program has a triangular race.
    Race(ProgramSubject, RaceWitness),
    /// An event-driven program is robust against TSO.
    TsoRobust(ProgramSubject, TaskCertificate),
    /// An event-driven program is not robust against TSO.
    NotTsoRobust(ProgramSubject, TaskWitness),
    /// A program is robust against PSO.
    PsoRobust(ProgramSubject, PsoCertificate),
    /// A program is not robust against PSO.
    NotPsoRobust(ProgramSubject, Witness),
    /// A program is robust against a language, C11 or release/acquire.
    LanguageRobust(ProgramSubject, StaleCertificate),
    /// A program is not robust against a language, or has a race.
    NotLanguageRobust(ProgramSubject, GraphWitness),
    /// A program has no stuck state.
    Free(ProgramSubject, Arc<FreeCertificate>),
    /// A program has a stuck state.
    Stuck(ProgramSubject, StuckWitness),
    /// No target of a query can be covered.
    Uncoverable(NetSubject, NetCertificate),
    /// A target of a query can be covered.
    Coverable(NetSubject, NetRun),
    /// No marking that satisfies the condition of a formula can be reached.
    Unreachable(NetSubject, ReachCertificate),
    /// A marking that satisfies the condition of a formula can be reached: at the end of this run.
    Reachable(NetSubject, NetRun),
    /// A sum of tokens has no bound: the last step of this run can be repeated, and increases it.
    Unbounded(NetSubject, NetRun),
}

/// What evidence is about.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// A program.
    Program(&'a ProgramSubject),
    /// A net with a question.
    Net(&'a NetSubject),
}

/// A text that is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MalformedEvidence(String);

impl MalformedEvidence {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The document; exactly the part that `kind` names is there, with the program or the net.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct Document<'a, R, B> {
    format: String,
    version: u32,
    tool: String,
    kind: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    program: Option<Object<ProgramHeader>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    net: Option<Object<NetHeader>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    robust: Option<Object<R>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    witness: Option<Object<witness::WitnessText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    repair: Option<Object<repair::RepairText<'a, R, B>>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    property: Option<Object<property::PropertyText<R, B>>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    violation: Option<Object<property::ViolationText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    closed: Option<B>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    race: Option<Object<race::RaceText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    proof: Option<net::ProofText>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    unreachable: Option<reach::ReachText>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    serial: Option<Object<concurrency::CertificateText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    interleaving: Option<Object<concurrency::InterleavingText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    run: Option<Object<net::RunText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    tasks: Option<Object<tasks::TaskCertificateText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    computation: Option<Object<tasks::TaskWitnessText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pso: Option<Object<pso::PsoCertificateText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    language: Option<Object<stale::StaleCertificateText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    graph: Option<Object<stale::GraphText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    free: Option<Object<hangs::FreeText<'a, R>>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    stuck: Option<Object<hangs::StuckText>>,
}

/// The part of a document that `kind` names.
enum Part {
    Robust(Object<program::RobustIn>),
    Witness(Object<witness::WitnessText>),
    Repair(Object<repair::RepairText<'static, program::RobustIn, BufferInvariant>>),
    Property(Object<property::PropertyText<program::RobustIn, BufferInvariant>>),
    Violation(Object<property::ViolationText>),
    Closed(BufferInvariant),
    Race(Object<race::RaceText>),
    Serial(Object<concurrency::CertificateText>),
    Interleaving(Object<concurrency::InterleavingText>),
    Proof(net::ProofText),
    Unreachable(reach::ReachText),
    Run(Object<net::RunText>),
    Tasks(Object<tasks::TaskCertificateText>),
    Computation(Object<tasks::TaskWitnessText>),
    Pso(Object<pso::PsoCertificateText>),
    Language(Object<stale::StaleCertificateText>),
    Graph(Object<stale::GraphText>),
    Free(Object<hangs::FreeText<'static, program::RobustIn>>),
    Stuck(Object<hangs::StuckText>),
}

impl Evidence {
    /// Writes the evidence as one line of JSON.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        let mut document: Document<program::RobustOut, &BufferInvariant> = Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: concat!("palisade ", env!("CARGO_PKG_VERSION")).to_owned(),
            kind: self.kind().to_owned(),
            program: None,
            net: None,
            robust: None,
            witness: None,
            repair: None,
            property: None,
            violation: None,
            closed: None,
            race: None,
            proof: None,
            unreachable: None,
            serial: None,
            interleaving: None,
            run: None,
            tasks: None,
            computation: None,
            pso: None,
            language: None,
            graph: None,
            free: None,
            stuck: None,
        };
        match self {
            Self::Robust(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.robust = Some(Object(certificate.into()));
            }
            Self::NotRobust(subject, witness) | Self::NotPsoRobust(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.witness = Some(Object(witness.into()));
            }
            Self::Repair(subject, evidence) => {
                document.program = Some(Object(subject.into()));
                document.repair = Some(Object(evidence.into()));
            }
            Self::Property(subject, evidence) => {
                document.program = Some(Object(subject.into()));
                document.property = Some(Object(evidence.into()));
            }
            Self::PropertyWitness(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.violation = Some(Object(witness.into()));
            }
            Self::ConcurrencyRobust(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.serial = Some(Object(certificate.into()));
            }
            Self::NotConcurrencyRobust(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.interleaving = Some(Object(witness.into()));
            }
            Self::RaceFree(subject, closed) => {
                document.program = Some(Object(subject.into()));
                document.closed = Some(closed);
            }
            Self::Race(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.race = Some(Object(witness.into()));
            }
            Self::TsoRobust(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.tasks = Some(Object(certificate.into()));
            }
            Self::NotTsoRobust(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.computation = Some(Object(witness.into()));
            }
            Self::PsoRobust(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.pso = Some(Object(certificate.into()));
            }
            Self::LanguageRobust(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.language = Some(Object(certificate.into()));
            }
            Self::NotLanguageRobust(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.graph = Some(Object(witness.into()));
            }
            Self::Free(subject, certificate) => {
                document.program = Some(Object(subject.into()));
                document.free = Some(Object(certificate.as_ref().into()));
            }
            Self::Stuck(subject, witness) => {
                document.program = Some(Object(subject.into()));
                document.stuck = Some(Object(witness.into()));
            }
            Self::Uncoverable(subject, certificate) => {
                document.net = Some(Object(subject.into()));
                document.proof = Some(certificate.into());
            }
            Self::Coverable(subject, run) | Self::Reachable(subject, run) | Self::Unbounded(subject, run) => {
                document.net = Some(Object(subject.into()));
                document.run = Some(Object(run.into()));
            }
            Self::Unreachable(subject, certificate) => {
                document.net = Some(Object(subject.into()));
                document.unreachable = Some(certificate.into());
            }
        }
        let mut out = std::io::BufWriter::new(out);
        serde_json::to_writer(&mut out, &document)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// The text of the evidence.
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        self.write(&mut text).expect("writing to memory does not fail");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    /// Reads evidence.
    pub fn read(text: &[u8]) -> Result<Self, MalformedEvidence> {
        if text.len() as u64 > MAX_EVIDENCE_BYTES {
            return Err(MalformedEvidence::new(format!("longer than {MAX_EVIDENCE_BYTES} bytes")));
        }
        let Object(document): Object<Document<program::RobustIn, BufferInvariant>> =
            serde_json::from_slice(text).map_err(|error| MalformedEvidence::new(error.to_string()))?;
        if document.format != FORMAT || document.version != VERSION {
            let Document { format, version, .. } = document;
            return Err(MalformedEvidence::new(format!("format `{format}` version {version} is not known")));
        }
        let given = [
            document.robust.map(Part::Robust),
            document.witness.map(Part::Witness),
            document.repair.map(Part::Repair),
            document.property.map(Part::Property),
            document.violation.map(Part::Violation),
            document.closed.map(Part::Closed),
            document.race.map(Part::Race),
            document.serial.map(Part::Serial),
            document.interleaving.map(Part::Interleaving),
            document.proof.map(Part::Proof),
            document.unreachable.map(Part::Unreachable),
            document.run.map(Part::Run),
            document.tasks.map(Part::Tasks),
            document.computation.map(Part::Computation),
            document.pso.map(Part::Pso),
            document.language.map(Part::Language),
            document.graph.map(Part::Graph),
            document.free.map(Part::Free),
            document.stuck.map(Part::Stuck),
        ];
        let Document { kind, program, net, .. } = document;
        let mut given = given.into_iter().flatten();
        // Exactly one part, the one that `kind` names.
        let part = given.next().filter(|_| given.next().is_none());
        match (kind.as_str(), program, net, part) {
            ("robust", Some(Object(subject)), None, Some(Part::Robust(Object(robust)))) => {
                Ok(Self::Robust(subject.try_into()?, robust.into()))
            }
            ("not-robust", Some(Object(subject)), None, Some(Part::Witness(Object(witness)))) => {
                Ok(Self::NotRobust(subject.try_into()?, witness.try_into()?))
            }
            ("repair", Some(Object(subject)), None, Some(Part::Repair(Object(repair)))) => {
                Ok(Self::Repair(subject.try_into()?, repair.try_into()?))
            }
            ("property", Some(Object(subject)), None, Some(Part::Property(Object(property)))) => {
                Ok(Self::Property(subject.try_into()?, property.into()))
            }
            ("property-witness", Some(Object(subject)), None, Some(Part::Violation(Object(violation)))) => {
                Ok(Self::PropertyWitness(subject.try_into()?, violation.try_into()?))
            }
            ("race-free", Some(Object(subject)), None, Some(Part::Closed(closed))) => {
                Ok(Self::RaceFree(subject.try_into()?, closed))
            }
            ("race", Some(Object(subject)), None, Some(Part::Race(Object(race)))) => {
                Ok(Self::Race(subject.try_into()?, race.try_into()?))
            }
            ("concurrency-robust", Some(Object(subject)), None, Some(Part::Serial(Object(serial)))) => {
                Ok(Self::ConcurrencyRobust(subject.try_into()?, serial.try_into()?))
            }
            ("not-concurrency-robust", Some(Object(subject)), None, Some(Part::Interleaving(Object(interleaving)))) => {
                Ok(Self::NotConcurrencyRobust(subject.try_into()?, interleaving.try_into()?))
            }
            ("tso-robust", Some(Object(subject)), None, Some(Part::Tasks(Object(tasks)))) => {
                Ok(Self::TsoRobust(subject.try_into()?, tasks.into()))
            }
            ("not-tso-robust", Some(Object(subject)), None, Some(Part::Computation(Object(computation)))) => {
                Ok(Self::NotTsoRobust(subject.try_into()?, computation.try_into()?))
            }
            ("pso-robust", Some(Object(subject)), None, Some(Part::Pso(Object(pso)))) => {
                Ok(Self::PsoRobust(subject.try_into()?, pso.into()))
            }
            ("not-pso-robust", Some(Object(subject)), None, Some(Part::Witness(Object(witness)))) => {
                Ok(Self::NotPsoRobust(subject.try_into()?, witness.try_into()?))
            }
            ("language-robust", Some(Object(subject)), None, Some(Part::Language(Object(language)))) => {
                Ok(Self::LanguageRobust(subject.try_into()?, language.try_into()?))
            }
            ("not-language-robust", Some(Object(subject)), None, Some(Part::Graph(Object(graph)))) => {
                Ok(Self::NotLanguageRobust(subject.try_into()?, graph.try_into()?))
            }
            ("free", Some(Object(subject)), None, Some(Part::Free(Object(free)))) => {
                Ok(Self::Free(subject.try_into()?, Arc::new(free.try_into()?)))
            }
            ("stuck", Some(Object(subject)), None, Some(Part::Stuck(Object(stuck)))) => {
                Ok(Self::Stuck(subject.try_into()?, stuck.try_into()?))
            }
            ("uncoverable", None, Some(Object(subject)), Some(Part::Proof(proof))) => {
                Ok(Self::Uncoverable(subject.into(), proof.into()))
            }
            ("coverable", None, Some(Object(subject)), Some(Part::Run(Object(run)))) => {
                Ok(Self::Coverable(subject.into(), run.into()))
            }
            ("unreachable", None, Some(Object(subject)), Some(Part::Unreachable(certificate))) => {
                Ok(Self::Unreachable(subject.into(), certificate.into()))
            }
            ("reachable", None, Some(Object(subject)), Some(Part::Run(Object(run)))) => {
                Ok(Self::Reachable(subject.into(), run.into()))
            }
            ("unbounded", None, Some(Object(subject)), Some(Part::Run(Object(run)))) => {
                Ok(Self::Unbounded(subject.into(), run.into()))
            }
            _ => {
                Err(MalformedEvidence::new(format!("kind `{kind}` is not known, or its parts are missing or too many")))
            }
        }
    }

    /// What it is about.
    pub fn about(&self) -> About<'_> {
        match self {
            Self::Robust(subject, _)
            | Self::NotRobust(subject, _)
            | Self::Repair(subject, _)
            | Self::Property(subject, _)
            | Self::PropertyWitness(subject, _)
            | Self::ConcurrencyRobust(subject, _)
            | Self::NotConcurrencyRobust(subject, _)
            | Self::RaceFree(subject, _)
            | Self::Race(subject, _)
            | Self::TsoRobust(subject, _)
            | Self::NotTsoRobust(subject, _)
            | Self::PsoRobust(subject, _)
            | Self::NotPsoRobust(subject, _)
            | Self::LanguageRobust(subject, _)
            | Self::NotLanguageRobust(subject, _)
            | Self::Free(subject, _)
            | Self::Stuck(subject, _) => About::Program(subject),
            Self::Uncoverable(subject, _)
            | Self::Coverable(subject, _)
            | Self::Unreachable(subject, _)
            | Self::Reachable(subject, _)
            | Self::Unbounded(subject, _) => About::Net(subject),
        }
    }

    /// The name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Robust(..) => "robust",
            Self::NotRobust(..) => "not-robust",
            Self::Repair(..) => "repair",
            Self::Property(..) => "property",
            Self::PropertyWitness(..) => "property-witness",
            Self::ConcurrencyRobust(..) => "concurrency-robust",
            Self::NotConcurrencyRobust(..) => "not-concurrency-robust",
            Self::RaceFree(..) => "race-free",
            Self::Race(..) => "race",
            Self::TsoRobust(..) => "tso-robust",
            Self::NotTsoRobust(..) => "not-tso-robust",
            Self::PsoRobust(..) => "pso-robust",
            Self::NotPsoRobust(..) => "not-pso-robust",
            Self::LanguageRobust(..) => "language-robust",
            Self::NotLanguageRobust(..) => "not-language-robust",
            Self::Free(..) => "free",
            Self::Stuck(..) => "stuck",
            Self::Uncoverable(..) => "uncoverable",
            Self::Coverable(..) => "coverable",
            Self::Unreachable(..) => "unreachable",
            Self::Reachable(..) => "reachable",
            Self::Unbounded(..) => "unbounded",
        }
    }
}
