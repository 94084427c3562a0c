//! Harnesses in Rust sources: the tests of a text, and the snapshots that `cargo palisade` took of
//! them.
//!
//! A snapshot is one of a source if the compiler lists the source among those of the snapshot's
//! binary.

use crate::cli::folder::files_in;
use crate::machine::{SourceTest, image};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where snapshots are, seen from the folder in which somebody asked.
const SNAPSHOTS: &str = "target/palisade";

/// Inside of these the folder of those with the orderings of a language.
const ORDERINGS: &str = "orderings";

/// The snapshot of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The file of roles.
    pub(super) roles: PathBuf,
    /// Whether a source of the package has changed since.
    pub(super) is_older: bool,
}

/// The files of roles for a source: by folder, one for each snapshot of the last time.
pub(super) struct Snapshots {
    path: PathBuf,
    /// How the names of the source's tests begin in its binary.
    prefix: String,
    roles: Vec<PathBuf>,
}

impl Snapshots {
    /// The snapshots of the nearest folder above a source that has some: those of machine code, or
    /// those with the orderings of a language.
    pub(super) fn around(path: &Path, has_orderings: bool) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let store = path.ancestors().map(|folder| folder.join(SNAPSHOTS)).find(|folder| folder.is_dir())?;
        let is_roles = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
        let inner = |folder: PathBuf| if has_orderings { folder.join(ORDERINGS) } else { folder };
        let mut roles: Vec<PathBuf> =
            entries(&store).flat_map(|folder| entries(&inner(folder))).filter(is_roles).collect();
        roles.sort_unstable();
        let prefix = prefix(&path);
        Some(Self { path, prefix, roles })
    }

    /// When the last snapshot was taken, and when a source of the package was changed last.
    pub(super) fn times(&self) -> [Option<SystemTime>; 2] {
        let newest = |paths: &[PathBuf]| paths.iter().filter_map(|path| changed(path)).max();
        let sources = package(&self.path).and_then(|(package, _)| files_in(&package.join("src")).ok());
        [newest(&self.roles), newest(&sources.unwrap_or_default()).max(changed(&self.path))]
    }

    /// The snapshots of a test, one for each of its harnesses: the second harness is called
    /// `name-2`. The newest ones if there are several of one name.
    pub(super) fn of(&self, test: &SourceTest) -> Vec<Snapshot> {
        let name = format!("{}{}", self.prefix, test.name);
        let of_name = |name: String| {
            let named = self.roles.iter().filter(|path| path.file_stem().is_some_and(|own| own == name.as_str()));
            let own = named.filter_map(|roles| Some((changed(roles)?, roles, self.sources(roles)?)));
            let (taken, roles, sources) = own.max_by_key(|(taken, ..)| *taken)?;
            let is_newer = |source: &PathBuf| changed(source).is_none_or(|changed| changed > taken);
            Some(Snapshot { roles: roles.clone(), is_older: sources.iter().any(is_newer) })
        };
        let first = of_name(name.clone());
        let others = (2..).map_while(|number: usize| of_name(format!("{name}-{number}")));
        first.into_iter().chain(others).collect()
    }

    /// The sources of the package, where the binary of a snapshot is made of this one among others.
    fn sources(&self, roles: &Path) -> Option<Vec<PathBuf>> {
        let image = image(roles.to_str()?).ok()?;
        let listed = std::fs::read_to_string(image.with_extension("d")).ok()?;
        let (package, workspace) = package(&self.path)?;
        // Each has a line of its own; blanks in names stand behind backslashes.
        let names = listed.lines().filter_map(|line| line.strip_suffix(':')).map(|name| name.replace("\\ ", " "));
        let mut sources: Vec<PathBuf> = names.filter_map(|name| workspace.join(name).canonicalize().ok()).collect();
        if !sources.contains(&self.path) {
            return None;
        }
        sources.extend(files_in(&package.join("src")).unwrap_or_default());
        Some(sources)
    }
}

/// The folder of the package that a source is in, and that of its workspace, where the compiler
/// stands.
fn package(path: &Path) -> Option<(&Path, &Path)> {
    let manifest = |folder: &&Path| std::fs::read_to_string(folder.join("Cargo.toml"));
    let mut folders = path.ancestors().skip(1).filter(|folder| manifest(folder).is_ok());
    let package = folders.next()?;
    let is_workspace = |folder: &&Path| {
        manifest(folder).is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    let workspace = std::iter::once(package).chain(folders).find(is_workspace);
    Some((package, workspace.unwrap_or(package)))
}

/// How the names of the tests of a source begin: with the modules that its path says.
fn prefix(path: &Path) -> String {
    let package = package(path).map_or(Path::new(""), |(package, _)| package);
    let inner = path.strip_prefix(package).unwrap_or(path).with_extension("");
    let mut names: Vec<String> = inner.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    // `tests/robust.rs`, `tests/robust/main.rs` and `src/bin/tool.rs` are crates of their own.
    let outer = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["src", "bin", ..] | ["tests", _, _, ..] => 2,
        ["tests", _] => return String::new(),
        _ => 1,
    };
    names.drain(..outer.min(names.len()));
    if names.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        names.pop();
    }
    names.iter().flat_map(|name| [name.as_str(), "-"]).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}
