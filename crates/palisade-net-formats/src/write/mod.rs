//! Writers of the field's net and query formats.
//!
//! Only mist's `.spec` and thread transition systems know ω. In the other formats a place that
//! holds any number of tokens initially starts empty and gets a transition that puts one token at a
//! time, which covers the same markings; the writer says so in a note.

mod comment;
mod dot;
mod formula;
mod lola;
mod mcc;
mod names;
mod pnml;
mod spec;
mod tina;
mod tts;

pub use comment::with_comment;

use palisade_model::net::{Format, Problem};
use std::path::{Path, PathBuf};

/// A written net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The net's document.
    pub net: String,
    /// The question's document, in the format [`Format::query`] tells, where it has one of its own.
    pub query: Option<String>,
    /// What a reader of the document should know.
    pub notes: Vec<String>,
}

impl Written {
    /// The files that it goes to when the net's is to be `path`: that one, and the question's
    /// beside it.
    pub fn files(&self, path: &Path, format: Format) -> Vec<(PathBuf, &str)> {
        let query = self.query.as_deref().zip(format.query());
        let query = query.map(|(query, kind)| (path.with_extension(kind.extension()), query));
        [(path.to_owned(), self.net.as_str())].into_iter().chain(query).collect()
    }
}

/// Why a net cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the net cannot be written as .{}: {reason}", format.extension())]
pub struct WriteError {
    /// The format.
    pub format: Format,
    /// What the format cannot hold.
    pub reason: String,
}

/// Writes a net with its question.
pub fn write(problem: &Problem, format: Format) -> Result<Written, WriteError> {
    let refuse = |reason| WriteError { format, reason };
    match format {
        Format::Spec => spec::write(problem).map_err(refuse),
        Format::Tts => tts::write(problem).map_err(refuse),
        Format::Dot => Ok(Written { net: dot::write(problem), query: None, notes: Vec::new() }),
        Format::Pnml | Format::Lola | Format::Tina => {
            let (finite, notes) = with_spawns(problem);
            let mut written = match format {
                Format::Pnml => pnml::write(&finite),
                Format::Lola => Ok(lola::write(&finite)),
                _ => Ok(tina::write(&finite)),
            }
            .map_err(refuse)?;
            written.notes.splice(0..0, notes);
            Ok(written)
        }
    }
}

fn with_spawns(problem: &Problem) -> (Problem, Vec<String>) {
    let net = problem.net.with_spawns();
    let added = net.transitions.len() - problem.net.transitions.len();
    let notes = match added {
        0 => Vec::new(),
        1 => vec!["1 place that holds any number of tokens initially is filled by a transition of its own".to_owned()],
        _ => vec![format!(
            "{added} places that hold any number of tokens initially are filled by transitions of their own"
        )],
    };
    (Problem { net, query: problem.query.clone() }, notes)
}

#[cfg(test)]
mod tests;
