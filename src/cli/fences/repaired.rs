//! What a repair leaves behind, whatever it is for: the changed text, written whole or not at all,
//! and the evidence.

use super::arguments::{FencesArguments, path_in};
use crate::cli::Loaded;
use crate::cli::evidence_files::{unwritten, write_document};
use crate::cli::files::write_file;
use crate::cli::folder::create_folder;
use crate::cli::pending::writing;
use crate::evidence::{Evidence, ProgramSubject, RepairEvidence};
use crate::fences::RepairedText;
use crate::program::NoText;
use crate::syntax::InputError;
use std::io;
use std::path::Path;

/// Why the text itself cannot be changed, where there is an answer without that.
pub(in crate::cli) fn no_text(
    file: &str,
    is_needed: bool,
    text: Option<&Result<RepairedText, NoText>>,
) -> Result<Option<String>, InputError> {
    match text {
        Some(Err(NoText::Refused { source, errors })) => Err(InputError::from((source.clone(), errors.clone()))),
        Some(Err(NoText::Edit(error))) if is_needed => Err(InputError::file(file, error.clone())),
        Some(Err(NoText::Edit(error))) => Ok(Some(error.clone())),
        _ => Ok(None),
    }
}

/// Writes a repaired text, where there is one that is to be written, in the place of the old one;
/// where it was written.
pub(in crate::cli) fn write_back<'a>(
    file: &'a str,
    loaded: &Loaded,
    text: Option<&RepairedText>,
) -> Result<Option<&'a str>, InputError> {
    let Some(text) = text else { return Ok(None) };
    replace(Path::new(file), &loaded.program.source.text, text.text())
        .map_err(|error| InputError::file(file, format!("cannot be written: {error}")))?;
    Ok(Some(file))
}

/// The evidence for a repair.
#[derive(Default)]
pub(super) struct Proofs<'a> {
    /// The repaired text with the evidence about it.
    pub(super) text: Option<(&'a RepairedText, Evidence)>,
    /// Evidence about the program as it is.
    pub(super) unchanged: Option<Evidence>,
    /// Evidence about sets of measures, each with the end of its file's name.
    pub(super) repairs: Vec<(&'static str, &'a RepairEvidence)>,
}

/// Writes the evidence, and beside it the texts that it is about and that stand nowhere else: the
/// repaired one, or with `--apply` the one before. The paths.
pub(super) fn write_proofs(
    folder: &Path,
    arguments: &FencesArguments,
    loaded: &Loaded,
    proofs: Proofs<'_>,
) -> Result<Vec<String>, InputError> {
    let refused = |error: io::Error| unwritten(folder, &error);
    let _writing = writing();
    create_folder(folder).map_err(refused)?;
    let mut before = loaded.subject();
    let mut written = Vec::new();
    if let Some((text, evidence)) = proofs.text {
        if arguments.apply {
            before.input.path = write_before(folder, arguments, loaded).map_err(refused)?;
        } else {
            write_file(&text.program.source.name, text.text()).map_err(refused)?;
        }
        written.push(write_document(folder, &text.program.source.name, evidence.kind(), &evidence));
    } else if let Some(evidence) = proofs.unchanged {
        written.push(write_document(folder, &arguments.file, evidence.kind(), &evidence));
    }
    for (suffix, repair) in proofs.repairs {
        let evidence = Evidence::Repair(ProgramSubject::clone(&before), repair.clone());
        written.push(write_document(folder, &arguments.file, suffix, &evidence));
    }
    written.into_iter().map(|path| path.map(|path| path.display().to_string()).map_err(refused)).collect()
}

/// Writes the text as it was into the folder; its path.
fn write_before(folder: &Path, arguments: &FencesArguments, loaded: &Loaded) -> io::Result<String> {
    let path = path_in(folder, &arguments.file, "before", loaded.format);
    write_file(&path, &loaded.program.source.text)?;
    Ok(path.display().to_string())
}

/// Puts a new text in the place of a file that still holds the old one. The file holds one of the
/// two at any time.
pub(super) fn replace(path: &Path, old: &str, new: &str) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { "\u{feff}" } else { "" };
    if bytes[mark.len()..] != *old.as_bytes() {
        return Err(io::Error::other("the file has changed since it was read"));
    }
    write_file(path, format!("{mark}{new}"))
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
