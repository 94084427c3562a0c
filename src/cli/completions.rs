//! `palisade completions`: what shells offer while a command line is typed.

use super::output::{print_document, print_text};
use super::{Exit, SharedOptions, definition, subcommands};
use crate::report::documents::CompletionsDocument;
use clap::Args;
use clap_complete::{Shell, generate};

/// Options of `palisade completions`.
#[derive(Clone, Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions for a shell.
pub(super) fn run(arguments: &CompletionsArguments, shared: &SharedOptions) -> Exit {
    let mut script = Vec::new();
    generate(arguments.shell, &mut definition(&subcommands()), "palisade", &mut script);
    let script = String::from_utf8_lossy(&script);
    if shared.json {
        print_document(&CompletionsDocument::new(arguments.shell.to_string(), &script));
    } else {
        print_text(script);
    }
    Exit::Holds
}
