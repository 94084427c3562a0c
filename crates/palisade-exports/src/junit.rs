//! Findings as JUnit XML, which build servers show: a suite for each input, a case for each
//! question.
//!
//! The form is that of `junit-10.xsd` of Jenkins' xUnit plugin.

use super::findings::{Answer, Finding, Kind};
use palisade_model::text::escaped;
use palisade_report::account::Rule;
use std::fmt::Write;

/// The results of a command.
pub fn junit(command: &str, answers: &[Answer]) -> String {
    let totals = Counts::of(answers);
    let seconds: f64 = answers.iter().map(|answer| answer.seconds).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"palisade {command}\" {} time=\"{seconds:.3}\">", totals.attributes());
    for answer in answers {
        suite(&mut out, answer);
    }
    out.push_str("</testsuites>\n");
    out
}

/// How many cases there are, and how many of them fail or have no answer.
struct Counts {
    cases: usize,
    failures: usize,
    errors: usize,
}

impl Counts {
    fn of(answers: &[Answer]) -> Self {
        let cases = || answers.iter().flat_map(cases);
        let failed = |finding: &&Finding| finding.kind == Kind::Fail && finding.rule != Rule::REFUSED;
        let passed = cases().filter(|finding| finding.kind == Kind::Pass).count();
        let failures = cases().filter(failed).count();
        Self { cases: cases().count(), failures, errors: cases().count() - passed - failures }
    }

    fn attributes(&self) -> String {
        format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", self.cases, self.failures, self.errors)
    }
}

/// The findings that answer a question.
fn cases(answer: &Answer) -> impl Iterator<Item = &Finding> {
    answer.findings.iter().filter(|finding| finding.question.is_some())
}

fn suite(out: &mut String, answer: &Answer) {
    let file = admitted(&answer.file);
    let attributes = Counts::of(std::slice::from_ref(answer)).attributes();
    let _ = writeln!(out, "  <testsuite name=\"{file}\" {attributes} skipped=\"0\" time=\"{:.3}\">", answer.seconds);
    let count = cases(answer).count().max(1);
    for (number, finding) in cases(answer).enumerate() {
        let question = admitted(finding.question.as_deref().unwrap_or_default());
        // The time is that of the input: its questions are answered together.
        let seconds = if number == 0 { answer.seconds } else { 0.0 };
        let _ = write!(out, "    <testcase classname=\"{file}\" name=\"{question}\" time=\"{seconds:.3}\"");
        let Some(element) = element(finding) else {
            out.push_str("/>\n");
            continue;
        };
        let message = admitted(&finding.message);
        let details = if count == 1 { admitted(&answer.report) } else { admitted(&details(answer, finding)) };
        let _ = writeln!(out, ">\n      <{element} message=\"{message}\">{details}</{element}>\n    </testcase>");
    }
    out.push_str("  </testsuite>\n");
}

/// What stands in a case that does not pass.
fn element(finding: &Finding) -> Option<&'static str> {
    match finding.kind {
        Kind::Pass => None,
        Kind::Open => Some("error"),
        Kind::Fail if finding.rule == Rule::REFUSED => Some("error"),
        Kind::Fail => Some("failure"),
    }
}

/// A finding with its place and its computation.
fn details(answer: &Answer, finding: &Finding) -> String {
    let file = finding.place.as_ref().and_then(|place| place.file.as_ref()).unwrap_or(&answer.file);
    let line = finding.place.as_ref().map_or(String::new(), |place| format!(":{}", place.start.line));
    let mut out = format!("{file}{line}: {}\n", finding.message);
    for (step, number) in finding.steps.iter().zip(1..) {
        let _ = writeln!(out, "{number:>4}  {}", step.text);
    }
    out
}

/// A text in which nothing is markup, without the characters that XML does not admit.
fn admitted(text: &str) -> String {
    let admitted = |character: char| match character {
        '\n' | '\t' => character,
        control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        other => other,
    };
    escaped(text.chars().map(admitted).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_fail_pass_and_end_without_an_answer() {
        let finding = |kind, rule: &'static Rule| Finding::new(rule, kind, "a < b & \u{1}").answering("robust");
        let answer = |file: &str, findings| Answer {
            file: file.to_owned(),
            seconds: 0.25,
            findings,
            report: "two\nlines".to_owned(),
            page: None,
        };
        let answers = [
            answer("a.pal", vec![finding(Kind::Fail, Rule::NOT_ROBUST)]),
            answer("b.pal", vec![finding(Kind::Pass, Rule::NOT_ROBUST), finding(Kind::Open, Rule::PROPERTY_VIOLATED)]),
            answer("c.pal", vec![finding(Kind::Fail, Rule::REFUSED), Finding::new(Rule::DOUBTFUL, Kind::Fail, "odd")]),
        ];
        let text = junit("check", &answers);
        let document = roxmltree::Document::parse(&text).expect("it is XML");
        let root = document.root_element();
        let counts = |node: roxmltree::Node<'_, '_>| {
            ["tests", "failures", "errors"].map(|name| node.attribute(name).unwrap().parse::<usize>().unwrap())
        };
        assert_eq!(counts(root), [4, 1, 2]);
        let suites: Vec<_> = root.children().filter(roxmltree::Node::is_element).map(counts).collect();
        assert_eq!(suites, [[1, 1, 0], [2, 0, 1], [1, 0, 1]]);
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("one fails");
        assert_eq!(failure.attribute("message"), Some("a < b & \u{fffd}"));
        assert_eq!(failure.text(), Some("two\nlines"));
    }
}
