//! `palisade man`: the manual pages.

use super::files::write_together;
use super::folder::create_folder;
use super::output::{print_document, print_text};
use super::{Exit, SharedOptions, definition, print_input_error, subcommands};
use crate::report::documents::ManDocument;
use crate::syntax::InputError;
use clap::Args;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Options of `palisade man`.
#[derive(Clone, Debug, Args)]
pub(super) struct ManArguments {
    /// The subcommand to print the page of; the page of `palisade` itself when left out.
    #[arg(value_name = "COMMAND", conflicts_with = "folder", value_parser = parse_name)]
    command: Option<String>,
    /// Write the pages of all subcommands to this folder.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

fn parse_name(text: &str) -> Result<String, String> {
    let subcommands = subcommands();
    match subcommands.iter().find(|subcommand| subcommand.name == text) {
        Some(subcommand) => Ok(subcommand.name.to_owned()),
        None => Err(format!("there are {}", subcommands.map(|subcommand| subcommand.name).join(", "))),
    }
}

/// Prints one manual page, or writes all of them.
pub(super) fn run(arguments: &ManArguments, shared: &SharedOptions) -> Exit {
    match &arguments.folder {
        Some(folder) => match write_pages(folder) {
            Ok(()) => Exit::Holds,
            Err(error) => print_input_error(&error, shared),
        },
        None => {
            print_page(&page(arguments.command.as_deref()), shared);
            Exit::Holds
        }
    }
}

/// The page of a subcommand, or of `palisade` itself.
fn page(subcommand: Option<&str>) -> Man {
    let mut command = definition(&subcommands()).disable_help_subcommand(true);
    command.build();
    let chosen = subcommand.and_then(|name| command.find_subcommand(name)).cloned();
    Man::new(chosen.unwrap_or(command))
}

fn print_page(page: &Man, shared: &SharedOptions) {
    let text = rendered(page);
    let text = String::from_utf8_lossy(&text);
    if shared.json {
        print_document(&ManDocument::new(page.get_filename(), &text));
    } else {
        print_text(text);
    }
}

fn rendered(page: &Man) -> Vec<u8> {
    let mut text = Vec::new();
    page.render(&mut text).expect("memory can be written to");
    text
}

fn write_pages(folder: &Path) -> Result<(), InputError> {
    let names = subcommands().map(|subcommand| subcommand.name);
    let pages = std::iter::once(None).chain(names.map(Some)).map(|name| {
        let page = page(name);
        (folder.join(page.get_filename()), rendered(&page))
    });
    let pages: Vec<(PathBuf, Vec<u8>)> = pages.collect();
    create_folder(folder)
        .and_then(|()| write_together(&pages))
        .map_err(|error| InputError::file(folder.display().to_string(), format!("cannot be written: {error}")))
}
