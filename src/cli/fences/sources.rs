//! Repairs of machine code as changes of its sources: proposed as a diff, or written, built and checked again.

use super::arguments::FencesArguments;
use super::repaired::replace;
use crate::cli::output::{print_text, remark};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::fences::{Measure, Repaired};
use crate::program::{Position, Program};
use crate::report::fences::measure_words;
use crate::report::proposal::{ChangedSource, Proposal};
use crate::syntax::InputError;
use palisade_machine::edit::{SourceChange, changed, diff, is_of_a_dependency};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The changes of sources for the measures of a repair; why there are none.
pub(super) fn propose(arguments: &FencesArguments, loaded: &Loaded, found: &Repaired) -> Result<Proposal, String> {
    let program = &loaded.program;
    let mut wanted: BTreeMap<(&str, &str), Vec<(Position, SourceChange)>> = BTreeMap::new();
    for measure in found.measures() {
        let change = match measure {
            Measure::Fence { .. } => SourceChange::Fence,
            Measure::Exchange { .. } => SourceChange::SeqCstStore,
            Measure::StoreFence { .. } | Measure::Kept { .. } | Measure::Ordered { .. } => continue,
        };
        let (file, at_hand, position) = place(program, measure)?;
        wanted.entry((file, at_hand)).or_default().push((position, change));
    }
    let folder = Path::new(&arguments.file).parent().unwrap_or(Path::new(""));
    let mut proposal = Proposal { files: Vec::new(), diff: String::new() };
    for ((file, at_hand), changes) in wanted {
        let path = folder.join(at_hand);
        let before = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let after = changed(file, &before, &changes).map_err(|why| format!("{}: {why}", path.display()))?;
        proposal.diff += &diff(&path.display().to_string(), &before, &after);
        proposal.files.push(ChangedSource { path, before, after, is_of_a_dependency: is_of_a_dependency(file) });
    }
    Ok(proposal)
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

/// Writes the changed sources, builds, and checks what comes out.
pub(super) fn apply(
    proposal: &Proposal,
    arguments: &FencesArguments,
    shared: &SharedOptions,
) -> Result<Exit, InputError> {
    let refuse = |message: String, help: &str| {
        Err(InputError::file(arguments.file.as_str(), message).with_help_if(Some(help.to_owned())))
    };
    if let Some(source) = proposal.files.iter().find(|source| source.is_of_a_dependency) {
        let message = format!("{} belongs to a dependency, which is not written", source.path.display());
        return refuse(message, "`--diff` prints the patch; a copy of the dependency takes it");
    }
    if !arguments.program.threads.is_empty() {
        return refuse("what is built is checked with the copies of its roles".to_owned(), "leave `--threads` out");
    }
    let Some(build) = palisade_machine::build_command(&arguments.file)? else {
        let help = "say how to build the image: build = \"make queue\"; or print the patch with `--diff`";
        return refuse("the roles do not say how the image is built again".to_owned(), help);
    };
    for (index, source) in proposal.files.iter().enumerate() {
        if let Err(error) = replace(&source.path, &source.before, &source.after) {
            restore(&proposal.files[..index]);
            return Err(InputError::file(source.path.display().to_string(), format!("cannot be written: {error}")));
        }
    }
    let folder = Path::new(&arguments.file).parent().filter(|folder| !folder.as_os_str().is_empty());
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
    check_again(arguments, shared)
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
fn check_again(arguments: &FencesArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let failed = |error: std::io::Error| InputError::file(arguments.file.as_str(), error.to_string());
    let mut check = Command::new(std::env::current_exe().map_err(failed)?);
    check.args(["check", "--verify", "--values"]).arg(arguments.values.to_string()).arg(&arguments.file);
    if shared.json {
        check.arg("--json");
    }
    check.args((0..shared.verbose).map(|_| "--verbose"));
    let status = check.status().map_err(failed)?;
    Exit::of(status)
        .ok_or_else(|| InputError::file(arguments.file.as_str(), format!("the check has ended with {status}")))
}
