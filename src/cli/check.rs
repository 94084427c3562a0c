//! `palisade check`: is the program robust?

use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::report::check as report;
use crate::robustness::{Check, CheckOptions, Verdict, certificate, check, witness_evidence};
use crate::syntax::InputError;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
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
    /// Write the evidence of every verdict into this folder, one file per program, for `palisade verify`.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// The same evidence for any number of jobs. This is always so; scripts may insist.
    #[arg(long)]
    deterministic: bool,
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
    let mut certificates = Vec::new();
    if let Some(folder) = &arguments.certificate {
        match write_evidence(folder, file, &loaded, &checked) {
            Ok(path) => certificates.extend(path.map(|path| path.display().to_string())),
            Err(error) => {
                let message = format!("the evidence cannot be written: {error}");
                return refused(&InputError::file(folder.display().to_string(), message), shared);
            }
        }
    }
    let context = report::Context {
        file,
        program: &loaded.program,
        warnings: loaded.warnings_json(),
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
    };
    if shared.json {
        return (exit, Some(report::json(&checked, &context)));
    }
    print!("{}", report::text(&checked, &context, shared.verbose));
    (exit, None)
}

/// Writes the certificate or the witness into the folder; its path, unless the verdict is unknown.
fn write_evidence(folder: &Path, file: &str, loaded: &Loaded, checked: &Check<'_>) -> io::Result<Option<PathBuf>> {
    let (evidence, suffix) = if let Some(violation) = &checked.violation {
        (Evidence::NotRobust(loaded.subject(), witness_evidence(violation)), "violation")
    } else if let Some(certificate) = certificate(&loaded.program, checked) {
        (Evidence::Robust(loaded.subject(), certificate), "robust")
    } else {
        return Ok(None);
    };
    std::fs::create_dir_all(folder)?;
    // Programs of one name in different folders keep apart by the folder's name.
    let name: String = file
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+') { c } else { '_' })
        .collect();
    let path = folder.join(format!("{}.{suffix}.json", name.trim_matches('_')));
    evidence.write(std::fs::File::create(&path)?)?;
    Ok(Some(path))
}

fn refused(error: &InputError, shared: &SharedOptions) -> (Exit, Option<serde_json::Value>) {
    if shared.json {
        return (Exit::BadInput, serde_json::from_str(&error.to_json().to_string()).ok());
    }
    (print_input_error(error, shared), None)
}
