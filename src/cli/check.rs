//! `palisade check`: is the program robust?

use super::batch::Inputs;
use super::check_progress::Progress;
use super::confirm::{Confirmation, evidence_check};
use super::files::NewFile;
use super::folder::create_folder;
use super::load::exit_of;
use super::output::{Documents, print_text, remark};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::report::documents::{self, CheckDocument};
use crate::report::{check as report, counted};
use crate::robustness::{Check, CheckOptions, Outcome, Verdict, certificate, check, check_observed, witness_evidence};
use crate::syntax::{Format, InputError, no_attack_can_start};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `palisade check`.
#[derive(Clone, Debug, Args)]
pub(super) struct CheckArguments {
    /// The programs; `-` is standard input, a folder stands for the .pal and .litmus files in it (or those of --from),
    /// `@LIST` for the paths on the lines of a file. Many programs get one line each; `-v` shows everything.
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
    /// Decide every attack on its net alone, as `palisade net` writes it, by the strategies of `palisade cover`. Without
    /// this, nets take turns with searches that take long.
    #[arg(long)]
    nets: bool,
    /// Write the evidence of every verdict into this folder, one file per program, for `palisade verify`.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Check the evidence of every verdict before reporting it, as `palisade verify` does.
    #[arg(long)]
    verify: bool,
    /// The same evidence for any number of jobs. This is always so; scripts may insist.
    #[arg(long)]
    deterministic: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// With more programs than this, each gets one line unless the user wants more.
const MOST_FULL_REPORTS: usize = 8;

/// What the command says about one program.
struct Answer {
    exit: Exit,
    /// For standard output.
    report: String,
    /// For standard error.
    remarks: String,
    /// For `--json`, the text of the document.
    document: Option<String>,
}

/// Runs `palisade check`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let inputs = match Inputs::expand(&arguments.files, arguments.program.from) {
        Ok(inputs) => inputs,
        Err(error) if shared.json => {
            let mut documents = Documents::new(Inputs::are_several(&arguments.files));
            documents.add(documents::refusal(&error));
            documents.print();
            return Exit::BadInput;
        }
        Err(error) => return print_input_error(&error, shared),
    };
    let brief = inputs.paths.len() > MOST_FULL_REPORTS && shared.verbose == 0;
    let mut worst = Exit::Holds;
    let mut exits = Vec::new();
    let mut documents = Documents::new(inputs.several);
    inputs.for_each(
        shared,
        |file| check_file(arguments, shared, file, brief, inputs.paths.len() == 1),
        |_, answer| {
            worst = worst.worst(answer.exit);
            exits.push(answer.exit);
            remark(answer.remarks);
            print_text(answer.report);
            answer.document.into_iter().for_each(|document| documents.add(document));
        },
    );
    if shared.json {
        documents.print();
    } else if inputs.several {
        print_text(summary(&exits));
    }
    worst
}

/// How many programs there were of each kind.
fn summary(exits: &[Exit]) -> String {
    let count = |exit| exits.iter().filter(|found| **found == exit).count();
    let mut parts = vec![format!("{} robust", count(Exit::Holds)), format!("{} not robust", count(Exit::Fails))];
    for (exit, word) in [(Exit::Unknown, "unknown"), (Exit::BadInput, "refused")] {
        if count(exit) > 0 {
            parts.push(format!("{} {word}", count(exit)));
        }
    }
    format!("{}: {}\n", counted(exits.len(), "program"), parts.join(", "))
}

fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    brief: bool,
    is_only_one: bool,
) -> Answer {
    let begin = Instant::now();
    let limits = shared.limits();
    let mut loaded = match arguments.program.read_within(file, &limits) {
        Ok(loaded) => loaded,
        Err(error) => return refused(&error, shared),
    };
    let options = CheckOptions {
        all: arguments.all,
        prune: !arguments.no_prune,
        nets: arguments.nets,
        values: arguments.values,
        limits: limits.clone(),
    };
    let checked = if is_only_one {
        check_observed(&loaded.program, &options, &Progress::new(&loaded.program, shared))
    } else {
        check(&loaded.program, &options)
    };
    let mut checked = match checked {
        Ok(checked) => checked,
        Err(fault) => return refused(&report::fault_error(&loaded.program, &fault), shared),
    };
    // Fences and locked instructions are there to rule attacks out, and many litmus tests are written to show just that.
    let pruned =
        checked.verdict == Verdict::Robust && checked.attacks.iter().all(|attack| attack.outcome == Outcome::Pruned);
    let fenced = loaded
        .program
        .threads
        .iter()
        .flat_map(|thread| &thread.instructions)
        .any(|instruction| instruction.action.drains_buffer());
    if pruned && !fenced && loaded.format != Format::Litmus {
        loaded.warnings.push(no_attack_can_start(&loaded.program));
    }
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || evidence_check(&loaded.program, &checked));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked.verdict = Verdict::Unknown(reason);
        checked.violation = None;
    }
    let mut exit = match checked.verdict {
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
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    let mut remarks = loaded.warnings_text(shared);
    let mut document = shared.json.then(|| CheckDocument::new(&checked, &context));
    if let Some(confirmation) = &confirmation {
        if let Some(alarm) = confirmation.alarm(file) {
            remarks.push_str(&alarm);
            exit = Exit::Rejected;
        }
        if let Some(document) = &mut document {
            document.evidence = Some(confirmation.document());
        }
    }
    if let Some(document) = &document {
        return Answer { exit, report: String::new(), remarks, document: Some(documents::text(document)) };
    }
    let report =
        if brief { report::line(&checked, &context) } else { report::text(&checked, &context, shared.verbose) };
    Answer { exit, report, remarks, document: None }
}

/// Writes the certificate or the witness into the folder; its path, unless the verdict is unknown.
pub(super) fn write_evidence(
    folder: &Path,
    file: &str,
    loaded: &Loaded,
    checked: &Check<'_>,
) -> io::Result<Option<PathBuf>> {
    let (evidence, suffix) = if let Some(violation) = &checked.violation {
        (Evidence::NotRobust(loaded.subject(), witness_evidence(violation)), "violation")
    } else if let Some(certificate) = certificate(&loaded.program, checked) {
        (Evidence::Robust(loaded.subject(), certificate), "robust")
    } else {
        return Ok(None);
    };
    write_document(folder, file, suffix, &evidence).map(Some)
}

/// Writes evidence about a program into a folder; its path.
pub(super) fn write_document(folder: &Path, file: &str, suffix: &str, evidence: &Evidence) -> io::Result<PathBuf> {
    create_folder(folder)?;
    // Programs of one name in different folders keep apart by the folder's name.
    let name: String =
        file.chars().map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+') { c } else { '_' }).collect();
    let path = folder.join(format!("{}.{suffix}.json", name.trim_matches('_')));
    let mut written = NewFile::create(&path)?;
    evidence.write(&mut written)?;
    written.finish()?;
    Ok(path)
}

fn refused(error: &InputError, shared: &SharedOptions) -> Answer {
    let exit = exit_of(error);
    if shared.json {
        let document = Some(documents::refusal(error));
        return Answer { exit, report: String::new(), remarks: String::new(), document };
    }
    if let InputError::Stopped { .. } = error {
        return Answer { exit, report: error.render(false), remarks: String::new(), document: None };
    }
    Answer { exit, report: String::new(), remarks: error.render(shared.colours_stderr()), document: None }
}
