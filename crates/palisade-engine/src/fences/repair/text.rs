//! The repaired text: the program's own text with the measures taken in it, read again.

use crate::fences::Measure;
use palisade_model::program::{Program, SourceText};
use palisade_syntax::edit::{Edit, EditError, apply};
use palisade_syntax::{self as syntax, Format, InputError};
use similar::TextDiff;

/// A program's text after a repair.
#[derive(Clone, Debug)]
pub struct RepairedText {
    /// The program read from it, with the copies and the domain of the program as it was.
    pub program: Program,
    /// The unified diff from the old text to the new one.
    pub diff: String,
}

/// Why there is no repaired text.
#[derive(Clone, Debug)]
pub enum NoText {
    /// The format or the place does not allow the change.
    Edit(EditError),
    /// The changed text is refused when it is read again.
    Refused(Box<InputError>),
}

impl RepairedText {
    /// Takes measures in the text of a program and reads the result again, under the name `path`.
    pub fn new(program: &Program, format: Format, measures: &[Measure], path: &str) -> Result<Self, NoText> {
        let changes: Vec<Edit> = measures
            .iter()
            .filter_map(|measure| match *measure {
                Measure::Fence { thread, label } => Some(Edit::Fence { thread, label }),
                Measure::StoreFence { thread, label } => Some(Edit::StoreFence { thread, label }),
                Measure::Exchange { thread, store } => Some(Edit::Exchange { thread, store }),
                Measure::Kept { .. } => None,
            })
            .collect();
        let before = &program.source;
        let after = apply(program, format, &changes).map_err(NoText::Edit)?;
        let diff = TextDiff::from_lines(before.text.as_str(), after.as_str())
            .unified_diff()
            .context_radius(3)
            .header(&before.name, &before.name)
            .to_string();
        let source = SourceText::new(path, after);
        let refused = |errors| NoText::Refused(Box::new(InputError::from((source.clone(), errors))));
        let mut repaired = syntax::parse(source.clone(), format).map_err(refused)?.program;
        for (thread, before) in repaired.threads.iter_mut().zip(&program.threads) {
            thread.copies = before.copies;
        }
        repaired.domain = program.domain;
        syntax::check(&mut repaired).map_err(refused)?;
        Ok(Self { program: repaired, diff })
    }

    /// The repaired text.
    pub fn text(&self) -> &str {
        &self.program.source.text
    }
}
