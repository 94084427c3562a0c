//! `palisade fences --ask properties`: the cheapest fences with which a program keeps its
//! properties.

use super::arguments::{ALTERNATIVES, FencesArguments};
use super::changes::{Wanted, changes_of_text};
use super::checks::{Guarded, alarm};
use super::repaired::{Proofs, write_back, write_proofs};
use super::robustness;
use crate::cli::asked::question;
use crate::cli::outcome::Outcome;
use crate::cli::output::remark;
use crate::cli::outputs::OutputOptions;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::fences::Measure;
use crate::limits::Limits;
use crate::program::{NoMonitor, Program};
use crate::properties::placement::{
    Placed, PlacementError, PlacementOptions, PropertyRepairError, PropertyRepaired, repair,
};
use crate::properties::{Proof, targets};
use crate::report::context::Context;
use crate::report::documents::FencesDocument;
use crate::report::findings::property_fence_findings;
use crate::report::page::property_fences_page;
use crate::report::property_fences as report;
use crate::semantics::{Model, Target};
use crate::syntax::{Diagnostic, InputError, render, store_fence_without_effect};
use std::time::Instant;

/// Answers `palisade fences --ask properties`: the exit status, and what was found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    let options = placement_options(arguments, loaded, limits)?;
    let mut warnings = loaded.warnings.clone();
    if let Some(warning) = store_fence_without_effect(program, options.model) {
        if !shared.json && !shared.quiet {
            remark(render(&warning, &program.source, shared.colours_stderr()));
        }
        warnings.push(warning);
    }
    let (wanted, guarded) = (arguments.repair_options(loaded), Guarded { file: &arguments.file });
    let found = match repair(program, loaded.question.as_ref(), &options, &wanted, &guarded) {
        Ok(found) => found,
        Err(PropertyRepairError::Placement(error)) => return Err(refused(&error, loaded)),
        Err(error @ (PropertyRepairError::Rejected(_) | PropertyRepairError::Broken(_))) => {
            return Ok(Outcome::rejected(alarm(&arguments.file, &error.to_string())));
        }
    };
    let measures: Vec<Measure> = match &found.placed {
        Placed::Valid(placement) => placement.measures.iter().map(|(measure, _)| *measure).collect(),
        Placed::NoFenceHelps(_) | Placed::Impossible(_) => Vec::new(),
    };
    let (proposal, no_text) = changes_of_text(&Wanted::of(arguments), loaded, &measures, found.text.as_ref())?;
    let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found))?,
        None => Vec::new(),
    };
    let written = write_back(&arguments.file, loaded, text.filter(|_| arguments.apply && found.is_complete))?;
    let context = Context { warnings: &warnings, ..loaded.context(&arguments.file, begin, &certificates) };
    let result = report::Result {
        found: &found,
        model: options.model,
        all: arguments.all,
        diff: proposal.as_ref().map_or(text.map_or("", |text| &text.diff), |proposal| &proposal.diff),
        is_proposed: proposal.is_some(),
        no_diff: no_text.as_deref(),
        written,
    };
    let exit = match &found.placed {
        // Asked to write, and not sure enough to.
        Placed::Valid(placement) if arguments.apply && !placement.measures.is_empty() && written.is_none() => {
            Exit::Unknown
        }
        Placed::Valid(placement) if placement.open.is_none() => Exit::Holds,
        Placed::Valid(_) => Exit::Unknown,
        Placed::NoFenceHelps(_) | Placed::Impossible(_) => Exit::Fails,
    };
    let find = || property_fence_findings(&result, &context, loaded.format);
    let page = || {
        property_fences_page(
            &FencesDocument::for_properties(&result, &context),
            &result,
            &context,
            &question(&arguments.file),
        )
    };
    let document = || FencesDocument::for_properties(&result, &context);
    let report =
        || if arguments.diff { result.diff.to_owned() } else { report::text(&result, &context, shared.verbose) };
    let mut outcome = Outcome::new(exit, shared, document, report);
    let is_whole = matches!(&found.placed, Placed::Valid(placement) if placement.open.is_none());
    if arguments.diff && !shared.json && !is_whole {
        outcome.spoken.remarks = report::text(&result, &context, shared.verbose);
    }
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    outcome.text = text.filter(|_| found.is_complete).map(|text| text.text().to_owned());
    outcome.proposal = proposal;
    Ok(outcome)
}

/// The evidence for a placement.
fn proofs<'a>(loaded: &Loaded, found: &'a PropertyRepaired) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    let about = |evidence| Evidence::Property(loaded.subject_of(&found.program), evidence);
    let evidence = found.proof.as_ref().and_then(Proof::evidence).map(about);
    match &found.text {
        Some(Ok(text)) => proofs.text = evidence.map(|evidence| (text, evidence)),
        Some(Err(_)) => {}
        None => proofs.unchanged = evidence,
    }
    if let Placed::NoFenceHelps(violation) = &found.placed {
        let subject = loaded.subject_of(&found.watched);
        proofs.unchanged = Some(Evidence::PropertyWitness(subject, violation.witness()));
    }
    // A program that keeps its properties as it is needs no more than the proof for it.
    let is_kept = matches!(&found.placed, Placed::Valid(placement) if placement.rows.is_empty());
    let shown = found.shown.as_ref().filter(|_| !is_kept);
    proofs.repairs.extend(shown.map(|shown| ("property-repair", &shown.evidence)));
    let judged = found.needed_shown.as_ref().filter(|shown| !shown.evidence.measures.is_empty());
    proofs.repairs.extend(judged.map(|shown| ("property-redundant", &shown.evidence)));
    proofs
}

/// The model that is asked about, for a program that has something to prove under it.
pub(super) fn model_to_ask(arguments: &FencesArguments, loaded: &Loaded) -> Result<Model, InputError> {
    let Loaded { program, question, .. } = loaded;
    let name = program.source.name.clone();
    let model = model_with_buffers(arguments, &name)?;
    let program = &monitored(program)?;
    let asked = targets(program, question.as_ref());
    if asked.is_empty() {
        let message = "nothing to prove: the program has no `ensure`, no `fail`, no `never` and no question";
        let help = "`palisade fences` without `--ask properties` makes it robust".to_owned();
        return Err(InputError::file(name, message).with_help_if(Some(help)));
    }
    if asked.contains(&Target::FinalStates) && program.is_parameterized() {
        let help = "fix their number: `--threads all=2`".to_owned();
        return Err(InputError::file(name, "final states need fixed copies").with_help_if(Some(help)));
    }
    Ok(model)
}

/// The model that is asked about.
pub(super) fn model_with_buffers(arguments: &FencesArguments, name: &str) -> Result<Model, InputError> {
    let model = arguments.model().unwrap_or(Model::Tso);
    if model.has_buffers() {
        return Ok(model);
    }
    let help = "say `--model tso` or `--model pso`".to_owned();
    let message = "under SC there is nothing to order, and no fence changes anything";
    Err(InputError::file(name, message).with_help_if(Some(help)))
}

/// What to place, and how.
pub(in crate::cli) fn placement_options(
    arguments: &FencesArguments,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<PlacementOptions, InputError> {
    options_under(model_to_ask(arguments, loaded)?, arguments, loaded, limits)
}

/// What to place under a model, and how.
pub(super) fn options_under(
    model: Model,
    arguments: &FencesArguments,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<PlacementOptions, InputError> {
    let defaults = PlacementOptions::new(model);
    let kinds = arguments.kind_costs(&loaded.program.source.name)?;
    Ok(PlacementOptions {
        cost: arguments.cost_function(loaded)?,
        fence: kinds.fence.unwrap_or(defaults.fence),
        store_fence: kinds.store_fence.unwrap_or(defaults.store_fence),
        exchange: arguments.with.clone(),
        only: arguments.only.clone(),
        never: arguments.never.clone(),
        alternatives: if arguments.all { ALTERNATIVES } else { 0 },
        values: loaded.values(arguments.values),
        slice: !arguments.no_slice,
        limits: limits.clone(),
        ..PlacementOptions::new(model)
    })
}

fn refused(error: &PlacementError, loaded: &Loaded) -> InputError {
    match error {
        PlacementError::Input(error) => robustness::refused(error, loaded),
        error @ (PlacementError::Joint(_) | PlacementError::NothingToProve | PlacementError::NothingToOrder) => {
            InputError::file(loaded.program.source.name.clone(), error.to_string())
        }
    }
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
