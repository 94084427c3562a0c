//! Places in the sources that machine code was made of, for people and for documents.

use palisade_model::program::{Program, Span};
use palisade_model::text::SourceText;
use serde::Serialize;
use std::path::Path;

/// A place in the sources that machine code was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourcePlace<'a> {
    /// The file, by its path as the compiler knew it.
    pub file: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; 0 where the compiler does not say.
    pub column: usize,
    /// What stands on the line, where the file is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// Under which path the file is at hand, from the folder of the roles.
    #[serde(skip)]
    at_hand: Option<&'a str>,
}

impl<'a> SourcePlace<'a> {
    /// Where an instruction comes from; nothing for programs that are texts themselves, and where
    /// nobody knows.
    pub fn of(source: &'a SourceText, span: Span) -> Option<Self> {
        let origin = source.origin(span)?;
        let (file, position) = origin.position.as_ref()?;
        let (text, at_hand) = (origin.text.as_deref(), origin.at_hand.as_deref());
        Some(Self { file, line: position.line, column: position.column, text, at_hand })
    }

    /// The path of the file for who stands in the current folder, where it is at hand; else as the
    /// compiler knew it.
    pub fn path(&self, roles: &SourceText) -> String {
        let Some(at_hand) = self.at_hand else { return self.file.to_owned() };
        let path = Path::new(&roles.name).parent().unwrap_or(Path::new("")).join(at_hand);
        let here = std::env::current_dir().ok();
        let near = here.and_then(|here| Some(path.strip_prefix(here).ok()?.to_owned()));
        near.unwrap_or(path).display().to_string()
    }
}

/// What stands on the line that an instruction comes from, in a few words: its text, or that the
/// lines of several places were merged.
pub fn words(program: &Program, span: Span) -> Option<String> {
    let origin = program.source.origin(span)?;
    if let Some(text) = origin.text.as_ref().filter(|text| !text.is_empty()) {
        return Some(text.clone());
    }
    let (before, _) = origin.place.split_once('@')?;
    let lines: Vec<&str> = before.rsplit_once(':')?.1.split('/').collect();
    match lines.as_slice() {
        ["?"] => None,
        [line] => Some(format!("near line {line}")),
        lines => Some(format!("lines {}, merged", lines.join(" and "))),
    }
}
