//! `palisade check --model pso`: is the program robust against PSO?

use super::answered::{spoken, write};
use super::arguments::{CheckArguments, Criterion};
use crate::cli::batch::{Extent, Spoken};
use crate::cli::confirm::{Confirmation, pso_check};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::program::Program;
use crate::report::context::{Context, pso_fault_error};
use crate::report::documents::{self, PsoCheckDocument};
use crate::report::findings::pso_findings;
use crate::report::page::pso_page;
use crate::report::pso as report;
use crate::robustness::{PsoCheck, Verdict, check_pso, not_for_pso, witness_evidence};
use crate::syntax::{Diagnostic, Format, InputError};
use std::time::Instant;

/// Refuses what the other options ask for and a check against PSO does not know.
pub(super) fn only_about_pso(arguments: &CheckArguments) -> Result<(), InputError> {
    let asked = [
        (arguments.nets, "--nets"),
        (arguments.one_query, "--one-query"),
        (arguments.all, "--all"),
        (arguments.attacks.is_some(), "--attacks"),
        (arguments.no_prune, "--no-prune"),
        (arguments.no_counters, "--no-counters"),
        (arguments.against.is_some(), "--against"),
        (arguments.method.is_some(), "--method"),
        (arguments.criterion == Criterion::Trf, "--criterion trf"),
    ];
    let Some((_, option)) = asked.iter().find(|(is_asked, _)| *is_asked) else { return Ok(()) };
    let message =
        "a check against PSO is one exploration of all delayed stores, of threads, without attacks, nets and counters";
    Err(InputError::file("--model pso", message).with_help_if(Some(format!("leave `{option}` out"))))
}

/// Refuses programs for which one delayed store need not show a violation.
pub(in crate::cli) fn admit(program: &Program) -> Result<(), InputError> {
    let Some(reason) = not_for_pso(program) else { return Ok(()) };
    let span = reason.instruction().map(|(thread, instruction)| program.thread(thread).instruction(instruction).span);
    let span = span.or(program.threads.first().map(|thread| thread.span)).unwrap_or_default();
    let diagnostic = Diagnostic::error(reason.describe(), span);
    let diagnostic = match reason.advice() {
        Some(advice) => diagnostic.with_help(advice),
        None => diagnostic,
    };
    Err(InputError::from((program.source.clone(), vec![diagnostic])))
}

/// Answers about one program.
pub(super) fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    extent: Extent,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = arguments.program.read_any_within(file, &limits)?;
    if loaded.format == Format::Machine {
        return Err(InputError::file(file, "machine code is that of x86, which has no PSO"));
    }
    admit(&loaded.program)?;
    let checked = check_pso(&loaded.program, arguments.values, &limits);
    let mut checked = checked.map_err(|fault| pso_fault_error(&loaded.program, &fault))?;
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || pso_check(&loaded.program, &checked));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked = PsoCheck { verdict: Verdict::Unknown(reason), certificate: None, violation: None, ..checked };
    }
    let certificates = write(arguments, file, evidence(&loaded, &checked))?;
    let context = loaded.context(file, begin, &certificates);
    let document = || document(&checked, &context, confirmation.as_ref());
    let report = || {
        if extent.brief { report::line(&checked, &context) } else { report::text(&checked, &context, shared.verbose) }
    };
    let exit = Exit::from(&checked.verdict);
    let text = || documents::text(&document());
    let mut spoken = spoken(&loaded, file, exit, confirmation.as_ref(), shared, text, report);
    if arguments.outputs.are_any() {
        let mut answer = pso_findings(&checked, &context);
        if arguments.outputs.asks_for_a_page() {
            answer.page = Some(pso_page(&document(), &checked, &context));
        }
        spoken.add_answer(answer);
    }
    Ok(spoken)
}

fn document<'a>(
    checked: &'a PsoCheck,
    context: &Context<'a>,
    confirmation: Option<&Confirmation>,
) -> PsoCheckDocument<'a> {
    let mut document = PsoCheckDocument::new(checked, context);
    document.evidence = confirmation.map(Confirmation::document);
    document
}

/// The evidence of a verdict, with a word for its file.
fn evidence(loaded: &Loaded, checked: &PsoCheck) -> Option<(Evidence, &'static str)> {
    if let Some(certificate) = &checked.certificate {
        return Some((Evidence::PsoRobust(loaded.subject(), certificate.clone()), "pso-robust"));
    }
    let witness = witness_evidence(checked.violation.as_ref()?);
    Some((Evidence::NotPsoRobust(loaded.subject(), witness), "pso-violation"))
}
