//! The result of `palisade check` as text and as JSON (`palisade/check/1`).

use super::{counted, violation};
use crate::limits::peak_resident_bytes;
use crate::program::{Copies, DomainOrigin, InstructionId, Program, Thread, ThreadId};
use crate::robustness::{Attack, AttackReport, Check, Fault, Outcome, Verdict};
use crate::syntax::{Diagnostic, InputError};
use serde_json::{Value, json};
use std::fmt::Write;

/// What a report says besides the check itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// The path as given.
    pub file: &'a str,
    /// The program.
    pub program: &'a Program,
    /// Its warnings as JSON.
    pub warnings: Value,
    /// The time from reading to the verdict.
    pub seconds: f64,
    /// The certificates written.
    pub certificates: &'a [String],
}

/// A fault of the program as an error of the input.
pub fn fault_error(program: &Program, fault: &Fault) -> InputError {
    let thread = program.thread(fault.thread);
    let span = thread.instructions.get(fault.instruction.index()).map_or(thread.span, |instruction| instruction.span);
    let diagnostic = Diagnostic::error(fault.describe(program), span).with_label("here").with_help(fault.advice());
    InputError::from((program.source.clone(), vec![diagnostic]))
}

/// The line on which a verdict is read.
pub fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Robust => "robust",
        Verdict::NotRobust => "not-robust",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The report for people in one line, for many programs.
pub fn line(check: &Check<'_>, context: &Context<'_>) -> String {
    let mut out = format!("{}: {}", context.file, verdict_word(&check.verdict));
    if let Some(found) = &check.violation {
        let attack = &found.attack;
        let store = place(context.program, attack.thread, attack.store);
        let load = place(context.program, attack.thread, attack.load);
        let copies: u32 = found.instance.counts().iter().sum();
        let _ = write!(out, ", {store} past {load}, with {}", counted(copies, "thread"));
    }
    if let Verdict::Unknown(reason) = check.verdict {
        let _ = write!(out, ", {reason}");
    }
    out.push('\n');
    out
}

/// The report for people.
pub fn text(check: &Check<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    let _ = writeln!(out, "{}: {}", context.file, verdict_word(&check.verdict));
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    if let Some(domain) = program.domain {
        let wrap = if domain.wrap { ", arithmetic wraps" } else { "" };
        let _ = writeln!(out, "  domain   {}..{}{wrap}", domain.low, domain.high);
    }
    let count = |outcome| check.attacks.iter().filter(|report| report.outcome == outcome).count();
    let mut parts = Vec::new();
    for (outcome, word) in [
        (Outcome::Feasible, "feasible"),
        (Outcome::Infeasible, "infeasible"),
        (Outcome::Pruned, "pruned"),
        (Outcome::Unknown, "unknown"),
        (Outcome::NotAsked, "not asked"),
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
    if let Some(suspect) = &check.suspect {
        let _ = writeln!(out, "  note     {}", suspect.describe_suspicion(program));
        let _ = writeln!(out, "  help     {}", suspect.advice());
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
        out.push_str(&violation::text(program, found));
    }
    out
}

/// The report as JSON.
pub fn json(check: &Check<'_>, context: &Context<'_>) -> Value {
    let program = context.program;
    let attacks: Vec<Value> =
        check.attacks.iter().enumerate().map(|(index, report)| attack_json(program, index + 1, report)).collect();
    let mut document = json!({
        "schema": "palisade/check/1",
        "tool": "palisade",
        "version": env!("CARGO_PKG_VERSION"),
        "file": context.file,
        "program": program.name,
        "verdict": verdict_word(&check.verdict),
        "threads": threads_json(program),
        "domain": domain_json(program),
        "attacks": attacks,
        "certificates": context.certificates,
        "warnings": context.warnings,
        "statistics": {
            "queries": check.attacks.iter().filter(|report| matches!(report.outcome, Outcome::Feasible | Outcome::Infeasible)).count(),
            "markings": check.markings,
            "seconds": context.seconds,
            "peak_memory_bytes": peak_resident_bytes(),
        },
    });
    if let Some(found) = &check.violation {
        document["witness"] = violation::json(program, found);
    }
    if let Verdict::Unknown(reason) = check.verdict {
        document["reason"] = json!(reason.to_string());
    }
    if let Some(suspect) = &check.suspect {
        document["note"] = json!(suspect.describe_suspicion(program));
        document["help"] = json!(suspect.advice());
    }
    document
}

/// The copies of each thread.
pub fn threads_json(program: &Program) -> Value {
    let copies = |thread: &Thread| match thread.copies {
        Copies::Exactly(count) => json!(count),
        Copies::Any => json!("*"),
    };
    program.threads.iter().map(|thread| (thread.name.clone(), copies(thread))).collect()
}

/// The domain of values and where it comes from.
pub fn domain_json(program: &Program) -> Value {
    let Some(domain) = program.domain else {
        return json!({ "low": null, "high": null, "wrap": false, "origin": "none" });
    };
    let origin = match domain.origin {
        DomainOrigin::File => "file",
        DomainOrigin::Option => "option",
    };
    json!({ "low": domain.low, "high": domain.high, "wrap": domain.wrap, "origin": origin })
}

/// An attack by its place in the text.
pub fn attack_place_json(program: &Program, attack: Attack) -> Value {
    let thread = program.thread(attack.thread);
    let instruction = |instruction: InstructionId| {
        let found = thread.instruction(instruction);
        json!({
            "label": thread.label(found.source).name,
            "line": program.source.position(found.span.start).line,
        })
    };
    json!({ "thread": thread.name, "store": instruction(attack.store), "load": instruction(attack.load) })
}

fn attack_json(program: &Program, id: usize, report: &AttackReport) -> Value {
    let mut attack = attack_place_json(program, report.attack);
    attack["id"] = json!(id);
    attack["outcome"] = json!(outcome_word(report.outcome));
    attack["strategy"] = json!(report.strategy);
    attack["markings"] = json!(report.markings);
    attack["seconds"] = json!(report.seconds);
    attack
}

/// The word for an outcome.
pub fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Feasible => "feasible",
        Outcome::Infeasible => "infeasible",
        Outcome::Pruned => "pruned",
        Outcome::Unknown => "unknown",
        Outcome::NotAsked => "not-asked",
    }
}

/// An instruction for people: `t1 l0 (line 3)`.
pub fn place(program: &Program, thread: ThreadId, instruction: InstructionId) -> String {
    let template = program.thread(thread);
    let found = template.instruction(instruction);
    let line = program.source.position(found.span.start).line;
    format!("{} {} (line {line})", template.name, template.label(found.source).name)
}
