//! Questions asked about one file: decided, confirmed, their evidence written.

use super::SharedOptions;
use super::confirm::{Confirmation, evidence_check};
use super::evidence_files::{unwritten, write_document};
use crate::limits::Limits;
use crate::questions::{Asked, Named, Question, ask};
use crate::report::account::{Account, Standing};
use crate::syntax::InputError;
use std::path::Path;
use std::sync::Arc;

/// What asking has in common for all questions about a file.
pub(super) struct Asking<'a> {
    /// The path as given.
    pub(super) file: &'a str,
    /// Whether evidence is checked before an answer is reported.
    pub(super) verify: bool,
    /// The folder for evidence.
    pub(super) folder: Option<&'a Path>,
    /// Time and memory.
    pub(super) limits: Limits,
}

/// A question with its answer.
pub(super) struct Answered<'q> {
    asked: Box<dyn Asked + 'q>,
    /// The evidence, where it is needed.
    evidence: Arc<Vec<Named>>,
    confirmation: Option<Confirmation>,
}

impl<'a> Asking<'a> {
    /// Asks about a file with these options.
    pub(super) fn new(file: &'a str, verify: bool, folder: Option<&'a Path>, shared: &SharedOptions) -> Self {
        Self { file, verify, folder, limits: shared.limits() }
    }

    /// Asks a question, and has the evidence for the answer checked where that is due.
    pub(super) fn ask<'q, Q: Question + 'q>(&self, question: Q) -> Answered<'q>
    where
        Q::Found: 'q,
    {
        let asked = ask(question, &self.limits);
        let is_needed = Confirmation::is_due(self.verify) || self.folder.is_some();
        let evidence = Arc::new(if is_needed { asked.evidence() } else { Vec::new() });
        let check = || evidence_check(&asked.about(), evidence.clone());
        let confirmation = Confirmation::of(self.file, self.verify, &self.limits, check);
        Answered { asked, evidence, confirmation }
    }
}

impl<'q> Answered<'q> {
    /// The question, decided.
    pub(super) fn asked(&self) -> &(dyn Asked + 'q) {
        &*self.asked
    }

    /// Whether something is left open.
    pub(super) fn is_open(&self) -> bool {
        self.accounts().iter().any(|account| account.standing() == Standing::Unknown)
    }

    /// How the evidence fared, where it was checked.
    pub(super) fn confirmation(&self) -> Option<&Confirmation> {
        self.confirmation.as_ref()
    }

    /// What there is to tell. Answers whose evidence was not checked to the end are taken back.
    pub(super) fn accounts(&self) -> Vec<Account<'_>> {
        let mut accounts = self.asked.accounts();
        if let Some(confirmation) = &self.confirmation {
            for account in &mut accounts {
                account.evidence = Some(confirmation.document());
                if let Some(reason) = confirmation.stopped() {
                    account.forget(reason);
                }
            }
        }
        accounts
    }

    /// Writes the evidence into the folder that is asked for; the paths.
    pub(super) fn write(&self, asking: &Asking<'_>) -> Result<Vec<String>, InputError> {
        let Some(folder) = asking.folder else { return Ok(Vec::new()) };
        if self.confirmation.as_ref().is_some_and(|confirmation| confirmation.stopped().is_some()) {
            return Ok(Vec::new());
        }
        let write = |(suffix, evidence): &Named| {
            let path = write_document(folder, asking.file, suffix, evidence);
            path.map(|path| path.display().to_string()).map_err(|error| unwritten(folder, &error))
        };
        self.evidence.iter().map(write).collect()
    }
}
