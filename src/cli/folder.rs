//! Folders that results are written into.

use std::io;
use std::path::{Path, PathBuf};

/// Creates a folder, and those it lies in, unless they are there. `DIR/.` is the folder `DIR` whether that is there or not.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder.components().collect::<PathBuf>())
}
