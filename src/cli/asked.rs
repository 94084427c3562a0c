//! The command that asks the same question again, for a page: with its options about input,
//! question and search.

use super::{definition, subcommands};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use std::ffi::OsString;

/// What the command line of this process asks about one of its inputs, as a line for a shell. Where
/// to write, and limits, are left out.
pub(super) fn question(file: &str) -> String {
    of(std::env::args_os(), file).unwrap_or_else(|| format!("palisade check {}", quoted(file)))
}

fn of(words: impl Iterator<Item = OsString>, file: &str) -> Option<String> {
    let subcommands = subcommands();
    let matches = definition(&subcommands).try_get_matches_from(words).ok()?;
    let (name, matches) = matches.subcommand()?;
    let mut command = subcommands.iter().find(|subcommand| subcommand.name == name)?.definition();
    command.build();
    let options = command.get_arguments().filter(|option| asks(option)).flat_map(|option| typed(option, matches));
    let line: Vec<String> = ["palisade".to_owned(), name.to_owned()].into_iter().chain(options).collect();
    Some(format!("{} {}", line.join(" "), quoted(file)))
}

/// Whether an option belongs to the question, and not to what becomes of the answer.
fn asks(option: &Arg) -> bool {
    !option.is_positional() && !matches!(option.get_help_heading(), Some("Output" | "Limits"))
}

/// An option as it was typed, each time that it was.
fn typed(option: &Arg, matches: &ArgMatches) -> Vec<String> {
    let (id, Some(name)) = (option.get_id().as_str(), option.get_long()) else { return Vec::new() };
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    if !option.get_action().takes_values() {
        return vec![format!("--{name}")];
    }
    let delimiter = option.get_value_delimiter().unwrap_or(',').to_string();
    let times = matches.get_raw_occurrences(id).into_iter().flatten();
    let typed = times.map(|values| {
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        format!("--{name} {}", quoted(&values.join(&delimiter)))
    });
    typed.collect()
}

/// A word for the shell, in quotes where it needs them.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_limits_are_left_out() {
        let again = |line: &str| of(line.split(' ').map(OsString::from), "my lock.pal");
        let lines = [
            ("palisade check a.pal", "palisade check 'my lock.pal'"),
            (
                "palisade -v check --threads a=2,b=* --ask hangs --report x.html --timeout 5s --json a.pal b.pal",
                "palisade check --threads 'a=2,b=*' --ask hangs 'my lock.pal'",
            ),
            (
                "palisade fences --with xchg=2 --cost depth --wrap --domain 0..7 --certificate x --diff a.pal",
                "palisade fences --domain 0..7 --wrap --cost depth --with xchg=2 'my lock.pal'",
            ),
            (
                "palisade cover --verify --query q.prop --certificate e.json n.tts",
                "palisade cover --query q.prop 'my lock.pal'",
            ),
        ];
        for (typed, asked) in lines {
            assert_eq!(again(typed).as_deref(), Some(asked), "{typed}");
        }
    }
}
