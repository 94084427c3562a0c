//! Whether a verdict on machine code holds of every compilation of its sources.

use super::{CheckArguments, check_options, write_evidence};
use crate::cli::Loaded;
use crate::cli::confirm::{Confirmation, evidence_check};
use crate::cli::evidence_files::unwritten;
use crate::cli::load::unoptimised;
use crate::compilations::every_compilation;
use crate::program::Program;
use crate::report::claim::Compilations;
use crate::report::context::place;
use crate::robustness::{Check, CheckOptions, Verdict, certificate, check};
use crate::syntax::{Format, InputError};
use crate::verify::check_every_compilation;

/// What is to be said of every compilation: of code that is robust and in source order itself, or whose roles name such a build. Evidence
/// about that build is written beside that about the code, and is checked; the second result says loudly that it is rejected.
pub(super) fn of(
    arguments: &CheckArguments,
    file: &str,
    loaded: &Loaded,
    checked: &Check<'_>,
    options: &CheckOptions,
    certificates: &mut Vec<String>,
) -> Result<(Option<Compilations>, Option<String>), InputError> {
    if loaded.format != Format::Machine || checked.verdict != Verdict::Robust || arguments.attacks.is_some() {
        return Ok((None, None));
    }
    if let Some(judged) = judged(&loaded.program, checked) {
        return Ok((Some(judged), None));
    }
    let Some(path) = unoptimised(file)? else { return Ok((None, None)) };
    let not = |reason: String| Ok((Some(Compilations::NotEvery { place: None, reason }), None));
    let other = match arguments.program.read_any_within(&path, &options.limits) {
        Ok(other) => other,
        Err(error) => return not(format!("the build without optimisation: {}", first_line(&error))),
    };
    if roles(&other.program) != roles(&loaded.program) {
        return not(format!("`{path}` has other roles"));
    }
    let checked = match check(&other.program, &check_options(arguments, &options.limits)) {
        Ok(checked) => checked,
        Err(fault) => return not(format!("the build without optimisation: {}", fault.describe(&other.program))),
    };
    match (&checked.verdict, &checked.violation) {
        (Verdict::Robust, _) => {}
        (Verdict::NotRobust, Some(found)) => {
            let [store, load] = [found.attack.store, found.attack.load];
            let at = |instruction| place(&other.program, found.attack.thread, instruction);
            let (store, load) = (at(store), at(load));
            return not(format!(
                "the build without optimisation is not robust, the store at {store} past the load at {load}"
            ));
        }
        (Verdict::NotRobust, None) => return not("the build without optimisation is not robust".to_owned()),
        (Verdict::Unknown(reason), _) => {
            return not(format!("of the build without optimisation nothing is known: {reason}"));
        }
    }
    let evidence = || evidence_check(&other.program, &checked);
    let Some(confirmation) = Confirmation::of(&path, true, &options.limits, evidence) else {
        return not("there is no evidence that the build without optimisation is robust".to_owned());
    };
    if let Some(reason) = confirmation.stopped() {
        return not(format!("{reason} before the evidence for the build without optimisation was checked"));
    }
    if let Some(alarm) = confirmation.alarm(&path) {
        let reason = "the evidence for the build without optimisation is rejected".to_owned();
        return Ok((Some(Compilations::NotEvery { place: None, reason }), Some(alarm)));
    }
    if let Some(folder) = &arguments.certificate {
        let written = write_evidence(folder, &path, &other, &checked).map_err(|error| unwritten(folder, &error))?;
        certificates.extend(written.map(|path| path.display().to_string()));
    }
    let in_order =
        || Compilations::NotEvery { place: None, reason: format!("`{path}` does not say `source_order = true`") };
    Ok((Some(judged(&other.program, &checked).unwrap_or_else(in_order)), None))
}

/// What orderings say of a robust program that was read in source order; the checker has to say the same.
fn judged(program: &Program, checked: &Check<'_>) -> Option<Compilations> {
    let certificate = certificate(program, checked)?;
    let judged = every_compilation(program, &certificate)?.err();
    Some(match (judged, check_every_compilation(program, &certificate)) {
        (Some(objection), _) => Compilations::NotEvery { place: Some(objection.place), reason: objection.reason },
        (None, Err(failure)) => Compilations::NotEvery { place: None, reason: failure.detail },
        (None, Ok(())) => Compilations::Every,
    })
}

/// The roles that run, with their copies.
fn roles(program: &Program) -> Vec<(&str, String)> {
    program.threads.iter().map(|thread| (thread.name.as_str(), thread.copies.to_string())).collect()
}

/// The first line of an error.
fn first_line(error: &InputError) -> String {
    let text = error.render(false);
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("Error: ").unwrap_or(line).to_owned()
}
