//! `palisade check`: is the program robust?

use super::batch::{Extent, Spoken, answer_all};
use super::breaks::{self, Asked};
use super::check_events::{Against, admit, check_events};
use super::check_progress::Progress;
use super::confirm::{Confirmation, evidence_check};
use super::files::NewFile;
use super::folder::create_folder;
use super::races;
use super::simulate::ModelChoice;
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::report::check as report;
use crate::report::documents::{self, CheckDocument};
use crate::robustness::{Check, CheckOptions, Outcome, Verdict, certificate, check, check_observed, witness_evidence};
use crate::syntax::{Format, InputError, no_attack_can_start};
use clap::{Args, ValueEnum};
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
    pub(super) program: ProgramOptions,
    /// What to be robust against. By default TSO, and for programs of events concurrency as well.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(super) against: Option<Against>,
    /// How many tasks may be pending at once before the search gives up (robustness against concurrency).
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(super) pending: usize,
    /// What to decide: robustness, or the stronger freedom from triangular races, to compare.
    #[arg(long, value_enum, value_name = "CRITERION", default_value = "robustness")]
    criterion: Criterion,
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
    /// Ask about all attacks in one exploration, to compare with the search that asks store by store.
    #[arg(long, conflicts_with_all = ["all", "nets"])]
    one_query: bool,
    /// Write the evidence of every verdict into this folder, one file per program, for `palisade verify`.
    #[arg(long, value_name = "DIR")]
    pub(super) certificate: Option<PathBuf>,
    /// Check the evidence of every verdict before reporting it, as `palisade verify` does.
    #[arg(long)]
    pub(super) verify: bool,
    /// The same evidence for any number of jobs. This is always so; scripts may insist.
    #[arg(long)]
    deterministic: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    pub(super) values: usize,
    /// `tso`, which is meant in any case: other models are refused with a word on what to ask instead.
    #[arg(long, value_enum, hide = true)]
    model: Option<ModelChoice>,
}

/// What to decide about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Criterion {
    /// Every computation under TSO has the trace of an interleaving.
    Robustness,
    /// No interleaving has a triangular race: a load after a store to another address, with no fence in between, right before another
    /// thread's store to the same address.
    Trf,
}

/// What answers about one program.
type CheckFile = fn(&CheckArguments, &SharedOptions, &str, Extent) -> Result<Spoken, InputError>;

/// Runs `palisade check`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let is_about_attacks = arguments.all || arguments.no_prune || arguments.nets || arguments.one_query;
    if arguments.criterion == Criterion::Trf && is_about_attacks {
        let message = "triangular races know no attacks, pruning or nets";
        let help = "leave `--all`, `--no-prune`, `--nets` and `--one-query` out".to_owned();
        return print_input_error(&InputError::file("--criterion trf", message).with_help_if(Some(help)), shared);
    }
    let (check_file, words) = match arguments.criterion {
        Criterion::Robustness => (check_file as CheckFile, ("robust", "not robust")),
        Criterion::Trf => (races::check_file as CheckFile, ("race-free", "with a triangular race")),
    };
    let answer = |file: &str, extent: Extent| {
        check_file(arguments, shared, file, extent).unwrap_or_else(|error| Spoken::refused(&error, shared))
    };
    answer_all(&arguments.files, arguments.program.from, shared, words, answer)
}

fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    extent: Extent,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    only_tso(file, arguments.model)?;
    let mut loaded = arguments.program.read_any_within(file, &limits)?;
    admit(&loaded.program, arguments.against)?;
    if loaded.program.is_event_driven() {
        return check_events(arguments, shared, file, &loaded, extent.brief);
    }
    let options = CheckOptions {
        all: arguments.all,
        prune: !arguments.no_prune,
        nets: arguments.nets,
        one_query: arguments.one_query,
        values: arguments.values,
        limits: limits.clone(),
    };
    let checked = if extent.is_only_one {
        check_observed(&loaded.program, &options, &Progress::new(&loaded.program, shared))
    } else {
        check(&loaded.program, &options)
    };
    let mut checked = checked.map_err(|fault| report::fault_error(&loaded.program, &fault))?;
    if is_fenceless_for_no_reason(&loaded, &checked) {
        loaded.warnings.push(no_attack_can_start(&loaded.program));
    }
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || evidence_check(&loaded.program, &checked));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked.verdict = Verdict::Unknown(reason);
        checked.violation = None;
    }
    let asking = || breaks::ask(file, &loaded, arguments.verify, arguments.values, &limits);
    let asked = if checked.verdict == Verdict::NotRobust { asking() } else { None };
    let mut certificates = Vec::new();
    if let Some(folder) = &arguments.certificate {
        let written = write_evidence(folder, file, &loaded, &checked).map_err(|error| unwritten(folder, &error))?;
        certificates.extend(written.map(|path| path.display().to_string()));
        if let Some(asked) = &asked {
            certificates.extend(asked.write_evidence(folder, file, &loaded)?);
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
    Ok(spoken(&loaded, &checked, &context, asked.as_ref(), confirmation.as_ref(), shared, extent.brief))
}

/// Refuses models that robustness is not about.
pub(super) fn only_tso(file: &str, model: Option<ModelChoice>) -> Result<(), InputError> {
    match model {
        None | Some(ModelChoice::Tso) => Ok(()),
        Some(_) => {
            let help = "`palisade prove --model` asks for properties under other models".to_owned();
            Err(InputError::file(file, "robustness is about TSO").with_help_if(Some(help)))
        }
    }
}

/// Whether control flow alone makes a program robust that has nothing to make it so. Fences and locked instructions are there to rule
/// attacks out, and many litmus tests are written to show just that.
fn is_fenceless_for_no_reason(loaded: &Loaded, checked: &Check<'_>) -> bool {
    let pruned =
        checked.verdict == Verdict::Robust && checked.attacks.iter().all(|attack| attack.outcome == Outcome::Pruned);
    let mut all = loaded.program.threads.iter().flat_map(|thread| &thread.instructions);
    pruned && loaded.format != Format::Litmus && !all.any(|instruction| instruction.action.drains_buffer())
}

fn spoken(
    loaded: &Loaded,
    checked: &Check<'_>,
    context: &report::Context<'_>,
    asked: Option<&Asked>,
    confirmation: Option<&Confirmation>,
    shared: &SharedOptions,
    brief: bool,
) -> Spoken {
    let mut exit = match checked.verdict {
        Verdict::Robust => Exit::Holds,
        Verdict::NotRobust => Exit::Fails,
        Verdict::Unknown(_) => Exit::Unknown,
    };
    let mut remarks = loaded.warnings_text(shared);
    for confirmation in confirmation.into_iter().chain(asked.and_then(Asked::confirmation)) {
        if let Some(alarm) = confirmation.alarm(context.file) {
            remarks.push_str(&alarm);
            exit = Exit::Rejected;
        }
    }
    let breaks = asked.map(|asked| asked.breaks(context, loaded.question.as_ref()));
    if shared.json {
        let mut document = CheckDocument::new(checked, context, breaks.as_ref());
        document.evidence = confirmation.map(Confirmation::document);
        if let (Some(properties), Some(asked)) = (&mut document.properties, asked) {
            properties.evidence = asked.confirmation().map(Confirmation::document);
        }
        return Spoken { exit, report: String::new(), remarks, document: Some(documents::text(&document)) };
    }
    let report = if brief {
        report::line(checked, context, breaks.as_ref())
    } else {
        report::text(checked, context, breaks.as_ref(), shared.verbose)
    };
    Spoken { exit, report, remarks, document: None }
}

/// Evidence that cannot be written, as an error of the input.
pub(super) fn unwritten(folder: &Path, error: &io::Error) -> InputError {
    InputError::file(folder.display().to_string(), format!("the evidence cannot be written: {error}"))
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
