//! The result of `palisade prove` as text.

use super::claim;
use super::computation::ComputationReport;
use super::context::{domain_line, instance_line};
use super::counted;
use super::properties::{Properties, model_name};
use super::subject::program_words;
use super::tso::{Computation, instance_words};
use super::widths;
use super::wording::more_than;
use palisade_engine::properties::{Answer, Proof, Rung, TargetAnswer, Violation, Why};
use palisade_model::program::{Copies, Program, Queued, ThreadId};
use palisade_semantics::{Quantifier, Question, Target, tasks};
use palisade_syntax::Diagnostic;
use std::fmt::Write;

/// What a report says besides the proof itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// The path as given.
    pub file: &'a str,
    /// The program that was asked about: threads of their own watch joint control states, and threads say events and tasks.
    pub program: &'a Program,
    /// The program as it is written.
    pub written: &'a Program,
    /// How the threads of `program` say events and tasks, where the program has some.
    pub queued: Option<&'a Queued>,
    /// What a litmus test asks of its final states.
    pub question: Option<&'a Question>,
    /// What is doubtful in the program.
    pub warnings: &'a [Diagnostic],
    /// The time from reading to the verdict.
    pub seconds: f64,
    /// The files with evidence that were written.
    pub certificates: &'a [String],
    /// The threads whose copies an option changed.
    pub changed: &'a [ThreadId],
}

impl<'a> Context<'a> {
    /// The properties of the program.
    pub fn properties(&self) -> Properties<'a> {
        Properties { program: self.written, question: self.question }
    }
}

/// The line about a property, or about all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PropertyVerdict {
    /// It holds.
    Holds,
    /// Nobody knows.
    Unknown,
    /// It does not hold.
    Violated,
}

impl PropertyVerdict {
    /// The verdict that an answer gives. A condition `exists` holds when a final state is reached that satisfies it.
    pub fn of(answer: &TargetAnswer, question: Option<&Question>) -> Self {
        let quantifier = question.map(|question| question.condition().quantifier);
        let is_wanted = answer.target == Target::FinalStates && quantifier == Some(Quantifier::Exists);
        match (&answer.answer, is_wanted) {
            (Answer::Open(_), _) => Self::Unknown,
            (Answer::Holds(_), false) | (Answer::Violated(_), true) => Self::Holds,
            (Answer::Holds(_), true) | (Answer::Violated(_), false) => Self::Violated,
        }
    }

    /// The verdict on all properties together.
    pub fn of_all(proof: &Proof, question: Option<&Question>) -> Self {
        proof.answers.iter().map(|answer| Self::of(answer, question)).max().unwrap_or(Self::Holds)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
        }
    }
}

/// The report for people in one line, for many programs.
pub fn line(proof: &Proof, context: &Context<'_>) -> String {
    let mut out = head(proof, context);
    let verdict = PropertyVerdict::of_all(proof, context.question);
    let decisive = proof.answers.iter().find(|answer| PropertyVerdict::of(answer, context.question) == verdict);
    if let Some(answer) = decisive.filter(|_| verdict != PropertyVerdict::Holds) {
        let _ = write!(out, ", {}", context.properties().place(answer.target));
        if let Answer::Open(why) = answer.answer {
            let _ = write!(out, ", {}", why_open(answer.rung, why));
        }
    }
    let words = match context.queued {
        Some(_) => instance_words(context.written),
        None => program_words(context.program, context.changed),
    };
    let _ = writeln!(out, " [{words}]");
    out
}

fn head(proof: &Proof, context: &Context<'_>) -> String {
    let verdict = PropertyVerdict::of_all(proof, context.question);
    format!("{}: {} under {}", context.file, verdict.word(), model_name(proof.model))
}

/// The report for people.
pub fn text(proof: &Proof, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = head(proof, context);
    if context.queued.is_some() {
        let _ = writeln!(out, "\n  events   {}", instance_words(context.written));
    } else {
        let copies: Vec<String> =
            program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
        let _ = writeln!(out, "\n  threads  {}", copies.join(", "));
    }
    out.push_str(&domain_line(program));
    if proof.plain_posts.is_some() {
        let _ = writeln!(
            out,
            "  posts    plain; the program is robust with them, and keeps what it keeps where posts drain"
        );
    }
    out.push_str(&claim::lines(context.written, verbosity));
    for answer in &proof.answers {
        let kind = context.properties().kind(answer.target);
        let place = context.properties().place(answer.target);
        let _ = writeln!(out, "  {kind:<8} {place}: {}", answer_words(answer, context, verbosity));
    }
    let mut known: Vec<_> = proof.proofs.iter().flat_map(|own| widths::known_to_proof(program, own)).collect();
    known.dedup();
    for (kind, words) in known {
        let _ = writeln!(out, "  {kind:<8} {words}");
    }
    if verbosity > 0 {
        let _ = writeln!(out, "  explored {} in {:.3} s", counted(proof.states, "configuration"), context.seconds);
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    for violation in proof.violations() {
        let _ = writeln!(out);
        out.push_str(&violation_text(context, violation));
    }
    out
}

fn answer_words(answer: &TargetAnswer, context: &Context<'_>, verbosity: u8) -> String {
    let verdict = PropertyVerdict::of(answer, context.question);
    let mut words = verdict.word().to_owned();
    match &answer.answer {
        Answer::Open(why) => {
            let _ = write!(words, ", {}", why_open(answer.rung, *why));
            return words;
        }
        Answer::Holds(_) => {
            let _ = write!(words, ", by {}", rung_words(answer));
        }
        Answer::Violated(_) => match answer.under_sc {
            Some(true) => words.push_str(", under SC already"),
            Some(false) => words.push_str(", not under SC"),
            None => {}
        },
    }
    if verbosity > 0 {
        let sliced = counted(answer.sliced, "instruction");
        let states = counted(answer.states, "configuration");
        let _ = write!(words, " ({states}, {sliced} left out, {:.3} s)", answer.seconds);
    }
    words
}

/// What answered.
fn rung_words(answer: &TargetAnswer) -> String {
    match (answer.rung, answer.buffer) {
        (Rung::Buffers, Some(stores)) => format!("buffers that never hold more than {}", counted(stores, "store")),
        (Rung::Snapshots, Some(most)) => format!("loads that lag on {} at most", counted(most, "snapshot")),
        (Rung::Enriched, Some(room)) => {
            format!("robustness once threads keep {} themselves at most", counted(room, "store"))
        }
        (rung, _) => rung.name().to_owned(),
    }
}

/// Why there is no answer, in words.
pub fn why_open(rung: Rung, why: Why) -> String {
    let name = rung.name();
    match why {
        Why::Stopped(reason) => format!("{name}: {reason}"),
        Why::BuffersLonger(stores) => format!("{name}: buffers grow beyond {}", counted(stores, "store")),
        Why::SnapshotsMore(most) => format!("{name}: queues grow beyond {}", counted(most, "snapshot")),
        Why::ReachedOnly => format!("{name}: reached, but this rung gives no computation; `buffers` does"),
        Why::NotRobust => format!("{name}: the program is not robust"),
        Why::TooManyBeginnings => format!("{name}: the copies of threads can begin in too many ways"),
        Why::AnyNumber => "final states need fixed copies".to_owned(),
        Why::NotForThis => format!("{name} has no answer"),
        Why::Larger(most) => format!("{name}: {}", more_than(most)),
        Why::PlainPosts => {
            "it holds where posts drain; they are plain, and the program is not robust with them".to_owned()
        }
        Why::NotReplayed => format!("{name}: what was found could not be followed in the program"),
    }
}

/// A violation: what, in which instance, the computation as a table.
fn violation_text(context: &Context<'_>, violation: &Violation) -> String {
    let program = context.program;
    let mut out = String::new();
    let properties = context.properties();
    let (kind, text, place) =
        (properties.kind(violation.target), properties.text(violation.target), properties.place(violation.target));
    match violation.target {
        Target::FinalStates => {
            let _ = writeln!(out, "final state: {kind} {place}");
        }
        Target::Instruction { .. } if properties.joint_state(violation.target).is_some() => {
            let _ = writeln!(out, "violation: {}", properties.quoted(violation.target));
        }
        Target::Instruction { .. } => {
            let _ = writeln!(out, "violation: `{text}` at {place}");
        }
    }
    if let Some(events) = task_computation(context, violation) {
        out.push_str(&events.text());
    } else {
        out.push_str(&instance_line(program, &violation.instance, violation.instance_minimal));
        out.push_str(&computation(program, violation).table());
    }
    if !violation.shortest {
        let _ = writeln!(out, "  (there may be a shorter one)");
    }
    out
}

/// The computation of events and tasks that a violation stands for; nothing for programs of threads alone.
pub fn task_computation(context: &Context<'_>, violation: &Violation) -> Option<Computation> {
    let mut instance = context.written.clone();
    let counts = instance.threads.iter_mut().zip(violation.instance.counts());
    counts.filter(|(it, _)| !it.is_task()).for_each(|(it, count)| it.copies = Copies::Exactly(*count));
    let steps = tasks::task_computation(&instance, context.queued?, &violation.instance, &violation.events)?;
    Computation::replay(&instance, &steps, violation.model, &[])
}

/// The computation of a violation.
pub fn computation<'a>(program: &'a Program, violation: &'a Violation) -> ComputationReport<'a> {
    ComputationReport {
        program,
        instance: &violation.instance,
        copies: violation.acting.clone(),
        events: &violation.events,
        states: &violation.states,
        marks_delayed: true,
    }
}
