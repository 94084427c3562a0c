//! Answers about one program: the files of their evidence, and what is said of them.

use super::arguments::CheckArguments;
use crate::cli::batch::Spoken;
use crate::cli::confirm::Confirmation;
use crate::cli::evidence_files::{unwritten, write_document};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::syntax::InputError;

/// An answer about a program with events, with what became of its evidence.
pub(super) struct Answered<C> {
    pub(super) checked: C,
    pub(super) exit: Exit,
    pub(super) confirmation: Option<Confirmation>,
    /// The files with evidence that were written.
    pub(super) certificates: Vec<String>,
    pub(super) seconds: f64,
}

/// Writes evidence, with a word for its file, where the options ask for it; the paths.
pub(super) fn write(
    arguments: &CheckArguments,
    file: &str,
    evidence: Option<(Evidence, &'static str)>,
) -> Result<Vec<String>, InputError> {
    let (Some(folder), Some((evidence, suffix))) = (&arguments.certificate, evidence) else { return Ok(Vec::new()) };
    let path = write_document(folder, file, suffix, &evidence).map_err(|error| unwritten(folder, &error))?;
    Ok(vec![path.display().to_string()])
}

/// An answer as it is said: its document, or its report.
pub(super) fn spoken(
    loaded: &Loaded,
    file: &str,
    mut exit: Exit,
    confirmation: Option<&Confirmation>,
    shared: &SharedOptions,
    document: impl FnOnce() -> String,
    report: impl FnOnce() -> String,
) -> Spoken {
    let mut remarks = loaded.warnings_text(shared);
    if let Some(confirmation) = confirmation {
        confirmation.say_if_rejected(file, &mut exit, &mut remarks);
    }
    if shared.json {
        return Spoken::new(exit, String::new(), remarks).with_document(document());
    }
    Spoken::new(exit, report(), remarks)
}
