//! `palisade prove`: do the properties of a program hold?

use super::batch::Inputs;
use super::check::write_document;
use super::confirm::{Confirmation, proof_check};
use super::load::exit_of;
use super::output::{Documents, print_text, remark};
use super::simulate::{ModelChoice, capacity};
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::program::{NoMonitor, Program};
use crate::properties::{DEFAULT_BUFFER, Proof, ProveOptions, Rung, prove, targets};
use crate::report::check::fault_error;
use crate::report::counted;
use crate::report::documents::{self, ProveDocument};
use crate::report::prove::{Context, PropertyVerdict, line, text};
use crate::semantics::{Model, Target};
use crate::syntax::{Diagnostic, InputError, did_you_mean_or_list, store_fence_without_effect};
use clap::{Args, ValueEnum};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The rungs to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RungChoice {
    /// Sets of values, in any order of steps.
    Values,
    /// The interleavings: the answer under SC, and what is violated there.
    Sc,
    /// Robustness of what matters for a property: then it is enough to look at the interleavings.
    ScRobust,
    /// Bounded store buffers, until they turn out large enough.
    Buffers,
}

/// Options of `palisade prove`.
///
/// Says of each `ensure`, each `fail` and the question of a litmus test whether it holds, for unbounded store buffers and all
/// copies asked for, and shows a computation where it does not.
#[derive(Clone, Debug, Args)]
pub(super) struct ProveArguments {
    /// The programs; `-` is standard input, a folder stands for the .pal and .litmus files in it (or those of --from),
    /// `@LIST` for the paths on the lines of a file. Many programs get one line each; `-v` shows everything.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    program: ProgramOptions,
    /// The memory model.
    #[arg(long, value_enum, default_value_t)]
    model: ModelChoice,
    /// Only the properties at these labels: `LABEL`, or `THREAD.LABEL`.
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    only: Vec<String>,
    /// Ask this rung alone, instead of all in turn.
    #[arg(long, value_enum, value_name = "RUNG")]
    by: Option<RungChoice>,
    /// Stores in a buffer before the rung `buffers` gives up.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BUFFER, value_parser = capacity)]
    buffer: usize,
    /// Do not leave out what does not matter for a property.
    #[arg(long)]
    no_slice: bool,
    /// Write the evidence of every answer into this folder, for `palisade verify`.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Check the evidence of every answer before reporting it, as `palisade verify` does.
    #[arg(long)]
    verify: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// With more programs than this, each gets one line unless the user wants more.
const MOST_FULL_REPORTS: usize = 8;

/// What is to be said about one program.
struct Spoken {
    exit: Exit,
    /// For standard output.
    report: String,
    /// For standard error.
    remarks: String,
    /// For `--json`, the text of the document.
    document: Option<String>,
}

/// Runs `palisade prove`.
pub(super) fn run(arguments: &ProveArguments, shared: &SharedOptions) -> Exit {
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
        |file| prove_file(arguments, shared, file, brief),
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
    let mut parts = vec![format!("{} hold", count(Exit::Holds)), format!("{} violated", count(Exit::Fails))];
    for (exit, word) in [(Exit::Unknown, "unknown"), (Exit::BadInput, "refused")] {
        if count(exit) > 0 {
            parts.push(format!("{} {word}", count(exit)));
        }
    }
    format!("{}: {}\n", counted(exits.len(), "program"), parts.join(", "))
}

fn prove_file(arguments: &ProveArguments, shared: &SharedOptions, file: &str, brief: bool) -> Spoken {
    let begin = Instant::now();
    let limits = shared.limits();
    let mut loaded = match arguments.program.read_within(file, &limits) {
        Ok(loaded) => loaded,
        Err(error) => return refused(&error, shared),
    };
    match monitored(&loaded.program) {
        Ok(program) => loaded.program = program,
        Err(error) => return refused(&error, shared),
    }
    let only = match asked_targets(&loaded, &arguments.only) {
        Ok(only) => only,
        Err(error) => return refused(&error, shared),
    };
    let model: Model = arguments.model.into();
    if model != Model::Pso {
        loaded.warnings.extend(store_fence_without_effect(&loaded.program, model));
    }
    let options = ProveOptions {
        by: arguments.by.map(|by| match by {
            RungChoice::Values => Rung::Values,
            RungChoice::Sc => Rung::Sc,
            RungChoice::ScRobust => Rung::ScRobust,
            RungChoice::Buffers => Rung::Buffers,
        }),
        only,
        buffer: arguments.buffer,
        values: arguments.values,
        slice: !arguments.no_slice,
        limits: limits.clone(),
        ..ProveOptions::new(model)
    };
    let mut proof = match prove(&loaded.program, loaded.question.as_ref(), &options) {
        Ok(proof) => proof,
        Err(fault) => return refused(&fault_error(&loaded.program, &fault), shared),
    };
    let question = loaded.question.as_ref();
    let check = || proof_check(&loaded.program, question, &proof);
    let confirmation = Confirmation::of(file, arguments.verify, &limits, check);
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        proof.forget_answers(reason);
    }
    let mut certificates = Vec::new();
    if let Some(folder) = &arguments.certificate {
        match write_evidence(folder, file, &loaded, &proof) {
            Ok(paths) => certificates.extend(paths.iter().map(|path| path.display().to_string())),
            Err(error) => {
                let message = format!("the evidence cannot be written: {error}");
                return refused(&InputError::file(folder.display().to_string(), message), shared);
            }
        }
    }
    let context = Context {
        file,
        program: &loaded.program,
        question,
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    spoken(&loaded, &proof, &context, confirmation.as_ref(), shared, brief)
}

fn spoken(
    loaded: &Loaded,
    proof: &Proof,
    context: &Context<'_>,
    confirmation: Option<&Confirmation>,
    shared: &SharedOptions,
    brief: bool,
) -> Spoken {
    let mut exit = match PropertyVerdict::of_all(proof, context.question) {
        PropertyVerdict::Holds => Exit::Holds,
        PropertyVerdict::Violated => Exit::Fails,
        PropertyVerdict::Unknown => Exit::Unknown,
    };
    let mut remarks = loaded.warnings_text(shared);
    if let Some(alarm) = confirmation.and_then(|confirmation| confirmation.alarm(context.file)) {
        remarks.push_str(&alarm);
        exit = Exit::Rejected;
    }
    if shared.json {
        let mut document = ProveDocument::new(proof, context);
        document.evidence = confirmation.map(Confirmation::document);
        return Spoken { exit, report: String::new(), remarks, document: Some(documents::text(&document)) };
    }
    let report = if brief { line(proof, context) } else { text(proof, context, shared.verbose) };
    Spoken { exit, report, remarks, document: None }
}

/// Writes the proofs, and a computation for each target that is reached, into the folder; their paths.
fn write_evidence(folder: &Path, file: &str, loaded: &Loaded, proof: &Proof) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    if let Some(evidence) = proof.evidence() {
        let evidence = Evidence::Property(loaded.subject(), evidence);
        paths.push(write_document(folder, file, "property", &evidence)?);
    }
    for (number, violation) in proof.violations().enumerate() {
        let evidence = Evidence::PropertyWitness(loaded.subject(), violation.witness());
        paths.push(write_document(folder, file, &format!("property-witness-{}", number + 1), &evidence)?);
    }
    Ok(paths)
}

/// The program with a thread for each joint control state, which ensures that it is not reached.
fn monitored(program: &Program) -> Result<Program, InputError> {
    program.monitored().map_err(|error| {
        let span = match error {
            NoMonitor::HoldsLock { span } => span,
            NoMonitor::OnlyZero => program.never[0].span,
        };
        let help = "`palisade simulate` looks at all states of fixed copies";
        let error = Diagnostic::error(format!("this cannot be asked: {error}"), span).with_help(help);
        InputError::from((program.source.clone(), vec![error]))
    })
}

/// The targets to ask about: those of the program, at the labels that were named.
fn asked_targets(loaded: &Loaded, only: &[String]) -> Result<Vec<Target>, InputError> {
    let Loaded { program, question, .. } = loaded;
    let all = targets(program, question.as_ref());
    let name = program.source.name.clone();
    if all.is_empty() {
        let message = "nothing to prove: the program has no `ensure`, no `fail`, no `never` and no question";
        let help = "`palisade check` decides whether it is robust, `palisade fences` makes it so".to_owned();
        return Err(InputError::file(name, message).with_help_if(Some(help)));
    }
    if all.contains(&Target::FinalStates) && program.is_parameterized() {
        let help = "fix their number: `--threads all=2`".to_owned();
        return Err(InputError::file(name, "final states need fixed copies").with_help_if(Some(help)));
    }
    let mut asked = Vec::new();
    for label in only {
        let found: Vec<Target> =
            all.iter().copied().filter(|target| names_of(program, *target).contains(label)).collect();
        if found.is_empty() {
            let names: Vec<String> = all.iter().flat_map(|target| names_of(program, *target)).collect();
            let message = format!("no property stands at a label `{label}`");
            let help = did_you_mean_or_list(label, "label", names.iter().map(String::as_str));
            return Err(InputError::file(name, message).with_help_if(help));
        }
        asked.extend(found.into_iter().filter(|target| !asked.contains(target)).collect::<Vec<_>>());
    }
    Ok(if only.is_empty() { all } else { asked })
}

/// The names under which a property can be asked for.
fn names_of(program: &Program, target: Target) -> Vec<String> {
    let Target::Instruction { thread, instruction } = target else { return Vec::new() };
    let thread = program.thread(thread);
    let label = &thread.label(thread.instruction(instruction).source).name;
    vec![label.clone(), format!("{}.{label}", thread.name)]
}

fn refused(error: &InputError, shared: &SharedOptions) -> Spoken {
    let exit = exit_of(error);
    if shared.json {
        let document = Some(documents::refusal(error));
        return Spoken { exit, report: String::new(), remarks: String::new(), document };
    }
    if let InputError::Stopped { .. } = error {
        return Spoken { exit, report: error.render(false), remarks: String::new(), document: None };
    }
    Spoken { exit, report: String::new(), remarks: error.render(shared.colours_stderr()), document: None }
}
