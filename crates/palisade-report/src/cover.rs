//! The result of `palisade cover` as text.

use super::counted;
use palisade_coverability::{Answer, Outcome};
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, Net, Problem, Quantifier};
use std::fmt::Write;

/// What a report says besides the answer itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// The path as given.
    pub file: &'a str,
    /// The net with its question.
    pub problem: &'a Problem,
    /// How the question is put, where it is a formula.
    pub quantifier: Option<Quantifier>,
    /// The path of the question's file, when it is not the net's.
    pub query: Option<&'a str>,
    /// The property that the command line names.
    pub property: Option<&'a str>,
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

/// The report for people; it shows the run in full only when the user asks for more.
pub fn text(answer: &Answer, context: &Context<'_>, verbosity: u8, quiet: bool) -> String {
    /// So much of a run is shown without being asked for.
    const SHORT: usize = 20;
    let net = &context.problem.net;
    let mut out = String::new();
    line(&mut out, format_args!("{}: {}", context.file, verdict_word(&answer.outcome)));
    if quiet {
        return out;
    }
    if let Some(query) = context.query {
        let property = context.property.map(|property| format!(", property {property}")).unwrap_or_default();
        line(&mut out, format_args!("  question     {query}{property}"));
    }
    line(&mut out, format_args!("  strategy     {}", answer.strategy));
    if let Outcome::Unknown(reason) = &answer.outcome {
        line(&mut out, format_args!("  reason       {reason}"));
    }
    if let (Some(quantifier), Some(coverable)) = (context.quantifier, answer.outcome.is_coverable()) {
        let holds = if quantifier.holds(coverable) { "holds" } else { "does not hold" };
        line(&mut out, format_args!("  formula      {} {holds}", quantifier.name()));
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
    let mut left = shown;
    let lines = steps_text(out, net, &run.firings, 4, &mut left);
    if lines > shown {
        line(out, format_args!("    … and {} more (-v shows all)", counted(lines - shown, "step")));
    }
}

/// Steps of a run, as many lines as are left; how many there would be. Steps that repeat as a whole stand further right.
fn steps_text(out: &mut String, net: &Net, steps: &[(RunStep, Count)], indent: usize, left: &mut usize) -> usize {
    let mut lines = 0;
    for (step, times) in steps {
        lines += 1;
        if *left > 0 {
            *left -= 1;
            let once = *times == Count::ONE;
            match step {
                RunStep::Fire(id) if once => {
                    line(out, format_args!("{:indent$}{}", "", net.transitions[id.index()].name));
                }
                RunStep::Fire(id) => {
                    line(out, format_args!("{:indent$}{} × {times}", "", net.transitions[id.index()].name));
                }
                RunStep::Sequence(_) => line(out, format_args!("{:indent$}{times} times in a row", "")),
            }
        }
        if let RunStep::Sequence(steps) = step {
            lines += steps_text(out, net, steps, indent + 2, left);
        }
    }
    lines
}

fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(out, "{content}").expect("a string takes all that is written");
}
