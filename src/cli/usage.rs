//! The report about a command line that the command does not understand.

use super::Exit;
use super::output::print_line;
use super::subcommand::Subcommand;
use crate::report::documents;
use crate::syntax::InputError;
use std::ffi::OsString;

/// What an error document names in place of a file.
const NAME: &str = "<command line>";

/// Says what is wrong with the command line of this process, or what it asks to be told (`--help`,
/// `--version`): with `--json` an error is a document.
pub(super) fn refuse(error: clap::Error, definition: &mut clap::Command) -> Exit {
    let error = error.format(definition);
    if !error.use_stderr() || !asks_for_json(std::env::args_os()) {
        error.exit()
    }
    print_line(documents::refusal(&in_sentences(NAME, &error.render().to_string())));
    Exit::BadInput
}

/// The option by which a subcommand lists what help leaves out.
const METHODS: &str = "--help-methods";

/// The heading of options that choose among methods, to compare them.
const HEADING: &str = "Methods";

/// What a command line asks to be told of options that help leaves out: those that choose among
/// methods.
pub(super) fn methods(subcommands: &[Subcommand]) -> Option<String> {
    let mut words = std::env::args().skip(1).take_while(|word| word != "--").collect::<Vec<_>>();
    words.iter().position(|word| word == METHODS).map(|position| words.remove(position))?;
    let named = words.iter().find_map(|word| subcommands.iter().find(|subcommand| subcommand.name == word.as_str()))?;
    let mut command = named.definition();
    command.build();
    let command = command.mut_args(|option| {
        let is_listed = option.get_help_heading() == Some(HEADING);
        option.hide(!is_listed)
    });
    Some(command.clone().after_help("").render_long_help().to_string())
}

/// Whether a command line asks for documents, as far as one tells that the command does not
/// understand.
fn asks_for_json(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.by_ref().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// The error as one about a command line: what is wrong, and as help how it is to be used.
pub(super) fn in_sentences(name: &str, rendered: &str) -> InputError {
    let mut paragraphs =
        rendered.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    let help: Vec<String> = paragraphs
        .filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("For more information"))
        .collect();
    InputError::file(name, message).with_help_if((!help.is_empty()).then(|| help.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_behind_two_dashes_are_names() {
        let asks = |line: &str| asks_for_json(line.split(' ').map(OsString::from));
        assert!(asks("palisade check --json --oops"));
        assert!(!asks("palisade check -- --json"));
        assert!(!asks("palisade check --jsonn"));
    }

    #[test]
    fn the_message_is_the_first_paragraph() {
        let rendered = "error: unexpected argument '--oops' found\n\n  tip: try it\n\nUsage: palisade check <FILE>\n\nFor more information, try '--help'.\n";
        let InputError::File { name, message, help, .. } = in_sentences(NAME, rendered) else {
            panic!("no text is at fault")
        };
        assert_eq!((name.as_str(), message.as_str()), (NAME, "unexpected argument '--oops' found"));
        assert_eq!(help.as_deref(), Some("tip: try it; Usage: palisade check <FILE>"));
    }
}
