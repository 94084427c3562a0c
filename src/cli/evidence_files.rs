//! Files of evidence: their names in a folder, each written whole or not at all.

use super::files::NewFile;
use super::folder::create_folder;
use super::pending::writing;
use crate::evidence::Evidence;
use crate::syntax::InputError;
use std::io;
use std::path::{Path, PathBuf};

/// Evidence that cannot be written, as an error of the input.
pub(super) fn unwritten(folder: &Path, error: &io::Error) -> InputError {
    InputError::file(folder.display().to_string(), format!("the evidence cannot be written: {error}"))
}

/// Writes evidence about a program into a folder; its path.
pub(super) fn write_document(folder: &Path, file: &str, suffix: &str, evidence: &Evidence) -> io::Result<PathBuf> {
    create_folder(folder)?;
    // Programs of one name in different folders keep apart by the folder's name.
    let name: String =
        file.chars().map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+') { c } else { '_' }).collect();
    let path = folder.join(format!("{}.{suffix}.json", name.trim_matches('_')));
    let _writing = writing();
    let mut written = NewFile::create(&path)?;
    evidence.write(&mut written)?;
    written.finish()?;
    Ok(path)
}
