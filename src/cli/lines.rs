//! Files that grow by lines, each a JSON document: whole lines, whatever becomes of the process
//! that appends them.

use super::files::report_size_limit;
use crate::syntax::InputError;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file to which lines are appended.
pub(super) struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens a file behind what it holds already.
    pub(super) fn open(path: &Path) -> Result<Self, InputError> {
        let failed = |error| InputError::file(path.display().to_string(), format!("cannot be written: {error}"));
        report_size_limit();
        // A device has no lines to go on behind, and reading it may have no end.
        let broken =
            path.is_file() && std::fs::read(path).is_ok_and(|content| !content.is_empty() && !content.ends_with(b"\n"));
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        if broken {
            // A line that was cut off stays one of its own.
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a document in one write.
    pub(super) fn append(&mut self, document: &impl Serialize) -> Result<(), InputError> {
        let mut line = serde_json::to_vec(document).expect("documents are plain data");
        line.push(b'\n');
        let failed = |error| InputError::file(self.path.display().to_string(), format!("cannot be written: {error}"));
        let length = self.file.metadata().map_err(failed)?.len();
        self.file.write_all(&line).map_err(|error| {
            // A line is there whole or not at all; where that fails, too, readers pass over what is
            // cut off.
            let _ = self.file.set_len(length);
            failed(error)
        })
    }
}
