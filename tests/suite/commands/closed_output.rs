//! Standard output and standard error that nobody reads any more: no command panics, and the exit
//! status is the answer's.

use std::path::Path;
use std::process::{Command, Stdio};

const BROKEN: &str =
    "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
const NET: &str = "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p = 1, q = 0\ntarget\n q >= 1\n";

/// The exit status with both outputs closed from the beginning.
fn status(folder: &Path, line: &str) -> Option<i32> {
    let closed = || {
        let (_, writer) = std::io::pipe().expect("a pipe");
        Stdio::from(writer)
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).args(line.split(' ')).stdin(Stdio::null()).stdout(closed()).stderr(closed());
    command.status().expect("the command runs").code()
}

#[test]
fn no_command_minds_closed_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sb.litmus"), BROKEN).expect("a file");
    std::fs::write(folder.path().join("n.spec"), NET).expect("a file");
    std::fs::write(folder.path().join("bad.pal"), "program").expect("a file");
    for (line, expected) in [
        ("check sb.litmus", 1),
        ("check sb.litmus --json", 1),
        ("check sb.litmus sb.litmus", 1),
        ("check bad.pal", 2),
        ("fences sb.litmus", 0),
        ("fences sb.litmus --diff", 0),
        ("witness sb.litmus", 1),
        ("witness sb.litmus --svg", 1),
        ("simulate sb.litmus", 0),
        ("simulate missing.litmus", 2),
        ("net sb.litmus", 0),
        ("cover n.spec", 1),
        ("convert sb.litmus --to native", 0),
        ("check sb.litmus --certificate evidence", 1),
        ("verify evidence/sb.litmus.violation.json", 0),
        ("verify sb.litmus", 4),
        ("--help", 0),
        ("nonsense", 2),
    ] {
        assert_eq!(status(folder.path(), line), Some(expected), "palisade {line}");
    }
}
