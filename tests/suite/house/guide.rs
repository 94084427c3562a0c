//! The guide's sessions are real: its programs are written to a folder, and every command prints
//! there what stands below it.

use crate::house::readme::{matches, sessions};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The chapters, in the order of the summary.
fn chapters(book: &Path) -> Vec<PathBuf> {
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).expect("the summary can be read");
    let link = |line: &str| Some(book.join(line.split_once("](")?.1.strip_suffix(')')?));
    summary.lines().filter_map(link).collect()
}

/// The files in a chapter: code blocks whose first line names the file in a comment, or the
/// sentence before them, at its end.
fn files(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in text.split("\n```\n").collect::<Vec<_>>().windows(2) {
        let by_comment = block[1].strip_prefix("# ").and_then(|rest| rest.lines().next());
        let by_sentence = block[0].trim_end().strip_suffix("`:").and_then(|before| before.rsplit('`').next());
        let is_name = |name: &&str| name.contains('.') && !name.contains(' ');
        if let Some(name) = [by_comment, by_sentence].into_iter().flatten().find(is_name) {
            found.push((name.to_owned(), format!("{}\n", block[1])));
        }
    }
    found
}

#[test]
fn sessions_of_the_guide_are_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::os::unix::fs::symlink(root.join("models"), folder.path().join("models")).expect("a link to the models");
    let chapters = chapters(&root.join("docs/src"));
    assert!(chapters.len() >= 11, "{chapters:?}");
    let (mut commands, mut programs) = (0, 0);
    for chapter in chapters {
        let text = std::fs::read_to_string(&chapter).unwrap_or_else(|error| panic!("{}: {error}", chapter.display()));
        for (name, text) in files(&text) {
            std::fs::write(folder.path().join(name), text).expect("it is written");
            programs += 1;
        }
        for shown in sessions(&text) {
            let words: Vec<&str> = shown.command.split_whitespace().collect();
            // The stories about crates have a test of their own, as they need a registry.
            if words[0] == "cargo" {
                continue;
            }
            assert_eq!(words[0], "palisade", "{}", shown.command);
            let run =
                Command::new(env!("CARGO_BIN_EXE_palisade")).args(&words[1..]).current_dir(folder.path()).output();
            let run = run.expect("the program runs");
            // What is refused is said on standard error.
            let text = if run.stdout.is_empty() { run.stderr } else { run.stdout };
            let text = String::from_utf8(text).expect("UTF-8");
            let lines: Vec<&str> = text.lines().collect();
            assert!(
                matches(&shown.output, &lines),
                "{}: $ {}\n{text}\nis not what the guide shows",
                chapter.display(),
                shown.command
            );
            commands += 1;
        }
    }
    assert!(commands >= 29 && programs >= 10, "{commands} commands, {programs} programs");
}
