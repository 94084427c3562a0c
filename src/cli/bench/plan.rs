//! The runs of a benchmark.

use super::run::{AskedProperty, NetQuestion, Run};
use super::tool::Tool;
use super::verdict_of;
use crate::cli::folder::files_in;
use crate::cli::net_input::NetOptions;
use crate::evidence::sha256;
use crate::net::{Claim, Format, Property, Quantifier};
use crate::report::bench::{Record, Setting, Verdict};
use crate::syntax::InputError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is asked about nets: each property that is one question with a truth value, where there are
/// properties.
pub(super) fn asked(nets: &[PathBuf]) -> Vec<NetQuestion> {
    let of_net = |net: &PathBuf| {
        let plain = vec![NetQuestion { net: net.clone(), property: None }];
        // A net that cannot be read is a run that says so.
        let Ok(Some(properties)) = NetOptions::default().properties_beside(&net.to_string_lossy()) else {
            return plain;
        };
        let is_only_one = properties.len() == 1;
        let question = |property: Property| {
            let (quantifier, is_of_reachability) = simple(&property.claim)?;
            let property = AskedProperty { id: property.id, quantifier, is_of_reachability, is_only_one };
            Some(NetQuestion { net: net.clone(), property: Some(property) })
        };
        let questions: Vec<NetQuestion> = properties.into_iter().filter_map(question).collect();
        if questions.is_empty() { plain } else { questions }
    };
    nets.iter().flat_map(of_net).collect()
}

/// How a claim is put that is one question, perhaps negated, and whether it is one of reachability.
fn simple(claim: &Claim) -> Option<(Quantifier, bool)> {
    match claim {
        Claim::Question(question) => Some((question.quantifier, false)),
        Claim::Reach(question) => Some((question.quantifier, true)),
        Claim::Not(claim) => simple(claim).map(|(quantifier, is_reach)| (quantifier.contrary(), is_reach)),
        Claim::Bound(_) | Claim::Open(_) | Claim::All(_) | Claim::Any(_) => None,
    }
}

/// The runs in order.
pub(super) struct Plan {
    /// The runs still to be made.
    pub(super) runs: Vec<Run>,
}

impl Plan {
    /// All runs: per repetition and net the tools one after the other, every second time backwards.
    pub(super) fn new(asked: &[NetQuestion], tools: &[Tool], setting: &Setting) -> Result<Self, InputError> {
        let hash = |NetQuestion { net, .. }: &NetQuestion| {
            let failed = |error| InputError::file(net.display().to_string(), format!("cannot be read: {error}"));
            std::fs::read(net).map(|content| sha256(&content)).map_err(failed)
        };
        let hashes: Vec<String> = asked.iter().map(hash).collect::<Result<_, _>>()?;
        let mut runs = Vec::new();
        for repetition in 1..=setting.repeat {
            let mut order: Vec<usize> = (0..tools.len()).collect();
            if repetition % 2 == 0 {
                order.reverse();
            }
            for (asked, content) in asked.iter().zip(&hashes) {
                for tool in order.iter().copied() {
                    let identity = serde_json::json!([
                        asked.name(),
                        content,
                        tools[tool].identity(),
                        repetition,
                        setting.timeout_seconds,
                        setting.memory_bytes,
                    ]);
                    let id = sha256(identity.to_string().as_bytes())[..16].to_owned();
                    runs.push(Run { id, asked: asked.clone(), tool, repetition });
                }
            }
        }
        Ok(Self { runs })
    }

    /// Takes the runs out that a file of finished ones holds, and gives their records. Lines that
    /// are none, as the last one of an interrupted benchmark may be, are passed over.
    pub(super) fn take_done(&mut self, path: &Path) -> Result<Vec<Record>, InputError> {
        let text = match std::fs::read(path) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(InputError::file(path.display().to_string(), format!("cannot be read: {error}")));
            }
        };
        let planned: BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
        let mut done: BTreeMap<String, Record> = BTreeMap::new();
        for line in text.lines() {
            if let Ok(record) = serde_json::from_str::<Record>(line)
                && planned.contains(record.id.as_str())
            {
                done.entry(record.id.clone()).or_insert(record);
            }
        }
        let mut records = Vec::new();
        self.runs.retain(|run| match done.remove(&run.id) {
            Some(record) => {
                records.push(record);
                false
            }
            None => true,
        });
        Ok(records)
    }
}

/// The nets among files and in folders, each once, in order of their paths.
pub(in crate::cli) fn nets(inputs: &[PathBuf], only: Option<Format>) -> Result<Vec<PathBuf>, InputError> {
    let mut nets = BTreeSet::new();
    for input in inputs {
        if input.is_dir() {
            search(input, only, &mut nets)?;
        } else if input.is_file() {
            nets.insert(input.clone());
        } else {
            return Err(InputError::file(input.display().to_string(), "there is no such file or folder"));
        }
    }
    if nets.is_empty() {
        let names: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
        return Err(InputError::file(names.join(", "), "no nets are there"));
    }
    Ok(nets.into_iter().collect())
}

fn search(folder: &Path, only: Option<Format>, nets: &mut BTreeSet<PathBuf>) -> Result<(), InputError> {
    let failed = |(path, error): (PathBuf, std::io::Error)| {
        InputError::file(path.display().to_string(), format!("cannot be read: {error}"))
    };
    let is_wanted = |path: &PathBuf| {
        let format = path.to_str().and_then(Format::of_name).filter(|format| *format != Format::Dot);
        format.is_some_and(|format| only.is_none_or(|only| only == format))
    };
    nets.extend(files_in(folder).map_err(failed)?.into_iter().filter(is_wanted));
    Ok(())
}

/// Known answers by net, from a table whose first line names its columns.
pub(super) fn expected(path: &Path, asked: &[NetQuestion]) -> Result<BTreeMap<String, Verdict>, InputError> {
    let failed = |message: String| InputError::file(path.display().to_string(), message);
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let titles = lines.next().unwrap_or_default();
    let column = |name: &str| {
        let found = titles.iter().position(|title| *title == name);
        found.ok_or_else(|| failed(format!("the table has no column `{name}`")))
    };
    let (file, answer) = (column("file")?, column("expected")?);
    let mut answers = BTreeMap::new();
    for line in lines {
        let (Some(file), Some(verdict)) = (line.get(file), line.get(answer).and_then(|word| verdict_of(word))) else {
            continue;
        };
        for name in asked.iter().map(NetQuestion::name).filter(|name| Path::new(name).ends_with(file)) {
            answers.insert(name, verdict);
        }
    }
    if answers.is_empty() {
        return Err(failed("no row has an answer to what is asked: `file` is an ending of a net's path".to_owned()));
    }
    Ok(answers)
}
