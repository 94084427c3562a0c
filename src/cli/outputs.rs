//! Files for other machines and for browsers that commands write beside what they print: `--sarif`,
//! `--junit`, `--report`.

use super::files::NewFile;
use crate::report::findings::Answer;
use crate::report::junit::junit;
use crate::report::sarif::sarif;
use crate::syntax::InputError;
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options on what to write.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct OutputOptions {
    /// Write what was found into this file as SARIF 2.1.0, for code hosts and editors.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sarif: Option<PathBuf>,
    /// Write the answers into this file as JUnit XML, for build servers: a suite for each program,
    /// a case for each question.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    page: PageOption,
    /// Whether what is found is wanted without a file.
    #[arg(skip)]
    findings: bool,
}

/// The option of commands that write a page.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PageOption {
    /// Write the answer about one program or net into this file as a page for a browser, with
    /// everything in it: the source with what matters marked, the computation to step through, and
    /// the evidence.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
}

/// The option of commands whose answers are no test cases.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct SarifOption {
    /// Write what was found into this file as SARIF 2.1.0, with the changes of the text as fixes,
    /// for code hosts and editors.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sarif: Option<PathBuf>,
    #[command(flatten)]
    page: PageOption,
    /// Whether what is found is wanted without a file.
    #[arg(skip)]
    pub(super) findings: bool,
}

impl From<&SarifOption> for OutputOptions {
    fn from(option: &SarifOption) -> Self {
        Self { sarif: option.sarif.clone(), junit: None, page: option.page.clone(), findings: option.findings }
    }
}

impl From<&PageOption> for OutputOptions {
    fn from(option: &PageOption) -> Self {
        Self { page: option.clone(), ..Self::default() }
    }
}

impl OutputOptions {
    /// Whether there is something to write.
    pub(super) fn are_any(&self) -> bool {
        self.findings || self.sarif.is_some() || self.junit.is_some() || self.asks_for_a_page()
    }

    /// Whether a page is asked for.
    pub(super) fn asks_for_a_page(&self) -> bool {
        self.page.report.is_some()
    }

    /// What was found and the page about it, where a file asks for them: changes of texts take
    /// their time.
    pub(super) fn answer(&self, find: impl FnOnce() -> Answer, page: impl FnOnce() -> String) -> Option<Answer> {
        self.are_any().then(|| {
            let mut answer = find();
            answer.page = self.asks_for_a_page().then(page);
            answer
        })
    }

    /// Begins the files, so that a path that cannot be written is refused before any work is done.
    pub(super) fn open(&self) -> Result<Outputs<'_>, InputError> {
        Ok(Outputs {
            sarif: begin(self.sarif.as_deref())?,
            junit: begin(self.junit.as_deref())?,
            page: begin(self.page.report.as_deref())?,
        })
    }
}

/// A file that is being written, with its path.
type Begun<'a> = Option<(&'a Path, NewFile)>;

/// Files that were begun.
pub(super) struct Outputs<'a> {
    sarif: Begun<'a>,
    junit: Begun<'a>,
    page: Begun<'a>,
}

fn begin(path: Option<&Path>) -> Result<Begun<'_>, InputError> {
    path.map(|path| Ok((path, NewFile::create(path).map_err(|error| unwritten(path, &error))?))).transpose()
}

fn unwritten(path: &Path, error: &io::Error) -> InputError {
    InputError::file(path.display().to_string(), format!("cannot be written: {error}"))
}

impl Outputs<'_> {
    /// Writes the answers of a command.
    pub(super) fn finish(self, command: &'static str, answers: &[Answer]) -> Result<(), InputError> {
        let Self { sarif: log, junit: cases, page } = self;
        complete(log, || sarif(command, answers))?;
        complete(cases, || junit(command, answers))?;
        // About an input that was refused there is no page.
        match answers.first().and_then(|answer| answer.page.as_ref()) {
            Some(text) => complete(page, || text.clone()),
            None => Ok(()),
        }
    }

    /// Writes the page alone.
    pub(super) fn finish_page(self, text: impl FnOnce() -> String) -> Result<(), InputError> {
        complete(self.page, text)
    }
}

fn complete(begun: Begun<'_>, text: impl FnOnce() -> String) -> Result<(), InputError> {
    let Some((path, mut file)) = begun else { return Ok(()) };
    let written = file.write_all(text().as_bytes()).and_then(|()| file.finish());
    written.map_err(|error| unwritten(path, &error))
}
