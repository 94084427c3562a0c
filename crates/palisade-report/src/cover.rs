//! The result of `palisade cover` as text.

use super::counted;
use palisade_coverability::{Answer, Outcome, ReachAnswer, ReachOutcome, Statistics};
use palisade_evidence::{NetRun, ReachCertificate, RunStep};
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
pub fn verdict_word(answer: &Answer) -> &'static str {
    match answer.is_coverable() {
        Some(true) => "coverable",
        Some(false) => "uncoverable",
        None => "unknown",
    }
}

/// The word on which the verdict about a question of reachability is read.
pub fn reach_word(answer: &ReachAnswer) -> &'static str {
    match answer.outcome.is_reachable() {
        Some(true) => "reachable",
        Some(false) => "unreachable",
        None => "unknown",
    }
}

/// The report on a question of reachability for people.
pub fn reach_text(answer: &ReachAnswer, context: &Context<'_>, verbosity: u8, quiet: bool) -> String {
    let mut out = String::new();
    line(&mut out, format_args!("{}: {}", context.file, reach_word(answer)));
    if quiet {
        return out;
    }
    question_lines(&mut out, answer.strategy, context);
    if let ReachOutcome::Unknown(reason) = &answer.outcome {
        line(&mut out, format_args!("  reason       {reason}"));
    }
    formula_line(&mut out, answer.outcome.is_reachable(), context);
    if let ReachOutcome::Unreachable(certificate) = &answer.outcome {
        line(&mut out, format_args!("  proof        {}", proof_words(certificate)));
    }
    size_lines(&mut out, &answer.statistics, context);
    if let ReachOutcome::Reachable(run) = &answer.outcome {
        run_text(&mut out, run, context.problem, if verbosity > 0 { usize::MAX } else { SHORT });
    }
    out
}

/// What a proof of unreachability is.
pub fn proof_words(certificate: &ReachCertificate) -> String {
    match certificate {
        ReachCertificate::Closed(set) => {
            format!("all {}", counted(set.rows().count() as u64, "marking"))
        }
        ReachCertificate::Linear(proof) => {
            let (cases, traps) = (proof.root.leaves() as u64, proof.traps.len() as u64);
            format!("the state equation, {}, {}", counted(cases, "case"), counted(traps, "trap"))
        }
        ReachCertificate::Observed(proof) => {
            format!("coverability with {}", counted(proof.observers.len() as u64, "observer"))
        }
    }
}

/// So much of a run is shown without being asked for.
const SHORT: usize = 20;

/// The lines about the question.
fn question_lines(out: &mut String, strategy: &str, context: &Context<'_>) {
    if let Some(query) = context.query {
        let property = context.property.map(|property| format!(", property {property}")).unwrap_or_default();
        line(out, format_args!("  question     {query}{property}"));
    }
    line(out, format_args!("  strategy     {strategy}"));
}

/// The line that says whether the formula holds.
fn formula_line(out: &mut String, is_met: Option<bool>, context: &Context<'_>) {
    if let (Some(quantifier), Some(is_met)) = (context.quantifier, is_met) {
        let holds = if quantifier.holds(is_met) { "holds" } else { "does not hold" };
        line(out, format_args!("  formula      {} {holds}", quantifier.name()));
    }
}

/// The lines about the net and what the answer took.
fn size_lines(out: &mut String, statistics: &Statistics, context: &Context<'_>) {
    let net = &context.problem.net;
    line(out, format_args!("  net          {}", size(net)));
    let covered = context.problem.query.targets.iter().any(|target| target.is_covered_by(&net.initial));
    if covered {
        line(out, format_args!("  note         the initial marking covers a target"));
    }
    let (markings, steps) = (counted(statistics.markings, "marking"), counted(statistics.iterations, "step"));
    // Where a reduction decides, or the net's shape, nothing was searched.
    if statistics.markings + statistics.iterations > 0 {
        line(out, format_args!("  search       {markings}, {steps}"));
    }
    let (seconds, read) = (context.seconds, context.read_seconds);
    line(out, format_args!("  time         {seconds:.3} s, {read:.3} s of it to read"));
    if let Some(certificate) = context.certificate {
        line(out, format_args!("  certificate  {certificate}"));
    }
}

/// Why there is no verdict, or none with evidence.
pub fn reason(answer: &Answer) -> Option<String> {
    match (&answer.outcome, answer.without_evidence) {
        (Outcome::Unknown(reason), Some(_)) => Some(format!("no evidence: {reason} before it was there")),
        (Outcome::Unknown(reason), None) => Some(reason.to_string()),
        _ => None,
    }
}

/// The report for people; it shows the run in full only when the user asks for more.
pub fn text(answer: &Answer, context: &Context<'_>, verbosity: u8, quiet: bool) -> String {
    let mut out = String::new();
    line(&mut out, format_args!("{}: {}", context.file, verdict_word(answer)));
    if quiet {
        return out;
    }
    question_lines(&mut out, answer.strategy, context);
    if let Some(reason) = reason(answer) {
        line(&mut out, format_args!("  reason       {reason}"));
    }
    formula_line(&mut out, answer.is_coverable(), context);
    size_lines(&mut out, &answer.statistics, context);
    if let Outcome::Coverable(run) = &answer.outcome {
        run_text(&mut out, run, context.problem, if verbosity > 0 { usize::MAX } else { SHORT });
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
    line(out, format_args!("  firing, in this order"));
    let mut left = shown;
    let lines = steps_text(out, net, &run.firings, 4, &mut left);
    if lines > shown {
        line(out, format_args!("    … and {} more (-v shows all)", counted(lines - shown, "step")));
    }
}

/// Steps of a run, as many lines as are left; how many there would be. Steps that repeat as a whole
/// stand further right.
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
