//! `palisade simulate`: the final states of a program.

use super::load::exit_of;
use super::output::{Documents, print_text, remark_line};
use super::{Exit, ProgramOptions, SharedOptions, print_input_error};
use crate::limits::StopReason;
use crate::program::{InstructionId, Program};
use crate::report::documents::{self, SimulateDocument, StoppedDocument};
use crate::report::simulate::{Simulation, exploration_error};
use crate::semantics::{
    Bounds, CopyId, Counting, ExplorationError, FinalStates, Instance, LOOP_CAPACITY, Model, Question, executions,
    explore_final_states,
};
use crate::syntax::InputError;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::time::Instant;

/// A state lists what each copy does, so there cannot be more copies than this.
const MOST_COPIES: u64 = 4096;

/// The memory models to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelChoice {
    /// Sequential consistency.
    Sc,
    /// Total store ordering, as on x86.
    #[default]
    Tso,
}

/// Options of `palisade simulate`.
///
/// Prints, in the format of herd's logs, the final states in which every thread has come to its end and every store
/// has reached memory. `Positive` and `Negative` count final states, with `--traces` executions.
#[derive(Clone, Debug, Args)]
pub(super) struct SimulateArguments {
    /// The programs; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    program: ProgramOptions,
    /// The memory model.
    #[arg(long, value_enum, default_value_t)]
    model: ModelChoice,
    /// Count executions (distinct traces) instead of final states.
    #[arg(long)]
    traces: bool,
    /// Let each thread execute at most N instructions (with --traces; programs with loops need it there).
    #[arg(long, value_name = "N", requires = "traces")]
    steps: Option<u32>,
    /// How many stores a buffer holds in a program with loops; without loops buffers are unbounded.
    #[arg(long, value_name = "N", default_value_t = LOOP_CAPACITY, value_parser = capacity)]
    buffer: usize,
}

fn capacity(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|capacity| *capacity > 0).ok_or_else(|| "a buffer holds 1 store or more".to_owned())
}

/// What comes of one file.
enum Answer {
    /// Its log, or its document.
    Printed(Exit, String),
    /// It is no input.
    Refused(InputError),
    /// A limit was reached, when these properties had been found violated.
    Stopped(StopReason, Vec<String>),
}

/// Runs `palisade simulate`.
pub(super) fn run(arguments: &SimulateArguments, shared: &SharedOptions) -> Exit {
    let mut worst = Exit::Holds;
    let mut documents = Documents::new(arguments.files.len() > 1);
    // In batches, so that output flows in the order of the files while they are worked on in parallel.
    for batch in arguments.files.chunks(256) {
        let answers: Vec<Answer> = batch.par_iter().map(|file| simulate(arguments, shared, file)).collect();
        for (file, answer) in batch.iter().zip(answers) {
            let exit = match answer {
                Answer::Printed(exit, text) => {
                    if shared.json {
                        documents.add(text);
                    } else {
                        print_text(text);
                    }
                    exit
                }
                Answer::Refused(error) if shared.json => {
                    documents.add(documents::refusal(&error));
                    exit_of(&error)
                }
                Answer::Refused(error) => print_input_error(&error, shared),
                Answer::Stopped(reason, violations) => {
                    if shared.json {
                        documents.add(documents::text(&StoppedDocument::new(file, reason.to_string(), &violations)));
                    } else {
                        remark_line(format_args!("{file}: unknown: {reason}"));
                        let lines = violations.iter().map(|violation| format!("Violation={violation}\n"));
                        print_text(lines.collect::<String>());
                    }
                    Exit::Unknown
                }
            };
            worst = worst.worst(exit);
        }
    }
    if shared.json {
        documents.print();
    }
    worst
}

fn simulate(arguments: &SimulateArguments, shared: &SharedOptions, file: &str) -> Answer {
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = match arguments.program.read_within(file, &limits) {
        Ok(loaded) => loaded,
        Err(error) => return Answer::Refused(error),
    };
    loaded.print_warnings(shared);
    let program = &loaded.program;
    let Some(instance) = Instance::of(program) else {
        let help = "fix their number: `--threads all=2`".to_owned();
        let message = "threads with any number of copies have no final states to list";
        return Answer::Refused(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)));
    };
    let question = loaded.question.unwrap_or_else(|| Question::about_everything(program));
    let model = match arguments.model {
        ModelChoice::Sc => Model::Sc,
        ModelChoice::Tso => Model::Tso,
    };
    let violations = |finals: &FinalStates| {
        finals.violations.iter().map(|violation| place(program, &instance, *violation)).collect::<Vec<String>>()
    };
    let refused = |error: &ExplorationError, finals: &FinalStates| match error {
        ExplorationError::Stopped(reason) => Answer::Stopped(*reason, violations(finals)),
        error => Answer::Refused(exploration_error(&program.source, program, error)),
    };
    if instance.total() > MOST_COPIES {
        let message = format!("{} thread copies are too many to list their states", instance.total());
        let help = "choose a smaller number: `--threads all=2`".to_owned();
        return Answer::Refused(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)));
    }
    let mut finals = FinalStates::default();
    match explore_final_states(program, &instance, model, arguments.buffer, &limits, &mut finals) {
        Ok(()) => {}
        Err(error) => return refused(&error, &finals),
    }
    let mut bounded = finals.buffers_filled;
    let (outcome, counting) = if arguments.traces {
        match executions(program, &instance, model, &Bounds { steps: arguments.steps, limits }) {
            Ok(executions) => {
                bounded = executions.truncated;
                let counting = Counting::Executions;
                (question.answer(program, &instance, &executions.final_states, counting), counting)
            }
            Err(error) => return refused(&error, &finals),
        }
    } else {
        (question.answer(program, &instance, &finals.completed, Counting::Rows), Counting::Rows)
    };
    let simulation = Simulation {
        file,
        program,
        instance: &instance,
        model,
        question: &question,
        counting,
        outcome,
        stuck: &finals.stuck,
        violations: violations(&finals),
        bounded,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let holds = simulation.outcome.holds && simulation.violations.is_empty();
    let text = if shared.json { documents::text(&SimulateDocument::new(&simulation)) } else { simulation.log() };
    Answer::Printed(if holds { Exit::Holds } else { Exit::Fails }, text)
}

/// A violated property: the thread copy and the label.
fn place(program: &Program, instance: &Instance, (copy, instruction): (CopyId, InstructionId)) -> String {
    let thread = program.thread(copy.thread);
    let label = &thread.label(thread.instruction(instruction).source).name;
    format!("{} {label}", instance.copy_name(program, copy))
}
