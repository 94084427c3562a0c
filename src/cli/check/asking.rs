//! Which questions a program has, and which of them the options ask.

use super::CheckArguments;
use super::arguments::AttackRange;
use crate::cli::Loaded;
use crate::cli::words::{Ask, QueueChoice};
use crate::limits::Limits;
use crate::questions::{Concurrency, LanguageRobustness, PsoRobustness, WaitsForEver};
use crate::report::counted;
use crate::robustness::numbered_attack;
use crate::semantics::Model;
use crate::syntax::{self, Diagnostic, InputError};

/// Why nobody is asked who waits for ever.
pub(in crate::cli) const NO_GRACE: &str = "who waits for ever is not asked of a test that waits for grace periods: \
     no step of its text says when a reader lets one end";

/// The questions to ask about a program, in the order in which they are told.
pub(in crate::cli) fn questions(
    arguments: &CheckArguments,
    file: &str,
    loaded: &Loaded,
) -> Result<Vec<Ask>, InputError> {
    let program = &loaded.program;
    let refuse = |message: &str, help: &str| Err(InputError::file(file, message).with_help_if(Some(help.to_owned())));
    let is_of_events = program.is_event_driven();
    if is_of_events && arguments.attacks.is_some() {
        return refuse("programs of events have no attacks to choose among", "leave `--attacks` out");
    }
    let is_of_sc = arguments.model.model() == Model::Sc && arguments.model.language().is_none();
    let is_another = |ask: &Ask| *ask != Ask::Robustness;
    if arguments.attacks.is_some() && (arguments.ask.iter().any(is_another) || is_of_sc) {
        return refuse(
            "`--attacks` chooses among the attacks that robustness is asked about",
            "leave it out to ask about anything else",
        );
    }
    if program.has_grace_periods() && arguments.ask.iter().any(|ask| matches!(ask, Ask::Hangs | Ask::Hopeless)) {
        return refuse(NO_GRACE, "ask for `properties` or `robustness`");
    }
    if arguments.queue != QueueChoice::default() && !is_of_events {
        return refuse("`--queue` is about events and tasks, and the program has threads alone", "leave it out");
    }
    if let Some((message, help)) =
        PsoRobustness::other_models(program, loaded.format).filter(|_| arguments.model.model() > Model::Tso)
    {
        return refuse(message, help);
    }
    if let Some((message, help)) = LanguageRobustness::other_models(program, arguments.model.model()) {
        return refuse(message, help);
    }
    let is_asked = |ask: Ask| arguments.ask.contains(&ask);
    let all = arguments.ask.is_empty();
    let mut asks = Vec::new();
    if arguments.attacks.is_none() && (all || is_asked(Ask::Properties)) {
        asks.push(Ask::Properties);
    }
    if is_asked(Ask::Concurrency) || (all && program.events().next().is_some()) {
        match Concurrency::objection(program) {
            None => asks.push(Ask::Concurrency),
            Some(error) if is_asked(Ask::Concurrency) => return Err(errors(loaded, error)),
            // Threads that belong to no event: the program does not have this question.
            Some(_) => {}
        }
    }
    let is_of_language = arguments.model.language().is_some();
    if is_of_language && is_asked(Ask::Races) {
        return refuse(
            "races of store buffers are not asked about a language",
            "`--model c11` says whether plain data races",
        );
    }
    if is_asked(Ask::Races) && arguments.model.model() != Model::Tso {
        return refuse("triangular races are about TSO alone", "leave `--model` out");
    }
    if all && arguments.attacks.is_none() && WaitsForEver::is_meant(program) {
        asks.push(Ask::Hangs);
    }
    // What is to hold in the end is a property that this question answers.
    let states_the_end = is_asked(Ask::Properties) && !program.finally.is_empty();
    if is_asked(Ask::Hangs) || states_the_end {
        syntax::threads_only(program, "`--ask hangs`", "`--ask concurrency,robustness` is about events and tasks")
            .map_err(|errors| InputError::from((program.source.clone(), errors)))?;
        asks.push(Ask::Hangs);
    }
    if is_asked(Ask::Hopeless) {
        if is_of_language {
            return refuse(
                "who waits while others go on is asked under SC, TSO and PSO",
                "`--ask hangs` is asked about languages as well",
            );
        }
        syntax::threads_only(program, "`--ask hopeless`", "`--ask concurrency,robustness` is about events and tasks")
            .map_err(|errors| InputError::from((program.source.clone(), errors)))?;
        asks.push(Ask::Hopeless);
    }
    match (arguments.model.model(), is_asked(Ask::Robustness)) {
        // What interleavings keep, a language keeps where the program is robust.
        (_, is_asked) if arguments.model.language().is_some() => {
            if is_asked || all || !asks.is_empty() {
                admit(arguments, loaded)?;
                asks.push(Ask::Robustness);
            }
        }
        (Model::Sc, true) => {
            let message = "every program is robust against SC, whose computations are interleavings";
            return refuse(message, "say `--model tso`, or ask something else");
        }
        (Model::Sc, false) => {}
        (_, is_asked) if is_asked || all => {
            admit(arguments, loaded)?;
            asks.push(Ask::Robustness);
        }
        _ => {}
    }
    if is_asked(Ask::Races) {
        syntax::threads_only(program, "`--ask races`", "`--ask concurrency,robustness` is about events and tasks")
            .map_err(|errors| InputError::from((program.source.clone(), errors)))?;
        asks.push(Ask::Races);
    }
    let about_attacks = arguments.methods.about_attacks();
    if let Some(option) = about_attacks.filter(|_| !asks.contains(&Ask::Robustness) || is_of_events) {
        return refuse(
            &format!("`{option}` is about attacks, which are asked about for robustness of threads"),
            "leave it out",
        );
    }
    Ok(asks)
}

/// Refuses attacks that the program does not have: the answer would be about others than the user
/// means.
pub(in crate::cli) fn admit_attacks(
    arguments: &CheckArguments,
    file: &str,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<(), InputError> {
    let Some(AttackRange(range)) = &arguments.attacks else { return Ok(()) };
    let last = numbered_attack(&loaded.program, range.end, limits);
    let last = last.map_err(|reason| InputError::Stopped { name: file.to_owned(), reason })?;
    last.map(|_| ()).map_err(|count| {
        let message = format!("there is no attack {}; the program has {}", range.end, counted(count, "attack"));
        InputError::file(file, message)
    })
}

/// Whether it is looked for hangs besides: the program waits for values, and no questions are
/// chosen. Only an answer is told.
pub(in crate::cli) fn looks_for_hangs(arguments: &CheckArguments, loaded: &Loaded) -> bool {
    let is_of_machines = arguments.model.language().is_none() && arguments.attacks.is_none();
    arguments.ask.is_empty() && is_of_machines && WaitsForEver::is_implied(&loaded.program)
}

fn errors(loaded: &Loaded, error: Diagnostic) -> InputError {
    InputError::from((loaded.program.source.clone(), vec![error]))
}

/// Refuses programs of which robustness against the model is not decided, and options that such a
/// check does not know.
fn admit(arguments: &CheckArguments, loaded: &Loaded) -> Result<(), InputError> {
    let language = arguments.model.language();
    if language.is_none() && arguments.model.model() <= Model::Tso {
        return Ok(());
    }
    let attacks = arguments.attacks.as_ref().map(|_| "--attacks");
    if let Some(option) = attacks.or(arguments.methods.about_attacks()) {
        let model = arguments.model.word();
        let message = "robustness is one exploration here, of threads, without attacks, nets and counters";
        let error = InputError::file(format!("--model {model}"), message);
        return Err(error.with_help_if(Some(format!("leave `{option}` out"))));
    }
    if let Some(axioms) = language {
        return LanguageRobustness::objection(&loaded.about(), axioms)
            .map_or(Ok(()), |error| Err(errors(loaded, error)));
    }
    PsoRobustness::objection(&loaded.program).map_or(Ok(()), |error| Err(errors(loaded, error)))
}
