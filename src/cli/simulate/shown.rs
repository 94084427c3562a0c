//! `palisade simulate --show`: executions with their relations, as text, for Graphviz or as a
//! picture.

use super::{Answer, SimulateArguments, one};
use crate::cli::files::write_text;
use crate::cli::output::remark_line;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::limits::Limits;
use crate::report::documents::{self, ExecutionDocument, Picture, PictureFormat, SimulateDocument};
use crate::report::execution::Execution;
use crate::report::picture::{execution_dot, execution_svg};
use crate::report::simulate::{Simulation, exploration_error};
use crate::semantics::{Bounds, ExplorationError, Trace, each_execution};
use crate::syntax::{Format, InputError};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which executions are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Which {
    /// Those whose final state satisfies the proposition of the condition.
    Prop,
    /// Those whose final state does not.
    Neg,
    /// All.
    All,
}

/// Options about executions.
#[derive(Clone, Debug, Args)]
pub(super) struct ShowOptions {
    /// Show executions with their events and relations: those that satisfy the condition's
    /// proposition, those that do not, or all. With `--dot` or `--svg` alone it is `prop`, or `all`
    /// where the test has no condition.
    #[arg(long, value_enum, value_name = "WHICH", group = "executions")]
    show: Option<Which>,
    /// Show at most N executions.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "executions")]
    nshow: usize,
    /// Show executions as graphs for Graphviz.
    #[arg(long, group = "executions", conflicts_with = "svg")]
    dot: bool,
    /// Show executions as a picture.
    #[arg(long, group = "executions")]
    svg: bool,
    /// Write these forms to this file instead of to standard output.
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

impl ShowOptions {
    /// Whether executions are to be shown.
    pub(super) fn is_asked(&self) -> bool {
        self.show.is_some() || self.picture().is_some()
    }

    fn picture(&self) -> Option<PictureFormat> {
        match (self.dot, self.svg) {
            (true, _) => Some(PictureFormat::Dot),
            (_, true) => Some(PictureFormat::Svg),
            _ => None,
        }
    }

    /// Why executions cannot be shown, whatever they are.
    pub(super) fn refusal(&self, files: &[String], models: usize) -> Option<InputError> {
        let refuse = |message, help: &str| {
            let name = files.first().cloned().unwrap_or_default();
            Some(InputError::file(name, message).with_help_if(Some(help.to_owned())))
        };
        if self.output.is_some() && self.picture().is_none() {
            return refuse("`-o` is for `--dot` and `--svg`", "leave it out, or name a form");
        }
        if self.output.is_some() && files.len() > 1 {
            return refuse("one picture is of one program", "name one file, or leave `-o` out");
        }
        if self.is_asked() && models > 1 {
            return refuse("executions are shown under one model", "say `--model tso`");
        }
        None
    }
}

/// Answers with the executions of a program under a model.
pub(super) fn answer(
    arguments: &SimulateArguments,
    simulation: &Simulation<'_>,
    loaded: &Loaded,
    shared: &SharedOptions,
    limits: &Limits,
) -> Answer {
    let executions = match executions(arguments, simulation, limits) {
        Ok(executions) => executions,
        Err(ExplorationError::Stopped(reason)) => return one(simulation, Some(reason), loaded, shared),
        Err(error) => return Answer::Refused(exploration_error(&loaded.program.source, &loaded.program, &error)),
    };
    let exit = if simulation.holds() { Exit::Holds } else { Exit::Fails };
    let options = &arguments.show;
    let drawn = options.picture().map(|format| match format {
        PictureFormat::Dot => (format, execution_dot(&executions)),
        _ => (format, execution_svg(&executions)),
    });
    if executions.is_empty() {
        remark_line(format_args!("{}: no execution comes to its end within the bounds", simulation.file));
    }
    if let (Some(path), Some((_, text)), false) = (&options.output, &drawn, executions.is_empty())
        && let Err(error) = write_text(path, text.clone())
    {
        return Answer::Refused(error);
    }
    if shared.json {
        let mut document = SimulateDocument::new(simulation);
        document.executions = Some(executions.iter().map(ExecutionDocument::new).collect());
        if !executions.is_empty() {
            document.written = options.output.as_ref().map(|path| path.display().to_string());
            document.picture =
                drawn.map(|(format, text)| Picture { format, text: options.output.is_none().then_some(text) });
        }
        return Answer::Printed(exit, documents::text(&document));
    }
    let mut text = match drawn {
        Some(_) if executions.is_empty() => String::new(),
        Some((_, text)) if options.output.is_none() => return Answer::Printed(exit, text),
        _ if loaded.format == Format::Litmus => simulation.log(),
        _ => simulation.sentences(shared.verbose > 0),
    };
    if options.picture().is_none() {
        let shown: Vec<String> = executions.iter().map(Execution::text).collect();
        text.push_str(&shown.join("\n"));
    }
    Answer::Printed(exit, text)
}

/// The executions that are asked for, the first ones of their kind.
fn executions<'a>(
    arguments: &SimulateArguments,
    simulation: &Simulation<'a>,
    limits: &Limits,
) -> Result<Vec<Execution<'a>>, ExplorationError> {
    let Simulation { program, instance, model, question, .. } = simulation;
    let bounds = Bounds { steps: arguments.steps, limits: limits.clone() };
    let has_condition = question.condition.is_some();
    let default = if has_condition { Which::Prop } else { Which::All };
    let which = arguments.show.show.unwrap_or(default);
    let mut kept: Vec<(Trace, bool)> = Vec::new();
    let mut count = 0;
    each_execution(program, instance, *model, &bounds, &mut |state, trace| {
        let Some(satisfies) = question.is_satisfied(program, instance, state) else { return };
        if which == Which::All || satisfies == (which == Which::Prop) {
            count += 1;
            if kept.len() < arguments.show.nshow {
                kept.push((trace.clone(), satisfies));
            }
        }
    })?;
    let shown = kept.into_iter().enumerate().map(|(index, (trace, satisfies))| Execution {
        program,
        instance,
        number: (index + 1, count),
        satisfies: has_condition.then_some(satisfies),
        trace,
    });
    Ok(shown.collect())
}
