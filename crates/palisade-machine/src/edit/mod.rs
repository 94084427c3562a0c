//! Changes of the sources: a fence in front of a statement, a store made sequentially consistent,
//! another ordering.
//!
//! A change is proposed for a place that debug information gives. That it does what it is proposed
//! for is not shown here: the changed sources have to be built and checked again. Where the
//! statement cannot be found for certain, there is a reason and no change.

mod c;
mod c_orderings;
mod c_tokens;
mod rust;

use palisade_model::program::Ordering;
use palisade_model::text::Position;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::ops::Range;

/// What is changed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceChange {
    /// A fence in front of the statement that the place is in.
    Fence,
    /// The store there gets the ordering `SeqCst`, which makes it a locked exchange.
    SeqCstStore,
    /// An access or a fence there gets another ordering.
    Ordered {
        /// What it is: `load`, `store`, `update` or `fence`.
        word: &'static str,
        /// Whether it is about an update that does not store.
        failing: bool,
        /// The ordering that it has.
        from: Ordering,
        /// The one that it gets; a relaxed fence is none.
        to: Ordering,
    },
}

/// An insertion or a replacement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Replacement {
    /// The first byte that goes.
    start: usize,
    /// One past the last.
    end: usize,
    /// What comes there.
    text: String,
}

/// The text of a file with changes made; why one of them cannot be made.
pub fn changed(path: &str, text: &str, changes: &[(Position, SourceChange)]) -> Result<String, String> {
    let replacements = replacements(path, text, changes).into_iter().collect::<Result<BTreeSet<_>, _>>()?;
    let conflict = |(one, next): (&Replacement, &Replacement)| next.start < one.end;
    if replacements.iter().zip(replacements.iter().skip(1)).any(conflict) {
        return Err("several changes are wanted in one place".to_owned());
    }
    let mut changed = text.to_owned();
    for replacement in replacements.iter().rev() {
        changed.replace_range(replacement.start..replacement.end, &replacement.text);
    }
    Ok(changed)
}

/// For each change of a file, why it cannot be made; nothing where it can.
pub fn refusals(path: &str, text: &str, changes: &[(Position, SourceChange)]) -> Vec<Option<String>> {
    replacements(path, text, changes).into_iter().map(Result::err).collect()
}

fn replacements(path: &str, text: &str, changes: &[(Position, SourceChange)]) -> Vec<Result<Replacement, String>> {
    let language = Language::of(path);
    let rust = match language {
        Some(Language::Rust) => Some(rust::Source::read(text)),
        _ => None,
    };
    let replacement = |(position, change): &(Position, SourceChange)| {
        let offset = offset(text, *position).ok_or_else(|| "the file has changed since it was compiled".to_owned())?;
        match (&rust, language) {
            (Some(source), _) => source.as_ref().map_err(String::clone)?.replacement(*position, offset, *change),
            (None, Some(Language::C { plus_plus })) => c::replacement(text, offset, plus_plus, *change),
            (None, _) => Err("it is neither Rust nor C".to_owned()),
        }
    };
    changes.iter().map(replacement).collect()
}

/// The unified diff from a file to its changed text.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(path, path).to_string()
}

/// Whether a file belongs to a dependency or to the compiler: these are never written.
pub fn is_of_a_dependency(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let fixed = ["/.cargo/registry/", "/.cargo/git/", "/rustlib/src/", "/rustc/"];
    let home = std::env::var("CARGO_HOME").ok().filter(|home| !home.is_empty());
    fixed.iter().any(|part| path.contains(part))
        || home.is_some_and(|home| ["registry", "git"].iter().any(|part| path.starts_with(&format!("{home}/{part}/"))))
        || ["/usr/include/", "/usr/lib/"].iter().any(|part| path.starts_with(part))
}

/// The languages that are known.
#[derive(Clone, Copy)]
enum Language {
    Rust,
    C { plus_plus: bool },
}

impl Language {
    fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "rs" => Some(Self::Rust),
            "c" | "h" => Some(Self::C { plus_plus: false }),
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Some(Self::C { plus_plus: true }),
            _ => None,
        }
    }
}

/// The byte at a position, whose column counts bytes; the first one of the line that is no white
/// space where there is no column.
fn offset(text: &str, position: Position) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(position.line.checked_sub(1)?).map(str::len).sum();
    let line = text.get(start..)?.split('\n').next()?;
    let column = match position.column {
        0 => line.len() - line.trim_start().len(),
        column => column - 1,
    };
    (column < line.len() && text.is_char_boundary(start + column)).then_some(start + column)
}

/// An insertion in front of a statement, on a line of its own where the statement begins one.
fn before(text: &str, statement: usize, inserted: &str) -> Replacement {
    let line = text[..statement].rfind('\n').map_or(0, |end| end + 1);
    let indent = &text[line..statement];
    let text = if indent.trim().is_empty() { format!("{inserted}\n{indent}") } else { format!("{inserted} ") };
    Replacement { start: statement, end: statement, text }
}

/// The removal of a statement, with its line where it stands there alone.
fn without(text: &str, statement: Range<usize>) -> Replacement {
    let Range { mut start, mut end } = statement;
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    if text[line..start].trim().is_empty() && text[end..].starts_with('\n') {
        (start, end) = (line, end + 1);
    }
    Replacement { start, end, text: String::new() }
}
