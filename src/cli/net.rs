//! `palisade net`: the net of one attack, for other tools.

use super::files::write_together;
use super::output::{print_document, print_text, remark_line};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::limits::{Halt, Limits};
use crate::net::{Format, QueryFormat, with_comment, write};
use crate::report::context::fault_error_because;
use crate::report::counted;
use crate::report::cover::size;
use crate::report::documents::NetDocument;
use crate::report::net::{abstraction, why_grown};
use crate::robustness::{attack_net, numbered_attack};
use crate::syntax::InputError;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// Options of `palisade net`.
#[derive(Clone, Debug, Args)]
pub(super) struct NetArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    program: ProgramOptions,
    /// The attack, as `palisade check -v` numbers them.
    #[arg(long, value_name = "N", default_value_t = 1)]
    attack: usize,
    /// The format of the net; by default what the extension of the output says, and PNML where it
    /// says nothing.
    #[arg(long, short, value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,
    /// Write the net here instead of to standard output, and its question beside it (FILE.xml for
    /// PNML, FILE.formula for LoLA and TINA).
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Print the question instead of the net, in formats that keep it in a file of its own.
    #[arg(long, conflicts_with = "output")]
    query: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

fn format_names() -> PossibleValuesParser {
    // The nets of attacks are no systems of threads that all start in one state.
    let formats = Format::ALL.into_iter().filter(|format| *format != Format::Tts);
    PossibleValuesParser::new(formats.map(Format::extension))
}

impl NetArguments {
    fn format(&self) -> Format {
        let said = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        let named = |name: &str| Format::ALL.into_iter().find(|format| format.extension() == name);
        self.format.as_deref().or(said).and_then(named).unwrap_or(Format::Pnml)
    }
}

/// Runs `palisade net`.
pub(super) fn run(arguments: &NetArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let loaded = match arguments.program.load(&arguments.file, shared, &limits) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match written(arguments, &loaded, shared, &limits) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn written(
    arguments: &NetArguments,
    loaded: &Loaded,
    shared: &SharedOptions,
    limits: &Limits,
) -> Result<Exit, InputError> {
    let program = &loaded.program;
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    let stopped = |reason| InputError::Stopped { name: arguments.file.clone(), reason };
    let found = numbered_attack(program, arguments.attack, limits).map_err(stopped)?;
    let attack = found.map_err(|count| match count {
        0 => refuse("the program has no attack: no thread has both a store and a load".into()),
        count => refuse(format!("there is no attack {}; the program has attacks 1 to {count}", arguments.attack)),
    })?;
    let format = arguments.format();
    let mut document = NetDocument::new(&arguments.file, program, (arguments.attack, attack), format.extension());
    let problem = match attack_net(program, &attack, arguments.values, limits) {
        Ok(problem) => problem,
        Err(Halt::Fault(fault)) => {
            return Err(fault_error_because(program, &fault, why_grown(program, &fault)));
        }
        Err(Halt::Stopped(reason)) => {
            remark_line(format_args!("the net was not finished: {reason}"));
            if shared.json {
                document.reason = Some(reason.to_string());
                print_document(&document);
            }
            return Ok(Exit::Unknown);
        }
    };
    let mut written = write(&problem, format).map_err(|error| refuse(error.to_string()))?;
    written.net = with_comment(&written.net, format, &abstraction(program, &loaded.changed));
    if arguments.query && written.query.is_none() {
        return Err(refuse(format!("a question is part of a .{} net, or has no place there", format.extension())));
    }
    if !shared.quiet {
        remark_line(format_args!("{}, {}", size(&problem.net), counted(problem.net.units.len(), "unit")));
        written.notes.iter().for_each(|note| remark_line(format_args!("note: {note}")));
    }
    let query_format = format.query().filter(|_| written.query.is_some());
    if let Some(path) = &arguments.output {
        let files = written.files(path, format);
        write_together(&files)
            .map_err(|error| InputError::file(path.display().to_string(), format!("cannot be written: {error}")))?;
        document.written = files.iter().map(|(path, _)| path.display().to_string()).collect();
    }
    if shared.json {
        let printed = arguments.output.is_none();
        document.size = Some((&problem.net).into());
        document.text = (printed && !arguments.query).then_some(&written.net);
        document.query = written.query.as_deref().filter(|_| printed);
        document.query_format = query_format.map(QueryFormat::extension);
        document.notes = &written.notes;
        print_document(&document);
    } else if arguments.output.is_none() {
        print_text(written.query.as_ref().filter(|_| arguments.query).unwrap_or(&written.net));
    }
    Ok(Exit::Holds)
}
