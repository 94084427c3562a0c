//! Nets in the formats of other tools, and the command lines that name them.

use super::run::NetQuestion;
use crate::cli::asked;
use crate::cli::files::write_together;
use crate::net::{self, Format};
use crate::syntax::InputError;
use std::path::{Path, PathBuf};

/// The folders' names begin with this, the number of the process follows.
const FOLDER: &str = "palisade-bench-";

/// Removes the folders of benchmarks that were killed, where the system tells which processes there
/// are (Linux).
fn remove_abandoned() {
    let processes = Path::new("/proc");
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries.filter(|_| processes.join("self").exists()) {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(FOLDER)?.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            // Another user's stays.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Nets rewritten in other tools' formats, in a folder that goes away with it.
pub(super) struct Conversions {
    folder: PathBuf,
}

impl Conversions {
    pub(super) fn new() -> Result<Self, InputError> {
        remove_abandoned();
        let folder = std::env::temp_dir().join(format!("{FOLDER}{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| {
            InputError::file(folder.display().to_string(), format!("cannot be made for rewritten nets: {error}"))
        })?;
        Ok(Self { folder })
    }

    /// The command with paths in place of what stands in braces.
    pub(super) fn fill_in(&self, command: &str, asked: &NetQuestion) -> Result<String, String> {
        let mut filled = command.replace("{}", &quoted(&asked.net));
        if let Some(property) = &asked.property {
            filled = filled.replace("{property}", &quoted(Path::new(&property.id)));
        }
        for format in Format::ALL {
            let mark = format!("{{{}}}", format.extension());
            if filled.contains(&mark) {
                let (rewritten, query) = self.rewritten(asked, format)?;
                filled = filled.replace(&mark, &quoted(&rewritten));
                if let Some(query) = query {
                    filled = filled.replace("{query}", &quoted(&query));
                }
            }
        }
        Ok(filled)
    }

    /// The net, and its question where that has a file of its own, in another format. Written once.
    fn rewritten(&self, asked: &NetQuestion, format: Format) -> Result<(PathBuf, Option<PathBuf>), String> {
        let key = crate::evidence::sha256(asked.name().as_bytes());
        let path = self.folder.join(format!("{}.{}", &key[..16], format.extension()));
        let query = format.query().map(|query| path.with_extension(query.extension()));
        if !path.is_file() {
            let loaded = asked
                .options()
                .read(&asked.net.to_string_lossy())
                .map_err(|error| error.render(false).lines().next().unwrap_or_default().to_owned())?;
            if loaded.reach.is_some() {
                return Err("a question of reachability cannot be rewritten; `{}` is the net as it is".to_owned());
            }
            let written = net::write(&loaded.problem, format).map_err(|error| error.to_string())?;
            write_together(&written.files(&path, format))
                .map_err(|error| format!("the rewritten net cannot be written: {error}"))?;
        }
        Ok((path, query))
    }
}

impl Drop for Conversions {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A path as one word for the shell.
fn quoted(path: &Path) -> String {
    asked::quoted(&path.display().to_string())
}
