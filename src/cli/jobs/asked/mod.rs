//! What a job asks, and the answer that accepted evidence gives.
//!
//! A job has one question or several; each needs a piece of evidence of its own. Nothing that a
//! line of results says is looked at here: the questions come from the command line and the inputs,
//! and the answers from what the checker says of evidence about them.

mod nets;
mod orderings;
mod programs;
mod repairs;

use super::command::Command;
use crate::cli::Exit;
use crate::cli::verify::AcceptedEvidence;
use crate::evidence::{Evidence, ProgramSubject};
use crate::report::documents::JobInput;
use crate::syntax::InputError;

/// The questions of a job, with what was found so far.
pub(super) trait Asked {
    /// Whether evidence is about the inputs of the job, with the copies, the domain and the
    /// exceptions that it means.
    fn is_about(&self, evidence: &Evidence) -> bool;

    /// Takes evidence that was accepted; an error where it contradicts other evidence.
    fn take(&mut self, evidence: &Evidence, accepted: &AcceptedEvidence) -> Result<(), String>;

    /// What all that was taken comes to.
    fn answer(&self) -> Answer;
}

/// An answer, as evidence gives it.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// How the command ends that finds it.
    pub(super) exit: Exit,
    /// The verdict in a word.
    pub(super) verdict: &'static str,
    /// What the repair costs, and whether none is cheaper.
    pub(super) cost: Option<(String, bool)>,
    /// The properties of a query by their ids, each with `TRUE`, `FALSE` or its bound where that is
    /// known.
    pub(super) properties: Vec<(String, Option<String>)>,
}

impl Answer {
    /// An answer to one question.
    fn new(exit: Exit, verdict: &'static str) -> Self {
        Self { exit, verdict, cost: None, properties: Vec::new() }
    }
}

/// What a job asks.
pub(super) fn asked(command: &Command, inputs: &[JobInput]) -> Result<Box<dyn Asked>, InputError> {
    Ok(match command.name.as_str() {
        "cover" => Box::new(nets::Coverability::of(command, inputs)?),
        "orderings" => Box::new(orderings::WeakestOrderings::of(command)?),
        "fences" => Box::new(repairs::Repair::of(command)?),
        _ => Box::new(programs::Verdicts::of(command)?),
    })
}

/// Questions with their answers: whether what is asked holds.
#[derive(Clone, Debug)]
struct Questions<Q>(Vec<(Q, Option<bool>)>);

impl<Q: PartialEq> Questions<Q> {
    /// Open questions.
    fn new(all: impl IntoIterator<Item = Q>) -> Self {
        Self(all.into_iter().map(|question| (question, None)).collect())
    }

    /// Answers a question, if it is one of these.
    fn take(&mut self, question: &Q, holds: bool) -> Result<(), String> {
        match self.0.iter_mut().find(|(own, _)| own == question) {
            Some((_, Some(known))) if *known != holds => {
                Err("it contradicts other evidence of the same job".to_owned())
            }
            Some((_, known)) => {
                *known = Some(holds);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Whether a question is one of these.
    fn has(&self, question: &Q) -> bool {
        self.0.iter().any(|(own, _)| own == question)
    }

    /// One more question, if it is none of these.
    fn add(&mut self, question: Q) {
        if !self.has(&question) {
            self.0.push((question, None));
        }
    }

    /// The answer to a question, if it is one of these and has one.
    fn answer(&self, question: &Q) -> Option<bool> {
        self.0.iter().find(|(own, _)| own == question).and_then(|(_, answer)| *answer)
    }

    /// The answers, in the order of the questions.
    fn answers(&self) -> impl Iterator<Item = Option<bool>> {
        self.0.iter().map(|(_, answer)| *answer)
    }

    /// How a command ends that answers all of them.
    fn exit(&self) -> Exit {
        exit_of(self.answers())
    }
}

/// How a command ends that has these answers.
fn exit_of(answers: impl Iterator<Item = Option<bool>>) -> Exit {
    let exit = |answer: Option<bool>| match answer {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Fails,
        None => Exit::Unknown,
    };
    answers.map(exit).fold(Exit::Holds, Exit::worst)
}

/// Whether evidence states a subject, wherever the input lies.
fn states(stated: &ProgramSubject, meant: &ProgramSubject) -> bool {
    let mut meant = meant.clone();
    meant.input.path.clone_from(&stated.input.path);
    meant == *stated
}
