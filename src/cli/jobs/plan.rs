//! `palisade plan`: jobs for many machines.

use super::command::{COMMANDS, Command};
use super::job::jobs;
use crate::cli::batch::Inputs;
use crate::cli::bench::nets;
use crate::cli::files::write_file;
use crate::cli::output::{print_document, print_line, print_text};
use crate::cli::{Exit, SharedOptions, print_input_error};
use crate::report::counted;
use crate::report::documents::{JobInput, PlanDocument};
use crate::robustness::parts;
use crate::syntax::InputError;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Options of `palisade plan`. `--timeout` and `--memory` are those of each job.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct PlanArguments {
    /// The command that the jobs run.
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(COMMANDS))]
    command: String,
    /// The inputs: programs, nets for `cover`, folders to be searched for them, `@LIST` for the
    /// paths on the lines of a file.
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<String>,
    /// Options of the command, in one argument: `--each "--values 8"`. Given several times, each
    /// input is asked with each of them, as strategies on nets are:
    /// `--each "--strategy backward" --each "--strategy karp-miller"`.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    each: Vec<String>,
    /// Of `check`: divide the attacks of each program, so many that control flow leaves open to a
    /// job.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attacks: Option<u32>,
    /// Write the plan to this file; without it, to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs `palisade plan`.
pub(in crate::cli) fn run(arguments: &PlanArguments, shared: &SharedOptions) -> Exit {
    match plan(arguments, shared) {
        Ok(()) => Exit::Holds,
        Err(error) => print_input_error(&error, shared),
    }
}

fn plan(arguments: &PlanArguments, shared: &SharedOptions) -> Result<(), InputError> {
    if arguments.attacks.is_some() && arguments.command != "check" {
        let help = "leave `--attacks` out, or plan `check`".to_owned();
        let error = InputError::file("--attacks", "only `check` is about attacks one by one");
        return Err(error.with_help_if(Some(help)));
    }
    let (sets, limits) = (option_sets(&arguments.each)?, limits(shared));
    let mut lines = Vec::new();
    let paths = paths(arguments)?;
    // A shard takes every n-th job: were the sets of an input side by side, it could get the dear
    // one each time.
    for set in &sets {
        for path in &paths {
            let line: Vec<String> = [&[arguments.command.clone(), path.clone()], set.as_slice(), &limits].concat();
            lines.extend(divided(line, arguments.attacks)?);
        }
    }
    let jobs = jobs(lines);
    let text: String = jobs.iter().map(|job| serde_json::to_string(job).expect("jobs are plain data") + "\n").collect();
    let Some(path) = &arguments.output else {
        print_text(text);
        return Ok(());
    };
    let name = path.display().to_string();
    write_file(path, text).map_err(|error| InputError::file(&name, format!("cannot be written: {error}")))?;
    if shared.json {
        print_document(&PlanDocument::new(&name, jobs.len()));
    } else if !shared.quiet {
        print_line(format_args!("{name}: {}", counted(jobs.len(), "job")));
    }
    Ok(())
}

/// The options of each set, as a shell divides them.
fn option_sets(each: &[String]) -> Result<Vec<Vec<String>>, InputError> {
    let divided = |set: &String| {
        shlex::split(set).ok_or_else(|| InputError::file("--each", format!("a quote is not closed in `{set}`")))
    };
    if each.is_empty() { Ok(vec![Vec::new()]) } else { each.iter().map(divided).collect() }
}

/// The limits of each job.
fn limits(shared: &SharedOptions) -> Vec<String> {
    let timeout = shared.timeout.map(|timeout| format!("--timeout={}ms", timeout.as_millis()));
    timeout.into_iter().chain(shared.memory.map(|memory| format!("--memory={memory}"))).collect()
}

/// The paths of the inputs.
fn paths(arguments: &PlanArguments) -> Result<Vec<String>, InputError> {
    if arguments.command != "cover" {
        return Ok(Inputs::expand(&arguments.inputs, None)?.paths);
    }
    let (mut inputs, mut listed) = (Vec::new(), Vec::new());
    for input in &arguments.inputs {
        if input.starts_with('@') {
            listed.extend(Inputs::expand(std::slice::from_ref(input), None)?.paths.into_iter().map(PathBuf::from));
        } else {
            inputs.push(PathBuf::from(input));
        }
    }
    inputs.extend(listed);
    let found = nets(&inputs, None)?;
    Ok(found.iter().map(|path: &PathBuf| Path::display(path).to_string()).collect())
}

/// A command line with the inputs it reads.
type Line = (Vec<String>, Vec<JobInput>);

/// The job of a command line, or the jobs of its parts.
fn divided(line: Vec<String>, size: Option<u32>) -> Result<Vec<Line>, InputError> {
    let command = Command::of(&line)?;
    let inputs = command.inputs()?;
    let ranges = size.and_then(|size| {
        // What cannot be read, or has no attacks, is one job, which says so.
        let loaded = command.program().filter(|loaded| !loaded.program.is_event_driven())?;
        parts(&loaded.program, &command.check_options()?, size as usize).ok()
    });
    let ranges = ranges.filter(|ranges| ranges.len() > 1);
    let Some(ranges) = ranges else { return Ok(vec![(line, inputs)]) };
    // Parts are about robustness alone; what else the program has to answer is a job of its own.
    let others = command.program().map_or(Vec::new(), |loaded| command.other_questions(&loaded));
    let line = if others.is_empty() { line } else { [line, vec!["--ask=robustness".to_owned()]].concat() };
    let part = |range: std::ops::Range<usize>| {
        let attacks = format!("{}{}-{}", super::attacks::OPTION, range.start + 1, range.end);
        ([line.as_slice(), &[attacks]].concat(), inputs.clone())
    };
    let whole = &line[..line.len() - 1];
    let of_others = others.iter().map(|ask| ([whole, &[format!("--ask={ask}")]].concat(), inputs.clone()));
    Ok(ranges.into_iter().map(part).chain(of_others).collect())
}
