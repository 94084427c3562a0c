//! `palisade check --against tso` of a program with events or tasks.

use super::answered::{Answered, write};
use super::arguments::CheckArguments;
use crate::cli::confirm::{Confirmation, tasks_check};
use crate::cli::queue::put_tasks_in_order;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::report::context::fault_error;
use crate::robustness::{TaskCheck, Verdict, check_tasks};
use crate::syntax::InputError;
use std::time::Instant;

/// Checks a program with events or tasks against TSO.
pub(super) fn against_tso(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
) -> Result<Answered<TaskCheck>, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let checked = check_tasks(&loaded.program, arguments.values, &limits);
    let mut checked = checked.map_err(|fault| fault_error(&loaded.program, &fault))?;
    put_tasks_in_order(&mut checked, &loaded.program, arguments.queue, &limits);
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || tasks_check(&loaded.program, &checked));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked = TaskCheck { verdict: Verdict::Unknown(reason), certificate: None, witness: None, ..checked };
    }
    let exit = Exit::from(&checked.verdict);
    let certificates = write(arguments, file, evidence(loaded, &checked))?;
    Ok(Answered { checked, exit, confirmation, certificates, seconds: begin.elapsed().as_secs_f64() })
}

/// The evidence of a verdict, with a word for its file.
fn evidence(loaded: &Loaded, checked: &TaskCheck) -> Option<(Evidence, &'static str)> {
    if let Some(certificate) = &checked.certificate {
        return Some((Evidence::TsoRobust(loaded.subject(), certificate.clone()), "tso-robust"));
    }
    let witness = checked.witness.clone()?;
    Some((Evidence::NotTsoRobust(loaded.subject(), witness), "tso-violation"))
}
