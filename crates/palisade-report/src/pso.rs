//! Robustness against PSO, for people: the verdict, and the computation that shows a violation.

use super::context::{Context, domain_line, instance_line, place};
use super::subject::program_words;
use super::{counted, violation};
use palisade_engine::robustness::{PsoCheck, Verdict, Violation};
use palisade_model::program::{Action, Program};
use std::fmt::Write;

/// The verdict in words, which say what it is about.
pub fn verdict_words(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Robust => "robust against PSO",
        Verdict::NotRobust => "not robust against PSO",
        Verdict::Unknown(_) => "robustness against PSO is unknown",
    }
}

/// What happens in a violation: `the store at … is delayed past the store at …`.
pub fn delay_words(program: &Program, violation: &Violation) -> String {
    let attack = violation.attack;
    let access = match program.thread(attack.thread).instruction(attack.load).action {
        Action::Store { .. } => "store",
        _ => "load",
    };
    let (store, past) = (place(program, attack.thread, attack.store), place(program, attack.thread, attack.load));
    format!("the store at {store} is delayed past the {access} at {past}")
}

/// The report for people in one line, for many programs.
pub fn line(check: &PsoCheck, context: &Context<'_>) -> String {
    let program = context.program;
    let mut out = format!("{}: {}", context.file, verdict_words(&check.verdict));
    if let Some(found) = &check.violation {
        let copies = usize::try_from(found.instance.total()).unwrap_or(usize::MAX);
        let _ = write!(out, ", {}, with {}", delay_words(program, found), counted(copies, "thread"));
    }
    if let Verdict::Unknown(reason) = check.verdict {
        let _ = write!(out, ", {reason}");
    }
    let _ = writeln!(out, " [{}]", program_words(program, context.changed));
    out
}

/// The report for people.
pub fn text(check: &PsoCheck, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    let _ = writeln!(out, "{}: {}", context.file, verdict_words(&check.verdict));
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    out.push_str(&domain_line(program));
    if let Verdict::Unknown(reason) = check.verdict {
        let _ = writeln!(out, "  reason   {reason}");
    }
    if verbosity > 0 {
        let explored = counted(check.configurations, "configuration");
        let _ = writeln!(out, "  explored {explored} in {:.3} s", context.seconds);
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(found) = &check.violation {
        let _ = writeln!(out, "\nviolation: {}", delay_words(program, found));
        out.push_str(&instance_line(program, &found.instance, found.instance_minimal));
        out.push_str(&violation::computation(program, found).table());
        out.push_str(&violation::cycle_lines(program, found));
    }
    out
}
