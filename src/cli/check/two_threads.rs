//! `palisade check --method two-threads`: the method of [NETYS18, Theorem 2], to compare.
//!
//! DIVERGENCE [NETYS18, Theorem 2]: the theorem is wrong in both directions, so that what is found here is said of 2-threads(P) and not of P.

use super::arguments::{Against, CheckArguments};
use crate::cli::batch::Spoken;
use crate::cli::confirm::{Confirmation, tasks_check};
use crate::cli::convert::not_rewritten;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::report::context::fault_error;
use crate::report::scene::Scene;
use crate::report::tso::{Computation, instance_words};
use crate::robustness::{Verdict, check_tasks, two_threads};
use crate::syntax::InputError;
use std::fmt::Write;

/// Asks 2-threads(P) whether it is robust against TSO.
pub(super) fn check_two_threads(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
) -> Result<Spoken, InputError> {
    let (program, limits) = (&loaded.program, shared.limits());
    let refuse = |message: &str, help: &str| {
        Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help.to_owned())))
    };
    if !program.is_event_driven() {
        return refuse("`--method two-threads` is about events, and the program has none", "leave it out");
    }
    if shared.json || arguments.certificate.is_some() || arguments.against == Some(Against::Concurrency) {
        let message =
            "`--method two-threads` compares another program against TSO, and has neither document nor evidence";
        return refuse(
            message,
            "leave `--json`, `--certificate` and `--against concurrency` out, or convert with `--to two-threads` and check that",
        );
    }
    let two = two_threads(program).map_err(|error| not_rewritten(program, "two-threads", &error))?;
    let checked = check_tasks(&two, arguments.values, &limits).map_err(|fault| fault_error(&two, &fault))?;
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || tasks_check(&two, &checked));
    let mut remarks = loaded.warnings_text(shared);
    let mut exit = Exit::from(&checked.verdict);
    if let Some(confirmation) = &confirmation {
        confirmation.say_if_rejected(file, &mut exit, &mut remarks);
    }
    let words = match &checked.verdict {
        Verdict::Robust => "2-threads(P) is robust against TSO".to_owned(),
        Verdict::NotRobust => "2-threads(P) is not robust against TSO".to_owned(),
        Verdict::Unknown(reason) => format!("2-threads(P) is not decided: {reason}"),
    };
    let mut report = format!("{file}: {words}\n  events   {}\n", instance_words(program));
    let _ = writeln!(report, "  so       nothing: this is no verdict on the program, as the theorem behind it errs");
    let computation = checked.witness.as_ref().and_then(|witness| Computation::of(&two, witness));
    if let Some(computation) = computation {
        report.push_str(&Scene::of_computation(&computation).text());
    }
    Ok(Spoken::new(exit, report, remarks))
}
