//! What a command cannot do is refused in words that say what to do, and never answered as another
//! question.

use std::path::Path;
use std::process::Command;

const LOCK: &str = "program P\naddress x\nthread t { x = 1; ensure x == 1; }\n";

/// The exit status, and what is said on standard error.
fn said(folder: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let run = command.args(line.split(' ')).current_dir(folder).output().expect("the program runs");
    (run.status.code(), String::from_utf8(run.stderr).expect("UTF-8"))
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    write("lock.pal", LOCK);
    write("one.lola", "PLACE p, q;\nMARKING p: 1;\nTRANSITION t CONSUME p: 1; PRODUCE q: 1;\n");
    write(
        "many.spec",
        "vars\n  p q\nrules\n  p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n  p >= 1, q = 0\ntarget\n  q >= 1\n",
    );
    write("one.formula", "EF (p = 0 AND q = 1)\n");
    std::fs::create_dir(folder.path().join("programs")).expect("a folder");
    for (line, words) in [
        ("fences --ask concurrency lock.pal", "is about events, and the program has none"),
        ("fences --apply --diff lock.pal", "cannot be used with"),
        ("witness lock.pal -o picture.png", "there is no form of that name"),
        ("witness lock.pal --ask hangs", "this command shows violations of robustness"),
        ("witness lock.pal --model pso", "this command is about robustness against TSO"),
        ("simulate programs", "this is a folder"),
        ("simulate nowhere", "there is no such file"),
        ("cover one.lola --strategy backward", "strategies are for coverability"),
        ("cover many.spec --query one.formula", "many initial markings, and reachability is asked of one"),
    ] {
        let (status, error) = said(folder.path(), line);
        assert!(status == Some(2) && error.contains(words), "{line}: {status:?} {error}");
    }
    assert!(!folder.path().join("picture.png").exists());
    let help = Command::new(env!("CARGO_BIN_EXE_palisade")).args(["witness", "--help"]).output().expect("it runs");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    assert!(help.contains("- c11:") && !help.contains("- pso:") && !help.contains("- hangs:"), "{help}");
}
