//! The command line: one file per subcommand, options they share, exit status.

mod batch;
mod bench;
mod check;
mod confirm;
mod convert;
mod cover;
mod exit;
mod fences;
mod fences_progress;
mod folder;
mod load;
mod net;
mod net_input;
mod options;
mod output;
mod repaired;
mod simulate;
mod verify;
mod witness;

use clap::{Parser, Subcommand};

pub use confirm::{confirm_answer, confirm_check};
pub use exit::Exit;
pub use load::{Loaded, ProgramOptions, print_input_error};
pub use options::SharedOptions;
pub use output::{print_line, print_text};

/// Proves concurrent programs robust against x86-TSO for any number of threads.
#[derive(Debug, Parser)]
#[command(name = "palisade", version, about, propagate_version = true)]
pub struct CommandLine {
    #[command(flatten)]
    shared: SharedOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare strategies and other tools on many nets.
    Bench(bench::BenchArguments),
    /// Decide whether programs are robust.
    Check(check::CheckArguments),
    /// Decide whether a target of a Petri net can be covered.
    Cover(cover::CoverArguments),
    /// Show the violation of a program that is not robust.
    Witness(witness::WitnessArguments),
    /// Write the Petri net of one attack.
    Net(net::NetArguments),
    /// Find the cheapest fences that make a program robust.
    Fences(fences::FencesArguments),
    /// List the final states of programs.
    Simulate(simulate::SimulateArguments),
    /// Convert a program from one format to another.
    Convert(convert::ConvertArguments),
    /// Check certificates, replay runs and witnesses.
    Verify(verify::VerifyOptions),
}

/// Runs the command line of this process.
pub fn main() -> std::process::ExitCode {
    let command_line = CommandLine::parse();
    command_line.shared.set_up();
    run(&command_line).into()
}

/// Runs a parsed command line.
pub fn run(command_line: &CommandLine) -> Exit {
    let shared = &command_line.shared;
    match &command_line.command {
        Command::Bench(arguments) => bench::run(arguments, shared),
        Command::Check(arguments) => check::run(arguments, shared),
        Command::Cover(arguments) => cover::run(arguments, shared),
        Command::Witness(arguments) => witness::run(arguments, shared),
        Command::Net(arguments) => net::run(arguments, shared),
        Command::Fences(arguments) => fences::run(arguments, shared),
        Command::Simulate(arguments) => simulate::run(arguments, shared),
        Command::Convert(arguments) => convert::run(arguments, shared),
        Command::Verify(options) => verify::run(options, shared),
    }
}

/// The command line's definition, for completions and man pages.
pub fn definition() -> clap::Command {
    <CommandLine as clap::CommandFactory>::command()
}
