//! What was found about a text, as an editor shows it: diagnostics, and a line above what they are
//! about.

use super::text::Text;
use crate::report::account::{self, Level, Told};
use crate::report::findings::{Answer, Finding, Kind, Region};
use crate::syntax::{self, Diagnostic as Oddity, InputError, Severity};
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri};

/// The most steps of a computation that a diagnostic lists.
const MOST_STEPS: usize = 200;

/// A line above a line of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lens {
    /// What it stands above.
    pub(super) range: Range,
    /// What it says.
    pub(super) title: String,
}

/// A text whose findings are shown.
pub(super) struct Shown<'a> {
    pub(super) uri: &'a Uri,
    pub(super) text: &'a Text,
    /// Where what is said of the whole text goes.
    pub(super) heading: Range,
}

impl Shown<'_> {
    /// What is wrong with a text, or odd about it.
    pub(super) fn of_reader(&self, found: &[Oddity]) -> Vec<Diagnostic> {
        let shown = |found: &Oddity| {
            let mut message = found.message.clone();
            for line in syntax::expected_sentence(found).iter().chain(&found.help).chain(&found.notes) {
                message.push('\n');
                message.push_str(line);
            }
            let severity = match found.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            };
            diagnostic(self.text.range(found.span), severity, None, message)
        };
        found.iter().map(shown).collect()
    }

    /// Why a text is refused, or not read to its end.
    pub(super) fn of_refusal(&self, error: &InputError) -> Vec<Diagnostic> {
        match error {
            InputError::Text { diagnostics, .. } | InputError::Grows { diagnostics, .. } => self.of_reader(diagnostics),
            InputError::File { position, message, help, .. } => {
                let range = position
                    .map_or(self.heading, |place| self.text.region(&Region { file: None, start: place, end: place }));
                let help = help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
                vec![diagnostic(range, DiagnosticSeverity::ERROR, None, format!("{message}{help}"))]
            }
            InputError::Stopped { reason, .. } => {
                let message = format!("not decided: {reason}");
                vec![diagnostic(self.heading, DiagnosticSeverity::INFORMATION, None, message)]
            }
        }
    }

    /// What is found about a program. What is proved is no diagnostic.
    pub(super) fn of_answer(&self, answer: &Answer) -> Vec<Diagnostic> {
        answer
            .findings
            .iter()
            .filter(|finding| finding.kind != Kind::Pass)
            .map(|found| self.of_finding(found))
            .collect()
    }

    /// A finding.
    pub(super) fn of_finding(&self, finding: &Finding) -> Diagnostic {
        let severity = match (finding.kind, finding.rule.level) {
            (Kind::Open, _) | (_, Level::Note) => DiagnosticSeverity::INFORMATION,
            (_, Level::Error) => DiagnosticSeverity::ERROR,
            (_, Level::Warning) => DiagnosticSeverity::WARNING,
        };
        let range = self.range(finding.place.as_ref());
        let mut shown = diagnostic(range, severity, Some(finding.rule.id), finding.message.clone());
        let mut related: Vec<DiagnosticRelatedInformation> =
            finding.related.iter().map(|(place, words)| self.related(self.range(Some(place)), words.clone())).collect();
        // A step that no instruction takes stands where the one before it does.
        let mut last = range;
        let count = finding.steps.len();
        for (step, number) in finding.steps.iter().take(MOST_STEPS).zip(1..) {
            last = step.place.as_ref().map_or(last, |place| self.range(Some(place)));
            related.push(self.related(last, format!("{number}. {}", step.text)));
        }
        if count > MOST_STEPS {
            related.push(self.related(last, format!("and {} steps more", count - MOST_STEPS)));
        }
        shown.related_information = (!related.is_empty()).then_some(related);
        shown
    }

    /// Where a finding stands: about the whole text, or another one, at the heading.
    pub(super) fn range(&self, place: Option<&Region>) -> Range {
        place.filter(|place| place.file.is_none()).map_or(self.heading, |place| self.text.region(place))
    }

    fn related(&self, range: Range, message: String) -> DiagnosticRelatedInformation {
        DiagnosticRelatedInformation { location: Location { uri: self.uri.clone(), range }, message }
    }

    /// The verdict about the whole text, and those about its lines.
    pub(super) fn lenses(&self, told: &Told<'_>) -> Vec<Lens> {
        let line = account::line(told);
        let verdict = line.trim_end().strip_prefix(told.context.file).unwrap_or(&line);
        let mut lenses = vec![Lens { range: self.heading, title: verdict.trim_start_matches(": ").to_owned() }];
        for account in &told.accounts {
            if let Some(line) = account.line.filter(|_| !account.about.is_empty()) {
                let place = crate::report::findings::line(line);
                lenses.push(Lens { range: self.text.region(&place), title: account.phrase.clone() });
            }
        }
        lenses
    }
}

fn diagnostic(range: Range, severity: DiagnosticSeverity, code: Option<&str>, message: String) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(severity),
        code: code.map(|code| NumberOrString::String(code.to_owned())),
        source: Some("palisade".to_owned()),
        message,
        ..Diagnostic::default()
    }
}
