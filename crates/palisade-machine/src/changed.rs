//! Sources that have changed since their image was built: its lines are not theirs.

use palisade_model::program::{Heading, Program};
use palisade_model::text::{Diagnostic, Span};
use palisade_syntax::InputError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A checkout writes an image and its sources within this time, in any order.
const TOGETHER: Duration = Duration::from_secs(2);

/// What to do.
const BUILD_AGAIN: &str = "build again";

/// Whether a source was changed after the image of a program was built, which was read from a file
/// of roles: then the image's name. Where the system does not say, it was not.
pub fn changed_since<'p>(source: &Path, roles: &str, program: &'p Program) -> Option<&'p str> {
    let files = Heading::of(&program.source)?.files;
    let image = files.iter().find(|file| file.kind == "image")?.name;
    let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let later = changed(source)?.duration_since(changed(&folder(roles).join(image))?);
    later.is_ok_and(|later| later > TOGETHER).then_some(image)
}

/// A warning for each source of a program that has changed since.
pub fn changed_sources(roles: &str, program: &Program) -> Vec<Diagnostic> {
    let mut sources: BTreeMap<PathBuf, Span> = BTreeMap::new();
    for own in program.threads.iter().flat_map(|thread| &thread.instructions) {
        let at_hand = program.source.origin(own.span).and_then(|origin| origin.at_hand.as_ref());
        if let Some(at_hand) = at_hand {
            sources.entry(folder(roles).join(at_hand)).or_insert(own.span);
        }
    }
    let warning = |(source, span): (PathBuf, Span)| {
        let image = changed_since(&source, roles, program)?;
        let message = format!("`{}` has changed since `{image}` was built", source.display());
        let note = "the verdict is about the code that was built, and the lines shown may be others";
        Some(Diagnostic::warning(message, span).with_note(note).with_help(BUILD_AGAIN))
    };
    sources.into_iter().filter_map(warning).collect()
}

/// Refuses a program whose orderings were read in sources that have changed since.
pub(crate) fn admit(roles: &str, program: Program) -> Result<Program, InputError> {
    let is_in_source_order = Heading::of(&program.source).is_some_and(|heading| heading.is_in_source_order);
    match changed_sources(roles, &program).first().filter(|_| is_in_source_order) {
        Some(warning) => {
            let message = format!("{}, and its orderings are read in it", warning.message);
            Err(InputError::file(roles, message).with_help_if(Some(BUILD_AGAIN.to_owned())))
        }
        None => Ok(program),
    }
}

fn folder(roles: &str) -> &Path {
    Path::new(roles).parent().unwrap_or(Path::new(""))
}
