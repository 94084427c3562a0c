//! `palisade/check/2`: the answers to all questions that were asked about a program.

use super::{Account, Answer, CountersKnown, Proof, Run, Shown, Standing, Told};
use crate::documents::{
    AttackAnswer, ClaimDocument, ConfirmationDocument, CopiesWord, DomainDocument, EdgeDocument, FileHeader, Finding,
    LabelPlace, Picture, StepDocument, steps, threads,
};
use crate::graph::{Graph, GraphEdgeDocument};
use crate::models::ModelWord;
use crate::scene::{Scene, SceneStep};
use palisade_model::limits::peak_resident_bytes;
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade check` and `palisade prove` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The verdict on all questions together: `violated` if one is, else `unknown` if one is, else
    /// `holds`.
    pub verdict: Standing,
    /// The same in words, the most serious answer of each kind.
    pub headline: String,
    /// What the verdict is about, where it is about machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimDocument<'a>>,
    /// The copies of each thread, and how often each event may occur.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// What posts do to store buffers, in programs with events or tasks: `drain` or `plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posts: Option<&'static str>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The answers, properties first.
    pub answers: Vec<AnswerDocument<'a>>,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// What is doubtful in the program.
    pub warnings: Vec<Finding<'a>>,
    /// What it took.
    pub statistics: CheckStatistics,
}

/// What all answers took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckStatistics {
    /// Configurations explored in all.
    pub explored: usize,
    /// Seconds from reading to the verdict.
    pub seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// The answer to a question.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerDocument<'a> {
    /// What asks for it on the command line, with `--ask`.
    pub ask: &'static str,
    /// What is asked, in words.
    pub question: String,
    /// What it is: `ensure`, `fail`, `never`, the quantifier of a litmus test's question; or
    /// `robust`, …
    pub kind: &'static str,
    /// The memory model that it is about; null where it is about none.
    pub model: Option<ModelWord>,
    /// The verdict.
    pub verdict: Standing,
    /// The answer in a phrase, with its proof.
    pub phrase: String,
    /// What answered, where there are several ways; else null.
    pub by: Option<&'static str>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The thread that it is about; null for questions about the whole program.
    pub thread: Option<&'a str>,
    /// The label that it is about.
    pub label: Option<&'a str>,
    /// The line that it is about, from 1.
    pub line: Option<usize>,
    /// Whether interleavings show the violation already; null where that is not known.
    pub under_sc: Option<bool>,
    /// For which copies and values it is.
    pub subject: String,
    /// What a report says besides, each as its heading and its words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<(&'static str, String)>,
    /// What the evidence says of counters.
    #[serde(flatten)]
    pub counters: CountersKnown,
    /// The attacks that were asked about, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<AttackAnswer<'a>>,
    /// The labels that no interleaving reaches; null where that is not known.
    pub unreached: Option<Vec<LabelPlace<'a>>>,
    /// A computation: a violation, or what `exists` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ShownDocument<'a>>,
    /// How much room store buffers or queues had in the exploration that answered; null where there
    /// were none.
    pub buffer: Option<usize>,
    /// How many instructions do not matter for it and were left out.
    pub left_out: usize,
    /// Configurations explored for it.
    pub explored: usize,
    /// Seconds spent on it, and on what was asked together with it.
    pub seconds: f64,
    /// How the evidence fared, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ConfirmationDocument>,
}

/// A computation with what it shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownDocument<'a> {
    /// What it shows.
    pub headline: String,
    /// How many copies of each thread run, and how often each event occurs.
    pub instance: BTreeMap<&'a str, u64>,
    /// Whether no instance with fewer copies of replicated threads in all has such a computation;
    /// null where that is not known.
    pub instance_minimal: Option<bool>,
    /// Whether no computation shows it in fewer steps, as far as is known.
    pub shortest: bool,
    /// The copy that delays stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attacker: Option<String>,
    /// The steps.
    pub steps: Vec<ShownStep<'a>>,
    /// A cycle of the happens-before relation; of an execution graph, one of `po`, `rf`, `mo` and
    /// `fr`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<EdgeDocument>,
    /// Of an execution graph, its edges between different threads, and what reads from initial
    /// values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<GraphEdgeDocument>,
    /// Of events and tasks, pairs of numbers of steps: the orders that the steps have, and together
    /// cannot have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<(usize, usize)>,
    /// Of events and tasks, whether the main thread takes a task before one that was posted to it
    /// earlier; left out where it takes no posted tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<bool>,
}

/// A step of a computation.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ShownStep<'a> {
    /// One of a copy of a thread.
    Copy(StepDocument<'a>),
    /// One of an event, a task or a thread, in a program that has events or tasks.
    Invocation(EventStep),
}

/// A step of a computation of events and tasks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventStep {
    /// Its number, from 1.
    pub number: usize,
    /// The thread that takes it: `main`, or the name of its only invocation.
    pub thread: String,
    /// The invocation: `onText#0`, or `search of onText#0` for a task.
    pub invocation: String,
    /// The line of the instruction, from 1; null where an event occurs, an invocation begins, or a
    /// store reaches memory.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
}

impl EventStep {
    fn all(scene: &Scene) -> Vec<Self> {
        let step = |(number, step): (usize, &SceneStep)| Self {
            number,
            thread: scene.threads[step.thread].clone(),
            invocation: step.invocation.clone(),
            line: step.line,
            action: step.action.clone(),
        };
        (1..).zip(&scene.steps).map(step).collect()
    }
}

impl<'a> Run<'a> {
    /// The steps as documents have them.
    pub fn steps(&self) -> Vec<ShownStep<'a>> {
        match self {
            Self::Threads(computation) | Self::Graph(Graph { computation, .. }) => {
                steps(computation).into_iter().map(ShownStep::Copy).collect()
            }
            Self::Events(scene) => EventStep::all(scene).into_iter().map(ShownStep::Invocation).collect(),
        }
    }

    /// The edges of an execution graph; none of what is no graph.
    fn edges(&self) -> Vec<GraphEdgeDocument> {
        match self {
            Self::Graph(graph) => graph.documents(),
            Self::Threads(_) | Self::Events(_) => Vec::new(),
        }
    }
}

impl<'a> ShownDocument<'a> {
    /// The document of a computation.
    pub fn new(shown: &Shown<'a>) -> Self {
        let (order, out_of_order) = match &shown.run {
            Run::Threads(_) | Run::Graph(_) => (Vec::new(), None),
            Run::Events(scene) => {
                (scene.order.iter().map(|(one, other)| (one + 1, other + 1)).collect(), scene.is_out_of_order)
            }
        };
        Self {
            headline: shown.headline.clone(),
            instance: shown.instance.iter().copied().collect(),
            instance_minimal: shown.instance_minimal,
            shortest: shown.shortest,
            attacker: shown.attacker.clone(),
            steps: shown.run.steps(),
            cycle: shown.cycle.iter().flat_map(|cycle| &cycle.edges).map(|edge| edge.document.clone()).collect(),
            edges: shown.run.edges(),
            order,
            out_of_order,
        }
    }
}

impl<'a> AnswerDocument<'a> {
    /// The document of an account about a program.
    pub fn new(account: &Account<'a>, program: &'a Program) -> Self {
        Self {
            ask: account.ask,
            question: account.question.clone(),
            kind: account.heading,
            model: account.model,
            verdict: account.standing(),
            phrase: account.phrase.clone(),
            by: match &account.answer {
                Answer::Holds(Proof { by, .. }) => *by,
                Answer::Violated(_) | Answer::Unknown(_) => None,
            },
            reason: account.reason().map(str::to_owned),
            thread: account.label.map(|(thread, _)| thread),
            label: account.label.map(|(_, label)| label),
            line: account.line,
            under_sc: account.under_sc,
            subject: account.subject.clone(),
            notes: account
                .notes
                .iter()
                .filter(|note| note.verbosity == 0)
                .map(|note| (note.heading, note.words.clone()))
                .collect(),
            counters: account.counters.clone(),
            attacks: account.attacks.clone(),
            unreached: account.unreached.as_deref().map(|labels| LabelPlace::all(program, labels)),
            witness: account.shown().map(ShownDocument::new),
            buffer: account.buffer,
            left_out: account.left_out,
            explored: account.explored,
            seconds: account.seconds,
            evidence: account.evidence.clone(),
        }
    }
}

impl<'a> CheckDocument<'a> {
    /// The document of what there is to tell about a file.
    pub fn new(told: &Told<'a>) -> Self {
        let context = &told.context;
        let program = context.program;
        let mut claim = ClaimDocument::of(program);
        if let (Some(claim), Some(compilations)) = (&mut claim, context.compilations) {
            claim.source = Some(compilations.into());
        }
        Self {
            header: FileHeader::new("palisade/check/2", context.file),
            program: &program.name,
            verdict: told.standing(),
            headline: told.headline(),
            claim,
            threads: threads(program),
            posts: program.is_event_driven().then(|| program.posts.word()),
            domain: DomainDocument::new(program),
            answers: told.accounts.iter().map(|account| AnswerDocument::new(account, told.context.program)).collect(),
            certificates: context.certificates,
            warnings: Finding::all(context.warnings, &program.source),
            statistics: CheckStatistics {
                explored: told.accounts.iter().map(|account| account.explored).sum(),
                seconds: context.seconds,
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

/// What `palisade witness` found about a program with events or tasks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventWitnessDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The verdict on the questions that were asked, which end at the first one with a violation.
    pub verdict: Standing,
    /// The answers.
    pub answers: Vec<AnswerDocument<'a>>,
    /// The violation in the form that the command line names.
    #[serde(flatten)]
    pub picture: Option<Picture>,
    /// The file that the form was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl<'a> EventWitnessDocument<'a> {
    /// The document of what there is to tell about a file.
    pub fn new(told: &Told<'a>) -> Self {
        Self {
            header: FileHeader::new("palisade/witness/1", told.context.file),
            program: &told.context.program.name,
            verdict: told.standing(),
            answers: told.accounts.iter().map(|account| AnswerDocument::new(account, told.context.program)).collect(),
            picture: None,
            written: None,
        }
    }
}
