//! `palisade fences`: the cheapest repair.

use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::fences::{
    Cost, CostError, CostFunction, FenceError, FenceOptions, Observer, Pattern, Profile, Repair, place, redundant,
    redundant_besides,
};
use crate::report::check::{Context, fault_error};
use crate::report::fences as report;
use crate::syntax::{InputError, read_text};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Options of `palisade fences`.
#[derive(Clone, Debug, Args)]
pub(super) struct FencesArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    program: ProgramOptions,
    /// What a fence costs: `uniform`, `depth` (ten to the number of loops around it), or a file of lines
    /// `thread,label,cost`. By default what the program's `@cost(x)` says, 1 where it says nothing.
    #[arg(long, value_name = "COST")]
    cost: Option<String>,
    /// Also consider making stores locked exchanges: `xchg`, or `xchg=2` when one costs twice as much as a fence there.
    #[arg(long, value_name = "xchg[=COST]", value_parser = parse_exchange)]
    with: Option<Cost>,
    /// Change nothing but at labels that match: `thread.label` with `*` and `?`, or `label` in every thread.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<Pattern>,
    /// Change nothing at labels that match.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    never: Vec<Pattern>,
    /// Judge the fences that are there already: which can go, one by one and together.
    #[arg(long)]
    redundant: bool,
    /// List all optimal sets.
    #[arg(long)]
    all: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    values: usize,
}

/// Optimal sets listed at most.
const ALTERNATIVES: usize = 1000;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let loaded = match arguments.program.load(&arguments.file, shared) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match repair(arguments, shared, &loaded) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn repair(arguments: &FencesArguments, shared: &SharedOptions, loaded: &Loaded) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    let options = FenceOptions {
        cost: arguments.cost_function(loaded)?,
        exchange: arguments.with.clone(),
        only: arguments.only.clone(),
        never: arguments.never.clone(),
        alternatives: if arguments.all { ALTERNATIVES } else { 0 },
        values: arguments.values,
        limits: shared.limits(),
    };
    let progress = Progress::new(shared);
    let refused = |error| refused(&error, loaded);
    let repair = place(program, &options, &progress).map_err(refused)?;
    let redundancy = match &repair {
        Repair::Valid(placement) if arguments.redundant => {
            let measures: Vec<_> = placement.measures.iter().map(|(measure, _)| *measure).collect();
            Some(redundant_besides(program, &measures, &options, &progress).map_err(refused)?)
        }
        _ if arguments.redundant => Some(redundant(program, &options, &progress).map_err(refused)?),
        _ => None,
    };
    progress.finish();
    let context = Context {
        file: &arguments.file,
        program,
        warnings: loaded.warnings_json(),
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &[],
    };
    let result =
        report::Result { repair: &repair, redundancy: redundancy.as_ref(), all: arguments.all, diff: "", written: None };
    if shared.json {
        println!("{}", report::json(&result, &context));
    } else {
        print!("{}", report::text(&result, &context, shared.verbose));
    }
    Ok(match repair {
        Repair::Valid(_) => Exit::Holds,
        Repair::Impossible(_) => Exit::Fails,
        Repair::Unknown(_) => Exit::Unknown,
    })
}

impl FencesArguments {
    fn cost_function(&self, loaded: &Loaded) -> Result<CostFunction, InputError> {
        Ok(match self.cost.as_deref() {
            None => CostFunction::Annotated,
            Some("uniform") => CostFunction::Uniform,
            Some("depth") => CostFunction::Depth,
            Some(path) => {
                let text = read_text(path)?;
                let profile = Profile::read(&text.text, &loaded.program)
                    .map_err(|error| InputError::file(path, error.to_string()))?;
                CostFunction::Profile(profile)
            }
        })
    }
}

fn parse_exchange(text: &str) -> Result<Cost, String> {
    match text.split_once('=') {
        None if text == "xchg" => Ok(Cost::one()),
        Some(("xchg", cost)) => cost.parse().map_err(|error: CostError| error.to_string()),
        _ => Err(format!("`{text}` is not known; say `xchg`, or `xchg=COST`")),
    }
}

fn refused(error: &FenceError, loaded: &Loaded) -> InputError {
    let name = loaded.program.source.name.clone();
    match error {
        FenceError::Fault(fault) => fault_error(&loaded.program, fault),
        FenceError::Cost(cost) => InputError::file(name, cost.to_string())
            .with_help_if(matches!(cost, CostError::Missing(_)).then(|| "add a line `thread,label,cost` for it".into())),
        FenceError::Pattern(pattern) => InputError::file(name, pattern.to_string())
            .with_help_if(Some("patterns are `thread.label` with `*` and `?`".into())),
    }
}

/// The progress line on standard error, when that is a terminal and somebody may look at it.
struct Progress {
    bar: ProgressBar,
    found: AtomicUsize,
    decided: AtomicUsize,
    candidates: AtomicUsize,
    best: Mutex<Vec<Cost>>,
}

impl Progress {
    fn new(shared: &SharedOptions) -> Self {
        let is_shown = !shared.quiet && !shared.json && std::io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if is_shown {
            bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is well formed"));
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self {
            bar,
            found: AtomicUsize::new(0),
            decided: AtomicUsize::new(0),
            candidates: AtomicUsize::new(0),
            best: Mutex::new(Vec::new()),
        }
    }

    fn show(&self) {
        if self.bar.is_hidden() {
            return;
        }
        let best: Cost = self.best.lock().map(|costs| costs.iter().cloned().sum()).unwrap_or_else(|_| Cost::zero());
        self.bar.set_message(format!(
            "attacks decided: {} of {}, candidates tried: {}, cost so far: {best}",
            self.decided.load(Ordering::Relaxed),
            self.found.load(Ordering::Relaxed),
            self.candidates.load(Ordering::Relaxed),
        ));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn attacks_found(&self, count: usize) {
        self.found.fetch_add(count, Ordering::Relaxed);
        self.show();
    }

    fn attack_decided(&self) {
        self.decided.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    fn candidate_tried(&self) {
        self.candidates.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    fn thread_settled(&self, cost: &Cost) {
        if let Ok(mut costs) = self.best.lock() {
            costs.push(cost.clone());
        }
        self.show();
    }
}
