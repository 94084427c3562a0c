//! `palisade convert`: programs from one format to another.

use super::files::write_file;
use super::load::Written;
use super::output::{print_document, print_text, remark};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::program::Program;
use crate::report::documents::{ConvertDocument, Finding};
use crate::robustness::{NotRewritten, as_threads, two_threads};
use crate::syntax::{self, Diagnostic, InputError};
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
    /// Format to write. `threads` says a program of events, each with a number of occurrences, by
    /// threads alone; `two-threads` is the paper's program with one background invocation, to
    /// compare.
    #[arg(long, value_name = "FORMAT", value_parser = super::load::written_forms())]
    pub(super) to: Written,
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
    let rewritten = rewritten(&loaded.program, arguments.to)?;
    let printed = syntax::print(rewritten.as_ref().unwrap_or(&loaded.program), arguments.to.format());
    let printed = printed.map_err(|errors| InputError::from((source.clone(), errors)))?;
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

/// The program said in another way, where that is asked for.
fn rewritten(program: &Program, form: Written) -> Result<Option<Program>, InputError> {
    let rewritten = match form {
        Written::Format(_) => return Ok(None),
        Written::Threads => as_threads(program),
        Written::TwoThreads => two_threads(program),
    };
    rewritten.map(Some).map_err(|error| not_rewritten(program, form.name(), &error))
}

/// Why a program cannot be said in another way, as an error of the input.
pub(super) fn not_rewritten(program: &Program, form: &str, error: &NotRewritten) -> InputError {
    let help = match error {
        NotRewritten::AnyNumber(_) => Some("say how often: `--events all=2`".to_owned()),
        NotRewritten::Thread(name) => Some(format!("leave it out: `--threads {name}=0`")),
        _ => None,
    };
    InputError::file(program.source.name.clone(), format!("cannot be written as `{form}`: {error}")).with_help_if(help)
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
