//! `palisade simulate`: the final states of a program, what fails in it, and how.

mod events;
mod shown;
mod side_by_side;

use super::load::exit_of;
use super::output::{Documents, print_text};
use super::words::capacity;
use super::{Exit, Loaded, ProgramOptions, SharedOptions, pending, print_input_error, watchdog};
use crate::limits::{Limits, StopReason};
use crate::program::Program;
use crate::questions::LanguageRobustness;
use crate::report::bounds::admitted_values;
use crate::report::documents::{self, SimulateDocument, StoppedDocument};
use crate::report::models::{MODELS, model_of};
use crate::report::simulate::{Simulation, exploration_error};
use crate::semantics::{
    Bounds, Counting, Executions, ExplorationError, FinalStates, Instance, LOOP_CAPACITY, Model, Question, Search,
    State, Told, executions, search_final_states,
};
use crate::syntax::{Format, InputError, store_fence_without_effect};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use rayon::prelude::*;
use std::time::Instant;

/// A state lists what each copy does, so there cannot be more copies than this.
const MOST_COPIES: u64 = 4096;

/// How `simulate` executes programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SimulatedModel {
    /// Of programs of events: one event after the other, and the tasks of an event one after the
    /// other.
    Serial,
    /// Under a memory model.
    Memory(Model),
}

/// What reads `--model`.
fn simulated_models() -> impl TypedValueParser<Value = SimulatedModel> {
    let serial =
        PossibleValue::new("serial").help("For programs of events: events and their tasks run one after the other");
    let memory = MODELS.map(|(_, _, word, what)| PossibleValue::new(word).help(what));
    let listed = std::iter::once(serial).chain(memory);
    PossibleValuesParser::new(listed).map(|word| model_of(&word).map_or(SimulatedModel::Serial, SimulatedModel::Memory))
}

/// Options of `palisade simulate`.
///
/// Says which properties hold, lists the final states in which every thread has come to its end and
/// every store has reached memory, and shows a computation for each property that fails and for
/// getting stuck. Of litmus tests it prints these final states in the format of herd's logs:
/// `Positive` and `Negative` count final states, with `--traces` executions. `--show` adds
/// executions with their relations, as text, with `--dot` or `--svg` as pictures.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("executions").multiple(true))]
pub(super) struct SimulateArguments {
    /// The programs; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    program: ProgramOptions,
    /// The memory model; several, as in `sc,tso`, are shown side by side, for threads without
    /// events.
    #[arg(long, value_name = "MODEL", value_delimiter = ',', default_value = "tso", value_parser = simulated_models())]
    pub(super) model: Vec<SimulatedModel>,
    /// Count executions (distinct traces) instead of final states.
    #[arg(long, group = "executions")]
    pub(super) traces: bool,
    #[command(flatten)]
    show: shown::ShowOptions,
    /// Let each thread execute at most N instructions (where executions are counted or shown;
    /// programs with loops need it there).
    #[arg(long, value_name = "N", requires = "executions")]
    steps: Option<u32>,
    /// How many stores a buffer holds in a program with loops; without loops buffers are unbounded.
    #[arg(long, value_name = "N", default_value_t = LOOP_CAPACITY, value_parser = capacity)]
    buffer: usize,
    /// Distinct values of a register or address admitted in a program without a domain, where there
    /// are many states and those that differ by a shift of counters alone count as one.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// What comes of one file.
pub(super) enum Answer {
    /// Its text, or its document.
    Printed(Exit, String),
    /// It is no input.
    Refused(InputError),
}

/// Runs `palisade simulate`.
pub(super) fn run(arguments: &SimulateArguments, shared: &SharedOptions) -> Exit {
    let mut worst = Exit::Holds;
    let mut documents = Documents::new(arguments.files.len() > 1);
    watchdog::watch_inputs(&arguments.files, arguments.files.len() > 1, shared);
    // In batches, so that output flows in the order of the files while they are worked on in
    // parallel.
    for batch in arguments.files.chunks(256) {
        let answered = |file: &String| {
            let _open = pending::begin(file);
            simulate(arguments, shared, file)
        };
        let answers: Vec<Answer> = batch.par_iter().map(answered).collect();
        for (file, answer) in batch.iter().zip(answers) {
            let exit = match answer {
                Answer::Printed(exit, text) => {
                    pending::answered(file, exit, Some(&text).filter(|_| shared.json));
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
    if let Some(error) = arguments.show.refusal(&arguments.files, arguments.model.len()) {
        return Answer::Refused(error);
    }
    let mut loaded = match arguments.program.read_any_within(file, &limits) {
        Ok(loaded) => loaded,
        Err(error) => return Answer::Refused(error),
    };
    if loaded.program.is_event_driven() {
        loaded.print_warnings(shared);
        if arguments.show.is_asked() {
            let message = "executions are shown of programs of threads; this one has events or tasks";
            let help = Some("`palisade witness` shows computations of events and tasks".to_owned());
            return Answer::Refused(InputError::file(file, message).with_help_if(help));
        }
        return events::answer(arguments, shared, file, &loaded, &limits);
    }
    let models = match models(&arguments.model, &loaded.program) {
        Ok(models) => models,
        Err(error) => return Answer::Refused(error),
    };
    loaded.warnings.extend(models.iter().find_map(|model| store_fence_without_effect(&loaded.program, *model)));
    loaded.print_warnings(shared);
    let program = &loaded.program;
    let Some(instance) = Instance::of(program) else {
        let help = "fix their number: `--threads all=2`".to_owned();
        let message = "threads with any number of copies have no final states to list";
        return Answer::Refused(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)));
    };
    if instance.total() > MOST_COPIES {
        let message = format!("{} thread copies are too many to list their states", instance.total());
        let help = "choose a smaller number: `--threads all=2`".to_owned();
        return Answer::Refused(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)));
    }
    let is_about_values = loaded.question.is_some() || !program.finally.is_empty();
    let told = if is_about_values || arguments.traces || arguments.show.is_asked() {
        Told::Apart
    } else {
        Told::UpToTurnsWhereMany
    };
    let explored = match explore_all(arguments, (program, &instance), &models, told, &limits) {
        Ok(explored) => explored,
        Err(error) => return Answer::Refused(exploration_error(&program.source, program, &error)),
    };
    // The last model is the weakest, and reaches what the others do.
    let weakest = explored.last().expect("there is a model");
    let question = loaded
        .question
        .clone()
        .unwrap_or_else(|| Question::about_everything(program).with_unnamed_cells(program, weakest.ends()));
    let seconds = begin.elapsed().as_secs_f64();
    let simulations: Vec<Simulation<'_>> = models
        .iter()
        .zip(&explored)
        .map(|(model, explored)| Simulation {
            file,
            program,
            instance: &instance,
            model: *model,
            question: &question,
            counting: explored.counting(),
            outcome: question.answer(program, &instance, explored.ends(), explored.counting()),
            finals: &explored.finals,
            bounded: explored.is_bounded(),
            buffer: arguments.buffer,
            seconds,
        })
        .collect();
    let stopped = simulations.iter().zip(&explored).find(|(_, explored)| explored.stopped.is_some());
    match (stopped, &simulations[..]) {
        // Without one of the models there is nothing to stand side by side.
        (Some((simulation, explored)), _) => one(simulation, explored.stopped, &loaded, shared),
        (None, [simulation]) if arguments.show.is_asked() => {
            shown::answer(arguments, simulation, &loaded, shared, &limits)
        }
        (None, [simulation]) => one(simulation, None, &loaded, shared),
        (None, all) => side_by_side::answer(all, shared),
    }
}

/// The models that threads are to run under, each once, the strongest first.
fn models(asked: &[SimulatedModel], program: &Program) -> Result<Vec<Model>, InputError> {
    let of_threads = |model: &SimulatedModel| match model {
        SimulatedModel::Serial => None,
        SimulatedModel::Memory(model) => Some(*model),
    };
    let mut models: Vec<Model> = asked.iter().filter_map(of_threads).collect();
    if models.len() < asked.len() {
        let message = "`serial` runs one event after the other, and the program has none";
        let help = Some("say `--model sc`".to_owned());
        return Err(InputError::file(program.source.name.clone(), message).with_help_if(help));
    }
    let objection = models.iter().find_map(|model| LanguageRobustness::other_models(program, *model));
    if let Some((message, _)) = objection {
        let help = Some("say `--model sc`".to_owned());
        return Err(InputError::file(program.source.name.clone(), message).with_help_if(help));
    }
    models.sort_unstable();
    models.dedup();
    Ok(models)
}

/// What was explored under a model.
struct Explored {
    /// The final states, with what fails.
    finals: FinalStates,
    /// The executions, where these are counted.
    executions: Option<Executions>,
    /// The limit that ended the exploration.
    stopped: Option<StopReason>,
}

impl Explored {
    fn ends(&self) -> &[State] {
        self.executions.as_ref().map_or(&self.finals.completed, |found| &found.final_states)
    }

    fn is_bounded(&self) -> bool {
        self.executions.as_ref().map_or(self.finals.buffers_filled, |found| found.truncated)
    }

    fn counting(&self) -> Counting {
        if self.executions.is_some() { Counting::Executions } else { Counting::Rows }
    }
}

/// Explores a program under each model. What stands side by side is told apart in one way under all
/// of them.
fn explore_all(
    arguments: &SimulateArguments,
    subject: (&Program, &Instance),
    models: &[Model],
    told: Told,
    limits: &Limits,
) -> Result<Vec<Explored>, ExplorationError> {
    let all = |told| -> Result<Vec<Explored>, ExplorationError> {
        models.iter().map(|model| explore(arguments, subject, *model, told, limits)).collect()
    };
    let is_mixed = |explored: &[Explored]| {
        let turned = explored.iter().filter(|explored| explored.finals.turns.is_some()).count();
        0 < turned && turned < explored.len() && explored.iter().all(|explored| explored.stopped.is_none())
    };
    let mut explored = all(told)?;
    for told in [Told::UpToTurns, Told::Apart] {
        if is_mixed(&explored) {
            explored = all(told)?;
        }
    }
    Ok(explored)
}

/// Explores a program under a model.
fn explore(
    arguments: &SimulateArguments,
    (program, instance): (&Program, &Instance),
    model: Model,
    told: Told,
    limits: &Limits,
) -> Result<Explored, ExplorationError> {
    let mut finals = FinalStates::default();
    let values = admitted_values(program, arguments.values);
    let search = Search { capacity: arguments.buffer, told, values, is_coarse: true };
    let explored = search_final_states(program, instance, model, search, limits, &mut finals);
    let listed = if arguments.traces && explored.is_ok() {
        let bounds = Bounds { steps: arguments.steps, limits: limits.clone() };
        executions(program, instance, model, &bounds).map(Some)
    } else {
        Ok(None)
    };
    match explored.and(listed) {
        Ok(executions) => Ok(Explored { finals, executions, stopped: None }),
        Err(ExplorationError::Stopped(reason)) => Ok(Explored { finals, executions: None, stopped: Some(reason) }),
        // What is violated among the first values is said all the same.
        Err(ExplorationError::Growth(_)) if !finals.violations.is_empty() || !finals.joint.is_empty() => {
            Ok(Explored { finals, executions: None, stopped: Some(StopReason::Inconclusive) })
        }
        Err(error) => Err(error),
    }
}

/// What is said about one model.
fn one(simulation: &Simulation<'_>, stopped: Option<StopReason>, loaded: &Loaded, shared: &SharedOptions) -> Answer {
    let exit = match stopped {
        Some(_) if simulation.has_failed() => Exit::Fails,
        Some(_) => Exit::Unknown,
        None if simulation.holds() => Exit::Holds,
        None => Exit::Fails,
    };
    let text = match stopped {
        Some(reason) if shared.json => documents::text(&StoppedDocument::new(simulation, reason)),
        Some(reason) => simulation.found_until(reason),
        None if shared.json => documents::text(&SimulateDocument::new(simulation)),
        None if loaded.format == Format::Litmus => simulation.log(),
        None => simulation.sentences(shared.verbose > 0),
    };
    Answer::Printed(exit, text)
}
