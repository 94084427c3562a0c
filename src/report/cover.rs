//! The result of `palisade cover` as text and as JSON (`palisade/cover/1`).

use super::counted;
use crate::coverability::{Answer, Outcome};
use crate::evidence::NetRun;
use crate::limits::{peak_resident_bytes, processor_time};
use crate::net::{Count, Net, PlaceId, Problem, TransitionId};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt::Write;

/// What a report says besides the answer itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// The path as given.
    pub file: &'a str,
    /// The net with its question.
    pub problem: &'a Problem,
    /// Where the evidence was written.
    pub certificate: Option<&'a str>,
    /// The time to read the net.
    pub read_seconds: f64,
    /// The time from reading to the answer.
    pub seconds: f64,
}

/// The word on which a verdict is read.
pub fn verdict_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Coverable(_) => "coverable",
        Outcome::Uncoverable(_) => "uncoverable",
        Outcome::Unknown(_) => "unknown",
    }
}

/// The report for people; the run in full only when more is to be said.
pub fn text(answer: &Answer, context: &Context<'_>, verbosity: u8, quiet: bool) -> String {
    /// So much of a run is shown without being asked for.
    const SHORT: usize = 20;
    let net = &context.problem.net;
    let mut out = String::new();
    line(&mut out, format_args!("{}: {}", context.file, verdict_word(&answer.outcome)));
    if quiet {
        return out;
    }
    line(&mut out, format_args!("  strategy     {}", answer.strategy));
    if let Outcome::Unknown(reason) = &answer.outcome {
        line(&mut out, format_args!("  reason       {reason}"));
    }
    line(&mut out, format_args!("  net          {}", size(net)));
    let covered = context.problem.query.targets.iter().any(|target| target.is_covered_by(&net.initial));
    if covered {
        line(&mut out, format_args!("  note         the initial marking covers a target"));
    }
    let statistics = &answer.statistics;
    line(
        &mut out,
        format_args!(
            "  search       {}, {}",
            counted(statistics.markings, "marking"),
            counted(statistics.iterations, "step")
        ),
    );
    line(
        &mut out,
        format_args!("  time         {:.3} s, {:.3} s of it to read", context.seconds, context.read_seconds),
    );
    if let Some(certificate) = context.certificate {
        line(&mut out, format_args!("  certificate  {certificate}"));
    }
    if let Outcome::Coverable(run) = &answer.outcome {
        let shown = if verbosity > 0 { usize::MAX } else { SHORT };
        run_text(&mut out, run, context.problem, shown);
    }
    out
}

/// How large a net is, in words.
pub fn size(net: &Net) -> String {
    format!("{}, {}", counted(net.places.len(), "place"), counted(net.transitions.len(), "transition"))
}

fn run_text(out: &mut String, run: &NetRun, problem: &Problem, shown: usize) {
    let net = &problem.net;
    if !run.initial_choice.is_empty() {
        let chosen: Vec<String> = run
            .initial_choice
            .iter()
            .take(shown)
            .map(|(place, count)| format!("{} = {count}", net.places[place.index()].name))
            .collect();
        line(out, format_args!("  start with   {}", chosen.join(", ")));
    }
    if run.firings.is_empty() {
        return;
    }
    line(out, format_args!("  then fire"));
    for (transition, times) in run.firings.iter().take(shown) {
        let name = &net.transitions[transition.index()].name;
        if *times == Count::ONE {
            line(out, format_args!("    {name}"));
        } else {
            line(out, format_args!("    {name} × {times}"));
        }
    }
    if run.firings.len() > shown {
        line(out, format_args!("    … and {} more (-v shows all)", counted(run.firings.len() - shown, "step")));
    }
}

/// The report for machines. Runs can be long, so it borrows what it says; members stand in the order of the alphabet, as
/// everywhere.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a str>,
    /// How the evidence fared, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<Vec<Tokens<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Vec<Step<'a>>>,
    schema: &'static str,
    statistics: Value,
    strategy: &'static str,
    tool: &'static str,
    verdict: &'static str,
    version: &'static str,
}

/// The tokens that a place starts with.
#[derive(Debug, Serialize)]
struct Tokens<'a> {
    place: &'a str,
    tokens: Exact<'a>,
}

/// A transition that fires so many times.
#[derive(Debug, Serialize)]
struct Step<'a> {
    id: usize,
    times: Exact<'a>,
    transition: &'a str,
}

/// A count as a JSON number, or as a string of digits where readers would round it.
#[derive(Debug)]
struct Exact<'a>(&'a Count);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EXACT: u64 = 1 << 53;
        match self.0.to_u64().filter(|count| *count < EXACT) {
            Some(count) => serializer.serialize_u64(count),
            None => serializer.collect_str(self.0),
        }
    }
}

impl<'a> Document<'a> {
    /// The report of an answer.
    pub fn new(answer: &'a Answer, context: &Context<'a>) -> Self {
        let net = &context.problem.net;
        let statistics = json!({
            "places": net.places.len(),
            "transitions": net.transitions.len(),
            "targets": context.problem.query.targets.len(),
            "markings": answer.statistics.markings,
            "iterations": answer.statistics.iterations,
            "read_seconds": context.read_seconds,
            "search_seconds": answer.statistics.seconds,
            "seconds": context.seconds,
            "cpu_seconds": processor_time().as_secs_f64(),
            "peak_memory_bytes": peak_resident_bytes(),
        });
        let run = match &answer.outcome {
            Outcome::Coverable(run) => Some(run),
            Outcome::Uncoverable(_) | Outcome::Unknown(_) => None,
        };
        let tokens = |(place, tokens): &'a (PlaceId, Count)| Tokens {
            place: &net.places[place.index()].name,
            tokens: Exact(tokens),
        };
        let step = |(id, times): &'a (TransitionId, Count)| Step {
            id: id.index(),
            times: Exact(times),
            transition: &net.transitions[id.index()].name,
        };
        Self {
            certificate: context.certificate,
            evidence: None,
            file: context.file,
            initial: run.map(|run| run.initial_choice.iter().map(tokens).collect()),
            reason: match &answer.outcome {
                Outcome::Unknown(reason) => Some(reason.to_string()),
                Outcome::Coverable(_) | Outcome::Uncoverable(_) => None,
            },
            run: run.map(|run| run.firings.iter().map(step).collect()),
            schema: "palisade/cover/1",
            statistics,
            strategy: answer.strategy,
            tool: "palisade",
            verdict: verdict_word(&answer.outcome),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl std::fmt::Display for Document<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}

/// The report of a net that was written to files, for machines.
pub fn written_json(paths: &[String], notes: &[String]) -> Value {
    json!({
        "schema": "palisade/cover/1",
        "tool": "palisade",
        "version": env!("CARGO_PKG_VERSION"),
        "written": paths,
        "notes": notes,
    })
}

fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(out, "{content}").expect("a string takes all that is written");
}
