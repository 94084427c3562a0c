//! `palisade net`: the net of one attack, for other tools.

use super::output::{print_text, remark_line};
use super::{Exit, ProgramOptions, SharedOptions, print_input_error};
use crate::net::{Format, write};
use crate::report::check::fault_error;
use crate::report::counted;
use crate::report::cover::size;
use crate::robustness::{NoNet, attack_net, attacks};
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
    /// The format of the net; by default what the extension of the output says, and PNML where it says nothing.
    #[arg(long, short, value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,
    /// Write the net here instead of to standard output, and its question beside it (FILE.xml for PNML, FILE.prop for
    /// tts, FILE.formula for LoLA and TINA).
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
    PossibleValuesParser::new(Format::ALL.map(Format::extension))
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
    let loaded = match arguments.program.load(&arguments.file, shared) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match written(arguments, &loaded.program, shared) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn written(
    arguments: &NetArguments,
    program: &crate::program::Program,
    shared: &SharedOptions,
) -> Result<Exit, InputError> {
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    let all = attacks(program);
    let attack = arguments.attack.checked_sub(1).and_then(|index| all.get(index)).ok_or_else(|| match all.len() {
        0 => refuse("the program has no attack: no thread has both a store and a load".into()),
        count => refuse(format!("there is no attack {}; the program has attacks 1 to {count}", arguments.attack)),
    })?;
    let problem = match attack_net(program, attack, arguments.values, &shared.limits()) {
        Ok(problem) => problem,
        Err(NoNet::Fault(fault)) => return Err(fault_error(program, &fault)),
        Err(NoNet::Stopped(reason)) => {
            remark_line(format_args!("the net was not finished: {reason}"));
            return Ok(Exit::Unknown);
        }
    };
    let format = arguments.format();
    let written = write(&problem, format).map_err(|error| refuse(error.to_string()))?;
    if !shared.quiet {
        remark_line(format_args!("{}, {}", size(&problem.net), counted(problem.net.units.len(), "unit")));
        written.notes.iter().for_each(|note| remark_line(format_args!("note: {note}")));
    }
    match &arguments.output {
        Some(path) => {
            let cannot = |path: &PathBuf| {
                let name = path.display().to_string();
                move |error: std::io::Error| InputError::file(name, format!("cannot be written: {error}"))
            };
            std::fs::write(path, &written.net).map_err(cannot(path))?;
            if let (Some(query), Some(kind)) = (&written.query, format.query()) {
                let path = path.with_extension(kind.extension());
                std::fs::write(&path, query).map_err(cannot(&path))?;
            }
        }
        None if arguments.query => match &written.query {
            Some(query) => print_text(query),
            None => {
                return Err(refuse(format!(
                    "a question is part of a .{} net, or has no place there",
                    format.extension()
                )));
            }
        },
        None => print_text(written.net),
    }
    Ok(Exit::Holds)
}
