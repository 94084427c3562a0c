//! Whether a verdict on machine code holds of every compilation of its sources.

use super::{CheckArguments, check_options};
use crate::cli::Loaded;
use crate::cli::answers::{Answered, Asking};
use crate::cli::load::unoptimised;
use crate::cli::words::Ask;
use crate::compilations::every_compilation;
use crate::evidence::{Evidence, RobustCertificate};
use crate::program::Program;
use crate::questions::{About, Robustness};
use crate::report::account::{Account, Standing};
use crate::report::claim::Compilations;
use crate::robustness::Silent;
use crate::syntax::{Format, InputError};
use crate::verify::check_every_compilation;

/// What is to be said of every compilation: of code that is robust and in source order itself, or
/// whose roles name such a build. Evidence about that build is written beside that about the code,
/// and is checked; the second result says loudly that it is rejected.
pub(super) fn of(
    arguments: &CheckArguments,
    asking: &Asking<'_>,
    loaded: &Loaded,
    accounts: &[Account<'_>],
    answered: &[(Ask, Answered<'_>)],
    certificates: &mut Vec<String>,
) -> Result<(Option<Compilations>, Option<String>), InputError> {
    let is_robust =
        |account: &Account<'_>| account.ask == Ask::Robustness.name() && account.standing() == Standing::Holds;
    if loaded.format != Format::Machine || !accounts.iter().any(is_robust) || arguments.attacks.is_some() {
        return Ok((None, None));
    }
    let own = answered.iter().find(|(ask, _)| *ask == Ask::Robustness);
    if let Some(judged) = own.and_then(|(_, answered)| judged(&loaded.program, answered)) {
        return Ok((Some(judged), None));
    }
    let Some(path) = unoptimised(asking.file)? else { return Ok((None, None)) };
    let not = |reason: String| Ok((Some(Compilations::NotEvery { place: None, reason }), None));
    let unknown = |reason: String| Ok((Some(Compilations::Unknown(reason)), None));
    let other = match arguments.program.read_any_within(&path, &asking.limits) {
        Ok(other) => other,
        Err(error @ InputError::Stopped { .. }) => {
            return unknown(format!("the build without optimisation: {}", first_line(&error)));
        }
        Err(error) => return not(format!("the build without optimisation: {}", first_line(&error))),
    };
    if roles(&other.program) != roles(&loaded.program) {
        return not(format!("`{path}` has other roles"));
    }
    let asking = Asking { file: &path, verify: true, limits: asking.limits.clone(), ..*asking };
    let about: About<'_> = other.about();
    let options = check_options(arguments, &asking.limits);
    let answered = asking.ask(Robustness { about, options, part: None, observer: &Silent });
    if let Some((fault, _)) = answered.asked().fault() {
        let reason = format!("the build without optimisation: {}", fault.describe(&other.program));
        return if fault.is_growth() || fault.stopped().is_some() { unknown(reason) } else { not(reason) };
    }
    let confirmation = answered.confirmation();
    if let Some(reason) = confirmation.and_then(|own| own.stopped()) {
        return unknown(format!("{reason} before the evidence for the build without optimisation was checked"));
    }
    if let Some(alarm) = confirmation.and_then(|own| own.alarm(&path)) {
        let reason = "the evidence for the build without optimisation is rejected".to_owned();
        return Ok((Some(Compilations::NotEvery { place: None, reason }), Some(alarm)));
    }
    for account in answered.accounts() {
        match (account.standing(), account.shown()) {
            (Standing::Holds, _) => {}
            (Standing::Violated, Some(shown)) => {
                let words = shown.headline.trim_start_matches("violation: ").replace(" is delayed past", " past");
                return not(format!("the build without optimisation is not robust, {words}"));
            }
            (Standing::Violated, None) => {
                return not("the build without optimisation is not robust".to_owned());
            }
            (Standing::Unknown, _) => {
                let reason = account.reason().unwrap_or_default();
                return unknown(format!("of the build without optimisation nothing is known: {reason}"));
            }
        }
    }
    if confirmation.is_none() {
        return unknown("there is no evidence that the build without optimisation is robust".to_owned());
    }
    certificates.extend(answered.write(&asking)?);
    let in_order =
        || Compilations::NotEvery { place: None, reason: format!("`{path}` does not say `source_order = true`") };
    Ok((Some(judged(&other.program, &answered).unwrap_or_else(in_order)), None))
}

/// What orderings say of a robust program that was read in source order; the checker has to say the
/// same.
fn judged(program: &Program, answered: &Answered<'_>) -> Option<Compilations> {
    let certificate: RobustCertificate = answered.asked().evidence().into_iter().find_map(|(_, own)| match own {
        Evidence::Robust(_, certificate) => Some(certificate),
        _ => None,
    })?;
    let judged = every_compilation(program, &certificate)?.err();
    Some(match (judged, check_every_compilation(program, &certificate)) {
        (Some(objection), _) if objection.is_limit => Compilations::Unknown(objection.reason),
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
