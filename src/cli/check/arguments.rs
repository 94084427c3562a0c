//! The options of `palisade check`.

use crate::cli::ProgramOptions;
use crate::cli::outputs::OutputOptions;
use crate::cli::words::{Against, Ask, QueueChoice, capacity, models_and_languages};
use crate::properties::{DEFAULT_BUFFER, Rung};
use clap::{Args, ValueEnum};
use std::ops::Range;
use std::path::PathBuf;

/// Options of `palisade check`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct CheckArguments {
    /// The programs; `-` is standard input, a folder stands for the .pal and .litmus files in it
    /// (or those of --from), `@LIST` for the paths on the lines of a file. More than eight programs
    /// get one line each; `-v` shows everything.
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    pub(in crate::cli) files: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) program: ProgramOptions,
    /// What to ask, in place of all questions that the program has: its properties, robustness, and
    /// of events robustness against concurrency. Programs that sleep, lock, spin or say who may
    /// wait are asked `hangs` as well; `races` is asked only here.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', help_heading = "Question")]
    pub(in crate::cli) ask: Vec<Ask>,
    /// The memory model, or the language. Under `sc`, which every program is robust against,
    /// properties alone are asked.
    #[arg(long, value_name = "MODEL", default_value = "tso", value_parser = models_and_languages(), help_heading = "Question")]
    pub(in crate::cli) model: Against,
    /// Of hangs: let `timed` waits wait for ever. Otherwise a wake-up that is lost there is a mere
    /// delay.
    #[arg(long, help_heading = "Question")]
    pub(in crate::cli) ignore_timeouts: bool,
    /// Only the properties at these labels: `LABEL`, or `THREAD.LABEL`.
    #[arg(long, value_name = "LABEL", value_delimiter = ',', help_heading = "Question")]
    pub(in crate::cli) only: Vec<String>,
    /// In which order the main thread takes tasks, in programs of events and tasks. With `fifo`
    /// there is no answer where only violations in another order were found.
    #[arg(long, value_enum, value_name = "ORDER", default_value_t, help_heading = "Question")]
    pub(in crate::cli) queue: QueueChoice,
    /// Decide every attack, not only those up to the first feasible one, and show every violation
    /// in full.
    #[arg(long, help_heading = "Search")]
    pub(in crate::cli) all: bool,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES, help_heading = "Search")]
    pub(in crate::cli) values: usize,
    /// How many tasks may be pending at once before the search gives up (robustness against
    /// concurrency).
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Search")]
    pub(in crate::cli) pending: usize,
    /// Decide only these attacks, by their numbers in what `--json` prints: `17-32`. The answer is
    /// `unknown` where none of them is feasible, and the evidence is a part that `palisade merge`
    /// puts together with the others.
    #[arg(long, value_name = "FIRST-LAST", conflicts_with_all = ["one_query", "only", "by"], value_parser = parse_range, help_heading = "Search")]
    pub(in crate::cli) attacks: Option<AttackRange>,
    /// Write the evidence of every answer into this folder, for `palisade verify`.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(in crate::cli) certificate: Option<PathBuf>,
    /// Check the evidence of every answer before reporting it, as `palisade verify` does.
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) verify: bool,
    #[command(flatten)]
    pub(in crate::cli) outputs: OutputOptions,
    #[command(flatten)]
    pub(in crate::cli) methods: MethodOptions,
}

/// Options that choose among methods, to compare them: `--help-methods` lists them.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct MethodOptions {
    /// Search also for attacks that control flow alone rules out.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) no_prune: bool,
    /// Decide every attack on its net alone, as `palisade net` writes it, by the strategies of
    /// `palisade cover`. Without this, nets take turns with searches that take long.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) nets: bool,
    /// Explore the values of counters one by one, and not only up to what all steps commute with.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) no_counters: bool,
    /// Ask about all attacks in one exploration, and not store by store.
    #[arg(long, conflicts_with_all = ["all", "nets"], help_heading = "Methods", hide = true)]
    pub(in crate::cli) one_query: bool,
    /// Of programs of events, ask another program against TSO: `two-threads` is the one of the
    /// paper, which errs. It gives no verdict.
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Methods", hide = true,
        conflicts_with_all = ["ask", "certificate"])]
    pub(in crate::cli) method: Option<EventMethod>,
    /// Ask this rung about properties alone, instead of all in turn.
    #[arg(long, value_enum, value_name = "RUNG", help_heading = "Methods", hide = true)]
    by: Option<RungChoice>,
    /// Stores in a buffer before the rung `buffers` gives up, or kept by a thread before `enriched`
    /// does, and snapshots in a queue before `snapshots` does.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BUFFER, value_parser = capacity, help_heading = "Methods", hide = true)]
    pub(in crate::cli) buffer: usize,
    /// Do not leave out what does not matter for a property.
    #[arg(long, help_heading = "Methods", hide = true)]
    pub(in crate::cli) no_slice: bool,
}

impl CheckArguments {
    /// Whether a question is asked, by its name: all are where none is named.
    pub(in crate::cli) fn asks_for(&self, name: &str) -> bool {
        self.ask.is_empty() || self.ask.iter().any(|ask| ask.name() == name)
    }
}

impl MethodOptions {
    /// The only rung to ask.
    pub(in crate::cli) fn rung(&self) -> Option<Rung> {
        self.by.map(|by| match by {
            RungChoice::Values => Rung::Values,
            RungChoice::Sc => Rung::Sc,
            RungChoice::ScRobust => Rung::ScRobust,
            RungChoice::Buffers => Rung::Buffers,
            RungChoice::Snapshots => Rung::Snapshots,
            RungChoice::Enriched => Rung::Enriched,
            RungChoice::Counters => Rung::Counters,
        })
    }

    /// The option that is about attacks one by one; nothing where there is none.
    pub(in crate::cli) fn about_attacks(&self) -> Option<&'static str> {
        let asked = [
            (self.no_prune, "--no-prune"),
            (self.nets, "--nets"),
            (self.one_query, "--one-query"),
            (self.no_counters, "--no-counters"),
        ];
        asked.into_iter().find_map(|(is_asked, option)| is_asked.then_some(option))
    }
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

/// Other ways to ask about programs of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum EventMethod {
    /// The program with one background invocation at most [NETYS18, Theorem 2].
    TwoThreads,
}

/// The rungs to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RungChoice {
    /// Sets of values, in any order of steps.
    Values,
    /// The interleavings: the answer under SC, and what is violated there.
    Sc,
    /// Robustness of what matters for a property: then it is enough to look at the interleavings.
    ScRobust,
    /// Bounded store buffers, until they turn out large enough.
    Buffers,
    /// Loads that lag behind on snapshots of memory, for proofs under TSO where buffers grow
    /// without end.
    Snapshots,
    /// A robust program in which threads keep the stores themselves that some loads overtake, for
    /// proofs under TSO.
    Enriched,
    /// The interleavings up to what is known of counters, for proofs about integers and large
    /// domains.
    Counters,
}
