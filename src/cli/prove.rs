//! `palisade prove`: do the properties of a program hold?

use super::batch::{Batch, Extent, Spoken, answer_all};
use super::confirm::{Confirmation, proof_check};
use super::evidence_files::{unwritten, write_document};
use super::outputs::OutputOptions;
use super::queued::queued;
use super::simulate::{ModelChoice, capacity};
use super::{Exit, Loaded, ProgramOptions, SharedOptions};
use crate::evidence::{Evidence, ProgramSubject};
use crate::limits::Limits;
use crate::program::{NoMonitor, Posts, Program};
use crate::properties::{DEFAULT_BUFFER, Proof, ProveOptions, Rung, carry_over, prove, targets};
use crate::report::context::fault_error;
use crate::report::documents::{self, ProveDocument};
use crate::report::findings::proof_findings;
use crate::report::page::prove_page;
use crate::report::prove::{Context, PropertyVerdict, line, text};
use crate::semantics::{Model, Question, Target};
use crate::syntax::{Diagnostic, InputError, did_you_mean_or_list, store_fence_without_effect};
use clap::{Args, ValueEnum};
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
    /// Loads that lag behind on snapshots of memory, for proofs under TSO where buffers grow without end.
    Snapshots,
    /// A robust program in which threads keep the stores themselves that some loads overtake, for proofs under TSO.
    Enriched,
    /// The interleavings up to what is known of counters, for proofs about integers and large domains.
    Counters,
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
    #[command(flatten)]
    outputs: OutputOptions,
    /// The memory model.
    #[arg(long, value_enum, default_value_t)]
    model: ModelChoice,
    /// Only the properties at these labels: `LABEL`, or `THREAD.LABEL`.
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    only: Vec<String>,
    /// Ask this rung alone, instead of all in turn.
    #[arg(long, value_enum, value_name = "RUNG")]
    by: Option<RungChoice>,
    /// Stores in a buffer before the rung `buffers` gives up, or kept by a thread before `enriched` does, and snapshots in a queue before
    /// `snapshots` does.
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

/// Runs `palisade prove`.
pub(super) fn run(arguments: &ProveArguments, shared: &SharedOptions) -> Exit {
    let answer = |file: &str, extent: Extent| {
        prove_file(arguments, shared, file, extent.brief).unwrap_or_else(|error| Spoken::refused(file, &error, shared))
    };
    let batch = Batch {
        command: "prove",
        files: &arguments.files,
        from: arguments.program.from,
        words: ("hold", "violated"),
        outputs: &arguments.outputs,
    };
    answer_all(&batch, shared, answer)
}

fn prove_file(
    arguments: &ProveArguments,
    shared: &SharedOptions,
    file: &str,
    brief: bool,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let mut loaded = arguments.program.read_any_within(file, &limits)?;
    let model: Model = arguments.model.into();
    let queued = queued(&loaded, model)?;
    if model.has_buffers() && arguments.certificate.is_some() {
        loaded.posts_as_in_text()?;
    }
    let watched = match &queued {
        Some(queued) => queued.program.clone(),
        None => monitored(&loaded.program)?,
    };
    let written = std::mem::replace(&mut loaded.program, watched);
    if model != Model::Pso {
        loaded.warnings.extend(store_fence_without_effect(&loaded.program, model));
    }
    let options = ProveOptions {
        by: arguments.by.map(|by| match by {
            RungChoice::Values => Rung::Values,
            RungChoice::Sc => Rung::Sc,
            RungChoice::ScRobust => Rung::ScRobust,
            RungChoice::Buffers => Rung::Buffers,
            RungChoice::Snapshots => Rung::Snapshots,
            RungChoice::Enriched => Rung::Enriched,
            RungChoice::Counters => Rung::Counters,
        }),
        only: asked_targets(&loaded, &arguments.only)?,
        buffer: arguments.buffer,
        values: arguments.values,
        slice: !arguments.no_slice,
        limits: limits.clone(),
        ..ProveOptions::new(model)
    };
    let question = loaded.question.as_ref();
    let mut proof = prove(&loaded.program, question, &options).map_err(|fault| fault_error(&loaded.program, &fault))?;
    if queued.is_some() && model == Model::Tso && written.posts == Posts::Plain {
        carry_over(&mut proof, &written, &options).map_err(|fault| fault_error(&written, &fault))?;
    }
    let asked = if queued.is_some() { &written } else { &loaded.program };
    let confirmation = confirmation(file, arguments.verify, &limits, (asked, question), &mut proof);
    let certificates = match &arguments.certificate {
        Some(folder) => write_evidence(folder, file, &loaded.subject(), &proof)?,
        None => Vec::new(),
    };
    let context = Context {
        file,
        program: &loaded.program,
        written: &written,
        queued: queued.as_ref(),
        question,
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    let mut spoken = spoken(&loaded, &proof, &context, confirmation.as_ref(), shared, brief);
    if arguments.outputs.are_any() {
        let mut answer = proof_findings(&proof, &context);
        if arguments.outputs.asks_for_a_page() {
            let mut document = ProveDocument::new(&proof, &context);
            document.evidence = confirmation.as_ref().map(Confirmation::document);
            answer.page = Some(prove_page(&document, &proof, &context));
        }
        spoken.add_answer(answer);
    }
    Ok(spoken)
}

/// Checks the evidence of a proof where that is asked for, or always in debug builds. Answers whose evidence was not checked to the end
/// are taken back.
pub(super) fn confirmation(
    file: &str,
    asked: bool,
    limits: &Limits,
    (program, question): (&Program, Option<&Question>),
    proof: &mut Proof,
) -> Option<Confirmation> {
    let confirmation = Confirmation::of(file, asked, limits, || proof_check(program, question, proof));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        proof.forget_answers(reason);
    }
    confirmation
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
    if let Some(confirmation) = confirmation {
        confirmation.say_if_rejected(context.file, &mut exit, &mut remarks);
    }
    if shared.json {
        let mut document = ProveDocument::new(proof, context);
        document.evidence = confirmation.map(Confirmation::document);
        return Spoken::new(exit, String::new(), remarks).with_document(documents::text(&document));
    }
    let report = if brief { line(proof, context) } else { text(proof, context, shared.verbose) };
    Spoken::new(exit, report, remarks)
}

/// Writes the proofs, and a computation for each target that is reached, into the folder; their paths.
pub(super) fn write_evidence(
    folder: &Path,
    file: &str,
    subject: &ProgramSubject,
    proof: &Proof,
) -> Result<Vec<String>, InputError> {
    let proofs =
        proof.evidence().map(|evidence| ("property".to_owned(), Evidence::Property(subject.clone(), evidence)));
    let violations = proof.violations().zip(1..).map(|(violation, number)| {
        let evidence = Evidence::PropertyWitness(subject.clone(), violation.witness());
        (format!("property-witness-{number}"), evidence)
    });
    proofs
        .into_iter()
        .chain(violations)
        .map(|(suffix, evidence)| write_document(folder, file, &suffix, &evidence))
        .map(|path| path.map(|path| path.display().to_string()).map_err(|error| unwritten(folder, &error)))
        .collect()
}

/// The program with a thread for each joint control state, which ensures that it is not reached.
pub(super) fn monitored(program: &Program) -> Result<Program, InputError> {
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
    vec![label.to_string(), format!("{}.{label}", thread.name)]
}
