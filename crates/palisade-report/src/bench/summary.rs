//! What the runs say together: per family and tool, in pairs, and where answers differ.

use super::record::{Record, Setting, Verdict};
use crate::counted;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a tool did with a net, over all repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The answer, if one of the repetitions had one; else how the first one ended.
    pub verdict: Verdict,
    /// The median time of the repetitions.
    pub seconds: f64,
    /// The fastest and the slowest.
    pub range: (f64, f64),
    /// The median processor time of the repetitions for which it is known.
    pub cpu_seconds: Option<f64>,
    /// The largest memory.
    pub peak_bytes: Option<u64>,
    /// The strategy that answered.
    pub answered_by: Option<String>,
    /// What the tool said.
    pub message: Option<String>,
}

/// What a tool did with a family of nets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// The folder of the nets; `all` for the last rows.
    pub family: String,
    /// The tool.
    pub tool: String,
    /// Nets it was run on.
    pub nets: usize,
    /// Nets found uncoverable.
    pub uncoverable: usize,
    /// Nets found coverable.
    pub coverable: usize,
    /// Nets without an answer.
    pub unsolved: usize,
    /// The sum of the times of the answers.
    pub solved_seconds: f64,
    /// Their median.
    pub median_seconds: Option<f64>,
    /// The largest memory of any run.
    pub peak_bytes: Option<u64>,
}

/// Two tools on the nets that both answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The first tool given.
    pub first: String,
    /// Another one.
    pub second: String,
    /// Their times, if there are such nets.
    pub common: Option<Times>,
    /// Nets on which the first one is faster by a tenth at least.
    pub faster: usize,
    /// Nets on which it is slower by a tenth at least.
    pub slower: usize,
    /// Their processor times on the nets that both answer, where these are known.
    pub processor: Option<Times>,
    /// Their times on the nets that one of them answers, where there is a time limit: it is the
    /// other one's time when that has no answer.
    pub overall: Option<Times>,
}

/// The times of two tools on the same nets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Times {
    /// How many nets.
    pub nets: usize,
    /// The geometric mean of the second one's time over the first one's.
    pub ratio: f64,
    /// The sum of the first one's times in seconds.
    pub first_seconds: f64,
    /// The sum of the second one's.
    pub second_seconds: f64,
}

/// The runs together.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Per family and tool, then per tool.
    pub rows: Vec<Row>,
    /// The first tool against each other one.
    pub comparisons: Vec<Comparison>,
    /// Answers whose evidence was checked and accepted.
    pub accepted: usize,
    /// Answers whose evidence was rejected, each in a sentence.
    pub rejections: Vec<String>,
    /// Nets on which answers differ, each in a sentence.
    pub disagreements: Vec<String>,
    /// Tools that left nets unanswered within their limits, each in a sentence with what it said of
    /// one of them.
    pub unanswered: Vec<String>,
    /// Per net and tool.
    pub cells: BTreeMap<String, BTreeMap<String, Cell>>,
}

impl Summary {
    /// Sums records up. `expected` are known answers by file.
    pub fn of(setting: &Setting, records: &[Record], expected: &BTreeMap<String, Verdict>) -> Self {
        let cells = cells(records);
        let mut families: Vec<String> =
            cells.keys().map(|file| family(file).to_owned()).collect::<BTreeSet<_>>().into_iter().collect();
        if families.len() == 1 {
            families.clear();
        }
        let mut rows = Vec::new();
        for name in &families {
            rows.extend(setting.tools.iter().filter_map(|tool| row(name, tool, &cells, |file| family(file) == name)));
        }
        rows.extend(setting.tools.iter().filter_map(|tool| row("all", tool, &cells, |_| true)));
        let comparisons = match setting.tools.split_first() {
            Some((first, others)) => {
                others.iter().filter_map(|second| compare(first, second, setting.timeout_seconds, &cells)).collect()
            }
            None => Vec::new(),
        };
        let disagreements = disagreements(setting, records, expected);
        let is_accepted = |record: &&Record| record.verdict.is_answer() && record.evidence_seconds.is_some();
        let accepted = records.iter().filter(is_accepted).count();
        let rejected = records.iter().filter(|record| record.verdict == Verdict::Rejected);
        let rejections = rejected
            .map(|record| format!("{} by {}: {}", record.file, record.tool, record.message.as_deref().unwrap_or("")))
            .collect();
        let unanswered = setting.tools.iter().filter_map(|tool| unanswered(tool, &cells)).collect();
        Self { rows, comparisons, accepted, rejections, disagreements, unanswered, cells }
    }
}

/// The folder a file is in.
fn family(file: &str) -> &str {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(".")
}

fn cells(records: &[Record]) -> BTreeMap<String, BTreeMap<String, Cell>> {
    let mut grouped: BTreeMap<&str, BTreeMap<&str, Vec<&Record>>> = BTreeMap::new();
    for record in records {
        grouped.entry(&record.file).or_default().entry(&record.tool).or_default().push(record);
    }
    let cell = |runs: Vec<&Record>| {
        let times = sorted(runs.iter().map(|run| run.seconds));
        let best = runs.iter().find(|run| run.verdict.is_answer()).unwrap_or(&runs[0]);
        Cell {
            verdict: best.verdict,
            seconds: median(&times).unwrap_or(0.0),
            range: (times[0], times[times.len() - 1]),
            cpu_seconds: median(&sorted(runs.iter().filter_map(|run| run.cpu_seconds))),
            peak_bytes: runs.iter().filter_map(|run| run.peak_bytes).max(),
            answered_by: best.answered_by.clone(),
            message: best.message.clone(),
        }
    };
    grouped
        .into_iter()
        .map(|(file, tools)| {
            (file.to_owned(), tools.into_iter().map(|(tool, runs)| (tool.to_owned(), cell(runs))).collect())
        })
        .collect()
}

fn row(
    name: &str,
    tool: &str,
    cells: &BTreeMap<String, BTreeMap<String, Cell>>,
    belongs: impl Fn(&str) -> bool,
) -> Option<Row> {
    let own: Vec<&Cell> =
        cells.iter().filter(|(file, _)| belongs(file)).filter_map(|(_, tools)| tools.get(tool)).collect();
    if own.is_empty() {
        return None;
    }
    let count = |verdict| own.iter().filter(|cell| cell.verdict == verdict).count();
    let times = sorted(own.iter().filter(|cell| cell.verdict.is_answer()).map(|cell| cell.seconds));
    let (uncoverable, coverable) = (count(Verdict::Uncoverable), count(Verdict::Coverable));
    Some(Row {
        family: name.to_owned(),
        tool: tool.to_owned(),
        nets: own.len(),
        uncoverable,
        coverable,
        unsolved: own.len() - uncoverable - coverable,
        // The sum of nothing is −0 in floating point.
        solved_seconds: times.iter().sum::<f64>() + 0.0,
        median_seconds: median(&times),
        peak_bytes: own.iter().filter_map(|cell| cell.peak_bytes).max(),
    })
}

/// Compares two tools; `limit` is the time limit in seconds.
fn compare(
    first: &str,
    second: &str,
    limit: Option<f64>,
    cells: &BTreeMap<String, BTreeMap<String, Cell>>,
) -> Option<Comparison> {
    let pairs: Vec<(&Cell, &Cell)> =
        cells.values().filter_map(|tools| Some((tools.get(first)?, tools.get(second)?))).collect();
    let is_answer = |cell: &&Cell| cell.verdict.is_answer();
    let time = |cell: &Cell| Some(cell).filter(is_answer).map(|cell| cell.seconds);
    let processor = |cell: &Cell| Some(cell).filter(is_answer).and_then(|cell| cell.cpu_seconds);
    let one_at_least = |limit: f64| -> Vec<(f64, f64)> {
        let answered = |(one, other): &&(&Cell, &Cell)| is_answer(one) || is_answer(other);
        let times = |(one, other): &(&Cell, &Cell)| (time(one).unwrap_or(limit), time(other).unwrap_or(limit));
        pairs.iter().filter(answered).map(times).collect()
    };
    let both: Vec<(f64, f64)> = pairs.iter().filter_map(|(one, other)| time(one).zip(time(other))).collect();
    let used: Vec<(f64, f64)> = pairs.iter().filter_map(|(one, other)| processor(one).zip(processor(other))).collect();
    (!pairs.is_empty()).then(|| Comparison {
        first: first.to_owned(),
        second: second.to_owned(),
        common: Times::of(&both),
        faster: both.iter().filter(|(one, other)| one * 1.1 < *other).count(),
        slower: both.iter().filter(|(one, other)| *one > other * 1.1).count(),
        processor: Times::of(&used),
        overall: limit.and_then(|limit| Times::of(&one_at_least(limit))),
    })
}

impl Times {
    /// Two tools' times in seconds, net by net, together; nothing without any.
    fn of(times: &[(f64, f64)]) -> Option<Self> {
        /// Shorter times are below what can be measured here.
        const LEAST: f64 = 0.0005;
        #[allow(clippy::cast_precision_loss, reason = "there are few nets")]
        let number = times.len() as f64;
        let sum: f64 = times.iter().map(|(one, other)| (other.max(LEAST) / one.max(LEAST)).ln()).sum();
        (!times.is_empty()).then(|| Self {
            nets: times.len(),
            ratio: (sum / number).exp(),
            first_seconds: times.iter().map(|(one, _)| one).sum(),
            second_seconds: times.iter().map(|(_, other)| other).sum(),
        })
    }
}

/// What a tool said of the nets for which it has no answer though no limit was reached.
fn unanswered(tool: &str, cells: &BTreeMap<String, BTreeMap<String, Cell>>) -> Option<String> {
    let is_open = |cell: &Cell| matches!(cell.verdict, Verdict::Unknown | Verdict::Error | Verdict::Unsupported);
    let own = cells.iter().filter_map(|(file, tools)| Some((file, tools.get(tool)?)));
    let open: Vec<(&String, &Cell)> = own.filter(|(_, cell)| is_open(cell)).collect();
    let (file, said) = open.iter().find_map(|(file, cell)| Some((file, cell.message.as_ref()?)))?;
    Some(format!("{tool} has no answer for {}; of {file} it says: {said}", counted(open.len(), "net")))
}

fn disagreements(setting: &Setting, records: &[Record], expected: &BTreeMap<String, Verdict>) -> Vec<String> {
    let mut answers: BTreeMap<&str, BTreeMap<Verdict, BTreeSet<&str>>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.verdict.is_answer()) {
        answers.entry(&record.file).or_default().entry(record.verdict).or_default().insert(&record.tool);
    }
    for (file, verdicts) in &mut answers {
        if let Some(verdict) = expected.get(*file) {
            verdicts.entry(*verdict).or_default().insert("expected");
        }
    }
    let sentence = |(file, verdicts): (&str, BTreeMap<Verdict, BTreeSet<&str>>)| {
        let parts: Vec<String> = verdicts
            .iter()
            .map(|(verdict, tools)| {
                format!("{} ({})", setting.word(*verdict), tools.iter().copied().collect::<Vec<_>>().join(", "))
            })
            .collect();
        format!("{file}: {}", parts.join(" or "))
    };
    answers.into_iter().filter(|(_, verdicts)| verdicts.len() > 1).map(sentence).collect()
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// The median of sorted numbers.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}
