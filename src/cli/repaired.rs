//! The repaired text: edited, read again, checked, and only then written.

use super::files::write_file;
use super::{Loaded, ProgramOptions};
use crate::fences::Measure;
use crate::program::SourceText;
use crate::syntax::InputError;
use crate::syntax::edit::{Change, EditError, apply};
use similar::TextDiff;
use std::io;
use std::path::{Path, PathBuf};

/// A program's text after a repair.
pub(super) struct Repaired {
    /// The text read again, with the same options.
    pub(super) loaded: Loaded,
    /// The unified diff from the old text to the new one.
    pub(super) diff: String,
}

/// Why there is no repaired text.
pub(super) enum NoText {
    /// The format or the place does not allow the change.
    Edit(EditError),
    /// The changed text is refused when it is read again.
    Refused(InputError),
}

impl Repaired {
    /// Makes changes in the text of a program and reads the result again, under the name `path`.
    pub(super) fn new(
        loaded: &Loaded,
        options: &ProgramOptions,
        measures: &[Measure],
        path: &str,
    ) -> Result<Self, NoText> {
        let changes: Vec<Change> = measures
            .iter()
            .filter_map(|measure| match *measure {
                Measure::Fence { thread, label } => Some(Change::Fence { thread, label }),
                Measure::Exchange { thread, store } => Some(Change::Exchange { thread, store }),
                Measure::Kept { .. } => None,
            })
            .collect();
        let before = &loaded.program.source;
        let after = apply(&loaded.program, loaded.format, &changes).map_err(NoText::Edit)?;
        let diff = TextDiff::from_lines(before.text.as_str(), after.as_str())
            .unified_diff()
            .context_radius(3)
            .header(&before.name, &before.name)
            .to_string();
        let loaded = options.read_source(SourceText::new(path, after), loaded.format).map_err(NoText::Refused)?;
        Ok(Self { loaded, diff })
    }

    /// The repaired text.
    pub(super) fn text(&self) -> &str {
        &self.loaded.program.source.text
    }
}

/// Puts a new text in the place of a file that still holds the old one. The file holds one of the two at any time.
pub(super) fn replace(path: &Path, old: &str, new: &str) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { "\u{feff}" } else { "" };
    if bytes[mark.len()..] != *old.as_bytes() {
        return Err(io::Error::other("the file has changed since it was read"));
    }
    write_file(path, format!("{mark}{new}"))
}

/// Where the repaired text of a program goes in a folder for evidence.
pub(super) fn path_in(folder: &Path, file: &str, extension: &str) -> PathBuf {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    folder.join(format!("{}.repaired.{extension}", stem.unwrap_or("stdin")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.pal");
        std::fs::write(&path, "\u{feff}old").expect("a file");
        replace(&path, "old", "new").expect("it can be replaced");
        assert_eq!(std::fs::read(&path).expect("a file"), "\u{feff}new".as_bytes());
        assert!(replace(&path, "old", "newer").is_err(), "it holds something else by now");
        assert_eq!(std::fs::read(&path).expect("a file"), "\u{feff}new".as_bytes());
        let mut permissions = std::fs::metadata(&path).expect("a file").permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).expect("it can be protected");
        assert!(replace(&path, "new", "newest").is_err(), "it is read-only");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }
}
