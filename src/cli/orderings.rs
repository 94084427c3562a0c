//! `palisade orderings`: the weakest orderings that keep a program robust against C11, one by one
//! and together.

use super::answers::Asking;
use super::asked::question;
use super::evidence_files::{unwritten, write_document};
#[cfg(feature = "machine")]
use super::fences::sources::{Again, apply};
use super::fences::{Guarded, Wanted, changes_of_text, path_in, rejected, untaken, write_back};
use super::files::write_file;
use super::folder::create_folder;
use super::outcome::{Outcome, run_change};
use super::outputs::{OutputOptions, SarifOption};
use super::{Exit, Loaded, ProgramOptions, SharedOptions};
use crate::evidence::Evidence;
use crate::fences::{Orderings, OrderingsOptions, OrderingsShown, RepairOptions, orderings, weaker_orderings};
use crate::limits::Limits;
use crate::program::{Measure, Program, Sites};
use crate::questions::{LanguageRobustness, Properties, PropertyOptions, says_all_of_interleavings};
use crate::report::account::{Account, Answer, Proof, Standing};
use crate::report::findings::ordering_findings;
use crate::report::orderings::{self as report, OrderingsDocument, StatedProperty};
use crate::report::page::orderings_page;
use crate::report::unreached::words;
use crate::robustness::{StaleOptions, unreached};
use crate::semantics::Model;
use crate::semantics::graphs::{Axioms, by_language};
use crate::syntax::{Format, InputError, roles_that_do_nothing};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `palisade orderings`.
#[derive(Clone, Debug, Args)]
pub(super) struct OrderingsArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE", help_heading = "Input")]
    pub(super) file: String,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    sarif: SarifOption,
    /// Show each violation that a weaker ordering leads to in full.
    #[arg(long, help_heading = "Output")]
    graphs: bool,
    /// Print nothing but the unified diff to the text with the weakest orderings.
    #[arg(long, help_heading = "Output")]
    diff: bool,
    /// Write the text with the weakest orderings into the file, once it has been checked.
    #[arg(long, help_heading = "Output")]
    apply: bool,
    /// Write the evidence for every claim into this folder, for `palisade verify`, and beside it
    /// the text with the weakest orderings; with `--apply`, the text as it was.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    certificate: Option<PathBuf>,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES, help_heading = "Search")]
    values: usize,
}

/// Runs `palisade orderings`.
pub(super) fn run(arguments: &OrderingsArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let answer = || {
        let loaded = arguments.program.read_any_within(&arguments.file, &limits)?;
        loaded.print_warnings(shared);
        answer(arguments, shared, &loaded, &limits)
    };
    run_change(("orderings", &arguments.file, &arguments.sarif), shared, answer, |proposal| {
        #[cfg(feature = "machine")]
        return arguments.apply.then(|| {
            let (file, values) = (arguments.file.as_str(), arguments.values);
            let again = Again {
                file,
                program: &arguments.program,
                model: Axioms::C11.word(),
                values,
                ask: None,
                ignore_timeouts: false,
            };
            apply(proposal, again, shared)
        });
        #[cfg(not(feature = "machine"))]
        unreachable!("{} is not read without the reader of machine code: {proposal:?}", arguments.file)
    })
}

/// Finds the weakest orderings.
pub(super) fn answer(
    arguments: &OrderingsArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let (begin, program) = (Instant::now(), &loaded.program);
    if arguments.apply && arguments.file == "-" {
        return Err(InputError::file("<stdin>", "standard input cannot be written back; leave `--apply` out"));
    }
    if let Some(objection) = LanguageRobustness::objection(&loaded.about(), Axioms::C11) {
        return Err(InputError::from((program.source.clone(), vec![objection])));
    }
    let path = match &arguments.certificate {
        Some(folder) if !arguments.apply => {
            path_in(folder, &arguments.file, "weakest", loaded.format).display().to_string()
        }
        _ => program.source.name.clone(),
    };
    let is_needed = arguments.apply || arguments.diff;
    let outputs = OutputOptions::from(&arguments.sarif);
    let is_shown = is_needed || arguments.certificate.is_some() || outputs.are_any();
    let is_text_wanted = is_shown && loaded.format != Format::Machine;
    let (withheld, kept) = untaken(&arguments.file, loaded, || weaker_orderings(program));
    let options = OrderingsOptions {
        check: StaleOptions { axioms: Axioms::C11, values: arguments.values, certifies: true, limits: limits.clone() },
        text: is_text_wanted.then(|| RepairOptions { language: &loaded.format, path, redundant: false }),
        withheld,
    };
    let found = match orderings(program, &options, &Guarded { file: &arguments.file }) {
        Ok(found) => found,
        Err(error) => return rejected(&error, &arguments.file, loaded),
    };
    let wanted = Wanted { file: &arguments.file, sources: is_needed, text: is_needed };
    let (proposal, no_diff) = changes_of_text(&wanted, loaded, &found.measures(), found.text.as_ref())?;
    let mut certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, &found)?,
        None => Vec::new(),
    };
    let properties = properties(arguments, limits, loaded, &mut certificates)?;
    let holds = properties.iter().all(|property| property.holds == Some(true));
    let is_violated = properties.iter().any(|property| property.holds == Some(false));
    let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
    let text = text.filter(|_| found.certificate.is_some());
    let written = write_back(&arguments.file, loaded, text.filter(|_| arguments.apply))?;
    let context = loaded.context(&arguments.file, begin, &certificates);
    let notes = notes(loaded, &found, loaded.values(arguments.values), limits);
    let result = report::Result {
        found: &found,
        notes: &notes,
        properties: &properties,
        graphs: arguments.graphs,
        no_diff: no_diff.as_deref(),
        proposal: proposal.as_ref().filter(|_| is_needed),
        kept: &kept,
        written,
    };
    let report = || match &found.orderings {
        Orderings::Weakest(_) if arguments.diff => result.diff().to_owned(),
        _ => report::text(&result, &context, shared.verbose),
    };
    let exit = match &found.orderings {
        Orderings::NotRobust(_) => Exit::Fails,
        Orderings::Weakest(_) if is_violated => Exit::Fails,
        // Asked to write, and not sure enough to.
        Orderings::Weakest(_) if arguments.apply && found.text.is_some() && written.is_none() => Exit::Unknown,
        Orderings::Weakest(_) if holds => Exit::Holds,
        Orderings::Weakest(_) | Orderings::Unknown(_) => Exit::Unknown,
    };
    let find = || ordering_findings(&result, &context, loaded.format);
    let page = || orderings_page(&result, &context, &question(&arguments.file));
    let mut outcome = Outcome::new(exit, shared, || OrderingsDocument::new(&result, &context), report);
    outcome.spoken.answer = outputs.answer(find, page);
    outcome.text = text.map(|text| text.text().to_owned());
    outcome.proposal = proposal;
    Ok(outcome)
}

/// What is said besides of a program that is robust: of machines, with the orderings that it has
/// and with the weaker ones, and where no interleaving comes.
fn notes(loaded: &Loaded, found: &OrderingsShown, values: usize, limits: &Limits) -> Vec<(&'static str, String)> {
    let program = &loaded.program;
    if !matches!(found.orderings, Orderings::Weakest(_)) {
        return Vec::new();
    }
    let mut notes = LanguageRobustness::notes(program, Axioms::C11);
    let weaker = LanguageRobustness::notes(&weakened(program, &found.measures()), Axioms::C11);
    if let Some(after) = weaker.into_iter().find(|note| note.0 == "machines" && !notes.contains(note)) {
        notes.push(("weaker", after.1));
    }
    notes.extend(roles_that_do_nothing(program).into_iter().map(|warning| ("warning", warning.message.clone())));
    // A step without a meaning is told by the question that comes to it.
    let labels = unreached(&by_language(program), values, limits).ok().flatten();
    notes.extend(labels.and_then(|labels| words(program, &labels)).map(|words| ("unreached", words)));
    notes
}

/// The program with weaker orderings.
fn weakened(program: &Program, orderings: &[Measure]) -> Program {
    let (mut weakened, sites) = (program.clone(), Sites::of(program));
    for measure in orderings.iter().flat_map(|measure| measure.parts(&sites)) {
        if let Measure::Ordered { thread, access, failing, ordering } = measure {
            weakened.threads[thread.index()].instructions[access.index()].order(failing, ordering);
        }
    }
    weakened
}

/// What interleavings say of the properties that the program states: orderings change nothing of
/// that.
fn properties(
    arguments: &OrderingsArguments,
    limits: &Limits,
    loaded: &Loaded,
    certificates: &mut Vec<String>,
) -> Result<Vec<StatedProperty>, InputError> {
    let options =
        PropertyOptions { values: arguments.values, language: Some(Axioms::C11), ..PropertyOptions::new(Model::Sc) };
    let question = Properties::new(loaded.about(), options)?;
    if question.are_none() {
        return Ok(Vec::new());
    }
    let folder = arguments.certificate.as_deref();
    let asking = Asking { file: &arguments.file, verify: true, folder, limits: limits.clone() };
    let answered = asking.ask(question);
    if let Some((_, refusal)) = answered.asked().fault() {
        return Err(refusal);
    }
    // The evidence is about the text as it was read.
    if !arguments.apply {
        certificates.extend(answered.write(&asking)?);
    }
    let is_whole = says_all_of_interleavings(&loaded.program);
    let told = |account: &Account<'_>| {
        let is_open = !is_whole && matches!(account.answer, Answer::Holds(Proof { example: None, .. }));
        StatedProperty {
            about: account.about.clone(),
            heading: account.heading,
            holds: match account.standing() {
                _ if is_open => None,
                Standing::Holds => Some(true),
                Standing::Violated => Some(false),
                Standing::Unknown => None,
            },
            often: account.often.filter(|_| !is_open),
            phrase: match is_open {
                true => format!("{}; unknown where a weak compare-exchange fails for no reason", account.phrase),
                false => account.phrase.clone(),
            },
        }
    };
    Ok(answered.accounts().iter().map(told).collect())
}

/// Writes the evidence, and beside it the text that it is about; the paths.
fn write_proofs(
    folder: &Path,
    arguments: &OrderingsArguments,
    loaded: &Loaded,
    found: &OrderingsShown,
) -> Result<Vec<String>, InputError> {
    let refused = |error: std::io::Error| unwritten(folder, &error);
    create_folder(folder).map_err(refused)?;
    let (mut before, mut written) = (loaded.subject(), Vec::new());
    if let (Some(Ok(text)), Some(certificate)) = (&found.text, &found.certificate) {
        if arguments.apply {
            let path = path_in(folder, &arguments.file, "before", loaded.format);
            write_file(&path, &loaded.program.source.text).map_err(refused)?;
            before.input.path = path.display().to_string();
        } else {
            write_file(&text.program.source.name, text.text()).map_err(refused)?;
        }
        let evidence = Evidence::LanguageRobust(loaded.subject_of(&text.program), certificate.clone());
        written.push(write_document(folder, &text.program.source.name, "c11-robust", &evidence));
    } else if let Some(certificate) = &found.certificate {
        let evidence = Evidence::LanguageRobust(loaded.subject(), certificate.clone());
        written.push(write_document(folder, &arguments.file, "c11-robust", &evidence));
    }
    if let Some(shown) = &found.shown {
        let evidence = Evidence::Repair(before, shown.evidence.clone());
        written.push(write_document(folder, &arguments.file, "orderings", &evidence));
    }
    written.into_iter().map(|path| path.map(|path| path.display().to_string()).map_err(refused)).collect()
}
