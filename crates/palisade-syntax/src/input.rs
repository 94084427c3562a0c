//! Input that was refused, and reading the bytes of a text.

use super::render;
use super::suggest::closest;
use palisade_model::limits::StopReason;
use palisade_model::net::ReadError;
use palisade_model::text::{Diagnostic, Position, Severity, SourceText};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The largest program text that is read, in bytes. Programs are written by people; a larger file
/// is something else.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Why an input was refused.
#[derive(Clone, Debug)]
pub enum InputError {
    /// The text is wrong.
    Text {
        /// The text.
        source: Arc<SourceText>,
        /// What is wrong with it, at least one error.
        diagnostics: Vec<Diagnostic>,
    },
    /// There is no answer about the text, as values that it computes grow.
    Grows {
        /// The text.
        source: Arc<SourceText>,
        /// What grows, where, and what to do about it.
        diagnostics: Vec<Diagnostic>,
    },
    /// There is no text, or an option does not go with it.
    File {
        /// The path, `<stdin>` for standard input.
        name: String,
        /// Where in the file, if that is known.
        position: Option<Position>,
        /// What is wrong, in a sentence without a full stop.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// A limit was reached while it was read.
    Stopped {
        /// The path.
        name: String,
        /// Which limit.
        reason: StopReason,
    },
}

impl InputError {
    /// An error about a whole file.
    pub fn file(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::File { name: name.into(), position: None, message: message.into(), help: None }
    }

    /// With what to do about it, for an error about a whole file.
    #[must_use]
    pub fn with_help_if(mut self, suggestion: Option<String>) -> Self {
        if let Self::File { help, .. } = &mut self {
            *help = suggestion;
        }
        self
    }

    /// The error for people.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Self::Text { source, diagnostics } | Self::Grows { source, diagnostics } => {
                diagnostics.iter().map(|diagnostic| render(diagnostic, source, colour)).collect()
            }
            Self::File { name, position, message, help } => {
                let (strong, plain) = if colour { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
                let place = position.map_or(String::new(), |place| format!(":{}:{}", place.line, place.column));
                let help = help.as_ref().map_or(String::new(), |help| format!("  Help: {help}\n"));
                format!("{strong}Error:{plain} {name}{place}: {message}\n{help}")
            }
            Self::Stopped { name, reason } => format!("{name}: unknown\n  reason   {reason}\n"),
        }
    }
}

/// Reads the text of a file, `-` for standard input, into memory.
pub fn read_text(path: &str) -> Result<Arc<SourceText>, InputError> {
    let failed = |error: std::io::Error| {
        let help = (error.kind() == std::io::ErrorKind::NotFound).then(|| beside(Path::new(path))).flatten();
        InputError::file(path, format!("cannot be read: {error}")).with_help_if(help)
    };
    if path == "-" {
        return text_of("<stdin>", std::io::stdin().lock());
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(InputError::file(path, "is a directory"));
    }
    text_of(path, file)
}

/// The file that may be meant by a path at which there is none.
fn beside(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Some(format!("there is no folder `{}`", folder.display()));
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_unstable();
    let meant = closest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", path.with_file_name(meant).display()))
}

/// The text that `bytes` gives, refused when it is too large or not UTF-8.
pub fn text_of(name: &str, bytes: impl Read) -> Result<Arc<SourceText>, InputError> {
    let mut content = Vec::new();
    let read = bytes.take(MAX_TEXT_BYTES + 1).read_to_end(&mut content);
    read.map_err(|error| InputError::file(name, format!("cannot be read: {error}")))?;
    if content.len() as u64 > MAX_TEXT_BYTES {
        let message = format!("is larger than {} MiB, too large for a program text", MAX_TEXT_BYTES >> 20);
        return Err(InputError::file(name, message));
    }
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let byte = error.as_bytes()[valid.len()];
            return Err(no_text(name, valid, format!("is not a text: the byte 0x{byte:02x} is not UTF-8")));
        }
    };
    if let Some(nul) = text.bytes().position(|byte| byte == 0) {
        return Err(no_text(name, &text.as_bytes()[..nul], "is not a text: it contains a zero byte".to_owned()));
    }
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    Ok(SourceText::new(name, text))
}

/// A file that stops being a text after some bytes that are one.
fn no_text(name: &str, before: &[u8], message: String) -> InputError {
    let before = String::from_utf8_lossy(before);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    InputError::File { name: name.to_owned(), position: Some(Position { line, column }), message, help: None }
}

impl From<(Arc<SourceText>, Vec<Diagnostic>)> for InputError {
    fn from((source, mut diagnostics): (Arc<SourceText>, Vec<Diagnostic>)) -> Self {
        diagnostics.sort_by_key(|diagnostic| (std::cmp::Reverse(diagnostic.severity), diagnostic.span));
        debug_assert!(diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error));
        Self::Text { source, diagnostics }
    }
}

impl From<ReadError> for InputError {
    fn from(error: ReadError) -> Self {
        Self::from((error.source, error.diagnostics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_at_which_there_is_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let message = |name: &str| read_text(folder.join(name).to_str().expect("a path")).unwrap_err().render(false);
        assert!(message("imput.rs").contains("src/input.rs`?"), "{}", message("imput.rs"));
        assert!(!message("nothing-like-it.rs").contains("did you mean"));
        assert!(message("no/input.rs").contains("there is no folder"), "{}", message("no/input.rs"));
    }

    #[test]
    fn bytes_that_are_no_text() {
        let error = text_of("f", &b"ab\nc\xff"[..]).unwrap_err();
        assert!(error.render(false).contains("f:2:2: is not a text: the byte 0xff"), "{}", error.render(false));
        let error = text_of("f", &b"ab\nc\0d"[..]).unwrap_err();
        assert!(
            error.render(false).contains("f:2:2: is not a text: it contains a zero byte"),
            "{}",
            error.render(false)
        );
        assert_eq!(text_of("f", "\u{feff}x".as_bytes()).unwrap().text, "x");
    }

    #[test]
    fn endless_input_is_refused() {
        let error = text_of("f", std::io::repeat(b' ')).unwrap_err();
        assert!(error.render(false).contains("larger than 16 MiB"));
    }
}
