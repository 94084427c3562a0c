//! The result of `palisade check` as text.

use super::breaks::Breaks;
use super::claim;
use super::context::{Context, domain_line, place};
use super::subject::program_words;
use super::{counted, missing, unreached, violation, widths};
use palisade_engine::robustness::{AttackOutcome, Check, Verdict};
use palisade_model::limits::StopReason;
use palisade_model::program::Program;
use std::fmt::Write;

/// The line on which a verdict is read.
pub fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Robust => "robust",
        Verdict::NotRobust => "not-robust",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The same, with what a verdict leaves out.
pub fn verdict_words(verdict: &Verdict, program: &Program) -> String {
    let word = verdict_word(verdict);
    match program.accepted.len() {
        0 => word.to_owned(),
        _ if *verdict != Verdict::Robust => word.to_owned(),
        count => format!("{word} but for {}", counted(count, "accepted delay")),
    }
}

/// The report for people in one line, for many programs; the brackets say for which copies and values it is.
pub fn line(check: &Check<'_>, context: &Context<'_>, breaks: Option<&Breaks<'_>>) -> String {
    let mut out = format!("{}: {}", context.file, verdict_words(&check.verdict, context.program));
    if let Some(found) = &check.violation {
        let attack = &found.attack;
        let store = place(context.program, attack.thread, attack.store);
        let load = place(context.program, attack.thread, attack.load);
        let copies = found.instance.total();
        let _ = write!(
            out,
            ", {store} past {load}, with {}",
            counted(usize::try_from(copies).unwrap_or(usize::MAX), "thread")
        );
    }
    if let Some(breaks) = breaks {
        let _ = write!(out, ", {}", breaks.part());
    }
    if let Verdict::Unknown(reason) = check.verdict {
        let _ = write!(out, ", {reason}");
    }
    if let Some(labels) = unreached_words(check, context.program, 0) {
        let _ = write!(out, ", unreached {labels}");
    }
    if let Some(claim) = claim::words(context.program) {
        let _ = write!(out, ", {claim}");
    }
    if let Some(compilations) = context.compilations {
        let _ = write!(out, ", {}", compilations.words());
    }
    let _ = writeln!(out, " [{}]", program_words(context.program, context.changed));
    out
}

/// The labels that control does not reach; nothing where there are none, or where that is not known and little is to be
/// said.
fn unreached_words(check: &Check<'_>, program: &Program, verbosity: u8) -> Option<String> {
    let labels = match &check.unreached {
        Some(labels) if verbosity > 0 => unreached::words(program, labels)?,
        Some(labels) => unreached::line(program, labels)?,
        None if verbosity > 0 && !matches!(check.verdict, Verdict::Unknown(_)) => {
            return Some(unreached::NOT_DETERMINED.to_owned());
        }
        None => return None,
    };
    // A program that is not robust may get there with the help of its store buffers.
    Some(if check.verdict == Verdict::NotRobust { format!("{labels} (under SC)") } else { labels })
}

/// What may be missing where a limit ended the check: counters that are explored value by value.
pub fn missing(check: &Check<'_>, program: &Program) -> Vec<String> {
    match check.verdict {
        Verdict::Unknown(StopReason::Timeout | StopReason::Memory | StopReason::TooLarge) => {
            missing::sentences(program)
        }
        _ => Vec::new(),
    }
}

/// The report for people.
pub fn text(check: &Check<'_>, context: &Context<'_>, breaks: Option<&Breaks<'_>>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    let _ = writeln!(out, "{}: {}", context.file, verdict_words(&check.verdict, program));
    if let Some(breaks) = breaks {
        let _ = writeln!(out, "  {}", breaks.line());
    }
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    out.push_str(&domain_line(program));
    let known = check.abstraction.as_ref().and_then(|own| widths::known(program, own.certificate()));
    if let Some((kind, words)) = known {
        let _ = writeln!(out, "  {kind:<8} {words}");
    }
    if let Some(words) = check.violation.as_ref().and_then(|found| widths::around(program, found)) {
        let _ = writeln!(out, "  counters {words}");
    }
    out.push_str(&claim::lines(program, verbosity));
    if let Some(compilations) = context.compilations {
        let _ = writeln!(out, "  source   {}", compilations.words());
    }
    let count = |outcome| check.attacks.iter().filter(|report| report.outcome == outcome).count();
    let mut parts = Vec::new();
    for (outcome, word) in [
        (AttackOutcome::Feasible, "feasible"),
        (AttackOutcome::Infeasible, "infeasible"),
        (AttackOutcome::Pruned, "pruned"),
        (AttackOutcome::Unknown, "unknown"),
        (AttackOutcome::NotAsked, "not asked"),
    ] {
        if count(outcome) > 0 {
            parts.push(format!("{} {word}", count(outcome)));
        }
    }
    if parts.is_empty() {
        parts.push("none".into());
    }
    let _ = writeln!(out, "  attacks  {}", parts.join(", "));
    if let Verdict::Unknown(reason) = check.verdict {
        let _ = writeln!(out, "  reason   {reason}");
    }
    for sentence in missing(check, program) {
        let _ = writeln!(out, "  missing  {sentence}");
    }
    if let Some(labels) = unreached_words(check, program, verbosity) {
        let _ = writeln!(out, "  unreached {labels}");
    }
    if let Some(fault) = &check.without_nets {
        let _ = writeln!(out, "  note     {}; a search answers in its place", fault.describe_in_net(program));
    }
    if let Some(fault) = &check.only_under_tso {
        let _ = writeln!(out, "  note     under TSO, not under SC: {}", fault.describe(program));
    }
    if let Some(suspect) = &check.suspect {
        let _ = writeln!(out, "  note     {}", suspect.describe_suspicion(program));
        let _ = writeln!(out, "  help     {}", suspect.advice(program));
    }
    if verbosity > 0 {
        let _ = writeln!(out, "  explored {} in {:.3} s", counted(check.markings, "configuration"), context.seconds);
        for (index, report) in check.attacks.iter().enumerate() {
            let _ = writeln!(
                out,
                "  attack {}: {} past {}: {}",
                index + 1,
                place(program, report.attack.thread, report.attack.store),
                place(program, report.attack.thread, report.attack.load),
                outcome_word(report.outcome)
            );
        }
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(found) = &check.violation {
        let _ = writeln!(out);
        out.push_str(&violation::text(program, found, verbosity));
    }
    out
}

/// The word for an outcome.
pub fn outcome_word(outcome: AttackOutcome) -> &'static str {
    match outcome {
        AttackOutcome::Feasible => "feasible",
        AttackOutcome::Infeasible => "infeasible",
        AttackOutcome::Pruned => "pruned",
        AttackOutcome::Unknown => "unknown",
        AttackOutcome::NotAsked => "not-asked",
    }
}
