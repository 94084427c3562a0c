//! The repaired text: the program's own text with the measures taken in it, read again.

use crate::fences::Measure;
use palisade_model::program::{Language, NoText, Program};
use similar::TextDiff;

/// A program's text after a repair.
#[derive(Clone, Debug)]
pub struct RepairedText {
    /// The program read from it, with the copies and the domain of the program as it was.
    pub program: Program,
    /// The unified diff from the old text to the new one.
    pub diff: String,
}

impl RepairedText {
    /// Takes measures in the text of a program and reads the result again, under the name `path`.
    pub fn new(program: &Program, language: &dyn Language, measures: &[Measure], path: &str) -> Result<Self, NoText> {
        let is_made = |measure: &Measure| !matches!(measure, Measure::Kept { .. });
        let changes: Vec<Measure> = measures.iter().copied().filter(is_made).collect();
        let repaired = language.edited(program, &changes, path)?;
        let before = &program.source;
        let diff = TextDiff::from_lines(before.text.as_str(), repaired.source.text.as_str())
            .unified_diff()
            .context_radius(3)
            .header(&before.name, &before.name)
            .to_string();
        Ok(Self { program: repaired, diff })
    }

    /// The repaired text.
    pub fn text(&self) -> &str {
        &self.program.source.text
    }
}
