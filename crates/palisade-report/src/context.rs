//! What every report about a program says besides its answer, and how reports name what is in the
//! program.

use super::bounds::advice;
use super::claim::Compilations;
use palisade_engine::robustness::Fault;
use palisade_model::program::{Copies, Obstacle, Program, ThreadId};
use palisade_semantics::Instance;
use palisade_syntax::{Diagnostic, InputError};

/// What a report says besides the answer itself.
#[derive(Debug)]
pub struct Context<'a> {
    /// The path as given.
    pub file: &'a str,
    /// The program.
    pub program: &'a Program,
    /// What is doubtful in it.
    pub warnings: &'a [Diagnostic],
    /// The time from reading to the verdict.
    pub seconds: f64,
    /// The certificates written.
    pub certificates: &'a [String],
    /// The threads whose copies an option changed.
    pub changed: &'a [ThreadId],
    /// Of machine code, whether the verdict holds of every compilation of its sources; nothing
    /// where that is not asked.
    pub compilations: Option<&'a Compilations>,
}

/// A fault of the program as an error of the input.
pub fn fault_error(program: &Program, fault: &Fault) -> InputError {
    fault_error_because(program, fault, fault.describe_counter(program))
}

/// The same, with the reason why what grows is not taken for a counter, or why that does not help.
pub fn fault_error_because(program: &Program, fault: &Fault, reason: Option<String>) -> InputError {
    if let Some(reason) = fault.stopped() {
        return InputError::Stopped { name: program.source.name.clone(), reason };
    }
    if let Some(obstacle) = fault.obstacle(program) {
        let Obstacle { name, position, message, help } = obstacle.clone();
        return InputError::File { name, position, message, help };
    }
    refused(program, fault, fault_diagnostic(program, fault, reason))
}

/// A fault of the program that PSO reaches, and SC perhaps does not, as an error of the input.
pub fn pso_fault_error(program: &Program, fault: &Fault) -> InputError {
    if fault.stopped().is_some() {
        return fault_error(program, fault);
    }
    let diagnostic = fault_diagnostic(program, fault, fault.describe_counter(program));
    let note = "a computation under PSO comes here; interleavings may not".to_owned();
    let diagnostic = if fault.is_growth() { diagnostic } else { diagnostic.with_note(note) };
    refused(program, fault, diagnostic)
}

fn refused(program: &Program, fault: &Fault, diagnostic: Diagnostic) -> InputError {
    let (source, diagnostics) = (program.source.clone(), vec![diagnostic]);
    if fault.is_growth() { InputError::Grows { source, diagnostics } } else { InputError::Text { source, diagnostics } }
}

fn fault_diagnostic(program: &Program, fault: &Fault, reason: Option<String>) -> Diagnostic {
    let thread = program.thread(fault.thread);
    let span = thread.instructions.get(fault.instruction.index()).map_or(thread.span, |instruction| instruction.span);
    let diagnostic =
        Diagnostic::error(fault.describe(program), span).with_label("here").with_help(advice(program, fault));
    match reason {
        Some(reason) => diagnostic.with_note(reason),
        None => diagnostic,
    }
}

/// The line about the domain; empty where there is none.
pub(super) fn domain_line(program: &Program) -> String {
    program.domain.map_or_else(String::new, |domain| {
        let wrap = if domain.wrap { ", arithmetic wraps" } else { "" };
        format!("  domain   {}..{}{wrap}\n", domain.low, domain.high)
    })
}

/// The line about the instance that a violation shows, of a program with any number of copies;
/// empty for other programs.
pub(super) fn instance_line(program: &Program, instance: &Instance, is_minimal: bool) -> String {
    instance_words(program, instance, is_minimal).map_or_else(String::new, |words| format!("instance: {words}\n"))
}

/// The instance that a violation shows, of a program with any number of copies; nothing for other
/// programs.
pub fn instance_words(program: &Program, instance: &Instance, is_minimal: bool) -> Option<String> {
    if !program.is_parameterized() {
        return None;
    }
    let of_the_text = program.threads.iter().zip(instance.counts()).filter(|(thread, _)| !thread.is_watch());
    let counts: Vec<String> = of_the_text.map(|(thread, count)| format!("{} × {count}", thread.name)).collect();
    // Copies of threads whose number is given are in every instance alike.
    let all_are_counted =
        program.threads.iter().all(|it| it.is_watch() || matches!(it.copies, Copies::Any | Copies::Exactly(0)));
    let minimal = match is_minimal {
        false => "",
        true if all_are_counted => " (no smaller instance has one)",
        true => " (none with fewer copies of the [*] threads has one)",
    };
    Some(format!("{}{minimal}", counts.join(", ")))
}
