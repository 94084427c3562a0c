//! The command line itself: its help, completions and manual pages.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

const SUBCOMMANDS: [&str; 19] = [
    "bench",
    "check",
    "completions",
    "convert",
    "cover",
    "fences",
    "fmt",
    "lsp",
    "man",
    "merge",
    "net",
    "orderings",
    "plan",
    "prove",
    "run",
    "schema",
    "simulate",
    "verify",
    "witness",
];

fn palisade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).output().expect("it runs")
}

/// What a command prints that has to end well.
fn printed(arguments: &[&str]) -> String {
    let run = palisade(arguments);
    assert_eq!(run.status.code(), Some(0), "{arguments:?}: {run:?}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

#[test]
fn help_names_every_subcommand_and_its_options() {
    let all = printed(&["--help"]);
    assert!(all.starts_with("Proves concurrent programs robust"), "{all}");
    assert!(all.contains("Exit status:"), "{all}");
    for subcommand in SUBCOMMANDS {
        assert!(all.contains(&format!("\n  {subcommand} ")), "{subcommand}: {all}");
        let help = printed(&[subcommand, "--help"]);
        assert!(help.contains(&format!("Usage: palisade {subcommand}")), "{help}");
        assert!(help.contains("--timeout"), "{help}");
        assert!(!help.starts_with("Options of"), "{help}");
        assert_eq!(help, printed(&["help", subcommand]));
        assert_eq!(printed(&[subcommand, "--version"]).split_whitespace().last(), Some(env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn strategies_are_listed() {
    for subcommand in ["cover", "bench"] {
        let help = printed(&[subcommand, "--help"]);
        let listed = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let names: Vec<&str> = palisade::coverability::strategies().iter().map(|strategy| strategy.name()).collect();
        assert!(listed.contains(&format!("[possible values: {}]", names.join(", "))), "{help}");
    }
    let run = palisade(&["cover", "--strategy", "bakward", "lock.spec"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(2) && said.contains("'backward'"), "{said}");
}

#[test]
fn shared_options_stand_before_a_subcommand_or_after_it() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/simple-dekker.pal");
    for arguments in [["--json", "witness", model], ["witness", "--json", model]] {
        let run = palisade(&arguments);
        assert_eq!(run.status.code(), Some(1), "{run:?}");
        assert_eq!(documents::read(&run.stdout)["verdict"], "not-robust");
    }
}

#[test]
fn wrong_usage_is_refused() {
    for (arguments, hint) in [
        (&["chekc", "a.pal"][..], "'check'"),
        (&["check"], "<FILE>"),
        (&["cover", "--jobs", "0", "a.spec"], "--jobs"),
        (&["man", "covers"], "there are check, prove, fences"),
        (&["man", "cover", "--folder", "pages"], "cannot be used with"),
        (&["completions", "tcsh"], "bash"),
        (&[], "Usage: palisade"),
    ] {
        let run = palisade(arguments);
        let complaint = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        assert!(run.stdout.is_empty() && complaint.contains(hint), "{arguments:?}: {complaint}");
        let run = palisade(&[arguments, &["--json"]].concat());
        assert_eq!((run.status.code(), run.stderr.as_slice()), (Some(2), &[][..]), "{run:?}");
        let document = documents::read(&run.stdout);
        assert_eq!(document["schema"], "palisade/error/1", "{document}");
    }
}

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for subcommand in SUBCOMMANDS {
            assert!(script.contains(subcommand), "{shell}: {subcommand}");
        }
        // An option of one subcommand alone.
        assert!(script.contains("deterministic"), "{shell}: {script}");
        let document = documents::read(printed(&["completions", shell, "--json"]));
        assert_eq!(document["text"], script);
    }
}

/// Bash itself completes a command line.
#[needs::command("bash --version")]
#[test]
fn bash_completes() {
    let complete = "source <(\"$PALISADE\" completions bash)
        COMP_WORDS=(palisade cov); COMP_CWORD=1; _palisade palisade cov palisade; echo \"${COMPREPLY[@]}\"
        COMP_WORDS=(palisade cover --det); COMP_CWORD=2; _palisade palisade --det cover; echo \"${COMPREPLY[@]}\"";
    let run = Command::new("bash").args(["-c", complete]).env("PALISADE", env!("CARGO_BIN_EXE_palisade")).output();
    let run = run.expect("bash starts");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "cover\n--deterministic\n", "{run:?}");
}

#[test]
fn manual_pages_are_written() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pages = folder.path().join("share/man1");
    assert_eq!(printed(&["man", "--folder", pages.to_str().expect("a plain path")]), "");
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).expect("the page was written");
    for subcommand in SUBCOMMANDS {
        let written = page(&format!("palisade-{subcommand}.1"));
        assert!(written.contains(&format!(".TH palisade-{subcommand} 1")), "{written}");
        assert_eq!(written, printed(&["man", subcommand]));
    }
    assert!(page("palisade.1").contains("Exit status"));
    assert_eq!(page("palisade.1"), printed(&["man"]));
    assert_eq!(std::fs::read_dir(&pages).expect("the folder").count(), SUBCOMMANDS.len() + 1);

    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").expect("a file in the way");
    let refused = palisade(&["man", "--folder", Path::new(&blocked).to_str().expect("a plain path")]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
