//! `palisade/error/1`: why an input was refused; and findings about a text, as they stand in other
//! documents too.

use super::FileHeader;
use palisade_model::text::SourceText;
use palisade_syntax::{Diagnostic, InputError, Severity};
use serde::Serialize;

/// Why an input was refused.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The first of the errors.
    pub error: Finding<'a>,
    /// All errors, in order of place.
    pub errors: Vec<Finding<'a>>,
}

/// An error or a warning about an input.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding<'a> {
    /// What is wrong or doubtful, in a sentence without a full stop.
    pub message: &'a str,
    /// The file.
    pub file: &'a str,
    /// The line, from 1; null where the whole file is meant.
    pub line: Option<usize>,
    /// The column in characters, from 1; null where the whole file is meant.
    pub column: Option<usize>,
    /// The line where the place ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    /// The column where the place ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
    /// What could have stood there, most likely first.
    pub expected: &'a [String],
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// Further remarks.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub notes: &'a [String],
}

impl<'a> Finding<'a> {
    /// A diagnostic about a text.
    pub fn new(diagnostic: &'a Diagnostic, source: &'a SourceText) -> Self {
        let position = source.position(diagnostic.span.start);
        let end = source.position(diagnostic.span.end.max(diagnostic.span.start));
        Self {
            message: &diagnostic.message,
            file: &source.name,
            line: Some(position.line),
            column: Some(position.column),
            end_line: Some(end.line),
            end_column: Some(end.column),
            expected: &diagnostic.expected,
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
        }
    }

    /// Diagnostics about a text.
    pub fn all(diagnostics: impl IntoIterator<Item = &'a Diagnostic>, source: &'a SourceText) -> Vec<Self> {
        diagnostics.into_iter().map(|diagnostic| Self::new(diagnostic, source)).collect()
    }
}

impl<'a> ErrorDocument<'a> {
    /// The document of a refused input.
    pub fn new(refused: &'a InputError) -> Self {
        let (file, errors) = match refused {
            InputError::Text { source, diagnostics } | InputError::Grows { source, diagnostics } => {
                let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
                (source.name.as_str(), Finding::all(errors, source))
            }
            InputError::File { name, position, message, help } => {
                let finding = Finding {
                    message,
                    file: name,
                    line: position.map(|position| position.line),
                    column: position.map(|position| position.column),
                    end_line: None,
                    end_column: None,
                    expected: &[],
                    help: help.as_deref(),
                    notes: &[],
                };
                (name.as_str(), vec![finding])
            }
            InputError::Stopped { .. } => unreachable!("no error: `refusal` has another document for it"),
        };
        let error = errors.first().cloned().expect("a refused text has an error");
        Self { header: FileHeader::new("palisade/error/1", file), error, errors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::text;
    use palisade_model::text::Span;
    use palisade_syntax::text_of;

    #[test]
    fn the_first_error_has_its_place() {
        let source = SourceText::new("m.pal", "program A\nthraed t1\n");
        let diagnostic = Diagnostic::error("unknown keyword `thraed`", Span { start: 10, end: 16 })
            .with_expected(["`thread`", "`domain`"])
            .with_help("did you mean `thread`?");
        let refused = InputError::from((source, vec![diagnostic]));
        let document: serde_json::Value = serde_json::from_str(&text(&ErrorDocument::new(&refused))).unwrap();
        assert_eq!((&document["schema"], &document["file"]), (&"palisade/error/1".into(), &"m.pal".into()));
        assert_eq!((&document["error"]["line"], &document["error"]["column"]), (&2.into(), &1.into()));
        assert_eq!(document["error"]["expected"][0], "`thread`");
        assert_eq!(document["errors"][0], document["error"]);
    }

    #[test]
    fn a_place_in_bytes_that_are_no_text() {
        let refused = text_of("f", &b"ab\nc\0d"[..]).unwrap_err();
        assert_eq!(ErrorDocument::new(&refused).error.column, Some(2));
    }
}
