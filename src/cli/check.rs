//! `palisade check`: is the program robust?

use super::{Exit, ProgramOptions, SharedOptions, print_input_error};
use crate::report::check as report;
use crate::robustness::{CheckOptions, Verdict, check};
use crate::syntax::InputError;
use clap::Args;
use std::time::Instant;

/// Options of `palisade check`.
#[derive(Clone, Debug, Args)]
pub(super) struct CheckArguments {
    /// The programs; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    program: ProgramOptions,
    /// Decide every attack, not only those up to the first feasible one.
    #[arg(long)]
    all: bool,
    /// Search also for attacks that control flow alone rules out.
    #[arg(long)]
    no_prune: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = 128)]
    values: usize,
}

/// Runs `palisade check`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    for file in &arguments.files {
        let (exit, document) = check_file(arguments, shared, file);
        worst = worst.worst(exit);
        documents.extend(document);
    }
    if shared.json {
        let document = if arguments.files.len() == 1 { documents.pop() } else { Some(documents.into()) };
        println!("{}", document.unwrap_or_default());
    }
    worst
}

fn check_file(arguments: &CheckArguments, shared: &SharedOptions, file: &str) -> (Exit, Option<serde_json::Value>) {
    let begin = Instant::now();
    let loaded = match arguments.program.read(file) {
        Ok(loaded) => loaded,
        Err(error) => return refused(&error, shared),
    };
    loaded.print_warnings(shared);
    let options = CheckOptions {
        all: arguments.all,
        prune: !arguments.no_prune,
        values: arguments.values,
        limits: shared.limits(),
    };
    let checked = match check(&loaded.program, &options) {
        Ok(checked) => checked,
        Err(fault) => return refused(&report::fault_error(&loaded.program, &fault), shared),
    };
    let exit = match checked.verdict {
        Verdict::Robust => Exit::Holds,
        Verdict::NotRobust => Exit::Fails,
        Verdict::Unknown(_) => Exit::Unknown,
    };
    let context = report::Context {
        file,
        program: &loaded.program,
        warnings: loaded.warnings_json(),
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &[],
    };
    if shared.json {
        return (exit, Some(report::json(&checked, &context)));
    }
    print!("{}", report::text(&checked, &context, shared.verbose));
    (exit, None)
}

fn refused(error: &InputError, shared: &SharedOptions) -> (Exit, Option<serde_json::Value>) {
    if shared.json {
        return (Exit::BadInput, serde_json::from_str(&error.to_json().to_string()).ok());
    }
    (print_input_error(error, shared), None)
}
