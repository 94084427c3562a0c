//! `palisade prove`: a short name for `palisade check --ask properties`.

use super::check::{self, CheckArguments};
use super::words::Ask;
use super::{Exit, SharedOptions};

/// Runs `palisade prove`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let mut arguments = arguments.clone();
    if arguments.ask.is_empty() {
        arguments.ask.push(Ask::Properties);
    }
    check::run_as("prove", &arguments, shared)
}
