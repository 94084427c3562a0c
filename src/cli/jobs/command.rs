//! The command line of a job as this program understands it.

use crate::cli::check::{CheckArguments, check_options, questions};
use crate::cli::load::machine_code;
use crate::cli::net_input::NetOptions;
use crate::cli::usage::in_sentences;
use crate::cli::words::Ask;
use crate::cli::{Loaded, ProgramOptions, definition, subcommands};
use crate::evidence::sha256;
use crate::limits::Limits;
use crate::questions::{Properties, PropertyOptions};
use crate::report::documents::JobInput;
use crate::robustness::CheckOptions;
use crate::semantics::Model;
use crate::syntax::{self, Format, InputError};
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};

/// Commands that can be jobs: their answers have evidence.
pub(super) const COMMANDS: [&str; 5] = ["check", "cover", "fences", "orderings", "prove"];

/// Options of these commands that write files, or say how to print; the jobs have their own.
const NOT_IN_JOBS: [&str; 13] = [
    "certificate",
    "report",
    "sarif",
    "junit",
    "apply",
    "diff",
    "graphs",
    "write",
    "json",
    "quiet",
    "verbose",
    "jobs",
    "color",
];

/// The command line of a job.
pub(super) struct Command {
    /// The name of the command.
    pub(super) name: String,
    /// Its options and its input.
    matches: ArgMatches,
}

impl Command {
    /// Understands a command line, which stands on its own.
    pub(super) fn of(arguments: &[String]) -> Result<Self, InputError> {
        let line = std::iter::once("palisade").chain(arguments.iter().map(String::as_str));
        let name = format!("palisade {}", arguments.join(" "));
        let understood = definition(&subcommands()).try_get_matches_from(line);
        let mut matches = understood.map_err(|error| in_sentences(&name, &error.render().to_string()))?;
        let (command, matches) =
            matches.remove_subcommand().ok_or_else(|| InputError::file(&name, "names no command"))?;
        if !COMMANDS.contains(&command.as_str()) {
            return Err(InputError::file(&name, format!("`{command}` cannot be a job")));
        }
        let is_given = |option: &&&str| {
            matches.try_contains_id(option).is_ok() && matches.value_source(option) == Some(ValueSource::CommandLine)
        };
        match NOT_IN_JOBS.iter().find(is_given) {
            Some(option) => Err(InputError::file(&name, format!("`--{option}` cannot be in a job"))),
            None => Ok(Self { name: command, matches }),
        }
    }

    /// The path of the input.
    pub(super) fn path(&self) -> String {
        let id = match self.name.as_str() {
            "cover" => "net",
            "fences" | "orderings" => "file",
            _ => "files",
        };
        self.matches.get_one::<String>(id).cloned().unwrap_or_default()
    }

    /// How the program is read.
    fn program_options(&self) -> ProgramOptions {
        ProgramOptions::from_arg_matches(&self.matches).unwrap_or_default()
    }

    /// The options of the command.
    pub(super) fn arguments<A: FromArgMatches>(&self) -> Result<A, InputError> {
        let refused = |error: clap::Error| in_sentences(&self.name, &error.render().to_string());
        A::from_arg_matches(&self.matches).map_err(refused)
    }

    /// The program with its options.
    pub(super) fn load(&self) -> Result<Loaded, InputError> {
        self.load_other(&self.path())
    }

    /// Another program with the same options.
    pub(super) fn load_other(&self, path: &str) -> Result<Loaded, InputError> {
        self.program_options().read_any_within(path, &Limits::none())
    }

    /// The program with its options; nothing for nets, and for programs that cannot be read.
    pub(super) fn program(&self) -> Option<Loaded> {
        if self.name == "cover" { None } else { self.load().ok() }
    }

    /// Whether it asks about all properties of a query.
    pub(super) fn asks_about_all(&self) -> bool {
        self.name == "cover" && (self.matches.get_flag("all") || self.matches.contains_id("ask"))
    }

    /// How `check` decides a program.
    pub(super) fn check_options(&self) -> Option<CheckOptions> {
        let arguments = CheckArguments::from_arg_matches(&self.matches).ok()?;
        Some(check_options(&arguments, &Limits::none()))
    }

    /// What `check` answers about a program besides robustness, where the options leave that to it:
    /// the words of `--ask`.
    pub(super) fn other_questions(&self, loaded: &Loaded) -> Vec<&'static str> {
        let arguments = CheckArguments::from_arg_matches(&self.matches).ok().filter(|own| own.ask.is_empty());
        let asks = arguments.map_or(Vec::new(), |own| questions(&own, "", loaded).unwrap_or_default());
        let properties = Properties::new(loaded.about(), PropertyOptions::new(Model::Tso));
        let are_stated = properties.is_ok_and(|properties| !properties.are_none());
        let is_stated = |ask: &Ask| *ask != Ask::Properties || are_stated;
        asks.into_iter().filter(|ask| *ask != Ask::Robustness && is_stated(ask)).map(Ask::name).collect()
    }

    /// What the command reads, with digests as evidence states them.
    pub(super) fn inputs(&self) -> Result<Vec<JobInput>, InputError> {
        let path = self.path();
        if path == "-" {
            return Err(InputError::file("<stdin>", "a job cannot read standard input"));
        }
        if self.name != "cover" {
            let format = self.program_options().format(&path)?;
            let source = match format {
                Format::Machine => machine_code(&path)?.program.source,
                _ => syntax::read_text(&path)?,
            };
            return Ok(vec![JobInput { sha256: sha256(source.text.as_bytes()), path }]);
        }
        let options = NetOptions::from_arg_matches(&self.matches).unwrap_or_default();
        let digest = |file: std::path::PathBuf| {
            let path = file.display().to_string();
            let failed = |error| InputError::file(&path, format!("cannot be read: {error}"));
            let content = std::fs::read(&file).map_err(failed)?;
            Ok(JobInput { sha256: sha256(&content), path })
        };
        options.files(&path).into_iter().map(digest).collect()
    }
}
