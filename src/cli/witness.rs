//! `palisade witness`: the violation of a program that is not robust, in the form one needs.

use super::confirm::{Confirmation, confirm_check};
use super::output::{print_line, print_text, remark, remark_line};
use super::{Exit, ProgramOptions, SharedOptions, print_input_error};
use crate::program::Program;
use crate::report::check::{fault_error, verdict_word};
use crate::report::{counted, picture, violation};
use crate::robustness::{CheckOptions, Shape, Verdict, Violation, check, hardware};
use crate::syntax::InputError;
use crate::syntax::litmus::{self, Asked};
use clap::Args;
use std::path::PathBuf;

/// Options of `palisade witness`.
#[derive(Clone, Debug, Args)]
pub(super) struct WitnessArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    form: Form,
    /// Run the violating threads N times on this machine's processor and count the outcomes no SC machine has.
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Write to this file instead of to standard output.
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// The form of the violation; a table by default.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
struct Form {
    /// A Mermaid sequence diagram.
    #[arg(long)]
    mermaid: bool,
    /// A litmus test for herd7 and litmus7: its outcome is one of TSO and none of SC.
    #[arg(long)]
    litmus: bool,
    /// The trace with its relations, for Graphviz.
    #[arg(long)]
    dot: bool,
    /// The computation as a picture.
    #[arg(long)]
    svg: bool,
}

/// Runs `palisade witness`: exit status 1 when there is a violation.
pub(super) fn run(arguments: &WitnessArguments, shared: &SharedOptions) -> Exit {
    let loaded = match arguments.program.load(&arguments.file, shared) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let program = &loaded.program;
    let options = CheckOptions { values: arguments.values, limits: shared.limits(), ..CheckOptions::default() };
    let checked = match check(program, &options) {
        Ok(checked) => checked,
        Err(fault) => return print_input_error(&fault_error(program, &fault), shared),
    };
    let confirmation = Confirmation::of(true, || confirm_check(program, &checked));
    if let Some(alarm) = confirmation.and_then(|confirmation| confirmation.alarm(&arguments.file)) {
        remark(alarm);
        return Exit::Rejected;
    }
    let Some(found) = &checked.violation else {
        let exit = if checked.verdict == Verdict::Robust { Exit::Holds } else { Exit::Unknown };
        if shared.json {
            print_line(serde_json::json!({ "verdict": verdict_word(&checked.verdict) }));
        } else {
            remark_line(format_args!(
                "{}: {}: there is no violation to show",
                arguments.file,
                verdict_word(&checked.verdict)
            ));
        }
        return exit;
    };
    match show(arguments, shared, program, found) {
        Ok(()) => Exit::Fails,
        Err(error) => print_input_error(&error, shared),
    }
}

fn show(
    arguments: &WitnessArguments,
    shared: &SharedOptions,
    program: &Program,
    found: &Violation,
) -> Result<(), InputError> {
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    let form = &arguments.form;
    let text = if form.mermaid {
        picture::mermaid(program, found)
    } else if form.litmus {
        let shape = confirmed_shape(program, found, shared).map_err(refuse)?;
        let condition = shape.condition();
        let test = litmus::write(&shape.program(), Asked::Condition(&condition));
        test.map_err(|errors| refuse(errors.first().map_or_else(String::new, |error| error.message.clone())))?.text
    } else if form.dot {
        picture::dot(program, found)
    } else if form.svg {
        picture::svg(program, found)
    } else if shared.json {
        let mut document = violation::json(program, found);
        document["verdict"] = "not-robust".into();
        if let Some(runs) = arguments.run {
            let observed = observe(program, found, runs, shared).map_err(refuse)?;
            document["run"] = serde_json::json!({ "runs": observed.runs, "seen": observed.seen });
        }
        format!("{document}\n")
    } else {
        violation::text(program, found)
    };
    match &arguments.output {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| InputError::file(path.display().to_string(), format!("cannot be written: {error}")))?,
        None => print_text(text),
    }
    if let Some(runs) = arguments.run.filter(|_| !shared.json) {
        let observed = observe(program, found, runs, shared).map_err(refuse)?;
        print_line(format_args!(
            "on this processor: the outcome was seen {} in {}",
            counted(observed.seen, "time"),
            counted(observed.runs, "run")
        ));
    }
    Ok(())
}

fn confirmed_shape(program: &Program, found: &Violation, shared: &SharedOptions) -> Result<Shape, String> {
    let shape = Shape::of(program, found).map_err(|error| error.to_string())?;
    shape.confirm(&shared.limits()).map_err(|error| error.to_string())?;
    Ok(shape)
}

fn observe(
    program: &Program,
    found: &Violation,
    runs: u64,
    shared: &SharedOptions,
) -> Result<hardware::Observed, String> {
    if !hardware::is_supported() {
        return Err("--run needs an x86-64 processor: this one's loads and stores are not those of x86-TSO".into());
    }
    let shape = confirmed_shape(program, found, shared)?;
    Ok(hardware::run(&shape, runs, &shared.limits()))
}
