//! Marks tests as ignored where what they need is missing, so that the test runner counts them.
//!
//! A test cannot tell libtest at run time that it did not run: it passes or fails. These attributes
//! look around when the tests are compiled and add `#[ignore]` with the reason. They stand above
//! `#[test]`, which looks for it.
//!
//! A test program is compiled again when a variable that its tests need is set, unset or changed.
//! It is not when a command is installed; `cargo test -- --include-ignored` runs ignored tests all
//! the same, and they fail where something is missing.

use proc_macro::TokenStream;
use std::process::{Command, Stdio};

/// `#[needs::variable("NAME")]`: the test is ignored unless the environment variable is set.
#[proc_macro_attribute]
pub fn variable(arguments: TokenStream, test: TokenStream) -> TokenStream {
    let Some(name) = literals(arguments).into_iter().next() else { return error("name a variable in quotes") };
    let missing = std::env::var_os(&name).is_none();
    // The compiler notes what `option_env!` looks at, and cargo compiles anew when that changes.
    let watch = format!("const _: Option<&str> = option_env!({name:?});");
    let reason = missing.then(|| format!("{name} is not set"));
    marked(&watch, reason, test)
}

/// `#[needs::command("z3 --version", "cvc5 --version")]`: the test is ignored unless one of the
/// commands succeeds. Words of a command are separated by blanks; what stands between single quotes
/// is one word.
#[proc_macro_attribute]
pub fn command(arguments: TokenStream, test: TokenStream) -> TokenStream {
    let commands = literals(arguments);
    if commands.is_empty() {
        return error("give a command in quotes");
    }
    let missing = !commands.iter().any(|command| succeeds(&words(command)));
    let tried = commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(" or ");
    marked("", missing.then(|| format!("{tried} did not work when the tests were built")), test)
}

/// The test with a reason to ignore it, if there is one, behind other code.
fn marked(before: &str, reason: Option<String>, test: TokenStream) -> TokenStream {
    let ignore = reason.map_or(String::new(), |reason| format!("#[ignore = {reason:?}]"));
    let mut tokens: TokenStream = format!("{before} {ignore}").parse().expect("the attribute's own code is Rust");
    tokens.extend(test);
    tokens
}

/// The contents of string literals, without escapes, separated by commas.
fn literals(arguments: TokenStream) -> Vec<String> {
    arguments
        .into_iter()
        .filter_map(|token| Some(token.to_string().strip_prefix('"')?.strip_suffix('"')?.to_owned()))
        .collect()
}

/// The words of a command.
fn words(command: &str) -> Vec<String> {
    let pieces = command.split('\'').enumerate();
    pieces
        .flat_map(|(index, piece)| match index % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        })
        .collect()
}

/// Whether a command starts and succeeds.
fn succeeds(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut run = Command::new(program);
    run.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    run.status().is_ok_and(|status| status.success())
}

fn error(message: &str) -> TokenStream {
    format!("compile_error!({message:?});").parse().expect("the attribute's own code is Rust")
}
