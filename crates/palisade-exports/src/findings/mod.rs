//! What commands found out about their inputs, in the form that reports for other machines share
//! (SARIF, JUnit).

mod fences;
mod language_fences;
mod orderings;
mod pairs;
mod place;
mod property_fences;
mod race_fences;
mod remedies;
mod told;

pub use fences::fence_findings;
pub use language_fences::language_findings;
pub use orderings::ordering_findings;
pub use pairs::pair_findings;
pub use place::{Fix, Region};
pub use property_fences::property_fence_findings;
pub use race_fences::race_fence_findings;
pub use remedies::remedy_findings;
pub use told::findings;

use palisade_model::program::Program;
use palisade_model::text::Position;
use palisade_report::account::Rule;
use palisade_syntax::{Diagnostic, InputError};

/// What was found about one input.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The path as given.
    pub file: String,
    /// Seconds from reading to the end.
    pub seconds: f64,
    /// What was found, in order.
    pub findings: Vec<Finding>,
    /// The report for people.
    pub report: String,
    /// The page for a browser, where it is asked for.
    pub page: Option<String>,
}

impl Answer {
    /// What was found about a program, with no page.
    pub(super) fn new(file: &str, seconds: f64, findings: Vec<Finding>, report: String) -> Self {
        Self { file: file.to_owned(), seconds, findings, report, page: None }
    }

    /// Takes all answers back, with the reason.
    pub fn doubt(&mut self, reason: &str) {
        for finding in self.findings.iter_mut().filter(|finding| finding.question.is_some()) {
            finding.kind = Kind::Open;
            finding.message = format!("{reason}: {}", finding.message);
        }
    }
}

/// What a finding says of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input breaks the rule.
    Fail,
    /// The input keeps the rule, which is proved.
    Pass,
    /// Nobody knows.
    Open,
}

/// Something that was found in an input.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is an instance of.
    pub rule: &'static Rule,
    /// What it says of the rule.
    pub kind: Kind,
    /// The question that it answers, where a question was asked: a test case by its name.
    pub question: Option<String>,
    /// What was found, in a sentence without a full stop.
    pub message: String,
    /// Where it is; nothing where the whole file is meant.
    pub place: Option<Region>,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Region, String)>,
    /// The computation that shows it, each step with its place where it is an instruction.
    pub steps: Vec<FlowStep>,
    /// A change of the text that removes it.
    pub fix: Option<Fix>,
}

/// A step of a computation.
#[derive(Clone, Debug)]
pub struct FlowStep {
    /// Where the instruction stands; nothing where a store reaches memory.
    pub place: Option<Region>,
    /// Who does what.
    pub text: String,
}

impl Finding {
    /// A finding about a whole file.
    pub fn new(rule: &'static Rule, kind: Kind, message: impl Into<String>) -> Self {
        Self {
            rule,
            kind,
            question: None,
            message: message.into(),
            place: None,
            related: Vec::new(),
            steps: Vec::new(),
            fix: None,
        }
    }

    /// The same as the answer to a question.
    #[must_use]
    pub fn answering(self, question: impl Into<String>) -> Self {
        Self { question: Some(question.into()), ..self }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(self, place: Region) -> Self {
        Self { place: Some(place), ..self }
    }
}

/// The findings about the input of a file that was refused, or not read to its end.
pub fn refusal_findings(file: &str, error: &InputError) -> Vec<Finding> {
    const QUESTION: &str = "can be read";
    match error {
        InputError::Text { source, diagnostics } | InputError::Grows { source, diagnostics } => {
            let kind = if let InputError::Grows { .. } = error { Kind::Open } else { Kind::Fail };
            let finding = |diagnostic: &Diagnostic| {
                let message = with_help(&diagnostic.message, diagnostic.help.as_deref());
                Finding::new(Rule::REFUSED, kind, message).at(Region::of(source, diagnostic.span))
            };
            let mut findings: Vec<Finding> = diagnostics.iter().map(finding).collect();
            if let Some(first) = findings.first_mut() {
                first.question = Some(QUESTION.to_owned());
            }
            findings
        }
        InputError::File { name, position, message, help } => {
            let mut finding = Finding::new(Rule::REFUSED, Kind::Fail, with_help(message, help.as_deref()));
            finding.place = position.map(Region::point);
            // What is refused in machine code stands in its sources.
            if let Some(place) = finding.place.as_mut().filter(|_| name != file) {
                place.file = Some(name.clone());
            }
            vec![finding.answering(QUESTION)]
        }
        InputError::Stopped { reason, .. } => {
            let message = reason.to_string();
            vec![Finding::new(Rule::REFUSED, Kind::Open, message).answering(QUESTION)]
        }
    }
}

/// What is doubtful in a program.
fn warnings<'a>(program: &'a Program, warnings: &'a [Diagnostic]) -> impl Iterator<Item = Finding> + 'a {
    warnings.iter().map(|warning| {
        let message = with_help(&warning.message, warning.help.as_deref());
        Finding::new(Rule::DOUBTFUL, Kind::Fail, message).at(Region::of(&program.source, warning.span))
    })
}

fn with_help(message: &str, help: Option<&str>) -> String {
    help.map_or_else(|| message.to_owned(), |help| format!("{message}; {help}"))
}

/// A line of which nothing closer is known.
pub fn line(line: usize) -> Region {
    Region::point(Position { line, column: 1 })
}
