//! `palisade bench --methods`: the methods for pairs of statements on programs of growing size,
//! each run in a fresh process.

use super::BenchArguments;
use super::process::{End, watch};
use crate::cli::files::write_file;
use crate::cli::folder::files_in;
use crate::cli::output::{print_document, remark_line};
use crate::cli::{Exit, SharedOptions, print_text};
use crate::report::bench::methods::{self as report, MethodRun};
use crate::report::documents::MethodsDocument;
use crate::syntax::InputError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The methods to compare.
const METHODS: [&str; 4] = ["te", "fi", "robmc", "robmc-et"];

/// Reads the name of a method.
pub(super) fn parse_method(text: &str) -> Result<&'static str, String> {
    let known = METHODS.into_iter().find(|method| *method == text);
    known.ok_or_else(|| format!("`{text}` is not a method; say {}", METHODS.join(", ")))
}

/// Makes all runs, in the order of sizes.
pub(super) fn benchmark(arguments: &BenchArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let programs = programs(&arguments.inputs)?;
    let palisade = std::env::current_exe()
        .map_err(|error| InputError::file("palisade", format!("the program does not find itself: {error}")))?;
    let interruption = SharedOptions { timeout: None, memory: None, ..shared.clone() }.limits();
    let mut runs = Vec::new();
    for (path, family, size) in &programs {
        for method in &arguments.methods {
            let command = command(&palisade, path, method, arguments, shared);
            let patience = shared.timeout.map(|timeout| timeout.saturating_mul(2));
            let watched = watch(command, patience, shared.memory, &interruption).map_err(|error| {
                InputError::file(path.display().to_string(), format!("the run cannot be started: {error}"))
            })?;
            if watched.end == End::Interrupted {
                return Ok(Exit::Unknown);
            }
            let mut run = MethodRun {
                file: path.display().to_string(),
                family: family.clone(),
                size: *size,
                method: (*method).to_owned(),
                model: arguments.model.clone(),
                queries: None,
                bans: None,
                candidates: None,
                seconds: watched.elapsed.as_secs_f64(),
                message: None,
            };
            judge(&watched.output, &mut run);
            if shared.verbose > 0 && !shared.quiet {
                let queries = run.queries.map_or("no answer".to_owned(), |queries| format!("{queries} queries"));
                remark_line(format_args!("{} {method} {queries} {:.3} s", run.file, run.seconds));
            }
            runs.push(run);
        }
    }
    finish(arguments, shared, &runs)
}

fn finish(arguments: &BenchArguments, shared: &SharedOptions, runs: &[MethodRun]) -> Result<Exit, InputError> {
    let write = |path: &Path, text: String| {
        let failed = |error| InputError::file(path.display().to_string(), format!("cannot be written: {error}"));
        write_file(path, text).map_err(failed)
    };
    if let Some(path) = &arguments.csv {
        write(path, report::csv(runs))?;
    }
    if let Some(path) = &arguments.html {
        write(path, report::html(runs))?;
    }
    if shared.json {
        print_document(&MethodsDocument::new(runs));
    } else {
        print_text(report::text(runs));
    }
    Ok(if report::disagreements(runs).is_empty() { Exit::Holds } else { Exit::Fails })
}

/// The programs among files and in folders that have a size, ascending by family and size.
fn programs(inputs: &[PathBuf]) -> Result<Vec<(PathBuf, String, u64)>, InputError> {
    let mut paths = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let failed = |(path, error): (PathBuf, std::io::Error)| {
                InputError::file(path.display().to_string(), format!("cannot be read: {error}"))
            };
            paths.extend(files_in(input).map_err(failed)?);
        } else {
            paths.push(input.clone());
        }
    }
    let sized = |path: PathBuf| {
        let is_program = path.extension().is_some_and(|extension| extension == "pal");
        let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_program)?;
        let (family, size) = MethodRun::family_of(stem)?;
        Some((path, family, size))
    };
    let mut programs: Vec<_> = paths.into_iter().filter_map(sized).collect();
    programs.sort_by(|one, other| (&one.1, one.2, &one.0).cmp(&(&other.1, other.2, &other.0)));
    programs.dedup();
    if programs.is_empty() {
        let names: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
        let help = "the names of the programs end in their sizes: `peterson-12.pal`".to_owned();
        return Err(
            InputError::file(names.join(", "), "no programs of growing size are there").with_help_if(Some(help))
        );
    }
    Ok(programs)
}

fn command(
    palisade: &Path,
    program: &Path,
    method: &str,
    arguments: &BenchArguments,
    shared: &SharedOptions,
) -> Command {
    let mut command = Command::new(palisade);
    command.arg("fences").arg(program).args(["--ask", "properties", "--objective", "pairs", "--json", "--quiet"]);
    command.args(["--method", method, "--model", &arguments.model]);
    if arguments.no_slice {
        command.arg("--no-slice");
    }
    if let Some(bound) = arguments.bound.as_ref().filter(|_| method.starts_with("robmc")) {
        command.args(["--bound", bound]);
    }
    if let Some(timeout) = shared.timeout {
        command.args(["--timeout", &format!("{}s", timeout.as_secs_f64())]);
    }
    if let Some(memory) = shared.memory {
        command.args(["--memory", &memory.to_string()]);
    }
    command
}

/// Reads the answer from the document that was printed.
fn judge(output: &str, run: &mut MethodRun) {
    let Ok(document) = serde_json::from_str::<Value>(output) else {
        run.message = Some("no document was printed".to_owned());
        return;
    };
    let pairs = &document["pairs"];
    run.candidates = pairs["candidates"].as_u64().filter(|count| *count > 0);
    if pairs["proved"] == true {
        run.queries = document["queries"].as_u64();
        run.bans = pairs["bans"].as_array().map(|bans| bans.len() as u64);
    } else {
        let reason = document["reason"].as_str().or(document["error"]["message"].as_str());
        run.message = Some(reason.unwrap_or("not proved").to_owned());
    }
}
