//! Writes to standard output and standard error for every command; a reader may close either before
//! the end.

use super::{Exit, pending};
use crate::report::documents;
use serde::Serialize;
use std::fmt::Display;
use std::io::{ErrorKind, Result, Write};

/// Prints to standard output. A reader that has gone away (`palisade … | head`) is no error of
/// ours; a full disk ends the process.
pub fn print_text(text: impl Display) {
    pending::ends_by_printing();
    print_and_keep(text);
}

/// The same, where more is to come.
pub(super) fn print_and_keep(text: impl Display) {
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

/// Prints a document on a line of its own.
pub fn print_document(document: &impl Serialize) {
    print_line(documents::text(document));
}

/// The documents of a command that takes several inputs. Their shape depends on what was named, not
/// on what was found: an array where a folder, a list or several files were named, else the
/// document itself.
pub(super) struct Documents {
    several: bool,
    texts: Vec<String>,
}

impl Documents {
    /// No documents yet.
    pub(super) const fn new(several: bool) -> Self {
        Self { several, texts: Vec::new() }
    }

    /// Adds the text of a document.
    pub(super) fn add(&mut self, text: String) {
        self.texts.push(text);
    }

    /// Prints them on one line.
    pub(super) fn print(&self) {
        match self.texts.as_slice() {
            [only] if !self.several => print_line(only),
            texts => print_line(format_args!("[{}]", texts.join(","))),
        }
    }
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
