//! Diagnostics: what is wrong in a text, where, what the reader expected, and what the author may
//! have meant.

use super::Span;
use std::ops::{Deref, DerefMut};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The text means something, perhaps not what its author meant.
    Warning,
    /// The text means nothing.
    Error,
}

/// One finding about a text. It is as small as a pointer, because a reader may answer with one for
/// every token that it takes: readers of large nets would pay for a larger result each time that
/// nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic(Box<Details>);

/// What a diagnostic says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The text to underline.
    pub span: Span,
    /// A few words at the underlined text; empty for none.
    pub label: String,
    /// What could have stood there, most likely first; empty when the message says it all.
    pub expected: Vec<String>,
    /// What to do about it, a suggestion where one is close.
    pub help: Option<String>,
    /// Further remarks.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, message.into(), span)
    }

    /// A warning at a place.
    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, message.into(), span)
    }

    #[cold]
    fn new(severity: Severity, message: String, span: Span) -> Self {
        let (label, expected, help, notes) = (String::new(), Vec::new(), None, Vec::new());
        Self(Box::new(Details { severity, message, span, label, expected, help, notes }))
    }

    /// With a few words at the underlined text.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With what could have stood there.
    #[must_use]
    pub fn with_expected<T: Into<String>>(mut self, expected: impl IntoIterator<Item = T>) -> Self {
        self.expected = expected.into_iter().map(Into::into).collect();
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With what to do about it, where there is something to say.
    #[must_use]
    pub fn with_help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.0.help.take());
        self
    }

    /// With a further remark.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl Deref for Diagnostic {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Diagnostic {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_small_as_a_pointer() {
        assert_eq!(size_of::<Result<(), Diagnostic>>(), size_of::<usize>());
    }

    #[test]
    fn help_stays_where_there_is_no_other() {
        let diagnostic = Diagnostic::error("m", Span::default()).with_help("a").with_help_if(None);
        assert_eq!(diagnostic.help.as_deref(), Some("a"));
        assert_eq!(diagnostic.with_help_if(Some("b".to_owned())).help.as_deref(), Some("b"));
    }
}
