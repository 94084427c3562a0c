//! The options of `palisade check`.

use crate::cli::ProgramOptions;
use crate::cli::outputs::OutputOptions;
use crate::cli::queue::QueueChoice;
use crate::cli::simulate::ModelChoice;
use crate::syntax::InputError;
use clap::{Args, ValueEnum};
use std::ops::Range;
use std::path::PathBuf;

/// Options of `palisade check`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct CheckArguments {
    /// The programs; `-` is standard input, a folder stands for the .pal and .litmus files in it (or those of --from),
    /// `@LIST` for the paths on the lines of a file. Many programs get one line each; `-v` shows everything.
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) program: ProgramOptions,
    #[command(flatten)]
    pub(in crate::cli) outputs: OutputOptions,
    /// What to be robust against. By default TSO, and for programs of events concurrency as well.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(in crate::cli) against: Option<Against>,
    /// How many tasks may be pending at once before the search gives up (robustness against concurrency).
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(in crate::cli) pending: usize,
    /// In which order the main thread takes tasks, in programs of events and tasks. With `fifo` there is no answer where only violations in another order
    /// were found.
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub(in crate::cli) queue: QueueChoice,
    /// Of programs of events, ask another program against TSO: `two-threads` is the one of the paper, which errs. It compares and gives no verdict.
    #[arg(long, value_enum, value_name = "METHOD")]
    pub(in crate::cli) method: Option<EventMethod>,
    /// What to decide: robustness, or the stronger freedom from triangular races, to compare.
    #[arg(long, value_enum, value_name = "CRITERION", default_value = "robustness")]
    pub(in crate::cli) criterion: Criterion,
    /// Decide every attack, not only those up to the first feasible one.
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Decide only these attacks, by their numbers in what `--json` prints: `17-32`. The verdict is `unknown` where none of them is feasible, and the evidence
    /// is a part that `palisade merge` puts together with the others.
    #[arg(long, value_name = "FIRST-LAST", conflicts_with_all = ["one_query"], value_parser = parse_range)]
    pub(in crate::cli) attacks: Option<AttackRange>,
    /// Search also for attacks that control flow alone rules out.
    #[arg(long)]
    pub(in crate::cli) no_prune: bool,
    /// Decide every attack on its net alone, as `palisade net` writes it, by the strategies of `palisade cover`. Without
    /// this, nets take turns with searches that take long.
    #[arg(long)]
    pub(in crate::cli) nets: bool,
    /// Explore the values of counters one by one, and not only up to what all steps commute with, to compare.
    #[arg(long)]
    pub(in crate::cli) no_counters: bool,
    /// Ask about all attacks in one exploration, to compare with the search that asks store by store.
    #[arg(long, conflicts_with_all = ["all", "nets"])]
    pub(in crate::cli) one_query: bool,
    /// Do not ask what a violation does to the properties of the program, and to the question of a litmus test.
    #[arg(long)]
    pub(in crate::cli) no_properties: bool,
    /// Write the evidence of every verdict into this folder, one file per program, for `palisade verify`.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) certificate: Option<PathBuf>,
    /// Check the evidence of every verdict before reporting it, as `palisade verify` does.
    #[arg(long)]
    pub(in crate::cli) verify: bool,
    /// The same evidence for any number of jobs. This is always so; scripts may insist.
    #[arg(long)]
    pub(in crate::cli) deterministic: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    pub(in crate::cli) values: usize,
    /// The memory model to be robust against: `tso` unless this says `pso`, for programs of threads without `sfence` and sections.
    #[arg(long, value_enum, value_name = "MODEL")]
    pub(in crate::cli) model: Option<ModelChoice>,
}

/// Some of the attacks of a program, by the positions in their order, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct AttackRange(pub(in crate::cli) Range<usize>);

/// Attacks by their numbers, from 1, the last one included.
fn parse_range(text: &str) -> Result<AttackRange, String> {
    let wrong = || format!("`{text}` are no attacks; say `17-32`, or `17-17` for one");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    match (number(first)?, number(last)?) {
        (first @ 1.., last) if first <= last => Ok(AttackRange(first - 1..last)),
        _ => Err(wrong()),
    }
}

/// What to decide about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Criterion {
    /// Every computation under TSO has the trace of an interleaving.
    Robustness,
    /// No interleaving has a triangular race: a load after a store to another address, with no fence in between, right before another
    /// thread's store to the same address.
    Trf,
}

/// What a program is to be robust against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Against {
    /// The interleaving of events and tasks.
    Concurrency,
    /// The memory model TSO.
    Tso,
}

/// Other ways to ask about programs of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum EventMethod {
    /// The program with one background invocation at most [NETYS18, Theorem 2].
    TwoThreads,
}

/// Whether robustness against PSO is asked; a model that no program fails to be robust against is refused.
pub(in crate::cli) fn asks_about_pso(model: Option<ModelChoice>) -> Result<bool, InputError> {
    match model {
        None | Some(ModelChoice::Tso) => Ok(false),
        Some(ModelChoice::Pso) => Ok(true),
        Some(ModelChoice::Sc) => Err(InputError::file(
            "--model sc",
            "every program is robust against SC, whose computations are interleavings",
        )),
    }
}

/// Refuses models that a command does not know for robustness.
pub(in crate::cli) fn only_tso(file: &str, model: Option<ModelChoice>) -> Result<(), InputError> {
    match model {
        None | Some(ModelChoice::Tso) => Ok(()),
        Some(_) => {
            let help = "`palisade check --model pso` decides robustness against PSO and shows a violation, `palisade prove --model` asks for properties".to_owned();
            Err(InputError::file(file, "this command is about robustness against TSO").with_help_if(Some(help)))
        }
    }
}
