//! Repaired texts as files: written whole or not at all.

use super::files::write_file;
use crate::syntax::Format;
use std::io;
use std::path::{Path, PathBuf};

/// Puts a new text in the place of a file that still holds the old one. The file holds one of the two at any time.
pub(super) fn replace(path: &Path, old: &str, new: &str) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { "\u{feff}" } else { "" };
    if bytes[mark.len()..] != *old.as_bytes() {
        return Err(io::Error::other("the file has changed since it was read"));
    }
    write_file(path, format!("{mark}{new}"))
}

/// Where a text of a program goes in a folder for evidence: `p.repaired.pal` for the repaired text of `p.pal`.
pub(super) fn path_in(folder: &Path, file: &str, which: &str, format: Format) -> PathBuf {
    let extension = match format {
        Format::Native => "pal",
        Format::Trencher => "txt",
        Format::Litmus => "litmus",
        Format::Memorax => "rmm",
    };
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    folder.join(format!("{}.{which}.{extension}", stem.unwrap_or("stdin")))
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
