//! `palisade bench`: strategies and other tools on many nets, or methods for pairs of statements on
//! many programs, each run in a fresh process.
//!
//! On every net all tools run one after the other, so that times are paired. Repetitions go through
//! all nets again, every other one with the tools backwards: what disturbs the machine for a while
//! then disturbs one repetition of a net, not all of them. Each finished run is appended to the
//! file of `--resume` at once, and runs found there are not made again.

mod command_line;
mod conversions;
mod methods;
mod plan;
pub(super) mod process;
mod run;
mod tool;

use super::files::write_file;
use super::lines::Lines;
use super::output::{print_document, remark_line};
use super::{Exit, SharedOptions, print_input_error, print_text};
use crate::report::bench::{self as report, Record, Setting, Summary, Verdict};
use crate::report::documents::BenchDocument;
use crate::syntax::InputError;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use plan::Plan;
pub(super) use plan::nets;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tool::Tool;

/// Options of `palisade bench`.
#[derive(Clone, Debug, Args)]
pub(super) struct BenchArguments {
    /// Nets, and folders to be searched for nets. With `--methods`, programs whose names end in
    /// their sizes (`peterson-12.pal`), and folders to be searched for these.
    #[arg(required = true, value_name = "DIR|FILE")]
    inputs: Vec<PathBuf>,
    /// Instead of strategies on nets, compare these methods of
    /// `palisade fences --ask properties --objective pairs` on programs of growing size: `te`,
    /// `fi`, `robmc`, `robmc-et`. The page of `--html` plots queries and seconds over the size.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = methods::parse_method)]
    methods: Vec<&'static str>,
    /// The memory model, with `--methods`.
    #[arg(long, value_name = "MODEL", default_value = "tso", value_parser = ["tso", "pso"], requires = "methods")]
    model: String,
    /// The bounds of `robmc` and `robmc-et`, with `--methods`.
    #[arg(long, value_name = "K1..K2", requires = "methods")]
    bound: Option<String>,
    /// Do not leave out what does not matter for the properties, with `--methods`.
    #[arg(long, requires = "methods")]
    no_slice: bool,
    /// Strategies to compare.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "auto", value_parser = super::cover::strategies())]
    strategies: Vec<&'static str>,
    /// Another tool's command line for the same table. `{}` is the net's path; `{spec}`, `{tts}`,
    /// `{pnml}`, `{lola}` and `{net}` are the paths of the net rewritten in that format, `{query}`
    /// that of the question that goes with it, and `{property}` is the id of the property. Nets
    /// whose query has several properties are run for each that is one question; answers in lines
    /// `FORMULA ID TRUE` are read. The line goes to a shell only where it needs one.
    #[arg(long, value_name = "COMMAND")]
    against: Vec<String>,
    /// What another tool prints when no target can be covered, where the usual words are not
    /// enough.
    #[arg(long, value_name = "TEXT")]
    uncoverable_when: Vec<String>,
    /// What another tool prints when a target can be covered.
    #[arg(long, value_name = "TEXT")]
    coverable_when: Vec<String>,
    /// Runs of each tool on each net.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Of nets found in folders take those of this format only.
    #[arg(long, value_name = "FORMAT", value_parser = super::net_input::parse_format)]
    only: Option<crate::net::Format>,
    /// Known answers: a table with the columns `file` (an ending of the path) and `expected`.
    #[arg(long, value_name = "TSV")]
    expected: Option<PathBuf>,
    /// Write one line per run to this file.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page with table and plots to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Keep the runs in this file (JSON Lines), and do not repeat those that are there.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// Runs `palisade bench`.
pub(super) fn run(arguments: &BenchArguments, shared: &SharedOptions) -> Exit {
    let benchmark = if arguments.methods.is_empty() { benchmark } else { methods::benchmark };
    match benchmark(arguments, shared) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn benchmark(arguments: &BenchArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let tools = tool::tools(arguments)?;
    let asked = plan::asked(&nets(&arguments.inputs, arguments.only)?);
    let setting = Setting {
        tools: tools.iter().map(|tool| tool.name.clone()).collect(),
        timeout_seconds: shared.timeout.map(|timeout| timeout.as_secs_f64()),
        memory_bytes: shared.memory,
        repeat: arguments.repeat,
        asks_reachability: asked.iter().any(|asked| asked.property.as_ref().is_some_and(|own| own.is_of_reachability)),
    };
    let expected = match &arguments.expected {
        Some(path) => plan::expected(path, &asked)?,
        None => BTreeMap::new(),
    };
    let mut plan = Plan::new(&asked, &tools, &setting)?;
    let done = match &arguments.resume {
        Some(path) => plan.take_done(path)?,
        None => Vec::new(),
    };
    let (records, complete) = work(&plan, &tools, done, arguments.resume.as_deref(), shared)?;
    let summary = Summary::of(&setting, &records, &expected);
    let write = |path: &Path, text: String| {
        let failed = |error| InputError::file(path.display().to_string(), format!("cannot be written: {error}"));
        write_file(path, text).map_err(failed)
    };
    if let Some(path) = &arguments.csv {
        write(path, report::csv(&records))?;
    }
    if let Some(path) = &arguments.html {
        write(path, report::html(&setting, &records, &summary))?;
    }
    if shared.json {
        print_document(&BenchDocument::new(&setting, &records, &summary));
    } else {
        print_text(report::text(&setting, &summary));
    }
    if !summary.rejections.is_empty() {
        return Ok(Exit::Rejected);
    }
    Ok(match (summary.disagreements.is_empty(), complete) {
        (false, _) => Exit::Fails,
        (true, true) => Exit::Holds,
        (true, false) => Exit::Unknown,
    })
}

/// Makes the runs of the plan; says whether all were made.
fn work(
    plan: &Plan,
    tools: &[Tool],
    mut records: Vec<Record>,
    resume: Option<&Path>,
    shared: &SharedOptions,
) -> Result<(Vec<Record>, bool), InputError> {
    let mut log = resume.map(Lines::open).transpose()?;
    let conversions = conversions::Conversions::new()?;
    // These limits stop the benchmark on Ctrl-C alone; each run has the others itself.
    let interruption = SharedOptions { timeout: None, memory: None, ..shared.clone() }.limits();
    let bar = progress(plan.runs.len(), shared);
    let mut complete = true;
    for run in &plan.runs {
        let tool = &tools[run.tool];
        bar.set_message(format!("{} on {}", tool.name, run.asked.name()));
        let Some(record) = tool.run(run, &conversions, shared, &interruption) else {
            complete = false;
            break;
        };
        if shared.verbose > 0 && !shared.quiet {
            let line = format!("{} {} {} {:.3} s", record.file, record.tool, record.verdict.word(), record.seconds);
            bar.suspend(|| remark_line(line));
        }
        if let Some(log) = &mut log {
            log.append(&record)?;
        }
        records.push(record);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok((records, complete))
}

/// What is running, how far it is, and how long is left.
fn progress(length: usize, shared: &SharedOptions) -> ProgressBar {
    if shared.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64);
    let template = "{bar:20} {pos}/{len}, {elapsed} gone, {eta} left: {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// A verdict by the word a table of known answers has for it.
fn verdict_of(word: &str) -> Option<Verdict> {
    match word {
        "safe" | "uncoverable" => Some(Verdict::Uncoverable),
        "unsafe" | "coverable" => Some(Verdict::Coverable),
        _ => None,
    }
}
