//! `palisade convert`: programs from one format to another.

use super::files::write_file;
use super::output::{print_document, print_text, remark};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::report::documents::{ConvertDocument, Finding};
use crate::syntax::{self, Diagnostic, Format, InputError};
use crate::text::Span;
use clap::Args;
use std::path::PathBuf;

/// Options of `palisade convert`.
#[derive(Clone, Debug, Args)]
pub(super) struct ConvertArguments {
    /// The program, `-` for standard input.
    pub file: String,
    #[command(flatten)]
    pub program: ProgramOptions,
    /// Format to write.
    #[arg(long, value_name = "FORMAT", value_parser = super::load::written_formats())]
    pub to: Format,
    /// File to write; standard output when left out.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Reads a program in one format and writes it in another.
pub(super) fn run(arguments: &ConvertArguments, shared: &SharedOptions) -> Exit {
    match convert(arguments, shared) {
        Ok(()) => Exit::Holds,
        Err(error) => print_input_error(&error, shared),
    }
}

fn convert(arguments: &ConvertArguments, shared: &SharedOptions) -> Result<(), InputError> {
    let loaded = arguments.program.read_any_within(&arguments.file, &shared.limits())?;
    let source = &loaded.program.source;
    let printed =
        syntax::print(&loaded.program, arguments.to).map_err(|errors| InputError::from((source.clone(), errors)))?;
    if let Some(path) = &arguments.output {
        write_file(path, &printed.text)
            .map_err(|error| InputError::file(path.display().to_string(), format!("cannot be written: {error}")))?;
    }
    let question = question_left_out(&loaded);
    let warnings: Vec<&Diagnostic> = loaded.warnings.iter().chain(&printed.warnings).chain(&question).collect();
    if shared.json {
        print_document(&ConvertDocument {
            header: ConvertDocument::header(&source.name),
            program: &loaded.program.name,
            from: loaded.format.name(),
            to: arguments.to.name(),
            output: arguments.output.as_ref().map(|path| path.display().to_string()),
            text: &printed.text,
            warnings: Finding::all(warnings, source),
        });
        return Ok(());
    }
    if !shared.quiet {
        for warning in warnings {
            remark(syntax::render(warning, source, shared.colours_stderr()));
        }
    }
    if arguments.output.is_none() {
        print_text(printed.text);
    }
    Ok(())
}

/// The warning that what a litmus test asks of its final states is no part of the program.
fn question_left_out(loaded: &Loaded) -> Option<Diagnostic> {
    let question = loaded.question.as_ref()?;
    if question.condition.is_none() && question.filter.is_none() {
        return None;
    }
    let text = &loaded.program.source.text;
    let begin = ["exists", "forall", "final", "filter"].iter().filter_map(|word| text.rfind(word)).max().unwrap_or(0);
    let end = text[begin..].find('\n').map_or(text.len(), |length| begin + length);
    let message = "what the test asks of its final states is left out: programs have no such conditions";
    Some(Diagnostic::warning(message, Span { start: begin, end }))
}
