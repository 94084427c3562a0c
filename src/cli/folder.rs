//! Folders: those that results are written into, and those that are searched for inputs.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Creates a folder, and those it lies in, unless they are there. `DIR/.` is the folder `DIR`
/// whether that is there or not.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder.components().collect::<PathBuf>())
}

/// The files in a folder and in all folders inside, in order of their paths.
///
/// Links to folders are followed, but every folder is entered once, however many ways lead there:
/// links that go round in circles end, and what can be reached without a link is named without one.
/// An error comes with the folder that cannot be read.
pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let (mut files, mut entered) = (Vec::new(), HashSet::new());
    let (mut folders, mut links) = (vec![folder.to_owned()], BTreeSet::new());
    while let Some(next) = folders.pop().or_else(|| links.pop_first()) {
        let failed = |error| (next.clone(), error);
        if !entered.insert(next.canonicalize().map_err(failed)?) {
            continue;
        }
        for entry in std::fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() && path.is_dir() {
                links.insert(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_folder_is_entered_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        let elsewhere = folder.path().join("elsewhere");
        for path in [&root.join("b/c"), &elsewhere] {
            std::fs::create_dir_all(path).expect("a folder");
            std::fs::write(path.join("file"), "").expect("a file");
        }
        // To itself, to a folder above, to each other, to what is there without a link, elsewhere
        // twice, and to nothing.
        for (link, target) in [
            ("b/self", "."),
            ("b/c/up", "../.."),
            ("a", "b/c"),
            ("b/one", "../b/two"),
            ("b/two", "../b/one"),
            ("d", "../elsewhere"),
            ("e", "../elsewhere"),
            ("f", "nowhere"),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        let found = files_in(&root).expect("it can be read");
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(&root).expect("inside").to_str()).collect();
        assert_eq!(found, ["b/c/file", "b/one", "b/two", "d/file", "f"].map(Some));
    }
}
