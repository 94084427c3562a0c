//! Bad input about properties: what is refused, in which words and with which help; and what is
//! only remarked.

use std::path::Path;
use std::process::Command;

/// Writes the inputs of the cases into a folder.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = "program P address x thread t init a begin a: mem[x] <- 1; end\n";
    let right =
        "program R address x thread t regs r init a begin a: mem[x] <- 1; b: r <- mem[x]; c: ensure r = 1; end\n";
    let lost = "program U address x\nthread t regs r init a begin\n  a: r <- mem[x]; goto c;\n  b: ensure r = 1; goto c;\n  c: mem[x] <- 1;\nend\n";
    let growing = "program G address x\nthread t regs r init a begin\n  a: r <- mem[x];\n  b: mem[x] <- r + 1; goto c;\n  c: ensure r < 1000000; goto a;\nend\n";
    let wrong = growing.replace("1000000", "3");
    let fenced = right.replace("b: r", "f: sfence; b: r");
    let litmus = "X86 L\n{ x=0; }\n P0 ;\n MOV [x],$1 ;\n MOV EAX,[x] ;\nexists (0:EAX=1)\n";
    let inside = "program I thread t [2] init a begin a: lock; b: nop; c: unlock; d: nop; end never t at b, t at d\n";
    for (name, text) in [
        ("plain.pal", plain),
        ("right.pal", right),
        ("lost.pal", lost),
        ("growing.pal", growing),
        ("wrong.pal", &wrong),
        ("fenced.pal", &fenced),
        ("l.litmus", litmus),
        ("inside.pal", inside),
    ] {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

/// The exit status, standard output and standard error, without the picture of the text that may
/// stand between the two ends.
fn said(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(line.split(' ')).current_dir(folder).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

const FENCES: &str = "`palisade fences` without `--ask properties` makes it robust";
const FIXED: &str = "fix their number: `--threads all=2`";
/// What grows is compared by order, which a domain that wraps would change.
const BOUND: &str = "bound what grows: let a thread wait, or go another way, before the value is too large";

/// What is refused: the command, the message behind `Error: FILE: ` or on the line of an error in
/// the text, and the help.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "fences --ask properties plain.pal",
        "Error: plain.pal: nothing to prove: the program has no `ensure`, no `fail`, no `never` and no question\n",
        FENCES,
    ),
    (
        "check --ask robustness right.pal --model sc",
        "Error: right.pal: every program is robust against SC",
        "say `--model tso`",
    ),
    (
        "witness right.pal --model sc",
        "Error: right.pal: this command is about robustness against TSO\n",
        "`palisade check --model pso` decides robustness against PSO and shows a violation",
    ),
    (
        "fences right.pal --model pso",
        "Error: right.pal: this command finds fences for robustness against TSO; other models are for properties\n",
        "say `--ask properties` as well",
    ),
    (
        "fences --ask properties right.pal --model sc",
        "Error: right.pal: under SC there is nothing to order, and no fence changes anything\n",
        "say `--model tso` or `--model pso`",
    ),
    (
        "fences --ask properties right.pal --objective pairs --bound 5..3",
        "the range `5..3` is empty: 3 is less than 5",
        "",
    ),
    ("prove right.pal --buffer 0", "a buffer holds 1 store or more", ""),
    ("prove right.pal --only d", "Error: right.pal: no property stands at a label `d`\n", "the labels are `c`, `t.c`"),
    (
        "fences --ask properties right.pal --only d",
        "Error: right.pal: no label of the program matches `d`\n",
        "patterns are `thread.label` with `*` and `?`",
    ),
    (
        "fences --ask properties right.pal --method te",
        "Error: right.pal: this method finds pairs of statements, not fences\n",
        "say `--ask properties --objective pairs` as well",
    ),
    ("fences --ask properties l.litmus --threads all=*", "Error: l.litmus: final states need fixed copies\n", FIXED),
    (
        "fences --ask properties growing.pal",
        "Error: register `r` of thread `t` grows: it takes more than 64 values",
        BOUND,
    ),
    (
        "fences --ask properties inside.pal",
        "Error: this cannot be asked: a thread can hold the lock where the joint control state wants it to stand\n",
        "`palisade simulate` looks at all states of fixed copies",
    ),
];

#[test]
fn what_is_refused() {
    let folder = folder();
    for (line, message, help) in REFUSED {
        let (exit, output, error) = said(folder.path(), line);
        let status = if message.contains(" grows: ") { 3 } else { 2 };
        assert_eq!((exit, output.as_str()), (status, ""), "{line}: {error}");
        assert!(error.to_lowercase().starts_with("error: ") && error.contains(message), "{line}: {error}");
        assert!(error.contains(help), "{line}: {error}");
        // The same as a document on standard output, where the program had to be read to see it.
        if message.starts_with("Error: ") {
            let (exit, output, error) = said(folder.path(), &format!("{line} --json"));
            assert!(
                exit == status && error.is_empty() && output.contains("\"schema\":\"palisade/error/1\""),
                "{line}: {output}{error}"
            );
        }
    }
}

#[test]
fn what_is_remarked() {
    let folder = folder();
    for (line, warning, begin) in [
        ("prove lost.pal", "Warning: nothing leads to the label `b` of `t`\n", "lost.pal: holds under TSO\n"),
        (
            "fences --ask properties lost.pal",
            "Warning: nothing leads to the label `b` of `t`\n",
            "lost.pal: no fence needed\n",
        ),
        ("prove fenced.pal", "Warning: `sfence` has no effect under TSO", "fenced.pal: holds under TSO\n"),
        ("prove fenced.pal --model sc", "Warning: `sfence` has no effect under SC", "fenced.pal: holds under SC\n"),
        (
            "fences --ask properties fenced.pal",
            "Warning: `sfence` has no effect under TSO",
            "fenced.pal: no further fence needed\n",
        ),
        ("prove fenced.pal --model pso", "", "fenced.pal: holds under PSO\n"),
        ("check right.pal --model tso", "", "right.pal: holds under TSO, robust\n"),
    ] {
        let (exit, output, error) = said(folder.path(), line);
        assert_eq!((exit, error.contains(warning)), (0, true), "{line}: {error}");
        assert!(output.starts_with(begin) && (warning.is_empty() == error.is_empty()), "{line}: {output}{error}");
    }
}

/// What cannot be decided is unknown, and says why.
#[test]
fn what_is_not_decided() {
    let folder = folder();
    for (line, words) in [
        ("prove l.litmus --threads all=*", "unknown, final states need fixed copies: `--threads all=2`"),
        ("prove growing.pal", "unknown, register `r` of thread `t` grows: it takes more than 64 values"),
        ("prove growing.pal", BOUND),
        ("prove inside.pal", "unknown, a thread can hold the lock where the joint control state wants it to stand"),
    ] {
        let (exit, output, error) = said(folder.path(), line);
        assert_eq!((exit, error.as_str()), (3, ""), "{line}: {output}");
        assert!(output.contains(words), "{line}: {output}");
    }
}

/// A violation that is found first wins over values that grow; where interleavings violate a
/// property, that is an answer.
#[test]
fn what_is_violated() {
    let folder = folder();
    let (exit, output, _) = said(folder.path(), "prove wrong.pal");
    assert!(exit == 1 && output.starts_with("wrong.pal: violated under TSO\n"), "{output}");
    let (exit, output, error) = said(folder.path(), "fences --ask properties wrong.pal");
    assert!(exit == 1 && error.is_empty(), "{output}{error}");
    assert!(output.starts_with("wrong.pal: no fence helps: violated under SC\n") && output.contains("│"), "{output}");
}
