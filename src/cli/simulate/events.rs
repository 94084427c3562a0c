//! `palisade simulate` of a program of events and tasks: serially, under SC or under TSO.

use super::{Answer, SimulateArguments, SimulatedModel};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::limits::Limits;
use crate::program::Program;
use crate::report::documents::{self, EventSimulateDocument};
use crate::report::event_simulate::EventSimulation;
use crate::semantics::Model;
use crate::semantics::tasks::{TaskExplorationError, TaskModel, TaskRefusal, task_final_states};
use crate::syntax::{Diagnostic, InputError};
use std::time::Instant;

/// Answers `palisade simulate` for one file.
pub(super) fn answer(
    arguments: &SimulateArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
    limits: &Limits,
) -> Answer {
    let begin = Instant::now();
    let program = &loaded.program;
    let model = match model(arguments, program) {
        Ok(model) => model,
        Err(error) => return Answer::Refused(error),
    };
    let found = match task_final_states(program, model, limits) {
        Ok(found) => found,
        Err(error) => return Answer::Refused(refused(program, &error)),
    };
    let simulation = EventSimulation { file, program, model, found: &found, seconds: begin.elapsed().as_secs_f64() };
    let text = if shared.json {
        documents::text(&EventSimulateDocument::new(&simulation))
    } else {
        simulation.text(shared.verbose > 0)
    };
    let exit = if found.violations.is_empty() { Exit::Holds } else { Exit::Fails };
    Answer::Printed(exit, text)
}

/// How events and tasks are to be executed.
fn model(arguments: &SimulateArguments, program: &Program) -> Result<TaskModel, InputError> {
    let refuse = |message: &str, help: &str| {
        Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help.to_owned())))
    };
    if arguments.traces {
        return refuse(
            "executions are counted for threads alone, and the program has events or tasks",
            "leave `--traces` out",
        );
    }
    if !program.never.is_empty() {
        return refuse("`never` is about threads alone, and the program has events or tasks", "say it by an `ensure`");
    }
    match arguments.model[..] {
        [SimulatedModel::Serial] => Ok(TaskModel::Serial),
        [SimulatedModel::Memory(Model::Sc)] => Ok(TaskModel::Sc),
        [SimulatedModel::Memory(Model::Tso)] => Ok(TaskModel::Tso),
        [_, _, ..] => refuse("events and tasks are simulated under one model at a time", "name one model"),
        _ => refuse(
            "events and tasks are simulated serially, under SC or under TSO",
            "say `--model serial`, `sc` or `tso`",
        ),
    }
}

/// Why there is no list of final states.
fn refused(program: &Program, error: &TaskExplorationError) -> InputError {
    let name = program.source.name.clone();
    match error {
        TaskExplorationError::Stopped(reason) => InputError::Stopped { name, reason: *reason },
        TaskExplorationError::AnyNumber(_) => {
            let help = "fix the number: `--events all=2`, and `--threads all=2` for threads".to_owned();
            InputError::file(name, format!("{error}, and there are no final states to list")).with_help_if(Some(help))
        }
        TaskExplorationError::Value(
            TaskRefusal::Value { template, instruction, .. } | TaskRefusal::NoDomain { template, instruction },
        ) => {
            let span = program.thread(*template).instruction(*instruction).span;
            let diagnostic = Diagnostic::error(error.to_string(), span).with_label("here");
            InputError::from((program.source.clone(), vec![diagnostic]))
        }
        TaskExplorationError::Value(_) => InputError::file(name, error.to_string()),
    }
}
