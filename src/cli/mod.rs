//! The command line: one file per subcommand, options they share, exit status.

mod answers;
mod asked;
mod batch;
mod bench;
#[cfg(feature = "machine")]
mod cargo;
mod check;
mod completions;
mod confirm;
mod convert;
mod cover;
mod evidence_files;
mod exit;
mod fences;
mod files;
mod fmt;
mod folder;
mod foreign;
mod guard;
mod jobs;
mod lines;
mod load;
mod lsp;
mod man;
mod net;
mod net_input;
mod options;
mod orderings;
mod outcome;
mod output;
mod outputs;
mod pending;
mod prove;
mod proved;
mod schema;
mod simulate;
mod subcommand;
mod usage;
mod verify;
mod watchdog;
mod witness;
mod words;

use clap::{Args, FromArgMatches};
use subcommand::{Group, Subcommand};

#[cfg(feature = "machine")]
pub use cargo::cargo;
pub use confirm::confirm_net;
pub use exit::Exit;
pub use load::{Loaded, ProgramOptions, print_input_error};
pub use options::SharedOptions;
pub use output::{print_document, print_line, print_text};

/// All subcommands, in the order in which help lists them.
fn subcommands() -> [Subcommand; 19] {
    [
        Subcommand::new("check", "Answer all questions about programs: their properties, and robustness", check::run)
            .on_workers()
            .with_examples(
                "palisade check models/peterson.pal
palisade check --threads 'worker=*' --certificate evidence models/mcs-lock.pal
palisade check --ask properties --model pso models/
palisade check --junit cases.xml --sarif log.sarif tests/",
            ),
        Subcommand::new("prove", "Short for `check --ask properties`", prove::run)
            .on_workers()
            .with_examples("palisade prove models/dekker.pal\npalisade prove --model sc --only alone models/peterson.pal"),
        Subcommand::new("fences", "Find the cheapest fences that make a program robust", fences::run)
            .on_workers()
            .watched("file")
            .with_examples(
                "palisade fences --diff models/peterson.pal\npalisade fences --ask properties --model pso models/dekker.pal",
            ),
        Subcommand::new("orderings", "Find the weakest orderings that keep a program robust against C11", orderings::run)
            .on_workers()
            .watched("file")
            .with_examples(
                "palisade orderings models/c11/spsc-ring.pal\npalisade orderings --diff models/c11/mcs-lock.pal",
            ),
        Subcommand::new("witness", "Show the violation of a program that is not robust", witness::run)
            .on_workers()
            .watched("file")
            .with_examples(
                "palisade witness models/simple-dekker.pal\npalisade witness --svg -o dekker.svg models/simple-dekker.pal",
            ),
        Subcommand::new("simulate", "List the final states of programs", simulate::run)
            .on_workers()
            .with_examples("palisade simulate --model sc,tso tests/SB.litmus"),
        Subcommand::new("verify", "Check certificates, replay runs and witnesses", verify::run)
            .with_examples("palisade verify evidence/*.json"),
        Subcommand::new("cover", "Decide whether a target of a Petri net can be covered", cover::run)
            .watched("net")
            .with_examples("palisade cover net.spec\npalisade cover --certificate run.json net.pnml"),
        Subcommand::new("net", "Write the Petri net of one attack", net::run)
            .watched("file")
            .with_examples("palisade net --attack 1 -o attack.pnml models/peterson.pal"),
        Subcommand::new("convert", "Convert a program from one format to another", convert::run)
            .watched("file")
            .with_examples("palisade convert --to native program.txt"),
        Subcommand::new("fmt", "Lay out programs in the native language afresh", fmt::run)
            .with_examples("palisade fmt --check models/"),
        Subcommand::new("lsp", "Serve an editor: verdicts, violations and fixes while you type", lsp::run)
            .on_workers()
            .with_examples("palisade lsp"),
        Subcommand::new("plan", "Write jobs for many machines, one a line", jobs::plan)
            .in_group(Group::Machines)
            .with_examples("palisade plan check models/ -o jobs.jsonl"),
        Subcommand::new("run", "Do the jobs of a plan, or a shard of them", jobs::run)
            .in_group(Group::Machines)
            .with_examples("palisade run --shard 3/8 jobs.jsonl"),
        Subcommand::new("merge", "Make one answer of the results of all jobs, evidence checked", jobs::merge)
            .on_workers()
            .in_group(Group::Machines)
            .with_examples("palisade merge --certificate evidence jobs.jsonl"),
        Subcommand::new("bench", "Compare strategies and other tools on many nets", bench::run)
            .in_group(Group::Comparisons)
            .with_examples("palisade bench --strategies backward,karp-miller --timeout 10s nets/"),
        Subcommand::new("schema", "Print the JSON Schema of what a command prints with --json", schema::run)
            .in_group(Group::Shell)
            .with_examples("palisade schema check"),
        Subcommand::new("completions", "Print the completions for a shell", completions::run)
            .in_group(Group::Shell)
            .with_examples("palisade completions bash > ~/.local/share/bash-completion/completions/palisade"),
        Subcommand::new("man", "Print or write the manual pages", man::run)
            .in_group(Group::Shell)
            .with_examples("palisade man check | man -l -"),
    ]
}

/// Runs the command line of this process.
pub fn main() -> std::process::ExitCode {
    let subcommands = subcommands();
    if let Some(text) = usage::methods(&subcommands) {
        output::print_text(text);
        return Exit::Holds.into();
    }
    let understood = definition(&subcommands).try_get_matches();
    match understood.and_then(|mut matches| run(&subcommands, &mut matches)) {
        Ok(exit) => exit.into(),
        Err(error) => usage::refuse(error, &mut definition(&subcommands)).into(),
    }
}

/// What the help and the manual say of the exit status.
const EXIT_STATUS: &str = "\
Exit status:
  0  the property holds: robust, uncoverable, evidence accepted, fences found
  1  it does not
  2  bad input or usage
  3  unknown: a limit was reached, or values grow
  4  evidence rejected";

/// The command line's definition.
fn definition(subcommands: &[Subcommand]) -> clap::Command {
    SharedOptions::augment_args(clap::Command::new("palisade"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands.iter().map(Subcommand::definition))
        .after_help(Group::lines(subcommands))
        .after_long_help(Group::lines(subcommands) + "\n" + EXIT_STATUS)
}

/// Runs the subcommand that the command line names.
fn run(subcommands: &[Subcommand], matches: &mut clap::ArgMatches) -> Result<Exit, clap::Error> {
    let before = SharedOptions::from_arg_matches_mut(matches)?;
    let (name, mut matches) = matches.remove_subcommand().expect("a subcommand is required");
    let subcommand = subcommands.iter().find(|subcommand| subcommand.name == name).expect("clap knows no others");
    subcommand.run(&mut matches, &before)
}

#[cfg(test)]
mod tests {
    #[test]
    fn definitions_are_consistent() {
        super::definition(&super::subcommands()).debug_assert();
    }
}
