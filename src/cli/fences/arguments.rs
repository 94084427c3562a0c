//! The options of `palisade fences`, and what they mean for each of its questions.

use crate::cli::outputs::SarifOption;
use crate::cli::words::{Against, Ask, models_and_languages};
use crate::cli::{Loaded, ProgramOptions};
use crate::fences::{Cost, CostError, CostFunction, FenceOptions, Pattern, PatternError, Profile, RepairOptions};
use crate::limits::Limits;
use crate::program::Program;
use crate::semantics::Model;
use crate::semantics::graphs::Axioms;
use crate::syntax::{Format, InputError, read_text};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Options of `palisade fences`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct FencesArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE", help_heading = "Input")]
    pub(in crate::cli) file: String,
    #[command(flatten)]
    pub(in crate::cli) program: ProgramOptions,
    #[command(flatten)]
    pub(in crate::cli) sarif: SarifOption,
    /// What the fences are for: robustness, the program's properties – each `ensure`, `fail` and
    /// `never` and the question of a litmus test –, that nobody waits for ever (`hangs`), or
    /// freedom from triangular races.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "robustness", help_heading = "Question")]
    pub(in crate::cli) ask: Ask,
    /// The memory model for properties and hangs, `tso` when left out; for robustness `tso`, or a
    /// language, against which orderings are made stronger as well.
    #[arg(long = "model", value_name = "MODEL", value_parser = models_and_languages(), help_heading = "Question")]
    against: Option<Against>,
    /// With `--ask hangs`: what is `timed` waits like all else, as in `check`.
    #[arg(long, help_heading = "Question")]
    pub(in crate::cli) ignore_timeouts: bool,
    /// What to choose: `fences`, or after the paper of Joshi and Kroening the fewest `pairs` of
    /// statements that must not be reordered.
    #[arg(long, value_enum, help_heading = "Methods", hide = true)]
    pub(in crate::cli) objective: Option<ObjectiveChoice>,
    /// How pairs are found.
    #[arg(long, value_enum, help_heading = "Methods", hide = true)]
    pub(in crate::cli) method: Option<MethodChoice>,
    /// The first and the last bound on reordered pairs for `robmc` and `robmc-et`: `5..30`, or
    /// `5..` for as many as there are.
    #[arg(long, value_name = "K1..K2", value_parser = parse_bound, help_heading = "Methods", hide = true)]
    pub(in crate::cli) bound: Option<(usize, Option<usize>)>,
    /// With `--ask properties`, do not leave out what does not matter for the properties.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) no_slice: bool,
    /// What a fence costs: `uniform`, `depth` (ten to the number of loops around it), or a file of
    /// lines `thread,label,cost`. By default what the program's `@cost(x)` says, 1 where it says
    /// nothing. With `--ask properties` or `hangs` also `mfence=X,sfence=Y`: how many times that
    /// each kind of fence costs (by default 1, under PSO 2 and 1).
    #[arg(long, value_name = "COST", help_heading = "Question")]
    cost: Option<String>,
    /// Also consider making stores locked exchanges: `xchg`, or `xchg=2` when one costs twice as
    /// much as a fence there.
    #[arg(long, value_name = "xchg[=COST]", value_parser = parse_exchange, help_heading = "Question")]
    pub(in crate::cli) with: Option<Cost>,
    /// Change nothing but at labels that match: `thread.label` with `*` and `?`, or `label` in
    /// every thread.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = "Question")]
    pub(in crate::cli) only: Vec<Pattern>,
    /// Change nothing at labels that match.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = "Question")]
    pub(in crate::cli) never: Vec<Pattern>,
    /// Judge the fences that are there already: which can go, one by one and together.
    #[arg(long, help_heading = "Question")]
    pub(in crate::cli) redundant: bool,
    /// List all optimal sets.
    #[arg(long, help_heading = "Search")]
    pub(in crate::cli) all: bool,
    /// Print nothing but the unified diff.
    #[arg(long, conflicts_with = "apply", help_heading = "Output")]
    pub(in crate::cli) diff: bool,
    /// Write the repaired text into the file, once it has been checked.
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) apply: bool,
    /// Write the evidence for every claim into this folder, for `palisade verify`, and beside it
    /// the repaired text; with `--apply`, the text as it was.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(in crate::cli) certificate: Option<PathBuf>,
    /// Decide attacks by coverability of their Petri nets alone, by searches where there are none.
    /// Without this, nets take turns with searches that take long.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) nets: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES, help_heading = "Search")]
    pub(in crate::cli) values: usize,
}

/// Optimal sets listed at most.
pub(in crate::cli) const ALTERNATIVES: usize = 1000;

/// What to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ObjectiveChoice {
    /// Fences at labels, by their costs.
    Fences,
    /// Pairs of statements that must not be reordered, by their number.
    Pairs,
}

/// The methods to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MethodChoice {
    /// Rows of fences: the method for fences.
    Rows,
    /// Bans under a growing bound on reordered pairs.
    Robmc,
    /// The same with an early end.
    RobmcEt,
    /// Bans that meet all sets of pairs found so far.
    Fi,
    /// Runs that contain no set of pairs found before.
    Te,
}

/// What the kinds of fences cost where an option says so.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct KindCosts {
    pub(in crate::cli) fence: Option<Cost>,
    pub(in crate::cli) store_fence: Option<Cost>,
}

impl KindCosts {
    /// Reads `mfence=3,sfence=1`; nothing when the text is of another form.
    pub(in crate::cli) fn read(text: &str) -> Option<Result<Self, CostError>> {
        let is_kind = |part: &str| matches!(part.split_once('='), Some(("mfence" | "sfence", _)));
        if !text.split(',').all(is_kind) {
            return None;
        }
        let mut costs = Self::default();
        for (kind, cost) in text.split(',').filter_map(|part| part.split_once('=')) {
            match cost.parse() {
                Ok(cost) if kind == "mfence" => costs.fence = Some(cost),
                Ok(cost) => costs.store_fence = Some(cost),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(costs))
    }
}

impl FencesArguments {
    /// The memory model that an option names.
    pub(in crate::cli) fn model(&self) -> Option<Model> {
        self.against.filter(|against| against.language().is_none()).map(Against::model)
    }

    /// The language that an option names.
    pub(in crate::cli) fn language(&self) -> Option<Axioms> {
        self.against.and_then(Against::language)
    }

    /// Whether an option says what measures cost.
    pub(in crate::cli) fn has_costs(&self) -> bool {
        self.cost.is_some()
    }

    /// Whether the fences are for the program's properties.
    pub(in crate::cli) fn is_for_properties(&self) -> bool {
        self.ask == Ask::Properties
    }

    pub(in crate::cli) fn fence_options(&self, loaded: &Loaded, limits: &Limits) -> Result<FenceOptions, InputError> {
        Ok(FenceOptions {
            cost: self.cost_function(loaded)?,
            exchange: self.with.clone(),
            only: self.only.clone(),
            never: self.never.clone(),
            alternatives: if self.all { ALTERNATIVES } else { 0 },
            nets: self.nets,
            values: loaded.values(self.values),
            limits: limits.clone(),
            // `repair` checks the repaired text.
            confirm: false,
            ..FenceOptions::default()
        })
    }

    pub(in crate::cli) fn repair_options<'l>(&self, loaded: &'l Loaded) -> RepairOptions<'l> {
        let path = match &self.certificate {
            Some(folder) if !self.apply => path_in(folder, &self.file, "repaired", loaded.format).display().to_string(),
            _ => loaded.program.source.name.clone(),
        };
        RepairOptions { language: &loaded.format, path, redundant: self.redundant }
    }

    /// Whether an option is given that only robustness knows, or that offers and excludes measures.
    pub(in crate::cli) fn is_for_robustness_alone(&self) -> bool {
        let picks = self.with.is_some() || !self.only.is_empty() || !self.never.is_empty();
        picks || self.redundant || self.nets || self.certificate.is_some() || self.against.is_some()
    }

    /// Whether there is no answer without a repaired text.
    pub(in crate::cli) fn needs_text(&self) -> bool {
        self.apply || self.diff || self.certificate.is_some()
    }

    /// Refuses what is about properties where robustness is asked for.
    pub(in crate::cli) fn check_for_robustness(&self, program: &Program) -> Result<(), InputError> {
        let name = &program.source.name;
        let help = "say `--ask properties` as well".to_owned();
        let refuse = |message: &str| Err(InputError::file(name.as_str(), message).with_help_if(Some(help.clone())));
        if !matches!(self.model(), None | Some(Model::Tso)) {
            return refuse("this command finds fences for robustness against TSO; other models are for properties");
        }
        if self.cost.as_deref().is_some_and(|cost| KindCosts::read(cost).is_some()) {
            return refuse("costs of kinds of fences are for properties; robustness needs one kind only");
        }
        Ok(())
    }

    /// What the kinds of fences cost, where `--cost` says so.
    pub(in crate::cli) fn kind_costs(&self, name: &str) -> Result<KindCosts, InputError> {
        let read = self.cost.as_deref().and_then(KindCosts::read);
        read.unwrap_or_else(|| Ok(KindCosts::default())).map_err(|error| InputError::file(name, error.to_string()))
    }

    /// Where the costs of labels come from.
    pub(in crate::cli) fn cost_function(&self, loaded: &Loaded) -> Result<CostFunction, InputError> {
        Ok(match self.cost.as_deref() {
            None => CostFunction::Annotated,
            Some(cost) if matches!(self.ask, Ask::Properties | Ask::Hangs) && KindCosts::read(cost).is_some() => {
                CostFunction::Annotated
            }
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

/// Reads `5..30`, or `5..`.
pub(in crate::cli) fn parse_bound(text: &str) -> Result<(usize, Option<usize>), String> {
    let form = || format!("`{text}` is not a range of bounds; say `5..30`, or `5..` for as many pairs as there are");
    let (first, last) = text.split_once("..").ok_or_else(form)?;
    let first = first.parse().map_err(|_| form())?;
    let last = if last.is_empty() { None } else { Some(last.parse().map_err(|_| form())?) };
    match last {
        Some(last) if last < first => Err(format!("the range `{text}` is empty: {last} is less than {first}")),
        _ => Ok((first, last)),
    }
}

/// Where a text of a program goes in a folder for evidence: `p.repaired.pal` for the repaired text
/// of `p.pal`.
pub(in crate::cli) fn path_in(folder: &Path, file: &str, which: &str, format: Format) -> PathBuf {
    let extension = match format {
        Format::Native => "pal",
        Format::Trencher => "txt",
        Format::Litmus => "litmus",
        Format::Memorax => "rmm",
        Format::Tpl => "tpl",
        Format::Machine => "listing",
    };
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    folder.join(format!("{}.{which}.{extension}", stem.unwrap_or("stdin")))
}

/// A cost that cannot be used, as an error of the input.
pub(in crate::cli) fn refused_cost(cost: &CostError, loaded: &Loaded) -> InputError {
    let help = matches!(cost, CostError::Missing(_)).then(|| "add a line `thread,label,cost` for it".into());
    InputError::file(loaded.program.source.name.clone(), cost.to_string()).with_help_if(help)
}

/// A pattern that names nothing, as an error of the input.
pub(in crate::cli) fn refused_pattern(pattern: &PatternError, loaded: &Loaded) -> InputError {
    let help = "patterns are `thread.label` with `*` and `?`".to_owned();
    InputError::file(loaded.program.source.name.clone(), pattern.to_string()).with_help_if(Some(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        assert_eq!(parse_bound("5..30"), Ok((5, Some(30))));
        assert_eq!(parse_bound("5.."), Ok((5, None)));
        assert!(parse_bound("5..3").is_err_and(|error| error.contains("3 is less than 5")));
        assert!(parse_bound("5").is_err() && parse_bound("..3").is_err() && parse_bound("-1..3").is_err());
    }
}
