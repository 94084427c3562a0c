//! `palisade schema`: the JSON Schemas of the documents that `--json` prints.

use super::output::{print_document, print_line, print_text};
use super::{Exit, SharedOptions};
use crate::report::documents::SchemaDocument;
use crate::report::schemas::{names, schema};
use clap::Args;
use clap::builder::PossibleValuesParser;

/// Options of `palisade schema`.
#[derive(Clone, Debug, Args)]
pub(super) struct SchemaArguments {
    /// The document: that of a command by the command's name, or `error` for that of refused input.
    /// Without a name, the names are listed.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    name: Option<String>,
}

/// Prints one schema, or the names of all.
pub(super) fn run(arguments: &SchemaArguments, shared: &SharedOptions) -> Exit {
    match arguments.name.as_deref().and_then(schema) {
        Some(text) => print_text(text),
        None if shared.json => print_document(&SchemaDocument::new(names())),
        None => names().for_each(print_line),
    }
    Exit::Holds
}
