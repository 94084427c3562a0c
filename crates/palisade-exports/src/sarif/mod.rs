//! Findings as a log in SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS standard),
//! which code hosts and editors show.
//!
//! What is proved is a result, too, of the kind `pass`: so a log without violations says what was
//! looked at, and hosts close the alerts that were open.

mod log;
mod rules;
#[cfg(test)]
mod tests;

use super::findings::{Answer, Finding, FlowStep, Kind, Region};
use log::{
    ArtifactChange, ArtifactLocation, CodeFlow, Content, Driver, Invocation, Level, Location, Log, Message,
    Notification, PhysicalLocation, Replacement, ResultKind, Run, SarifFix, SarifRegion, SarifResult, ThreadFlow,
    ThreadFlowLocation, Tool,
};
use palisade_report::account::Rule;

/// The base of relative paths, as code hosts call the root of the sources.
const ROOT: &str = "%SRCROOT%";

/// The rules of the house, and those that findings bring.
fn rules_of(answers: &[Answer]) -> Vec<&'static Rule> {
    let mut rules = Rule::ALL.to_vec();
    for finding in answers.iter().flat_map(|answer| &answer.findings) {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    rules
}

/// The log of a command's answers.
pub fn sarif(command: &'static str, answers: &[Answer]) -> String {
    let known = rules_of(answers);
    let refusals = answers.iter().flat_map(|answer| {
        let refused = answer.findings.iter().filter(|finding| finding.rule == Rule::REFUSED);
        refused.map(|finding| notification(&answer.file, finding))
    });
    let refusals: Vec<Notification> = refusals.collect();
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "Palisade",
                semantic_version: env!("CARGO_PKG_VERSION"),
                information_uri: env!("CARGO_PKG_REPOSITORY"),
                rules: known.iter().copied().map(rules::descriptor).collect(),
            },
        },
        automation_details: log::Automation { id: format!("palisade {command}/") },
        column_kind: "unicodeCodePoints",
        invocations: vec![Invocation {
            execution_successful: refusals.is_empty(),
            tool_execution_notifications: refusals,
        }],
        artifacts: answers.iter().map(|answer| log::Artifact { location: artifact(&answer.file) }).collect(),
        results: answers.iter().flat_map(|answer| results(answer, &known)).collect(),
    };
    let log = Log { schema: log::SCHEMA, version: "2.1.0", runs: [run] };
    serde_json::to_string_pretty(&log).expect("logs are plain data with text keys") + "\n"
}

fn results<'a>(answer: &'a Answer, rules: &'a [&'static Rule]) -> impl Iterator<Item = SarifResult> + 'a {
    answer.findings.iter().map(|finding| result(&answer.file, finding, rules))
}

fn result(file: &str, finding: &Finding, known: &[&'static Rule]) -> SarifResult {
    let (kind, level) = match finding.kind {
        Kind::Fail => (ResultKind::Fail, rules::level(finding.rule)),
        Kind::Pass => (ResultKind::Pass, Level::None),
        Kind::Open => (ResultKind::Open, Level::None),
    };
    let related = finding.related.iter().zip(1..);
    let related = related.map(|((region, words), id)| Location {
        id: Some(id),
        message: Some(Message::new(words)),
        ..location(file, Some(region))
    });
    SarifResult {
        rule_id: finding.rule.id,
        rule_index: known.iter().position(|rule| *rule == finding.rule).expect("all rules are listed"),
        kind,
        level,
        message: Message::new(&finding.message),
        locations: vec![location(file, finding.place.as_ref())],
        related_locations: related.collect(),
        code_flows: code_flows(file, finding),
        fixes: finding
            .fix
            .iter()
            .map(|fix| SarifFix {
                description: Message::new(&fix.message),
                artifact_changes: [ArtifactChange {
                    artifact_location: artifact(file),
                    replacements: [Replacement {
                        deleted_region: region(&fix.deleted),
                        inserted_content: Content { text: fix.inserted.clone() },
                    }],
                }],
            })
            .collect(),
    }
}

/// The computation that shows a finding. A step that no instruction takes stands where the one
/// before it does.
fn code_flows<'f>(file: &str, finding: &'f Finding) -> Vec<CodeFlow> {
    let mut last = finding.place.as_ref();
    let step = |(step, order): (&'f FlowStep, usize)| {
        last = step.place.as_ref().or(last);
        ThreadFlowLocation {
            execution_order: order,
            location: Location { message: Some(Message::new(&step.text)), ..location(file, last) },
        }
    };
    let locations: Vec<ThreadFlowLocation> = finding.steps.iter().zip(1..).map(step).collect();
    if locations.is_empty() { Vec::new() } else { vec![CodeFlow { thread_flows: [ThreadFlow { locations }] }] }
}

fn notification(file: &str, finding: &Finding) -> Notification {
    Notification {
        level: Level::Error,
        message: Message::new(&finding.message),
        locations: [location(file, finding.place.as_ref())],
    }
}

fn location(file: &str, place: Option<&Region>) -> Location {
    let file = place.and_then(|place| place.file.as_deref()).unwrap_or(file);
    let physical_location = PhysicalLocation { artifact_location: artifact(file), region: place.map(region) };
    Location { id: None, message: None, physical_location }
}

fn region(region: &Region) -> SarifRegion {
    let (start, end) = (region.start, region.end);
    SarifRegion { start_line: start.line, start_column: start.column, end_line: end.line, end_column: end.column }
}

/// A file: relative to the root of the sources, unless its path is absolute.
fn artifact(file: &str) -> ArtifactLocation {
    match file.strip_prefix('/') {
        Some(path) => ArtifactLocation { uri: format!("file:///{}", encoded(path)), uri_base_id: None },
        None => ArtifactLocation { uri: encoded(file.strip_prefix("./").unwrap_or(file)), uri_base_id: Some(ROOT) },
    }
}

/// A path as a part of a URI.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(byte.into()),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
