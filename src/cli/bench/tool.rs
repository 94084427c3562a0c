//! The tools of a benchmark: Palisade's strategies and other programs' command lines.

use super::BenchArguments;
use super::command_line::{command_line, is_command};
use super::conversions::Conversions;
use super::process::{End, Watched, watch};
use super::run::{AskedProperty, NetQuestion, Run};
use crate::cli::SharedOptions;
use crate::limits::Limits;
use crate::report::bench::{Record, Verdict};
use crate::syntax::InputError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A tool.
pub(super) struct Tool {
    /// Its name in tables.
    pub(super) name: String,
    kind: Kind,
}

enum Kind {
    /// This program with a strategy.
    Own { program: PathBuf, strategy: &'static str },
    /// A command line.
    Other { command: String, uncoverable: Vec<String>, coverable: Vec<String> },
}

/// What tools say when no target can be covered; looked for first, in lower case.
const UNCOVERABLE: [&str; 10] = [
    "uncoverable",
    "not coverable",
    "unreachable",
    "not reachable",
    "not satisfied",
    "verification successful",
    "is safe",
    "concludes safe",
    "petri net satisfies",
    "\"safe\"",
];

/// What tools say when one can.
const COVERABLE: [&str; 7] =
    ["coverable", "reachable", "satisfied", "verification failed", "unsafe", "\"unsafe\"", "violated"];

/// The tools that the options name.
pub(super) fn tools(arguments: &BenchArguments) -> Result<Vec<Tool>, InputError> {
    let program = std::env::current_exe()
        .map_err(|error| InputError::file("palisade", format!("the program does not find itself: {error}")))?;
    let mut tools: Vec<Tool> = Vec::new();
    for strategy in &arguments.strategies {
        let kind = Kind::Own { program: program.clone(), strategy };
        tools.push(Tool { name: (*strategy).to_owned(), kind });
    }
    for command in &arguments.against {
        if !command.contains('{') {
            let message = format!("the command `{command}` has no place for the net");
            let help = "write `{}` where the net's path belongs".to_owned();
            return Err(InputError::file("--against", message).with_help_if(Some(help)));
        }
        // A command for a shell may set variables first.
        let is_program = |word: &&str| !word.contains('=') && *word != "exec" && *word != "env";
        let first = command.split_whitespace().find(is_program).unwrap_or("tool");
        if !is_command(first) {
            let message = format!("there is no command `{first}`");
            let help = "install it, or write the path of its file".to_owned();
            return Err(InputError::file("--against", message).with_help_if(Some(help)));
        }
        let name = first.rsplit('/').next().unwrap_or(first).to_owned();
        let lower = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect();
        let kind = Kind::Other {
            command: command.clone(),
            uncoverable: lower(&arguments.uncoverable_when),
            coverable: lower(&arguments.coverable_when),
        };
        tools.push(Tool { name, kind });
    }
    for index in 1..tools.len() {
        let same = tools[..index].iter().filter(|tool| tool.name == tools[index].name).count();
        if same > 0 {
            tools[index].name = format!("{}#{}", tools[index].name, index + 1);
        }
    }
    Ok(tools)
}

impl Tool {
    /// What tells this tool from others, for ids of runs.
    pub(super) fn identity(&self) -> String {
        match &self.kind {
            Kind::Own { strategy, .. } => format!("palisade {} {strategy}, verified", env!("CARGO_PKG_VERSION")),
            Kind::Other { command, .. } => command.clone(),
        }
    }

    /// Makes a run; nothing when the user broke it off.
    pub(super) fn run(
        &self,
        run: &Run,
        conversions: &Conversions,
        shared: &SharedOptions,
        interruption: &Limits,
    ) -> Option<Record> {
        let mut record = Record {
            id: run.id.clone(),
            file: run.asked.name(),
            tool: self.name.clone(),
            repetition: run.repetition,
            verdict: Verdict::Error,
            answered_by: None,
            seconds: 0.0,
            cpu_seconds: None,
            peak_bytes: None,
            message: None,
            evidence_seconds: None,
        };
        let command = match &self.kind {
            Kind::Own { program, strategy } => own_command(program, strategy, &run.asked, shared),
            Kind::Other { command, .. } => match conversions.fill_in(command, &run.asked) {
                Ok(filled) => command_line(command, &filled),
                Err(reason) => {
                    record.verdict = Verdict::Unsupported;
                    record.message = Some(reason);
                    return Some(record);
                }
            },
        };
        // Own runs watch the limit themselves, and check their evidence after that; they are
        // stopped only when they go on for much longer.
        let patience = match &self.kind {
            Kind::Own { .. } => {
                shared.timeout.map(|timeout| timeout.saturating_mul(2).saturating_add(Duration::from_millis(500)))
            }
            Kind::Other { .. } => shared.timeout,
        };
        let watched = match watch(command, patience, shared.memory, interruption) {
            Ok(watched) => watched,
            Err(error) => {
                record.message = Some(format!("it cannot be started: {error}"));
                return Some(record);
            }
        };
        record.seconds = watched.elapsed.as_secs_f64();
        record.cpu_seconds = watched.processor.map(|time| time.as_secs_f64());
        record.peak_bytes = watched.peak_bytes;
        match watched.end {
            End::Interrupted => return None,
            End::Timeout => record.verdict = Verdict::Timeout,
            End::Memory => record.verdict = Verdict::Memory,
            End::Exited(_) => self.judge(&watched, run.asked.property.as_ref(), &mut record),
        }
        Some(record)
    }

    /// Reads the verdict from what was printed.
    fn judge(&self, watched: &Watched, property: Option<&AskedProperty>, record: &mut Record) {
        match &self.kind {
            Kind::Own { .. } => judge_own(watched, record),
            Kind::Other { uncoverable, coverable, .. } => {
                if let Some(verdict) = property.and_then(|property| contest_verdict(&watched.output, property)) {
                    record.verdict = verdict;
                    return;
                }
                let said = format!("{}\n{}", watched.output, watched.complaint);
                let text = said.to_lowercase();
                let found = |own: &[String], usual: &[&str]| {
                    if own.is_empty() {
                        usual.iter().any(|words| says(&text, words))
                    } else {
                        own.iter().any(|words| says(&text, words))
                    }
                };
                if found(uncoverable, &UNCOVERABLE) {
                    record.verdict = Verdict::Uncoverable;
                } else if found(coverable, &COVERABLE) {
                    record.verdict = Verdict::Coverable;
                } else {
                    record.verdict = match watched.end {
                        End::Exited(status) if status.success() => Verdict::Unknown,
                        _ => Verdict::Error,
                    };
                    record.message = last_line(&said);
                }
            }
        }
    }
}

/// What the lines of the Model Checking Contest say about a property, `FORMULA ID TRUE …`. Where
/// there is only one such line, its id does not matter: nets that are rewritten have properties of
/// other names.
fn contest_verdict(output: &str, property: &AskedProperty) -> Option<Verdict> {
    let formulas = output.lines().filter_map(|line| {
        let mut words = line.strip_prefix("FORMULA ")?.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    let formulas: Vec<(&str, &str)> = formulas.collect();
    let word = match formulas.as_slice() {
        [(_, word)] => *word,
        several => several.iter().find(|(id, _)| *id == property.id)?.1,
    };
    let coverable = match word {
        "TRUE" => property.quantifier.holds(true),
        "FALSE" => !property.quantifier.holds(true),
        _ => return Some(Verdict::Unknown),
    };
    Some(if coverable { Verdict::Coverable } else { Verdict::Uncoverable })
}

/// Whether a text has these words, not as part of longer ones: `unsafe` does not say `safe`.
fn says(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(start, _)| {
        !text[..start].ends_with(char::is_alphanumeric)
            && !text[start + words.len()..].starts_with(char::is_alphanumeric)
    })
}

fn own_command(program: &Path, strategy: &str, asked: &NetQuestion, shared: &SharedOptions) -> Command {
    let mut command = Command::new(program);
    command.arg("cover").arg(&asked.net).args(["--json", "--quiet", "--verify", "--strategy", strategy]);
    if let Some(property) = &asked.property {
        command.args(["--property", &property.id]);
    }
    if let Some(timeout) = shared.timeout {
        command.args(["--timeout", &format!("{}s", timeout.as_secs_f64())]);
    }
    if let Some(memory) = shared.memory {
        command.args(["--memory", &memory.to_string()]);
    }
    if let Some(jobs) = shared.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    command
}

fn judge_own(watched: &Watched, record: &mut Record) {
    let Ok(document) = serde_json::from_str::<Value>(&watched.output) else {
        record.message = last_line(&watched.complaint);
        return;
    };
    record.answered_by = document["strategy"].as_str().map(str::to_owned);
    // Times and memory are those of the answer, without the check of its evidence.
    record.peak_bytes = document["statistics"]["peak_memory_bytes"].as_u64().or(record.peak_bytes);
    record.evidence_seconds = document["evidence"]["seconds"].as_f64();
    record.seconds = (record.seconds - record.evidence_seconds.unwrap_or(0.0)).max(0.0);
    let checking = document["evidence"]["cpu_seconds"].as_f64().unwrap_or(0.0);
    record.cpu_seconds = record.cpu_seconds.map(|seconds| (seconds - checking).max(0.0));
    let message = document["reason"].as_str().or(document["error"]["message"].as_str());
    record.message = message.map(str::to_owned);
    record.verdict = match document["verdict"].as_str() {
        Some("uncoverable" | "unreachable") => Verdict::Uncoverable,
        Some("coverable" | "reachable") => Verdict::Coverable,
        Some("unknown") if message.is_some_and(|message| message.contains("time limit")) => Verdict::Timeout,
        Some("unknown") if message.is_some_and(|message| message.contains("memory limit")) => Verdict::Memory,
        Some("unknown") => Verdict::Unknown,
        _ => Verdict::Error,
    };
    // Evidence that a limit kept from being checked is not rejected: the answer then says so
    // itself.
    if document["evidence"]["verdict"] == "rejected" {
        let reason = document["evidence"]["reason"].as_str().unwrap_or("no reason is given");
        record.message = Some(format!("{}, but its evidence is rejected: {reason}", record.verdict.word()));
        record.verdict = Verdict::Rejected;
    }
}

fn last_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(|line| line.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Quantifier;

    #[test]
    fn lines_of_the_contest_are_read() {
        let verdict = |output: &str, quantifier| {
            contest_verdict(
                output,
                &AskedProperty { id: "b".to_owned(), quantifier, is_of_reachability: true, is_only_one: false },
            )
        };
        let several = "noise\nFORMULA a TRUE TECHNIQUES X\nFORMULA b FALSE TECHNIQUES X Y\nFORMULA c CANNOT_COMPUTE\n";
        assert_eq!(verdict(several, Quantifier::Eventually), Some(Verdict::Uncoverable));
        assert_eq!(verdict(several, Quantifier::Always), Some(Verdict::Coverable));
        assert_eq!(verdict("FORMULA other TRUE\n", Quantifier::Always), Some(Verdict::Uncoverable));
        assert_eq!(verdict("FORMULA b CANNOT_COMPUTE\n", Quantifier::Always), Some(Verdict::Unknown));
        assert_eq!(verdict("FORMULA a TRUE\nFORMULA c TRUE\n", Quantifier::Always), None);
        assert_eq!(verdict("coverable\n", Quantifier::Always), None);
    }

    #[test]
    fn evidence_that_was_not_checked_is_not_rejected() {
        let judged = |verdict: &str, evidence: &str| {
            let output = format!(
                r#"{{"verdict": "{verdict}", "reason": "the time limit was reached", "evidence": {{"verdict": "{evidence}", "reason": "why", "seconds": 0.1, "cpu_seconds": 0.1}}}}"#
            );
            let mut record = Record {
                id: String::new(),
                file: "net.spec".to_owned(),
                tool: "auto".to_owned(),
                repetition: 1,
                verdict: Verdict::Error,
                answered_by: None,
                seconds: 1.0,
                cpu_seconds: None,
                peak_bytes: None,
                message: None,
                evidence_seconds: None,
            };
            let watched = Watched {
                end: End::Exited(std::process::ExitStatus::default()),
                elapsed: Duration::from_secs(1),
                processor: None,
                peak_bytes: None,
                output,
                complaint: String::new(),
            };
            judge_own(&watched, &mut record);
            (record.verdict, record.message)
        };
        assert_eq!(judged("unknown", "unknown"), (Verdict::Timeout, Some("the time limit was reached".to_owned())));
        let (verdict, message) = judged("coverable", "rejected");
        assert_eq!(verdict, Verdict::Rejected);
        assert_eq!(message.as_deref(), Some("coverable, but its evidence is rejected: why"));
    }

    #[test]
    fn words_are_matched_whole() {
        assert!(says("result: safe\n", "safe"));
        assert!(!says("result: unsafe\n", "safe"));
        assert!(!says("uncoverable", "coverable"));
        assert!(says("uncoverable, not coverable", "coverable"));
        assert!(says("formula is satisfied.", "is satisfied"));
    }
}
