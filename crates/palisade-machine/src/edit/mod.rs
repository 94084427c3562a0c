//! Changes of the sources: a fence in front of a statement, a store made sequentially consistent.
//!
//! A change is proposed for a place that debug information gives. That it does what it is proposed for is not shown here: the changed
//! sources have to be built and checked again. Where the statement cannot be found for certain, there is a reason and no change.

mod c;
mod rust;

use palisade_model::text::Position;
use similar::TextDiff;
use std::collections::BTreeSet;

/// What is changed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceChange {
    /// A fence in front of the statement that the place is in.
    Fence,
    /// The store there gets the ordering `SeqCst`, which makes it a locked exchange.
    SeqCstStore,
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
    let mut replacements = BTreeSet::new();
    for (position, change) in changes {
        let offset = offset(text, *position).ok_or_else(|| "the file has changed since it was compiled".to_owned())?;
        let replacement = match Language::of(path) {
            Some(Language::Rust) => rust::replacement(text, offset, *change),
            Some(Language::C { plus_plus }) => c::replacement(text, offset, plus_plus, *change),
            None => Err("it is neither Rust nor C".to_owned()),
        };
        replacements.insert(replacement?);
    }
    let mut changed = text.to_owned();
    for replacement in replacements.iter().rev() {
        changed.replace_range(replacement.start..replacement.end, &replacement.text);
    }
    Ok(changed)
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

/// The byte at a position, whose column counts bytes; the first one of the line that is no white space where there is no column.
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
