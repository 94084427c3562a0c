//! A subcommand: its line in the help, its options, what it does.

use super::{Exit, SharedOptions, watchdog};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The function that runs a subcommand, once clap has read its options.
type Run = dyn Fn(&mut ArgMatches, &SharedOptions) -> Result<Exit, clap::Error>;

/// A subcommand.
///
/// Its options are defined only when the command line names it: defining those of all subcommands
/// takes longer than many a small question.
pub(super) struct Subcommand {
    pub(super) name: &'static str,
    about: &'static str,
    options: fn(Command) -> Command,
    run: Box<Run>,
    workers: bool,
    group: Group,
    examples: &'static str,
    /// The argument with the name of the only input, where the command is watched until it prints
    /// an answer.
    watched: Option<&'static str>,
}

/// The subcommands that help lists together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Those that answer questions about one input.
    Answers,
    /// Those that divide work among machines.
    Machines,
    /// Those that compare methods and tools.
    Comparisons,
    /// Those that help other programs to use this one.
    Shell,
}

impl Group {
    /// The lines of the help about the subcommands that are not in its list.
    pub(super) fn lines(subcommands: &[Subcommand]) -> String {
        let groups =
            [(Self::Machines, "On many machines"), (Self::Comparisons, "To compare"), (Self::Shell, "For the shell")];
        let line = |subcommand: &Subcommand| format!("  {:<12} {}\n", subcommand.name, subcommand.about);
        let lines = |group: Self| subcommands.iter().filter(|it| it.group == group).map(line).collect::<String>();
        groups.map(|(group, title)| format!("{title}:\n{}", lines(group))).join("\n")
    }
}

impl Subcommand {
    /// A subcommand with its name, its line in the help and the function that runs it.
    pub(super) fn new<A: Args>(
        name: &'static str,
        about: &'static str,
        run: impl Fn(&A, &SharedOptions) -> Exit + 'static,
    ) -> Self {
        let run =
            move |matches: &mut ArgMatches, shared: &SharedOptions| Ok(run(&A::from_arg_matches_mut(matches)?, shared));
        Self {
            name,
            about,
            options: with_options::<A>,
            run: Box::new(run),
            workers: false,
            group: Group::Answers,
            examples: "",
            watched: None,
        }
    }

    /// The same, on rayon's workers. Starting them takes a quarter of a small question, so a
    /// subcommand that needs them says so.
    pub(super) fn on_workers(self) -> Self {
        Self { workers: true, ..self }
    }

    /// The same in another group of the help.
    pub(super) fn in_group(self, group: Group) -> Self {
        Self { group, ..self }
    }

    /// The same with command lines that show its use, one a line.
    pub(super) fn with_examples(self, examples: &'static str) -> Self {
        Self { examples, ..self }
    }

    /// The same, watched until it prints an answer about the input that this argument names.
    pub(super) fn watched(self, argument: &'static str) -> Self {
        Self { watched: Some(argument), ..self }
    }

    /// Its definition.
    pub(super) fn definition(&self) -> Command {
        let examples: String = self.examples.lines().map(|line| format!("  {line}\n")).collect();
        let command = Command::new(self.name).about(self.about).hide(self.group != Group::Answers);
        command.after_help(format!("Examples:\n{examples}")).defer(self.options)
    }

    /// Runs it with the options behind its name and the shared ones before it.
    pub(super) fn run(&self, matches: &mut ArgMatches, before: &SharedOptions) -> Result<Exit, clap::Error> {
        let shared = SharedOptions::from_arg_matches_mut(matches)?.after(before);
        SharedOptions::handle_interrupts();
        if self.workers {
            shared.start_workers();
        }
        if let Some(name) = self.watched.and_then(|argument| matches.get_one::<String>(argument)) {
            let leaves_findings =
                matches.try_get_one::<bool>("all").ok().flatten() == Some(&true) && self.name == "cover";
            watchdog::watch_command(name, leaves_findings, &shared);
        }
        (self.run)(matches, &shared)
    }
}

/// Adds the options of a subcommand and those that all have to its definition.
fn with_options<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    SharedOptions::augment_args(A::augment_args(command)).about(about).long_about(None)
}
