//! Readers of the field's net formats, gzip transparently.

mod lexer;
mod spec;

use super::diagnostic::{Diagnostic, ReadError};
use super::format::Format;
use super::model::Problem;
use crate::program::{SourceText, Span};
use std::io::Read;

/// Reads a net with its question from bytes, which may be compressed with gzip. The format follows from the name's
/// extension when it is not given.
pub fn read(name: &str, bytes: &[u8], format: Option<Format>) -> Result<Problem, ReadError> {
    let text = decode(name, bytes)?;
    let fail = |diagnostics| ReadError { source: SourceText::new(name, text.as_str()), diagnostics };
    let Some(format) = format.or_else(|| Format::of_name(name)) else {
        let message = format!("the format of `{name}` is not known from its extension");
        return Err(fail(vec![Diagnostic::new(Span::default(), message).expecting(&Format::EXTENSIONS)]));
    };
    let problem = match format {
        Format::Spec => spec::read(stem(name), &text),
    };
    problem.map_err(fail)
}

/// The text of a file, decompressed when it starts as gzip does.
fn decode(name: &str, bytes: &[u8]) -> Result<String, ReadError> {
    let fail = |text: String, span: Span, message: String| ReadError {
        source: SourceText::new(name, text),
        diagnostics: vec![Diagnostic::new(span, message)],
    };
    let mut expanded = Vec::new();
    let plain = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes)
            .read_to_end(&mut expanded)
            .map_err(|error| fail(String::new(), Span::default(), format!("damaged gzip data: {error}")))?;
        expanded.as_slice()
    } else {
        bytes
    };
    match std::str::from_utf8(plain) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let start = error.valid_up_to();
            let text = String::from_utf8_lossy(plain).into_owned();
            Err(fail(text, Span { start, end: start + '\u{fffd}'.len_utf8() }, "the text is not UTF-8".to_owned()))
        }
    }
}

/// The file's name without folders and extensions.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let file = file.strip_suffix(".gz").unwrap_or(file);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

#[cfg(test)]
mod tests;
