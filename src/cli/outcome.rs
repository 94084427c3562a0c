//! What a command that changes texts comes to: what there is to say, and the changed text.

use super::output::{Documents, print_text, remark};
use super::{Exit, SharedOptions, batch::Spoken};
use crate::report::documents;
use crate::report::proposal::Proposal;
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
