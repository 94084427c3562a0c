//! What is said on standard output and standard error, by every command: either may be closed before everything is said.

use super::Exit;
use std::fmt::Display;
use std::io::{ErrorKind, Result, Write};

/// Prints to standard output. A reader that has gone away (`palisade … | head`) is no error of ours; a full disk ends the
/// process.
pub fn print_text(text: impl Display) {
    let mut output = std::io::stdout().lock();
    if let Err(error) = write(&mut output, text)
        && error.kind() != ErrorKind::BrokenPipe
    {
        remark_line(format_args!("Error: standard output cannot be written: {error}"));
        std::process::exit(Exit::BadInput.code().into());
    }
}

/// Prints a line to standard output, as [`print_text`].
pub fn print_line(text: impl Display) {
    print_text(format_args!("{text}\n"));
}

/// Prints to standard error, whether or not somebody still reads it.
pub(super) fn remark(text: impl Display) {
    let _ = write(&mut std::io::stderr().lock(), text);
}

/// Prints a line to standard error, as [`remark`].
pub(super) fn remark_line(text: impl Display) {
    remark(format_args!("{text}\n"));
}

fn write(output: &mut impl Write, text: impl Display) -> Result<()> {
    // In one piece: standard error is not buffered.
    output.write_all(text.to_string().as_bytes())?;
    output.flush()
}
