//! No circles: modules that stand side by side do not import each other, not even by way of others.
//!
//! A module may import its parent and its children, and belongs to both. Tests inside files may
//! import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The sources that are held to this.
const HELD: [&str; 14] = [
    "src",
    "crates/palisade-coverability/src",
    "crates/palisade-exploration/src",
    "crates/palisade-engine/src",
    "crates/palisade-concurrency/src",
    "crates/palisade-report/src",
    "crates/palisade-exports/src",
    "crates/palisade-net-formats/src",
    "crates/palisade-model/src",
    "crates/palisade-semantics/src",
    "crates/palisade-evidence/src",
    "crates/palisade-verify/src",
    "crates/palisade-invariants/src",
    "crates/palisade-syntax/src",
];

/// A module's place in its crate: the names on the way from the root.
type ModulePath = Vec<String>;

/// The modules of a folder, each with its file or folder.
fn modules(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut modules = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() || !["mod", "lib", "tests"].contains(&name.as_str()) {
            modules.insert(name, entry);
        }
    }
    modules
}

/// The files of a module.
fn files(module: &Path) -> Vec<PathBuf> {
    if module.is_file() {
        return vec![module.to_owned()];
    }
    let entries = std::fs::read_dir(module).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|entry| files(&entry)).collect()
}

/// The code of a file: without comments, and without what follows the first line for tests alone.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// All names that a tree such as `a::{b, c::{d, e as f}}` stands for, as paths from where it
/// begins.
fn expand(tree: &str) -> Vec<ModulePath> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap();
        return vec![path.split("::").map(|name| name.trim().to_owned()).collect()];
    };
    let prefix: ModulePath = tree[..open].split("::").map(|name| name.trim().to_owned()).collect();
    let prefix = &prefix[..prefix.len() - 1];
    let inside = &tree[open + 1..tree.rfind('}').expect("a group ends")];
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (index, letter) in inside.char_indices().chain([(inside.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let member = &inside[start..index];
                if !member.trim().is_empty() {
                    paths.extend(expand(member).into_iter().map(|path| [prefix, &path].concat()));
                }
                start = index + 1;
            }
            _ => {}
        }
    }
    paths
}

/// All paths in a text that start with `crate` or `super`: in `use` statements and elsewhere.
fn paths(text: &str) -> Vec<ModulePath> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::"].iter().flat_map(|start| text.match_indices(start).map(|(index, _)| index)) {
        if text[..start].ends_with(|c| is_name(c) || c == ':') {
            continue;
        }
        let end = text[start..].find(|c| !is_name(c) && c != ':').map_or(text.len(), |end| start + end);
        let is_group = text[start..end].ends_with("::") && text[end..].starts_with('{');
        let end = if is_group { text[end..].find(';').map_or(text.len(), |length| end + length) } else { end };
        found.extend(expand(&text[start..end]));
    }
    found
}

/// A path from the root of the crate, as seen from a module.
fn resolve(path: &[String], from: &[String]) -> ModulePath {
    if path[0] == "crate" {
        return path[1..].to_vec();
    }
    let up = path.iter().take_while(|name| *name == "super").count();
    [&from[..from.len().saturating_sub(up)], &path[up..]].concat()
}

/// The place of a file's module.
fn module_path(root: &Path, file: &Path) -> ModulePath {
    let relative = file.strip_prefix(root).unwrap().with_extension("");
    let mut names: ModulePath =
        relative.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// The names that a folder's root file takes from its modules, each with its module.
fn passed_on(folder: &Path) -> BTreeMap<String, String> {
    let root = ["mod.rs", "lib.rs"].map(|name| folder.join(name)).into_iter().find(|file| file.exists());
    let text = root.map_or(String::new(), |file| code(&file));
    let statements = text.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
    let names = statements.flat_map(expand).filter(|path| path.len() > 1);
    names.map(|path| (path[path.len() - 1].clone(), path[0].clone())).collect()
}

/// The circles among the modules of a folder and of the folders in it.
fn circles(root: &Path, folder: &Path) -> Vec<String> {
    let modules = modules(folder);
    let place = folder.strip_prefix(root).unwrap();
    let base: ModulePath = place.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
    let passed_on = passed_on(folder);
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, module) in &modules {
        for file in files(module) {
            let from = module_path(root, &file);
            for path in paths(&code(&file)).into_iter().map(|path| resolve(&path, &from)) {
                let Some(member) = path.strip_prefix(&base[..]).and_then(|rest| rest.first()) else { continue };
                let imported = if modules.contains_key(member) { Some(member) } else { passed_on.get(member) };
                if let Some((other, _)) = imported.and_then(|other| modules.get_key_value(other)) {
                    imports.entry(name).or_default().insert(other);
                }
            }
        }
    }
    let reaches = |from: &str, to: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            let next = imports.get(module).into_iter().flatten().filter(|next| **next != module);
            open.extend(next.filter(|next| seen.insert(**next)));
        }
        seen.contains(to)
    };
    let mut found: Vec<String> = modules
        .keys()
        .filter(|name| reaches(name, name))
        .map(|name| format!("{}: {name} imports itself by way of {:?}", folder.display(), imports[name.as_str()]))
        .collect();
    let inner = modules.values().filter(|module| module.is_dir());
    found.extend(inner.flat_map(|module| circles(root, module)));
    found
}

#[test]
fn modules_side_by_side_do_not_import_each_other() {
    let roots = HELD.map(|held| Path::new(env!("CARGO_MANIFEST_DIR")).join(held));
    let found: Vec<String> = roots.iter().flat_map(|root| circles(root, root)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn imports_are_read() {
    let text = "use super::{a::{B, c::D}, E};\nfn f() { crate::g::h::<u8>() }\npub(super) fn i() {}";
    let from: ModulePath = ["x".to_owned(), "y".to_owned()].into();
    let read: BTreeSet<String> = paths(text).iter().map(|path| resolve(path, &from).join("::")).collect();
    let expected = ["g::h::", "x::E", "x::a::B", "x::a::c::D"].map(str::to_owned);
    assert_eq!(read, BTreeSet::from(expected));
}
