//! What `palisade check` says while it runs: a line of progress in a terminal, a hint that values
//! may be growing, and colours where the options say so.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

/// Three counters in a circle: their values grow, and there are many configurations before one has
/// taken 64 of them.
const COUNTERS: &str = "program Counters
thread t1 regs r, s init a begin
  a: r <- r + 1; b: mem[x] <- r; c: s <- mem[y]; goto a;
end
thread t2 regs r, s init a begin
  a: r <- r + 1; b: mem[y] <- r; c: s <- mem[z]; goto a;
end
thread t3 regs r, s init a begin
  a: r <- r + 1; b: mem[z] <- r; c: s <- mem[w]; goto a;
end
";

const HINT: &str = "may be growing; try `--domain 0..7 --wrap`";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("counters.pal"), COUNTERS).expect("a file");
    folder
}

fn palisade(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder.path()).args(arguments).output().expect("the command runs")
}

/// The hint comes while the check runs, whether or not somebody sits at a terminal. What is known
/// to be a counter is refused before.
#[test]
fn growing_values_are_hinted_at_before_the_end() {
    let folder = folder();
    let mut check = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(folder.path())
        .args(["check", "counters.pal", "--no-counters", "--timeout", "60s", "--values", "100000"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut first = String::new();
    let mut complaints = BufReader::new(check.stderr.take().expect("standard error is a pipe"));
    complaints.read_line(&mut first).expect("standard error is text");
    let runs = check.try_wait().expect("its state is known").is_none();
    check.kill().expect("it can be ended");
    check.wait().expect("it ends");
    assert!(first.starts_with('`') && first.contains(HINT), "{first}");
    assert!(runs, "the hint came at the end");
}

#[test]
fn nothing_is_hinted_at_where_nobody_wants_it() {
    let folder = folder();
    for option in ["--quiet", "--json"] {
        let run = palisade(
            &folder,
            &["check", "counters.pal", "--no-counters", "--timeout", "2s", "--values", "100000", option],
        );
        assert!(run.stderr.is_empty(), "{run:?}");
    }
    // Values that do not grow.
    let run = palisade(&folder, &["check", "counters.pal", "--timeout", "2s", "--domain", "0..7", "--wrap"]);
    assert!(run.stderr.is_empty(), "{run:?}");
}

/// What `check` writes to a terminal, made by util-linux's `script`; nothing where that does not
/// exist.
fn in_a_terminal(folder: &tempfile::TempDir, arguments: &str) -> Option<String> {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_palisade"));
    let run = Command::new("script")
        .current_dir(folder.path())
        .env("TERM", "xterm")
        .args(["-qec", &command, "/dev/null"])
        .stdin(Stdio::null())
        .output();
    match run {
        Ok(run) if run.status.code().is_some_and(|code| code < 5) => {
            Some(String::from_utf8_lossy(&run.stdout).into_owned())
        }
        other => {
            eprintln!("skipped: `script` makes no terminal: {other:?}");
            None
        }
    }
}

#[test]
fn one_file_shows_progress_in_a_terminal() {
    let folder = folder();
    let Some(shown) = in_a_terminal(&folder, "check counters.pal --no-counters --timeout 3s --values 100000") else {
        return;
    };
    assert!(shown.contains(" configurations so far"), "{shown:?}");
    // The line is gone before the report is there.
    let report = shown.rfind("counters.pal: unknown").expect("the report");
    assert!(!shown[report..].contains("so far"), "{shown:?}");
    let Some(quiet) = in_a_terminal(&folder, "check counters.pal --no-counters --timeout 2s --values 100000 --quiet")
    else {
        return;
    };
    assert!(!quiet.contains("so far") && !quiet.contains(HINT), "{quiet:?}");
    let model = format!("{}/models/vyukov-queue-4.pal", env!("CARGO_MANIFEST_DIR"));
    let Some(proof) = in_a_terminal(&folder, &format!("prove {model} --timeout 3s")) else { return };
    assert!(proof.contains("deciding properties"), "{proof:?}");
    // What is over at once needs no progress.
    std::fs::write(folder.path().join("small.pal"), "program p thread t init a begin a: mem[x] <- 1; end")
        .expect("a file");
    let Some(small) = in_a_terminal(&folder, "check small.pal") else { return };
    assert!(!small.contains("so far") && small.contains("small.pal: robust"), "{small:?}");
}

#[test]
fn colours_come_when_they_are_asked_for() {
    let folder = folder();
    std::fs::write(folder.path().join("wrong.pal"), "program p thread t init a begin a: nop x; end").expect("a file");
    std::fs::write(folder.path().join("odd.pal"), "program p thread t init a begin a: nop; goto a b: nop end")
        .expect("a file");
    let coloured = |arguments: &[&str]| palisade(&folder, arguments).stderr.contains(&0x1b);
    for file in ["wrong.pal", "odd.pal"] {
        assert!(coloured(&["check", "--color=always", file]), "{file}");
        assert!(coloured(&["--color", "always", "check", file]), "{file}");
        assert!(!coloured(&["check", "--color=never", file]), "{file}");
        assert!(!coloured(&["check", file]), "{file}: a pipe is no terminal");
    }
}
