//! What was found about a text, as an editor shows it: diagnostics, and a line above what they are
//! about.

use super::text::Text;
use crate::cli::Exit;
use crate::cli::batch::Spoken;
use crate::report::account::{self, Level, Told};
use crate::report::findings::{Answer, Finding, Kind, Region, findings};
use crate::syntax::{self, Diagnostic as Oddity, InputError, Severity};
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri};
use std::collections::BTreeMap;
use std::path::Path;

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
    /// Whether it is about what was built of the text, and not about the text itself.
    pub(super) is_built: bool,
}

/// The address of a file.
fn uri_of(path: &Path) -> Option<Uri> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let bytes = path.to_str()?.bytes();
    let encoded: String =
        bytes.map(|byte| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect();
    format!("file://{encoded}").parse().ok()
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
    fn of_answer(&self, answer: &Answer) -> Vec<Diagnostic> {
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
        // What is not decided is no violation of the rule.
        let rule = (finding.kind != Kind::Open).then_some(finding.rule.id);
        let mut shown = diagnostic(range, severity, rule, finding.message.clone());
        let mut others = BTreeMap::new();
        let mut related = Vec::new();
        let mut relate = |location: &Location, message: String| {
            related.push(DiagnosticRelatedInformation { location: location.clone(), message });
        };
        for (place, words) in &finding.related {
            relate(&self.location(place, &mut others), words.clone());
        }
        // A step that no instruction takes stands where the one before it does.
        let mut last = Location { uri: self.uri.clone(), range };
        let count = finding.steps.len();
        for (step, number) in finding.steps.iter().take(MOST_STEPS).zip(1..) {
            last = step.place.as_ref().map_or(last, |place| self.location(place, &mut others));
            relate(&last, format!("{number}. {}", step.text));
        }
        if count > MOST_STEPS {
            relate(&last, format!("and {} steps more", count - MOST_STEPS));
        }
        shown.related_information = (!related.is_empty()).then_some(related);
        shown
    }

    /// Where a finding stands: about the whole text, or another one, at the heading.
    pub(super) fn range(&self, place: Option<&Region>) -> Range {
        let whole = |file: &str| std::fs::canonicalize(file).ok();
        let own = &self.text.source.name;
        let is_here = |place: &&Region| match &place.file {
            None => !self.is_built,
            Some(file) => file == own || whole(file).is_some_and(|file| Some(file) == whole(own)),
        };
        place.filter(is_here).map_or(self.heading, |place| self.text.region(place))
    }

    /// Where a step stands, in the text or another source; `others` has those that were read.
    fn location(&self, place: &Region, others: &mut BTreeMap<String, Option<(Uri, Text)>>) -> Location {
        let read = |file: &str| {
            let path = std::fs::canonicalize(file).ok().filter(|_| file != self.text.source.name)?;
            let text = std::fs::read_to_string(&path).ok()?;
            Some((uri_of(&path)?, Text::new(file, text)))
        };
        let other =
            place.file.as_ref().and_then(|file| others.entry(file.clone()).or_insert_with(|| read(file)).as_ref());
        match other {
            Some((uri, text)) => Location { uri: uri.clone(), range: text.region(place) },
            None => Location { uri: self.uri.clone(), range: self.range(Some(place)) },
        }
    }

    /// What is found, and the lines above the text; a rejected piece of evidence is all that is
    /// said then.
    pub(super) fn verdict(&self, told: &Told<'_>, alarms: &[String]) -> (Vec<Diagnostic>, Vec<Lens>) {
        let exit = if alarms.is_empty() { Exit::Holds } else { Exit::Rejected };
        let mut spoken = Spoken::new(exit, String::new(), String::new());
        spoken.add_answer(findings(told));
        let diagnostics = spoken.answer.iter().flat_map(|answer| self.of_answer(answer)).collect();
        let mut lenses = self.lenses(told);
        if let Some(alarm) = alarms.first() {
            lenses.truncate(1);
            alarm.trim_end().clone_into(&mut lenses[0].title);
        }
        (diagnostics, lenses)
    }

    /// The verdict about the whole text, and those about its lines.
    fn lenses(&self, told: &Told<'_>) -> Vec<Lens> {
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
