//! The README's sessions are real: every command in them prints what stands below it.

use std::path::Path;
use std::process::Command;

/// A command of a session with the lines below it; a line `…` stands for any lines.
pub(crate) struct Shown {
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
}

/// The commands in the `console` blocks of a text.
pub(crate) fn sessions(readme: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown { command: command.to_owned(), output: Vec::new() }),
                None => found.last_mut().expect("a session begins with a command").output.push(line.to_owned()),
            },
            _ => {}
        }
    }
    found
}

/// Whether the lines are as shown.
pub(crate) fn matches(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines.first().is_some_and(|line| line.trim_end() == first) && matches(rest, &lines[1..]),
    }
}

#[test]
fn sessions_are_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README can be read");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let sessions = sessions(&readme);
    assert!(sessions.len() >= 6, "the README shows {} commands", sessions.len());
    for Shown { command, output } in sessions {
        // Files the commands write go to a folder of their own.
        let place = folder.path().to_str().expect("a plain path");
        let words: Vec<String> = command.split_whitespace().map(|word| word.replace("evidence", place)).collect();
        assert_eq!(words[0], "palisade", "{command}");
        let run = Command::new(env!("CARGO_BIN_EXE_palisade")).args(&words[1..]).current_dir(root).output();
        let run = run.expect("the program runs");
        let text = String::from_utf8(run.stdout).expect("UTF-8").replace(place, "evidence");
        let mut lines: Vec<&str> = text.lines().collect();
        let mut shown = output.as_slice();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        while shown.last().is_some_and(String::is_empty) {
            shown = &shown[..shown.len() - 1];
        }
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(matches(shown, &lines), "$ {command}\n{text}\n{errors}\nis not what the README shows");
    }
}
