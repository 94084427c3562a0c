//! `palisade fences`: the cheapest repair, for robustness or (`property_fences`) for the program's properties.

use super::check::Criterion;
use super::fences_progress::Progress;
use super::guard;
use super::needed;
use super::output::{print_document, print_text, remark};
use super::pairs::{self, MethodChoice, ObjectiveChoice, parse_bound};
use super::property_fences::{self, KindCosts};
use super::race_fences;
use super::repaired::{Proofs, no_text, path_in, write_back, write_proofs};
use super::simulate::ModelChoice;
use super::{Exit, Loaded, ProgramOptions, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::fences::{
    Checks, Cost, CostError, CostFunction, FenceError, FenceOptions, Pattern, PatternError, Profile, Repair,
    RepairError, RepairOptions, Repaired, Unchecked, repair,
};
use crate::limits::Limits;
use crate::program::Program;
use crate::report::check::{Context, fault_error};
use crate::report::documents::FencesDocument;
use crate::report::fences as report;
use crate::report::needed::Needed;
use crate::syntax::{InputError, read_text};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;

/// Options of `palisade fences`.
#[derive(Clone, Debug, Args)]
pub(super) struct FencesArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    #[command(flatten)]
    program: ProgramOptions,
    /// What the fences are for: robustness, or the stronger freedom from triangular races, to compare how many that takes.
    #[arg(long, value_enum, value_name = "CRITERION", default_value = "robustness")]
    criterion: Criterion,
    /// Find the cheapest fences with which the program keeps its properties – each `ensure`, `fail` and the question of a litmus
    /// test – instead of those that make it robust.
    #[arg(long, visible_alias = "only-properties")]
    pub(super) for_property: bool,
    /// The memory model for the properties; `tso` when left out. Robustness is about TSO.
    #[arg(long, value_enum)]
    pub(super) model: Option<ModelChoice>,
    /// What to choose: `fences`, or after the paper of Joshi and Kroening the fewest `pairs` of statements that must not be
    /// reordered, to compare.
    #[arg(long, value_enum)]
    pub(super) objective: Option<ObjectiveChoice>,
    /// How pairs are found.
    #[arg(long, value_enum)]
    pub(super) method: Option<MethodChoice>,
    /// The first and the last bound on reordered pairs for `robmc` and `robmc-et`: `5..30`, or `5..` for as many as there are.
    #[arg(long, value_name = "K1..K2", value_parser = parse_bound)]
    pub(super) bound: Option<(usize, Option<usize>)>,
    /// With `--objective pairs`, do not leave out what does not matter for the properties.
    #[arg(long)]
    pub(super) no_slice: bool,
    /// What a fence costs: `uniform`, `depth` (ten to the number of loops around it), or a file of lines
    /// `thread,label,cost`. By default what the program's `@cost(x)` says, 1 where it says nothing. With `--for-property` also
    /// `mfence=X,sfence=Y`: how many times that each kind of fence costs (by default 1, under PSO 2 and 1).
    #[arg(long, value_name = "COST")]
    cost: Option<String>,
    /// Also consider making stores locked exchanges: `xchg`, or `xchg=2` when one costs twice as much as a fence there.
    #[arg(long, value_name = "xchg[=COST]", value_parser = parse_exchange)]
    pub(super) with: Option<Cost>,
    /// Change nothing but at labels that match: `thread.label` with `*` and `?`, or `label` in every thread.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(super) only: Vec<Pattern>,
    /// Change nothing at labels that match.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(super) never: Vec<Pattern>,
    /// Judge the fences that are there already: which can go, one by one and together.
    #[arg(long)]
    redundant: bool,
    /// List all optimal sets.
    #[arg(long)]
    pub(super) all: bool,
    /// Print nothing but the unified diff.
    #[arg(long)]
    pub(super) diff: bool,
    /// Write the repaired text into the file, once it has been checked.
    #[arg(long)]
    pub(super) apply: bool,
    /// Write the evidence for every claim into this folder, for `palisade verify`, and beside it the repaired text; with
    /// `--apply`, the text as it was.
    #[arg(long, value_name = "DIR")]
    pub(super) certificate: Option<PathBuf>,
    /// Decide attacks by coverability of their Petri nets alone, by searches where there are none. Without this, nets take
    /// turns with searches that take long.
    #[arg(long)]
    nets: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    pub(super) values: usize,
}

/// Optimal sets listed at most.
pub(super) const ALTERNATIVES: usize = 1000;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let loaded = match arguments.program.load(&arguments.file, shared, &limits) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match answer(arguments, shared, &loaded, &limits) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    if arguments.apply && arguments.file == "-" {
        return Err(InputError::file("<stdin>", "standard input cannot be written back; leave `--apply` out"));
    }
    if arguments.criterion == Criterion::Trf {
        return race_fences::answer(arguments, shared, loaded, limits);
    }
    pairs::check_options(arguments, program)?;
    if arguments.for_property && arguments.objective == Some(ObjectiveChoice::Pairs) {
        return pairs::answer(arguments, shared, loaded, limits);
    }
    if arguments.for_property {
        return property_fences::answer(arguments, shared, loaded, limits);
    }
    arguments.check_for_robustness(program)?;
    let progress = Progress::new(shared);
    let (options, wanted) = (arguments.fence_options(loaded, limits)?, arguments.repair_options(loaded));
    let found = match repair(program, &options, &wanted, &progress, &Guarded { file: &arguments.file }) {
        Ok(found) => found,
        Err(RepairError::Fences(error)) => return Err(refused(&error, loaded)),
        Err(RepairError::Rejected(failure)) => {
            drop(progress);
            remark(alarm(&arguments.file, &failure.to_string()));
            return Ok(Exit::Rejected);
        }
        Err(RepairError::Broken(what)) => {
            drop(progress);
            remark(alarm(&arguments.file, &what));
            return Ok(Exit::Rejected);
        }
    };
    let needed = needed::ask(arguments, loaded, &found, limits);
    drop(progress);
    let needed = match needed {
        Ok(needed) => needed,
        Err(failure) => {
            remark(alarm(&arguments.file, &failure));
            return Ok(Exit::Rejected);
        }
    };
    let no_text = no_text(arguments, found.text.as_ref())?;
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found, needed.as_ref()))?,
        None => Vec::new(),
    };
    let written = write_back(arguments, loaded, found.repaired_text(), found.certificate.is_some())?;
    let context = Context {
        file: &arguments.file,
        program,
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    let result = report::Result {
        found: &found,
        all: arguments.all,
        no_diff: no_text.as_deref(),
        written,
        needed: needed.as_ref(),
    };
    print_result(arguments, shared, &result, &context);
    Ok(match &found.repair {
        // Asked to write, and not sure enough to.
        Repair::Valid(placement) if arguments.apply && !placement.measures.is_empty() && written.is_none() => {
            Exit::Unknown
        }
        Repair::Valid(_) => Exit::Holds,
        Repair::Impossible(_) => Exit::Fails,
        Repair::Unknown { .. } => Exit::Unknown,
    })
}

fn print_result(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    result: &report::Result<'_>,
    context: &Context<'_>,
) {
    if shared.json {
        print_document(&FencesDocument::new(result, context));
    } else if arguments.diff {
        print_text(result.diff());
        if !matches!(result.found.repair, Repair::Valid(_)) {
            remark(report::text(result, context, shared.verbose));
        }
    } else {
        print_text(report::text(result, context, shared.verbose));
    }
}

/// The evidence for a repair.
fn proofs<'a>(loaded: &Loaded, found: &'a Repaired, needed: Option<&'a Needed>) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    if let Some(certificate) = &found.certificate {
        match found.repaired_text() {
            Some(text) => {
                let subject = loaded.subject_of(&text.program);
                proofs.text = Some((text, Evidence::Robust(subject, certificate.clone())));
            }
            None if found.measures().is_empty() => {
                proofs.unchanged = Some(Evidence::Robust(loaded.subject(), certificate.clone()));
            }
            None => {}
        }
    }
    let shown = found.shown.as_ref().filter(|_| !found.is_robust_already());
    proofs.repairs.extend(shown.map(|shown| ("repair", &shown.evidence)));
    proofs.repairs.extend(found.redundancy_shown.as_ref().map(|shown| ("redundant", &shown.evidence)));
    if let Some(Needed::Found(needed)) = needed {
        proofs.repairs.extend(needed.shown.as_ref().map(|shown| ("needed", &shown.evidence)));
    }
    proofs
}

/// Checks of the evidence about a file: each on a thread that it may break without an end of the process.
pub(super) struct Guarded<'a> {
    pub(super) file: &'a str,
}

impl Checks for Guarded<'_> {
    fn run(&self, limits: &Limits, check: Box<dyn FnOnce() + Send>) -> Result<(), Unchecked> {
        match guard::within(self.file, limits, check) {
            Ok(checked) => checked.map_err(|broken| Unchecked::Broken(broken.to_string())),
            Err(reason) => Err(Unchecked::Stopped(reason)),
        }
    }
}

/// What to say loudly when evidence is rejected.
pub(super) fn alarm(file: &str, failure: &str) -> String {
    format!("Error: {file}: the repair's own evidence is rejected, do not rely on it: {failure}\n")
}

impl FencesArguments {
    fn fence_options(&self, loaded: &Loaded, limits: &Limits) -> Result<FenceOptions, InputError> {
        Ok(FenceOptions {
            cost: self.cost_function(loaded)?,
            exchange: self.with.clone(),
            only: self.only.clone(),
            never: self.never.clone(),
            alternatives: if self.all { ALTERNATIVES } else { 0 },
            nets: self.nets,
            values: self.values,
            limits: limits.clone(),
            // `repair` checks the repaired text.
            confirm: false,
        })
    }

    pub(super) fn repair_options(&self, loaded: &Loaded) -> RepairOptions {
        let path = match &self.certificate {
            Some(folder) if !self.apply => path_in(folder, &self.file, "repaired", loaded.format).display().to_string(),
            _ => loaded.program.source.name.clone(),
        };
        RepairOptions { format: loaded.format, path, redundant: self.redundant }
    }

    /// Whether an option is given that only robustness knows, or that offers and excludes measures.
    pub(super) fn is_for_robustness_alone(&self) -> bool {
        let picks = self.with.is_some() || !self.only.is_empty() || !self.never.is_empty();
        picks || self.redundant || self.nets || self.certificate.is_some() || self.model.is_some()
    }

    /// Whether there is no answer without a repaired text.
    pub(super) fn needs_text(&self) -> bool {
        self.apply || self.diff || self.certificate.is_some()
    }

    /// Refuses what is about properties where robustness is asked for.
    fn check_for_robustness(&self, program: &Program) -> Result<(), InputError> {
        let name = &program.source.name;
        let help = "say `--for-property` as well".to_owned();
        let refuse = |message: &str| Err(InputError::file(name.as_str(), message).with_help_if(Some(help.clone())));
        if !matches!(self.model, None | Some(ModelChoice::Tso)) {
            return refuse("robustness is about TSO; other models are for properties");
        }
        if self.cost.as_deref().is_some_and(|cost| KindCosts::read(cost).is_some()) {
            return refuse("costs of kinds of fences are for properties; robustness needs one kind only");
        }
        Ok(())
    }

    /// What the kinds of fences cost, where `--cost` says so.
    pub(super) fn kind_costs(&self, name: &str) -> Result<KindCosts, InputError> {
        let read = self.cost.as_deref().and_then(KindCosts::read);
        read.unwrap_or_else(|| Ok(KindCosts::default())).map_err(|error| InputError::file(name, error.to_string()))
    }

    /// Where the costs of labels come from.
    pub(super) fn cost_function(&self, loaded: &Loaded) -> Result<CostFunction, InputError> {
        Ok(match self.cost.as_deref() {
            None => CostFunction::Annotated,
            Some(cost) if self.for_property && KindCosts::read(cost).is_some() => CostFunction::Annotated,
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
    match error {
        FenceError::Fault(fault) => fault_error(&loaded.program, fault),
        FenceError::Cost(cost) => refused_cost(cost, loaded),
        FenceError::Pattern(pattern) => refused_pattern(pattern, loaded),
    }
}

/// A cost that cannot be used, as an error of the input.
pub(super) fn refused_cost(cost: &CostError, loaded: &Loaded) -> InputError {
    let help = matches!(cost, CostError::Missing(_)).then(|| "add a line `thread,label,cost` for it".into());
    InputError::file(loaded.program.source.name.clone(), cost.to_string()).with_help_if(help)
}

/// A pattern that names nothing, as an error of the input.
pub(super) fn refused_pattern(pattern: &PatternError, loaded: &Loaded) -> InputError {
    let help = "patterns are `thread.label` with `*` and `?`".to_owned();
    InputError::file(loaded.program.source.name.clone(), pattern.to_string()).with_help_if(Some(help))
}
