//! Standard output that may be closed before everything is said.

use std::fmt::Display;
use std::io::Write;

/// Prints to standard output. A reader that has gone away (`palisade … | head`) is no error of ours.
pub fn print_text(text: impl Display) {
    let mut output = std::io::stdout().lock();
    let _ = write!(output, "{text}").and_then(|()| output.flush());
}

/// Prints a line to standard output, as [`print_text`].
pub fn print_line(text: impl Display) {
    print_text(format_args!("{text}\n"));
}
