//! What a command that changes texts comes to: what there is to say, and the changed text.

use super::batch::{Spoken, print_unwritten};
use super::output::{Documents, print_text, remark};
use super::outputs::{OutputOptions, SarifOption};
use super::{Exit, SharedOptions, print_input_error};
use crate::report::documents;
use crate::report::proposal::Proposal;
use crate::syntax::InputError;
use serde::Serialize;

/// What there is to say about changes of a program, and the text with them.
pub(super) struct Outcome {
    /// What is said, and found.
    pub(super) spoken: Spoken,
    /// The changed text, where there is one and the evidence for it is accepted.
    pub(super) text: Option<String>,
    /// The changes of sources to make once this is said.
    pub(super) proposal: Option<Proposal>,
}

impl Outcome {
    /// A document, or a report where no document is asked for.
    pub(super) fn new<D: Serialize>(
        exit: Exit,
        shared: &SharedOptions,
        document: impl FnOnce() -> D,
        report: impl FnOnce() -> String,
    ) -> Self {
        let spoken = if shared.json {
            Spoken::new(exit, String::new(), String::new()).with_document(documents::text(&document()))
        } else {
            Spoken::new(exit, report(), String::new())
        };
        Self { spoken, text: None, proposal: None }
    }

    /// The evidence for a repair was rejected, which is said loudly.
    pub(super) fn rejected(alarm: String) -> Self {
        Self { spoken: Spoken::new(Exit::Rejected, String::new(), alarm), text: None, proposal: None }
    }

    /// Prints what there is to say.
    pub(super) fn print(&self) {
        let Spoken { report, remarks, document, .. } = &self.spoken;
        match document {
            Some(document) => {
                let mut documents = Documents::new(false);
                documents.add(document.clone());
                documents.print();
            }
            None if report.is_empty() => {}
            None => print_text(report),
        }
        remark(remarks);
    }
}

/// Runs a command that changes texts: says its answer, writes files for others, and makes the
/// changes of sources that are to be made (`make`).
pub(super) fn run_change(
    (command, file, sarif): (&'static str, &str, &SarifOption),
    shared: &SharedOptions,
    answer: impl FnOnce() -> Result<Outcome, InputError>,
    make: impl FnOnce(&Proposal) -> Option<Result<Exit, InputError>>,
) -> Exit {
    let outputs = OutputOptions::from(sarif);
    let outputs = match outputs.open() {
        Ok(outputs) => outputs,
        Err(error) => return print_input_error(&error, shared),
    };
    let said = answer().and_then(|outcome| {
        outcome.print();
        let Outcome { spoken, proposal, .. } = outcome;
        match proposal.as_ref().and_then(make) {
            Some(made) => Ok((made?, None)),
            None => Ok((spoken.exit, spoken.answer)),
        }
    });
    let (exit, answer) = said.unwrap_or_else(|error| {
        let Spoken { answer, .. } = Spoken::refused(file, &error, shared);
        (print_input_error(&error, shared), answer)
    });
    // Where the evidence was rejected, there is nothing to write.
    let Some(answer) = answer else { return exit };
    match outputs.finish(command, &[answer]) {
        Ok(()) => exit,
        Err(error) => exit.worst(print_unwritten(&error, shared)),
    }
}
