//! What an answer has to tell: one account for each question that was asked.
//!
//! A question makes its account once. Text ([`report`], [`line`]), JSON
//! (`documents::CheckDocument`), and what `palisade-exports` writes (SARIF, JUnit, pages) are
//! renderings of it, which know no kinds of questions. A verdict is read off the [`Answer`], which
//! holds the proof or the violation itself, so that the two cannot disagree.

mod cycle;
mod document;
mod graph_cycle;
mod rule;
mod run;
mod text;
mod whole;

pub use cycle::{Cycle, CycleEdge, CycleNode};
pub use document::{AnswerDocument, CheckDocument, EventStep, EventWitnessDocument, ShownDocument, ShownStep};
pub use rule::{Level, Rule};
pub use run::Run;
pub use text::{Extent, copies_line, line, open_hangs, report};
pub use whole::Told;

use crate::documents::{
    AttackAnswer, ConfirmationDocument, CountDocument, CountersDocument, EndDocument, FarDocument, LowBitsDocument,
    TicketsDocument,
};
use crate::models::ModelWord;
use crate::unreached;
use palisade_engine::robustness::ThreadLabel;
use palisade_evidence::RobustCertificate;
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Value};
use palisade_model::text::Span;
use serde::Serialize;

/// An answer: a proof, a violation, or why there is neither.
#[derive(Clone, Debug)]
pub enum Answer<P, V, U> {
    /// It holds, and this shows it.
    Holds(P),
    /// It does not hold, and this shows it.
    Violated(V),
    /// Nobody knows.
    Unknown(U),
}

/// The verdict of an answer, the most serious one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Standing {
    /// It holds.
    Holds,
    /// There is no answer.
    Unknown,
    /// It is violated.
    Violated,
}

impl Standing {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Unknown => "unknown",
            Self::Violated => "violated",
        }
    }
}

/// Why something holds.
#[derive(Clone, Debug, Default)]
pub struct Proof<'a> {
    /// What answered, by the name that JSON has for it; nothing where there is one way alone.
    pub by: Option<&'static str>,
    /// A computation that was asked for, as by `exists`.
    pub example: Option<Box<Shown<'a>>>,
}

/// A computation to show: what violates a property, or has no explanation.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// What it shows, in a line.
    pub headline: String,
    /// Lines between that and the steps.
    pub above: Vec<String>,
    /// The steps.
    pub run: Run<'a>,
    /// Lines below the steps.
    pub below: Vec<String>,
    /// A cycle of the happens-before relation, where that is what it shows.
    pub cycle: Option<Cycle>,
    /// How many copies of each thread run, and how often each event occurs.
    pub instance: Vec<(&'a str, u64)>,
    /// Whether no smaller instance has such a computation; nothing where that is not known of the
    /// question.
    pub instance_minimal: Option<bool>,
    /// Whether no computation shows it in fewer steps, as far as is known.
    pub shortest: bool,
    /// The copy that delays stores.
    pub attacker: Option<String>,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Span, &'static str)>,
}

/// A line of a report about an answer.
#[derive(Clone, Debug)]
pub struct Note {
    /// The verbosity from which on it is said.
    pub verbosity: u8,
    /// Its heading.
    pub heading: &'static str,
    /// What it says.
    pub words: String,
}

/// What a mark on a line of the source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A store that is delayed.
    Delayed,
    /// The access that overtakes it.
    Overtaking,
    /// An access whose order with a later one matters.
    Earlier,
    /// The later one.
    Later,
    /// A store that races with it.
    Racing,
    /// A property that is violated.
    Violated,
    /// Where somebody waits for ever.
    Waiting,
    /// A fence that is put there.
    Fence,
    /// A fence that is there and can go.
    Redundant,
    /// An ordering that can be weaker.
    Weaker,
    /// An ordering that cannot.
    Needed,
    /// A label that no interleaving reaches.
    Unreached,
}

/// What evidence says of counters whose values it does not know.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountersKnown {
    /// For which counters it holds besides, where the proof is about more than those of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersDocument>,
    /// The tickets that copies draw and wait for, of which the proof uses no more than that all of
    /// them differ; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<TicketsDocument>,
    /// The addresses whose values only fall, or only rise, and of which the proof knows no more
    /// beyond an end; left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The addresses that count what copies hold, of which the proof tells few values apart; left
    /// out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountDocument>,
    /// The addresses that counters fall behind, of which the proof does not tell apart how far;
    /// left out where it knows their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub far: Vec<FarDocument>,
    /// What grows, of which the proof knows low bits alone; left out where it knows all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<LowBitsDocument>,
}

impl CountersKnown {
    /// What a certificate says.
    pub fn of(program: &Program, certificate: &RobustCertificate) -> Self {
        Self {
            counters: certificate.modulo.map(CountersDocument::of),
            tickets: TicketsDocument::all(program, certificate),
            ends: EndDocument::all(program, certificate),
            counts: CountDocument::all(program, certificate),
            far: FarDocument::all(program, certificate),
            low: LowBitsDocument::of(program, certificate),
        }
    }

    /// The same about counters of other widths.
    #[must_use]
    pub fn with_widths(self, widths: Option<(Value, Value)>) -> Self {
        Self { counters: widths.map(CountersDocument::of), ..self }
    }
}

/// What there is to tell about a question.
#[derive(Clone, Debug)]
pub struct Account<'a> {
    /// What asks for it on the command line: `--ask properties`.
    pub ask: &'static str,
    /// What is asked, so that it names a test case: `robust against x86-TSO`.
    pub question: String,
    /// The memory model that it is about; nothing where it is about none.
    pub model: Option<ModelWord>,
    /// The rule that a violation breaks.
    pub rule: &'static Rule,
    /// The heading of its line in a report.
    pub heading: &'static str,
    /// What stands first on that line: a property's place.
    pub about: String,
    /// The thread and the label that it is about; nothing where it is about the whole program.
    pub label: Option<(&'a str, &'a str)>,
    /// The line that it is about, from 1.
    pub line: Option<usize>,
    /// Where in the text it is answered: a property, or what a violation begins with.
    pub place: Option<Span>,
    /// The answer.
    pub answer: Answer<Proof<'a>, Shown<'a>, String>,
    /// The verdict as the headline of a report has it: `robust`.
    pub verdict: String,
    /// The answer in a phrase, with its proof: `holds, by values`.
    pub phrase: String,
    /// What a finding says of it, in a sentence without a full stop.
    pub message: String,
    /// For which copies and values it is.
    pub subject: String,
    /// Whether interleavings show the violation already; nothing where that is not known.
    pub under_sc: Option<bool>,
    /// Whether the violation comes to a final state that answers the condition of the text: one
    /// that `exists` is about, or that `forall` excludes. Then also how it goes on from there.
    pub answers_condition: Option<&'static str>,
    /// How an `exists` is answered, which claims nothing: `Never` or `Sometimes`.
    pub often: Option<&'static str>,
    /// Lines of a report behind its own.
    pub notes: Vec<Note>,
    /// Marks on lines of the source.
    pub marks: Vec<(usize, Mark, String)>,
    /// What evidence says of counters.
    pub counters: CountersKnown,
    /// The attacks that were asked about, in order.
    pub attacks: Vec<AttackAnswer<'a>>,
    /// The labels that no interleaving reaches; nothing where that is not known.
    pub unreached: Option<Vec<ThreadLabel>>,
    /// How much room store buffers or queues needed, where that is known.
    pub buffer: Option<usize>,
    /// How many instructions do not matter for it and were left out.
    pub left_out: usize,
    /// Configurations explored for it.
    pub explored: usize,
    /// Seconds spent on it.
    pub seconds: f64,
    /// How the evidence fared, where it was checked.
    pub evidence: Option<ConfirmationDocument>,
}

impl<'a> Account<'a> {
    /// The account of a question without an answer yet, for these copies and values.
    pub fn new(ask: &'static str, rule: &'static Rule, question: impl Into<String>, subject: String) -> Self {
        let question = question.into();
        Self {
            ask,
            model: None,
            rule,
            heading: ask,
            about: String::new(),
            label: None,
            line: None,
            place: None,
            answer: Answer::Unknown(String::new()),
            verdict: "unknown".to_owned(),
            phrase: "unknown".to_owned(),
            message: format!("not decided: {question}"),
            question,
            subject,
            under_sc: None,
            answers_condition: None,
            often: None,
            notes: Vec::new(),
            marks: Vec::new(),
            counters: CountersKnown::default(),
            attacks: Vec::new(),
            unreached: None,
            buffer: None,
            left_out: 0,
            explored: 0,
            seconds: 0.0,
            evidence: None,
        }
    }

    /// The verdict.
    pub fn standing(&self) -> Standing {
        match self.answer {
            Answer::Holds(_) => Standing::Holds,
            Answer::Violated(_) => Standing::Violated,
            Answer::Unknown(_) => Standing::Unknown,
        }
    }

    /// The answer in a word: the verdict, or how an `exists` is answered.
    pub fn word(&self) -> &'static str {
        self.often.unwrap_or(self.standing().word())
    }

    /// The computation that it shows.
    pub fn shown(&self) -> Option<&Shown<'a>> {
        match &self.answer {
            Answer::Violated(shown) => Some(shown),
            Answer::Holds(Proof { example, .. }) => example.as_deref(),
            Answer::Unknown(_) => None,
        }
    }

    /// Why there is no answer.
    pub fn reason(&self) -> Option<&str> {
        match &self.answer {
            Answer::Unknown(reason) => Some(reason.as_str()).filter(|reason| !reason.is_empty()),
            Answer::Holds(_) | Answer::Violated(_) => None,
        }
    }

    /// Says that there is no answer, and why.
    pub fn leave_open(&mut self, verdict: impl Into<String>, reason: impl Into<String>) {
        let reason = reason.into();
        self.verdict = verdict.into();
        self.phrase = format!("unknown, {reason}");
        self.message = format!("not decided: {}, {reason}", self.question);
        self.answer = Answer::Unknown(reason);
        self.counters = CountersKnown::default();
        self.often = None;
        self.marks.clear();
    }

    /// Has the same words for the verdict, the phrase and the message.
    pub fn say(&mut self, words: &str) {
        for own in [&mut self.verdict, &mut self.phrase, &mut self.message] {
            words.clone_into(own);
        }
    }

    /// Takes the answer back: a limit was reached before its evidence was checked.
    pub fn forget(&mut self, reason: StopReason) {
        if self.standing() != Standing::Unknown {
            self.leave_open("unknown", reason.to_string());
        }
    }

    /// Adds a line to its part of a report.
    pub fn note(&mut self, verbosity: u8, heading: &'static str, words: impl Into<String>) {
        self.notes.push(Note { verbosity, heading, words: words.into() });
    }

    /// Says which labels no interleaving reaches. `suffix` says where they are not reached, if
    /// elsewhere they may be.
    pub fn tell_unreached(&mut self, program: &Program, labels: Vec<ThreadLabel>, suffix: &str) {
        let (few, all) = (unreached::line(program, &labels), unreached::words(program, &labels));
        let is_whole = few == all;
        if let Some(few) = few {
            self.note(0, "unreached", few + suffix);
        }
        if let Some(all) = all.filter(|_| !is_whole) {
            self.note(1, "unreached", all + suffix);
        }
        self.unreached = Some(labels);
    }
}
