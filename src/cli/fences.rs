//! `palisade fences`: the cheapest repair.

use super::check::write_evidence;
use super::confirm::{check_within, evidence_check};
use super::fences_progress::Progress;
use super::files::write_file;
use super::folder::create_folder;
use super::output::{print_document, print_text, remark};
use super::repaired::{NoText, Repaired, path_in, replace};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::fences::{
    Cost, CostError, CostFunction, FenceError, FenceOptions, Measure, Pattern, Profile, Repair, place,
    redundant_besides, with_measures,
};
use crate::limits::Limits;
use crate::report::check::{Context, fault_error};
use crate::report::documents::FencesDocument;
use crate::report::fences as report;
use crate::robustness::{self, Check, CheckOptions, Verdict, check};
use crate::syntax::{Format, InputError, read_text};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `palisade fences`.
#[derive(Clone, Debug, Args)]
pub(super) struct FencesArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    program: ProgramOptions,
    /// What a fence costs: `uniform`, `depth` (ten to the number of loops around it), or a file of lines
    /// `thread,label,cost`. By default what the program's `@cost(x)` says, 1 where it says nothing.
    #[arg(long, value_name = "COST")]
    cost: Option<String>,
    /// Also consider making stores locked exchanges: `xchg`, or `xchg=2` when one costs twice as much as a fence there.
    #[arg(long, value_name = "xchg[=COST]", value_parser = parse_exchange)]
    with: Option<Cost>,
    /// Change nothing but at labels that match: `thread.label` with `*` and `?`, or `label` in every thread.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<Pattern>,
    /// Change nothing at labels that match.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    never: Vec<Pattern>,
    /// Judge the fences that are there already: which can go, one by one and together.
    #[arg(long)]
    redundant: bool,
    /// List all optimal sets.
    #[arg(long)]
    all: bool,
    /// Print nothing but the unified diff.
    #[arg(long)]
    diff: bool,
    /// Write the repaired text into the file, once it has been checked.
    #[arg(long)]
    apply: bool,
    /// Write evidence that the repaired program is robust into this folder, for `palisade verify`; without `--apply` the
    /// repaired text as well.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Decide attacks by coverability of their Petri nets and nothing else. Without this, nets take turns with searches
    /// that take long.
    #[arg(long)]
    nets: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// Optimal sets listed at most.
const ALTERNATIVES: usize = 1000;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let loaded = match arguments.program.load(&arguments.file, shared, &limits) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match repair(arguments, shared, &loaded, &limits) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn repair(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    let options = FenceOptions {
        cost: arguments.cost_function(loaded)?,
        exchange: arguments.with.clone(),
        only: arguments.only.clone(),
        never: arguments.never.clone(),
        alternatives: if arguments.all { ALTERNATIVES } else { 0 },
        nets: arguments.nets,
        values: arguments.values,
        limits: limits.clone(),
        // The repaired text is checked below.
        confirm: false,
    };
    if arguments.apply && arguments.file == "-" {
        return Err(InputError::file("<stdin>", "standard input cannot be written back; leave `--apply` out"));
    }
    let progress = Progress::new(shared);
    let refused = |error| refused(&error, loaded);
    let mut repair = place(program, &options, &progress).map_err(refused)?;
    drop(progress);
    let measures: Vec<Measure> = match &repair {
        Repair::Valid(placement) => placement.measures.iter().map(|(measure, _)| *measure).collect(),
        _ => Vec::new(),
    };
    let changed = with_measures(program, &measures);
    let judge = || redundant_besides(program, &measures, &options, &Progress::new(shared)).map_err(refused);
    let redundancy = if arguments.redundant { Some(judge()?) } else { None };
    let mut repaired = None;
    let mut no_text = None;
    if !measures.is_empty() {
        match Repaired::new(loaded, &arguments.program, &measures, &arguments.repaired_path(loaded)) {
            Ok(text) => repaired = Some(text),
            Err(NoText::Refused(error)) => return Err(error),
            Err(NoText::Edit(error)) if arguments.apply || arguments.diff || arguments.certificate.is_some() => {
                return Err(InputError::file(arguments.file.as_str(), error.to_string()));
            }
            Err(NoText::Edit(error)) => no_text = Some(error.to_string()),
        }
    }
    let final_program = repaired.as_ref().map_or(&changed, |text| &text.loaded.program);
    let mut written = None;
    let mut certificates = Vec::new();
    let mut unreached = None;
    if let Repair::Valid(placement) = &mut repair {
        // A robust program is checked again only for its evidence.
        let checked = if measures.is_empty() && arguments.certificate.is_none() {
            None
        } else {
            let (values, limits) = (options.values, options.limits.clone());
            let options = CheckOptions { values, limits, ..CheckOptions::default() };
            let _progress = Progress::checking(shared);
            Some(check(final_program, &options).map_err(|fault| fault_error(final_program, &fault))?)
        };
        if let Some(checked) = &checked {
            assert_ne!(checked.verdict, Verdict::NotRobust, "a valid set makes the program robust [ESOP13, Theorem 7]");
            placement.confirmed = checked.verdict == Verdict::Robust;
            let evidence =
                evidence_check(final_program, checked).map(|check| check_within(&arguments.file, limits, check));
            if let Some(Err(_)) = evidence {
                placement.confirmed = false;
            }
            if let Some(Ok(Err(failure))) = evidence {
                remark(format!(
                    "Error: {}: the evidence for the repaired program is rejected: {failure}\n",
                    arguments.file
                ));
                return Ok(Exit::Rejected);
            }
        }
        unreached = match &checked {
            Some(checked) => checked.unreached.clone(),
            None => robustness::unreached(final_program, options.values, &options.limits)
                .map_err(|fault| fault_error(final_program, &fault))?,
        };
        if placement.confirmed {
            if let (Some(folder), Some(checked)) = (&arguments.certificate, &checked) {
                let text = repaired.as_ref().filter(|_| !arguments.apply);
                let subject = repaired.as_ref().map_or(loaded, |text| &text.loaded);
                certificates = write_certificate(folder, text, subject, checked)?;
            }
            if let (true, Some(text)) = (arguments.apply, &repaired) {
                replace(Path::new(&arguments.file), &program.source.text, text.text()).map_err(|error| {
                    InputError::file(arguments.file.as_str(), format!("cannot be written: {error}"))
                })?;
                written = Some(arguments.file.clone());
            }
        }
    }
    let context = Context {
        file: &arguments.file,
        program,
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    let diff = repaired.as_ref().map_or("", |text| &text.diff);
    let result = report::Result {
        repair: &repair,
        redundancy: redundancy.as_ref(),
        all: arguments.all,
        unreached: unreached.as_deref().map(|labels| (final_program, labels)),
        diff,
        no_diff: no_text.as_deref(),
        written: written.as_deref(),
    };
    if shared.json {
        print_document(&FencesDocument::new(&result, &context));
    } else if arguments.diff {
        print_text(diff);
        if !matches!(repair, Repair::Valid(_)) {
            remark(report::text(&result, &context, shared.verbose));
        }
    } else {
        print_text(report::text(&result, &context, shared.verbose));
    }
    Ok(match repair {
        // Asked to write, and not sure enough to.
        Repair::Valid(_) if arguments.apply && !measures.is_empty() && written.is_none() => Exit::Unknown,
        Repair::Valid(_) => Exit::Holds,
        Repair::Impossible(_) => Exit::Fails,
        Repair::Unknown { .. } => Exit::Unknown,
    })
}

/// Writes the evidence for the repaired program, and beside it the repaired text when that is not written elsewhere.
fn write_certificate(
    folder: &Path,
    text: Option<&Repaired>,
    subject: &Loaded,
    checked: &Check<'_>,
) -> Result<Vec<String>, InputError> {
    let path = subject.program.source.name.clone();
    let written = create_folder(folder)
        .and_then(|()| text.map_or(Ok(()), |text| write_file(&path, text.text())))
        .and_then(|()| write_evidence(folder, &path, subject, checked));
    match written {
        Ok(evidence) => Ok(evidence.into_iter().map(|path| path.display().to_string()).collect()),
        Err(error) => {
            let message = format!("the evidence cannot be written: {error}");
            Err(InputError::file(folder.display().to_string(), message))
        }
    }
}

impl FencesArguments {
    /// The name under which the repaired text is read again: where evidence about it will find it.
    fn repaired_path(&self, loaded: &Loaded) -> String {
        match &self.certificate {
            Some(folder) if !self.apply => {
                let extension = match loaded.format {
                    Format::Native => "pal",
                    Format::Trencher => "txt",
                    Format::Litmus => "litmus",
                };
                path_in(folder, &self.file, extension).display().to_string()
            }
            _ => loaded.program.source.name.clone(),
        }
    }

    fn cost_function(&self, loaded: &Loaded) -> Result<CostFunction, InputError> {
        Ok(match self.cost.as_deref() {
            None => CostFunction::Annotated,
            Some("uniform") => CostFunction::Uniform,
            Some("depth") => CostFunction::Depth,
            Some(path) => {
                let text = read_text(path)?;
                let profile = Profile::read(&text.text, &loaded.program)
                    .map_err(|error| InputError::file(path, error.to_string()))?;
                CostFunction::Profile(profile)
            }
        })
    }
}

fn parse_exchange(text: &str) -> Result<Cost, String> {
    match text.split_once('=') {
        None if text == "xchg" => Ok(Cost::one()),
        Some(("xchg", cost)) => cost.parse().map_err(|error: CostError| error.to_string()),
        _ => Err(format!("`{text}` is not known; say `xchg`, or `xchg=COST`")),
    }
}

fn refused(error: &FenceError, loaded: &Loaded) -> InputError {
    let name = loaded.program.source.name.clone();
    match error {
        FenceError::Fault(fault) => fault_error(&loaded.program, fault),
        FenceError::Cost(cost) => InputError::file(name, cost.to_string()).with_help_if(
            matches!(cost, CostError::Missing(_)).then(|| "add a line `thread,label,cost` for it".into()),
        ),
        FenceError::Pattern(pattern) => InputError::file(name, pattern.to_string())
            .with_help_if(Some("patterns are `thread.label` with `*` and `?`".into())),
    }
}
