//! Loading a program for a subcommand: the file, its format, and the options that change its
//! meaning.

use super::output::{print_line, print_text, remark};
use super::{Exit, SharedOptions, foreign};
use crate::evidence::ProgramSubject;
use crate::limits::Limits;
use crate::program::{
    CopiesOverride, DomainOverride, OverrideError, Posts, Program, Role, SourceText, Thread, ThreadId,
};
use crate::questions::About;
use crate::report::bounds::admitted_values;
use crate::report::context::Context;
use crate::report::documents;
use crate::semantics::{Observable, Question};
use crate::syntax::{self, Diagnostic, Format, InputError};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The names of the formats of programs.
pub(super) fn program_formats() -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::name));
    names.map(|name| Format::named(&name).expect("one of the names"))
}

/// The names of the forms in which programs are written.
pub(super) fn written_forms() -> impl TypedValueParser<Value = Written> {
    let formats = Format::ALL
        .into_iter()
        .filter(|format| !matches!(format, Format::Memorax | Format::Tpl | Format::Machine))
        .map(Written::Format);
    let all: Vec<Written> = formats.chain([Written::Threads, Written::TwoThreads]).collect();
    let names = PossibleValuesParser::new(all.iter().map(|form| form.name()));
    names.map(move |name| *all.iter().find(|form| form.name() == name).expect("one of the names"))
}

/// In what form `convert` writes a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// In a format.
    Format(Format),
    /// Of events: in the native language, as threads alone.
    Threads,
    /// Of events: in the native language, with one background invocation at most [NETYS18, §5].
    TwoThreads,
}

impl Written {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
            Self::Threads => "threads",
            Self::TwoThreads => "two-threads",
        }
    }

    /// The format of the text.
    pub(super) const fn format(self) -> Format {
        match self {
            Self::Format(format) => format,
            Self::Threads | Self::TwoThreads => Format::Native,
        }
    }
}

/// What posts do to store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PostsChoice {
    /// A post waits until the poster's buffer is empty; on the main thread, so do the begin and the
    /// return of a task.
    Drain,
    /// They do nothing to store buffers.
    Plain,
}

/// Options on how to read a program and what to change in it.
#[derive(Clone, Debug, Default, Args)]
pub struct ProgramOptions {
    /// Format of the input; by default its extension tells (.pal, .txt, .litmus, .rmm; .toml for
    /// machine code).
    #[arg(long, help_heading = "Input", value_name = "FORMAT", value_parser = program_formats())]
    pub from: Option<Format>,
    /// Copies of threads in place of those in the file: `t1=*,worker=3`, `all=*`; `=0` leaves a
    /// thread out.
    #[arg(long, help_heading = "Input", value_name = "THREAD=COPIES", value_delimiter = ',')]
    pub threads: Vec<CopiesOverride>,
    /// How often events may occur in place of what the file says: `search=2,open=*`, `all=*`; `=0`
    /// leaves an event out.
    #[arg(long, help_heading = "Input", value_name = "EVENT=TIMES", value_delimiter = ',')]
    pub events: Vec<CopiesOverride>,
    /// What posts do to store buffers in place of what the file says.
    #[arg(long, help_heading = "Input", value_enum)]
    pub posts: Option<PostsChoice>,
    /// Range of data values in place of the file's: `0..7`, `-4..3`; `none` for integers.
    #[arg(long, help_heading = "Input", value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub domain: Option<DomainOverride>,
    /// Let arithmetic wrap into the domain.
    #[arg(long, help_heading = "Input")]
    pub wrap: bool,
}

/// Texts from so many bytes on are read under limits: shorter ones take a few milliseconds, in
/// which limits need not be asked.
const LARGE: usize = 1 << 17;

/// A program ready for a subcommand.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, with the options' changes made.
    pub program: Program,
    /// What is odd about it, in order of place.
    pub warnings: Vec<Diagnostic>,
    /// The format it was read from.
    pub format: Format,
    /// What a litmus test asks of its final states.
    pub question: Option<Question>,
    /// The threads whose copies an option changed.
    pub changed: Vec<ThreadId>,
    /// Whether an option changed what posts do.
    pub posts_changed: bool,
}

impl ProgramOptions {
    /// Reads a program file, `-` for standard input, and makes the changes the options ask for. A
    /// program with events or tasks is refused.
    pub fn read(&self, path: &str) -> Result<Loaded, InputError> {
        self.read_within(path, &Limits::none())
    }

    /// Like [`read`](Self::read), within limits.
    pub fn read_within(&self, path: &str, limits: &Limits) -> Result<Loaded, InputError> {
        let loaded = self.read_any_within(path, limits)?;
        let help = "`palisade check`, `witness`, `fences`, `simulate` and `convert --to native` take events and tasks";
        let refused = |errors| InputError::from((loaded.program.source.clone(), errors));
        syntax::threads_only(&loaded.program, "this command", help).map_err(refused)?;
        Ok(loaded)
    }

    /// Like [`read_within`](Self::read_within), and takes programs with events and tasks, too.
    pub fn read_any_within(&self, path: &str, limits: &Limits) -> Result<Loaded, InputError> {
        let format = self.format(path)?;
        let stopped = |reason| InputError::Stopped { name: path.to_owned(), reason };
        if format == Format::Machine {
            let (options, path) = (self.clone(), path.to_owned());
            return limits.within(move || options.finish(machine_code(&path)?, format)).map_err(stopped)?;
        }
        let source = if is_read_at_once(path) {
            syntax::read_text(path)?
        } else {
            let path = path.to_owned();
            limits.within(move || syntax::read_text(&path)).map_err(stopped)??
        };
        if source.text.len() < LARGE {
            return self.read_source(source, format);
        }
        let options = self.clone();
        limits.within(move || options.read_source(source, format)).map_err(stopped)?
    }

    /// Like [`read`](Self::read), for a text at hand.
    pub fn read_source(&self, source: Arc<SourceText>, format: Format) -> Result<Loaded, InputError> {
        let parsed = syntax::parse(source.clone(), format).map_err(|errors| InputError::from((source, errors)))?;
        self.finish(parsed, format)
    }

    /// Makes the changes to a program that was read, and judges it.
    fn finish(&self, parsed: syntax::Parsed, format: Format) -> Result<Loaded, InputError> {
        let syntax::Parsed { mut program, mut warnings, question } = parsed;
        let source = program.source.clone();
        self.change(&mut program).map_err(|error| option_error(&program, &error))?;
        warnings.extend(syntax::check(&mut program).map_err(|errors| InputError::from((source, errors)))?);
        warnings.sort_by_key(|warning| warning.span);
        admit_question(&program, question.as_ref())?;
        let changed = self.changed(&program);
        let posts_changed = match self.posts {
            None => false,
            Some(_) if !program.is_event_driven() => {
                let message = "`--posts` is about events and tasks, and the program has none";
                return Err(InputError::file(program.source.name.clone(), message));
            }
            Some(choice) => {
                let posts = if choice == PostsChoice::Drain { Posts::Drain } else { Posts::Plain };
                std::mem::replace(&mut program.posts, posts) != posts
            }
        };
        Ok(Loaded { program, warnings, format, question, changed, posts_changed })
    }

    /// Like [`read`](Self::read); prints the warnings, or the errors and gives the exit status.
    pub fn load(&self, path: &str, shared: &SharedOptions, limits: &Limits) -> Result<Loaded, Exit> {
        match self.read_within(path, limits) {
            Ok(loaded) => {
                loaded.print_warnings(shared);
                Ok(loaded)
            }
            Err(error) => Err(print_input_error(&error, shared)),
        }
    }

    /// Like [`load`](Self::load), and takes programs with events and tasks, too.
    pub fn load_any(&self, path: &str, shared: &SharedOptions, limits: &Limits) -> Result<Loaded, Exit> {
        match self.read_any_within(path, limits) {
            Ok(loaded) => {
                loaded.print_warnings(shared);
                Ok(loaded)
            }
            Err(error) => Err(print_input_error(&error, shared)),
        }
    }

    /// The format of a file.
    pub(super) fn format(&self, path: &str) -> Result<Format, InputError> {
        let format = self.from.or_else(|| Format::of_path(Path::new(path)));
        format.ok_or_else(|| {
            let advice = Some(foreign::advice(path));
            if path == "-" {
                let message = "standard input has no extension that tells its format";
                return InputError::file("<stdin>", message).with_help_if(advice);
            }
            match std::fs::metadata(path) {
                Ok(found) if found.is_dir() => {
                    let help = "`palisade check` takes folders";
                    InputError::file(path, "this is a folder, and a file is wanted").with_help_if(Some(help.to_owned()))
                }
                Err(error) if error.kind() == ErrorKind::NotFound => InputError::file(path, "there is no such file"),
                _ => InputError::file(path, "the extension does not tell the format").with_help_if(advice),
            }
        })
    }

    fn changed(&self, program: &Program) -> Vec<ThreadId> {
        let is_changed = |thread: &Thread| {
            let changes = match thread.role {
                Role::Thread => &self.threads,
                Role::Event { .. } => &self.events,
                Role::Task { .. } => return false,
            };
            changes.iter().any(|change| change.thread.as_ref().is_none_or(|name| *name == thread.name))
        };
        program.thread_ids().filter(|(_, thread)| is_changed(thread)).map(|(id, _)| id).collect()
    }

    fn change(&self, program: &mut Program) -> Result<(), OverrideError> {
        program.override_copies(&self.threads)?;
        program.override_events(&self.events)?;
        program.override_domain(self.domain, self.wrap)
    }
}

impl Loaded {
    /// What a report about the program says besides the answer, at the time of the answer.
    pub(super) fn context<'a>(&'a self, file: &'a str, begin: Instant, certificates: &'a [String]) -> Context<'a> {
        Context {
            file,
            program: &self.program,
            warnings: &self.warnings,
            seconds: begin.elapsed().as_secs_f64(),
            certificates,
            changed: &self.changed,
            compilations: None,
        }
    }

    /// Refuses what is about the text itself when an option has changed what posts do, which
    /// evidence does not say.
    pub(super) fn posts_as_in_text(&self) -> Result<(), InputError> {
        if !self.posts_changed {
            return Ok(());
        }
        let message = "evidence and changes are about the text, and `--posts` says something else than the text";
        let help = format!("write `posts {}` into it", self.program.posts.word());
        Err(InputError::file(self.program.source.name.clone(), message).with_help_if(Some(help)))
    }

    /// How many values to admit where the options say so many: as many as the program's own numbers
    /// ask for, where these are the default.
    pub(super) fn values(&self, asked: usize) -> usize {
        admitted_values(&self.program, asked)
    }

    /// What evidence about the program is about.
    pub fn subject(&self) -> ProgramSubject {
        self.subject_of(&self.program)
    }

    /// What evidence is about that is about another text of the program, with the same options.
    pub fn subject_of(&self, program: &Program) -> ProgramSubject {
        ProgramSubject::of(program, self.format.name(), &self.changed)
    }

    /// What questions about the program are about.
    pub(super) fn about(&self) -> About<'_> {
        let (program, condition) = (&self.program, self.question.as_ref());
        About { program, condition, format: self.format, changed: &self.changed }
    }

    /// The warnings as text for standard error; nothing when the user wants JSON or quiet.
    pub fn warnings_text(&self, shared: &SharedOptions) -> String {
        self.rendered(&self.warnings, shared)
    }

    /// Warnings about the program as text for standard error; nothing when the user wants JSON or
    /// quiet.
    pub(super) fn rendered(&self, warnings: &[Diagnostic], shared: &SharedOptions) -> String {
        if shared.json || shared.quiet {
            return String::new();
        }
        let colour = shared.colours_stderr();
        warnings.iter().map(|warning| syntax::render(warning, &self.program.source, colour)).collect()
    }

    /// Prints the warnings to standard error, unless the user wants JSON or quiet.
    pub fn print_warnings(&self, shared: &SharedOptions) {
        remark(self.warnings_text(shared));
    }
}

/// Reads the program that a file of roles describes.
#[cfg(feature = "machine")]
pub(super) fn machine_code(path: &str) -> Result<syntax::Parsed, InputError> {
    let program = palisade_machine::read(path)?;
    let warnings = palisade_machine::changed_sources(path, &program);
    Ok(syntax::Parsed { program, warnings, question: None })
}

/// The file of roles about a build without optimisation that a file of roles names.
#[cfg(feature = "machine")]
pub(super) fn unoptimised(path: &str) -> Result<Option<String>, InputError> {
    palisade_machine::unoptimised(path)
}

/// Without the reader of machine code, nothing is known of its files.
#[cfg(not(feature = "machine"))]
pub(super) fn unoptimised(_path: &str) -> Result<Option<String>, InputError> {
    Ok(None)
}

/// Without the reader of machine code, its files are refused.
#[cfg(not(feature = "machine"))]
pub(super) fn machine_code(path: &str) -> Result<syntax::Parsed, InputError> {
    Err(InputError::file(path, "is about machine code, which this build does not read")
        .with_help_if(Some("build Palisade with its feature `machine`".to_owned())))
}

/// Whether a path is read in no time, or cannot be read. Of standard input and of pipes nobody
/// knows when the next byte comes.
fn is_read_at_once(path: &str) -> bool {
    let is_small = |file: std::fs::Metadata| file.is_file() && file.len() < LARGE as u64;
    path != "-" && std::fs::metadata(path).map_or(true, is_small)
}

/// Prints why an input was refused, to standard error or with `--json` to standard output.
pub fn print_input_error(error: &InputError, shared: &SharedOptions) -> Exit {
    if shared.json {
        print_line(documents::refusal(error));
    } else if let InputError::Stopped { .. } = error {
        print_text(error.render(false));
    } else {
        remark(error.render(shared.colours_stderr()));
    }
    exit_of(error)
}

/// The exit status for an input that was refused, about which there is no answer, or which was not
/// read to its end.
pub(super) fn exit_of(error: &InputError) -> Exit {
    match error {
        InputError::Stopped { .. } | InputError::Grows { .. } => Exit::Unknown,
        InputError::Text { .. } | InputError::File { .. } => Exit::BadInput,
    }
}

fn option_error(program: &Program, error: &OverrideError) -> InputError {
    let help = match error {
        OverrideError::UnknownThread { name } => {
            let is_event = program.events().any(|(_, event)| event.name == *name);
            let names = program.threads.iter().filter(|it| it.is_thread()).map(|thread| thread.name.as_str());
            let help = is_event.then(|| format!("`{name}` is an event: say `--events {name}=…`"));
            let first = format!("{name}_0");
            let is_split = program.threads.iter().any(|thread| thread.name == first);
            let split = || {
                is_split.then(|| format!("`{name}` says `self`: write another number in `[…]` behind it in the text"))
            };
            help.or_else(split).or_else(|| syntax::did_you_mean_or_list(name, "thread", names))
        }
        OverrideError::UnknownEvent { name } => {
            let is_thread = program.threads.iter().any(|thread| thread.is_thread() && thread.name == *name);
            let names = program.events().map(|(_, event)| event.name.as_str());
            let help = is_thread.then(|| format!("`{name}` is a thread: say `--threads {name}=…`"));
            help.or_else(|| syntax::did_you_mean_or_list(name, "event", names))
        }
        OverrideError::NothingToWrapInto => Some("say `--domain LOW..HIGH` as well".to_owned()),
        OverrideError::NoThreadLeft => None,
    };
    InputError::file(program.source.name.clone(), error.to_string()).with_help_if(help)
}

/// Refuses a condition on a register of a thread that is left out: it has no value.
fn admit_question(program: &Program, question: Option<&Question>) -> Result<(), InputError> {
    let condition = question.and_then(|question| question.condition.as_ref()).map(|condition| &condition.proposition);
    let filter = question.and_then(|question| question.filter.as_ref());
    let mut left_out = None;
    for proposition in condition.into_iter().chain(filter) {
        proposition.for_each_location(&mut |location| {
            if let Observable::Register { thread, .. } = location.observable {
                left_out = left_out.or(Some(thread).filter(|thread| program.thread(*thread).is_left_out()));
            }
        });
    }
    left_out.map_or(Ok(()), |thread| {
        let name = &program.thread(thread).name;
        let message = format!("the condition is about a register of `{name}`, which has no copies");
        Err(InputError::file(program.source.name.clone(), message))
    })
}
