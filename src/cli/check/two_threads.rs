//! `palisade check --method two-threads`: the method of [NETYS18, Theorem 2], to compare.
//!
//! DIVERGENCE [NETYS18, Theorem 2]: the theorem is wrong in both directions, so that what is found
//! here is said of 2-threads(P) and not of P.

use super::arguments::CheckArguments;
use crate::cli::answers::Asking;
use crate::cli::batch::Spoken;
use crate::cli::convert::not_rewritten;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::questions::{About, EventRobustness, QueueOrder};
use crate::report::account::Standing;
use crate::report::tso::instance_words;
use crate::robustness::two_threads;
use crate::syntax::InputError;

/// Asks 2-threads(P) whether it is robust against TSO.
pub(super) fn check_two_threads(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
) -> Result<Spoken, InputError> {
    let program = &loaded.program;
    let refuse = |message: &str, help: &str| {
        Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help.to_owned())))
    };
    if !program.is_event_driven() {
        return refuse("`--method two-threads` is about events, and the program has none", "leave it out");
    }
    if shared.json {
        let message = "`--method two-threads` compares another program against TSO, and has no document";
        return refuse(message, "leave `--json` out, or convert with `--to two-threads` and check that");
    }
    let two = two_threads(program).map_err(|error| not_rewritten(program, "two-threads", &error))?;
    let asking = Asking::new(file, arguments.verify, None, shared);
    let question = EventRobustness { about: About::new(&two), values: arguments.values, queue: QueueOrder::default() };
    let answered = asking.ask(question);
    if let Some((_, refusal)) = answered.asked().fault() {
        return Err(refusal);
    }
    let accounts = answered.accounts();
    let [account] = accounts.as_slice() else { unreachable!("robustness is one question") };
    let mut remarks = loaded.warnings_text(shared);
    let (words, mut exit) = match account.standing() {
        Standing::Holds => ("is robust against TSO".to_owned(), Exit::Holds),
        Standing::Violated => ("is not robust against TSO".to_owned(), Exit::Fails),
        Standing::Unknown => (format!("is not decided: {}", account.reason().unwrap_or_default()), Exit::Unknown),
    };
    if let Some(confirmation) = answered.confirmation() {
        confirmation.say_if_rejected(file, &mut exit, &mut remarks);
    }
    let mut report = format!(
        "{file}: 2-threads(P) {words}\n  events   {}\n  so       nothing: this is no verdict on the program, as the theorem behind it errs\n",
        instance_words(program)
    );
    if let Some(shown) = account.shown() {
        report.push_str(&shown.run.text(0));
    }
    Ok(Spoken::new(exit, report, remarks))
}
