//! Files of evidence: their names in a folder, each written whole or not at all.

use super::files::NewFile;
use super::folder::create_folder;
use super::pending::writing;
use crate::evidence::Evidence;
use crate::syntax::InputError;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Evidence that cannot be written, as an error of the input.
pub(super) fn unwritten(folder: &Path, error: &io::Error) -> InputError {
    InputError::file(folder.display().to_string(), format!("the evidence cannot be written: {error}"))
}

/// Writes evidence about a program into a folder; its path.
pub(super) fn write_document(folder: &Path, file: &str, suffix: &str, evidence: &Evidence) -> io::Result<PathBuf> {
    create_folder(folder)?;
    let path = folder.join(format!("{}.{suffix}.json", name_of(file)));
    let _writing = writing();
    let mut written = NewFile::create(&path)?;
    evidence.write(&mut written)?;
    written.finish()?;
    Ok(path)
}

/// The name of evidence about a file. Programs of one name in different folders keep apart by the
/// folder's name, and no name begins with a dot, which `*` passes over.
fn name_of(file: &str) -> String {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        Component::ParentDir => Some("up".to_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    let parts: Vec<String> = Path::new(file).components().filter_map(part).collect();
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let name = parts.join("_").replace(|c: char| !is_kept(c), "_");
    name.trim_matches('_').trim_start_matches(['.', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn no_name_of_evidence_is_hidden() {
        for (file, name) in [
            ("models/a.pal", "models_a.pal"),
            ("./a.pal", "a.pal"),
            ("../b/a.pal", "up_b_a.pal"),
            ("/tmp/./a b.pal", "tmp_a_b.pal"),
            (".a.pal", "a.pal"),
            ("-", "-"),
        ] {
            assert_eq!(name_of(file), name, "{file}");
        }
    }
}
