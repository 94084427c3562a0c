//! `palisade completions`: what shells offer while a command line is typed.

use super::output::print_text;
use super::{Exit, SharedOptions, definition, print_line, subcommands};
use clap::Args;
use clap_complete::{Shell, generate};
use serde_json::json;

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
        print_line(json!({ "schema": "palisade/completions/1", "shell": arguments.shell.to_string(), "text": script }));
    } else {
        print_text(script);
    }
    Exit::Holds
}
