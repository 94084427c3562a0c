//! `palisade fmt`: native texts laid out afresh.

use super::batch::Inputs;
use super::files::write_file;
use super::output::{print_document, print_line, print_text};
use super::{Exit, SharedOptions, print_input_error};
use crate::report::documents::FmtDocument;
use crate::syntax::{Format, InputError, laid_out, read_text};
use clap::Args;
use std::path::Path;

/// Options of `palisade fmt`.
#[derive(Clone, Debug, Args)]
pub(super) struct FmtArguments {
    /// Programs in the native language, folders of them, `@LIST`; `-` lays out standard input and
    /// prints it.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Change nothing; name the files that are laid out otherwise, and exit with 1 if there are
    /// any.
    #[arg(long)]
    pub check: bool,
}

/// Lays out each file and writes those that change.
pub(super) fn run(arguments: &FmtArguments, shared: &SharedOptions) -> Exit {
    let inputs = match Inputs::expand(&arguments.files, Some(Format::Native)) {
        Ok(inputs) => inputs,
        Err(error) => return print_input_error(&error, shared),
    };
    let each = inputs.paths.iter().map(|path| match one(path, arguments.check, shared) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    });
    each.fold(Exit::Holds, Exit::worst)
}

/// Lays out one file.
fn one(path: &str, check: bool, shared: &SharedOptions) -> Result<Exit, InputError> {
    if let Some(format) = Format::of_path(Path::new(path)).filter(|format| *format != Format::Native) {
        let message = format!("is no text of the native language but one of `{}`", format.name());
        return Err(InputError::file(path, message));
    }
    let source = read_text(path)?;
    let text = laid_out(&source).map_err(|errors| InputError::from((source.clone(), errors)))?;
    let changed = text != source.text;
    if changed && !check && path != "-" {
        write_file(Path::new(path), &text)
            .map_err(|error| InputError::file(path, format!("cannot be written: {error}")))?;
    }
    if shared.json {
        print_document(&FmtDocument { header: FmtDocument::header(&source.name), changed, text: &text });
    } else if path == "-" && !check {
        print_text(text);
    } else if changed && !shared.quiet {
        print_line(&source.name);
    }
    Ok(if changed && check { Exit::Fails } else { Exit::Holds })
}
