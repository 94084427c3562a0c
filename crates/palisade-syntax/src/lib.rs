//! Text to program and back: readers, printers, diagnostics.
//!
//! [`read`] takes a text in one of five formats to a [`Program`] with warnings, or to the errors in
//! it. Depends on `program`, and for litmus tests on the conditions of `semantics`.

mod build;
mod check;
mod check_tasks;
pub mod edit;
mod fence_word;
mod input;
mod kernel_text;
mod layout;
pub mod litmus;
mod memorax;
mod models;
mod native;
mod ordering_text;
mod render;
mod suggest;
pub mod symbols;
mod threads_only;
mod tpl;
mod trencher;
pub mod x86;

pub use check::{check, no_attack_can_start, roles_that_do_nothing, roles_without_end};
pub use input::{InputError, MAX_TEXT_BYTES, read_text, text_of};
pub use layout::laid_out;
pub use models::store_fence_without_effect;
pub use native::{expression_text, final_claim_text, joint_state_text};
pub use palisade_model::text::{Diagnostic, Severity};
pub use render::{expected_sentence, render};
pub use suggest::did_you_mean_or_list;
pub use threads_only::threads_only;

use palisade_model::program::Program;
use palisade_model::text::{SourceText, Span};
use palisade_semantics::Question;
use std::path::Path;
use std::sync::Arc;

/// A format of program texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Palisade's own language, `.pal`.
    Native,
    /// Trencher's automata, `.txt`.
    Trencher,
    /// x86 litmus tests, `.litmus`.
    Litmus,
    /// Memorax's language, `.rmm`; it is read and not written.
    Memorax,
    /// TPL, `.tpl`; it is read and not written.
    Tpl,
    /// Machine code, by a file of roles, `.toml`. It is no text of a program: `palisade-machine`
    /// reads it.
    Machine,
}

impl Format {
    /// The format a file name asks for by its extension.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pal" => Some(Self::Native),
            "txt" => Some(Self::Trencher),
            "litmus" => Some(Self::Litmus),
            "rmm" => Some(Self::Memorax),
            "tpl" => Some(Self::Tpl),
            "toml" => Some(Self::Machine),
            _ => None,
        }
    }

    /// All formats.
    pub const ALL: [Self; 6] = [Self::Native, Self::Trencher, Self::Litmus, Self::Memorax, Self::Tpl, Self::Machine];

    /// The format with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Trencher => "trencher",
            Self::Litmus => "litmus",
            Self::Memorax => "memorax",
            Self::Tpl => "tpl",
            Self::Machine => "machine",
        }
    }
}

/// A program that was read, with what is odd about its text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// Warnings, in order of their places.
    pub warnings: Vec<Diagnostic>,
    /// What a litmus test asks of its final states.
    pub question: Option<Question>,
}

/// How deeply an expression may be nested.
pub(crate) const MAX_EXPRESSION_DEPTH: usize = 200;

/// What to do about a program that a format cannot express.
pub(crate) const NATIVE_SAYS_IT: &str = "the native language says it all: `--to native`";

/// How many errors are reported at most.
pub(crate) const MAX_ERRORS: usize = 20;

/// Reads a program text and checks it: [`parse`], then [`check`].
pub fn read(source: Arc<SourceText>, format: Format) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parsed = parse(source, format)?;
    parsed.warnings.extend(check(&mut parsed.program)?);
    parsed.warnings.sort_by_key(|warning| warning.span);
    Ok(parsed)
}

/// Reads a program text. [`check`] judges what depends on the domain and on the numbers of copies,
/// since options may change them.
pub fn parse(source: Arc<SourceText>, format: Format) -> Result<Parsed, Vec<Diagnostic>> {
    let parsed = match format {
        Format::Native => native::parse(&source),
        Format::Trencher => {
            trencher::parse(&source).map(|program| Parsed { program, warnings: Vec::new(), question: None })
        }
        Format::Litmus => {
            let read = |test| {
                let litmus::LitmusTest { program, warnings, question, .. } = test;
                Parsed { program, warnings, question: Some(question) }
            };
            litmus::read(source).map(read)
        }
        Format::Memorax => memorax::parse(&source),
        Format::Tpl => tpl::parse(&source),
        Format::Machine => {
            Err(vec![Diagnostic::error("this is a file of roles, and no text of a program", Span::default())])
        }
    };
    parsed.map_err(first_ones)
}

/// The errors that are reported of all.
fn first_ones(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.truncate(MAX_ERRORS);
    errors
}

/// A program as text, with what was left out of it.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// What the text does not say, without a change of the program's computations.
    pub warnings: Vec<Diagnostic>,
}

/// Prints a program in a format, or says what in the program it cannot express: the first of all
/// such places.
pub fn print(program: &Program, format: Format) -> Result<Printed, Vec<Diagnostic>> {
    let mut printed = match format {
        Format::Native => Ok(Printed { text: native::print(program), warnings: Vec::new() }),
        Format::Trencher => trencher::print(program),
        Format::Memorax | Format::Tpl => {
            let language = if format == Format::Tpl { "TPL" } else { "Memorax's language" };
            let message = format!("programs are read in {language}, and not written");
            Err(vec![Diagnostic::error(message, Span::default()).with_help(NATIVE_SAYS_IT)])
        }
        Format::Machine => {
            let message = "programs are read from machine code, and not written as such";
            Err(vec![Diagnostic::error(message, Span::default()).with_help(NATIVE_SAYS_IT)])
        }
        Format::Litmus => litmus::write(program, litmus::Request::Everything)
            .map(|litmus::WrittenTest { text, warnings }| Printed { text, warnings }),
    };
    if let Ok(printed) = &mut printed
        && format != Format::Native
        && let Some(span) = program.first_sleeper()
    {
        let message = "nobody sleeps in this format: what sleeps or wakes sleepers is a locked update alone";
        printed.warnings.push(Diagnostic::warning(message, span));
    }
    if let Ok(printed) = &mut printed {
        printed.warnings.extend(orderings_left_out(program, format));
    }
    printed.map_err(first_ones)
}

/// The warning that a format has no orderings, where the program states some: what is written is
/// its mapping to x86.
fn orderings_left_out(program: &Program, format: Format) -> Option<Diagnostic> {
    let instructions = || program.threads.iter().flat_map(|thread| &thread.instructions);
    let first = instructions().find(|own| own.states_ordering()).filter(|_| format != Format::Native)?;
    let message = "orderings are left out: the format has the instructions of x86 that accesses are compiled to";
    Some(Diagnostic::warning(message, first.span).with_help(NATIVE_SAYS_IT))
}

/// The name of a program whose text gives none: that of its file.
fn program_name(source: &SourceText) -> String {
    let stem = Path::new(&source.name).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| !stem.is_empty() && !stem.starts_with('<')).unwrap_or("program").to_owned()
}
