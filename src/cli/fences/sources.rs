//! Repairs of machine code as changes of its sources: proposed as a diff, or written, built and
//! checked again.

use super::repaired::replace;
use crate::cli::output::{print_text, remark, remark_line};
use crate::cli::words::Ask;
use crate::cli::{Exit, Loaded, ProgramOptions, SharedOptions};
use crate::fences::Measure;
use crate::program::{Instruction, InstructionId, Position, Program, Sites, ThreadId};
use crate::report::fences::measure_words;
use crate::report::proposal::{ChangedSource, KeptPlace, Proposal};
use crate::syntax::InputError;
use palisade_machine::changed_since;
use palisade_machine::edit::{SourceChange, changed, diff, is_of_a_dependency, refusals};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A place in a source, and the change to make there.
type Wanted = (Position, SourceChange);

/// The changes of sources for measures; why there are none.
pub(in crate::cli) fn propose(file: &str, loaded: &Loaded, measures: &[Measure]) -> Result<Proposal, String> {
    let program = &loaded.program;
    let mut wanted: BTreeMap<(&str, &str), Vec<Wanted>> = BTreeMap::new();
    for measure in measures {
        let Some(change) = change(program, *measure) else { continue };
        let (file, at_hand, position) = place(program, *measure)?;
        wanted.entry((file, at_hand)).or_default().push((position, change));
    }
    let mut proposal = Proposal { files: Vec::new(), diff: String::new() };
    for ((known, at_hand), changes) in wanted {
        let (path, before) = source(file, at_hand)?;
        if let Some(image) = changed_since(&path, file, program) {
            return Err(format!("{} has changed since `{image}` was built: build first", path.display()));
        }
        let after = changed(known, &before, &changes).map_err(|why| format!("{}: {why}", path.display()))?;
        proposal.diff += &diff(&path.display().to_string(), &before, &after);
        proposal.files.push(ChangedSource { path, before, after, is_of_a_dependency: is_of_a_dependency(known) });
    }
    Ok(proposal)
}

/// The measures of which the sources do not take the change, and where that is so, and why.
pub(in crate::cli) fn withheld(
    file: &str,
    loaded: &Loaded,
    measures: &[Measure],
) -> (BTreeSet<Measure>, Vec<KeptPlace>) {
    let program = &loaded.program;
    let mut refused: Vec<(Measure, String)> = Vec::new();
    let mut wanted: BTreeMap<(&str, &str), Vec<(Measure, Wanted)>> = BTreeMap::new();
    let ways = ways(program);
    for measure in measures {
        if let Measure::Ordered { thread, access, .. } = *measure
            && way(program, program.thread(thread).instruction(access)).is_some_and(|way| ways[&way].len() > 1)
        {
            refused.push((*measure, "accesses with several orderings come from this place".to_owned()));
            continue;
        }
        match (place(program, *measure), change(program, *measure)) {
            (Ok((known, at_hand, position)), Some(change)) => {
                wanted.entry((known, at_hand)).or_default().push((*measure, (position, change)));
            }
            (Err(why), _) => refused.push((*measure, why)),
            (_, None) => {}
        }
    }
    for ((known, at_hand), wanted) in wanted {
        let (measures, changes): (Vec<Measure>, Vec<Wanted>) = wanted.into_iter().unzip();
        let why = match source(file, at_hand) {
            Ok((_, text)) => refusals(known, &text, &changes),
            Err(why) => vec![Some(why); measures.len()],
        };
        refused.extend(measures.into_iter().zip(why).filter_map(|(measure, why)| Some((measure, why?))));
    }
    let kept = |(measure, reason): &(Measure, String)| {
        let place = program.source.origin(measure.span(program)).map(|origin| origin.place.clone());
        KeptPlace { place: place.unwrap_or_else(|| measure.name(program)), reason: reason.clone() }
    };
    let kept: BTreeSet<KeptPlace> = refused.iter().map(kept).collect();
    (refused.into_iter().map(|(measure, _)| measure).collect(), kept.into_iter().collect())
}

/// What an access or a fence does, and where it comes from.
type Way<'p> = (&'p str, &'static str);

fn way<'p>(program: &'p Program, own: &Instruction) -> Option<Way<'p>> {
    let operation = own.operation().filter(|_| own.states_ordering())?;
    Some((program.source.origin(own.span)?.place.as_str(), operation.word()))
}

/// The accesses and fences that come from one place and do one thing: the first of those that get
/// orderings together.
fn ways(program: &Program) -> BTreeMap<Way<'_>, BTreeSet<(ThreadId, InstructionId)>> {
    let sites = Sites::of(program);
    let mut ways: BTreeMap<Way<'_>, BTreeSet<(ThreadId, InstructionId)>> = BTreeMap::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
        for (number, own) in thread.instruction_ids() {
            if let Some(way) = way(program, own) {
                ways.entry(way).or_default().insert(sites.first_access(id, number));
            }
        }
    }
    ways
}

/// The change of the source that a measure is; nothing for measures that no source takes.
fn change(program: &Program, measure: Measure) -> Option<SourceChange> {
    Some(match measure {
        // Sources have one fence, which does more than a store fence.
        Measure::Fence { .. } | Measure::StoreFence { .. } => SourceChange::Fence,
        Measure::Exchange { .. } => SourceChange::SeqCstStore,
        Measure::Ordered { thread, access, failing, ordering: to } => {
            let own = program.thread(thread).instruction(access);
            SourceChange::Ordered { word: own.operation()?.word(), failing, from: own.ordering(failing)?, to }
        }
        Measure::Kept { .. } => return None,
    })
}

/// A source that is at hand, from the folder of the roles: its path, and its text.
fn source(file: &str, at_hand: &str) -> Result<(PathBuf, String), String> {
    let path = Path::new(file).parent().unwrap_or(Path::new("")).join(at_hand);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((path, text))
}

/// The file of a measure, as the compiler knew it and as it is at hand, and the position there.
fn place(program: &Program, measure: Measure) -> Result<(&str, &str, Position), String> {
    let words = measure_words(program, measure);
    let origin = program.source.origin(measure.span(program));
    let known = origin.and_then(|origin| Some((origin, origin.position.as_ref()?)));
    let (origin, (file, position)) =
        known.ok_or_else(|| format!("debug information has no line of the sources for {words}"))?;
    let at_hand = origin.at_hand.as_deref().ok_or_else(|| format!("the source of {words} is not at hand: {file}"))?;
    Ok((file.as_str(), at_hand, *position))
}

/// What is checked once changed sources are built.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Again<'a> {
    /// The file of roles.
    pub(in crate::cli) file: &'a str,
    /// How it is read.
    pub(in crate::cli) program: &'a ProgramOptions,
    /// Against what, in the word of `check --model`.
    pub(in crate::cli) model: &'a str,
    /// `--values`.
    pub(in crate::cli) values: usize,
    /// What is asked, where it is not all that the program has.
    pub(in crate::cli) ask: Option<Ask>,
    /// `--ignore-timeouts`.
    pub(in crate::cli) ignore_timeouts: bool,
}

/// Writes the changed sources, builds, and checks what comes out.
pub(in crate::cli) fn apply(proposal: &Proposal, again: Again<'_>, shared: &SharedOptions) -> Result<Exit, InputError> {
    let file = again.file;
    let refuse = |message: String, help: &str| Err(InputError::file(file, message).with_help_if(Some(help.to_owned())));
    if let Some(source) = proposal.files.iter().find(|source| source.is_of_a_dependency) {
        let message = format!("{} belongs to a dependency, which is not written", source.path.display());
        return refuse(message, "`--diff` prints the patch; a copy of the dependency takes it");
    }
    if !again.program.threads.is_empty() {
        return refuse("what is built is checked with the copies of its roles".to_owned(), "leave `--threads` out");
    }
    let Some(build) = palisade_machine::build_command(file)? else {
        let help = "say how to build the image: build = \"make queue\"; or print the patch with `--diff`";
        return refuse("the roles do not say how the image is built again".to_owned(), help);
    };
    for (index, source) in proposal.files.iter().enumerate() {
        if let Err(error) = replace(&source.path, &source.before, &source.after) {
            restore(&proposal.files[..index]);
            return Err(InputError::file(source.path.display().to_string(), format!("cannot be written: {error}")));
        }
    }
    let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut command = Command::new("sh");
    command.arg("-c").arg(&build).current_dir(folder.unwrap_or(Path::new("."))).stdin(Stdio::null());
    // Standard output has the answer alone.
    let built = command.stdout(std::io::stderr()).status();
    if !built.as_ref().is_ok_and(std::process::ExitStatus::success) {
        restore(&proposal.files);
        let why = built.map_or_else(|error| error.to_string(), |status| status.to_string());
        return refuse(format!("`{build}` fails with the changed sources ({why}); they are as they were"), "see above");
    }
    let paths: Vec<PathBuf> = proposal.files.iter().map(|source| source.path.clone()).collect();
    if !shared.json {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        print_text(format!("  applied  {}; built and checked again:\n\n", paths.join(", ")));
    }
    let exit = check_again(again, shared)?;
    if exit != Exit::Holds {
        remark_line("the sources stay changed, though what was built from them is not shown to be right");
    }
    Ok(exit)
}

/// Puts the sources back as they were.
fn restore(files: &[ChangedSource]) {
    for source in files {
        if let Err(error) = replace(&source.path, &source.after, &source.before) {
            remark(format!("{} could not be put back: {error}\n", source.path.display()));
        }
    }
}

/// Checks the file of roles as a user would.
fn check_again(again: Again<'_>, shared: &SharedOptions) -> Result<Exit, InputError> {
    let failed = |error: std::io::Error| InputError::file(again.file, error.to_string());
    let mut check = Command::new(std::env::current_exe().map_err(failed)?);
    check.args(["check", "--verify", "--model", again.model, "--values"]).arg(again.values.to_string()).arg(again.file);
    check.args(again.ask.iter().flat_map(|ask| ["--ask", ask.name()]));
    check.args(again.ignore_timeouts.then_some("--ignore-timeouts"));
    if shared.json {
        check.arg("--json");
    }
    check.args((0..shared.verbose).map(|_| "--verbose"));
    let status = check.status().map_err(failed)?;
    Exit::of(status).ok_or_else(|| InputError::file(again.file, format!("the check has ended with {status}")))
}
