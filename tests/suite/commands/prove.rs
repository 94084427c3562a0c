//! `palisade prove`: what it says, what it refuses, and its evidence.

use std::path::Path;
use std::process::{Command, Output};

const STORE_BUFFERING: &str = "program StoreBuffering
address x, y, done
thread a regs r, s init l0 begin
  l0: mem[x] <- 1;
  l1: r <- mem[y];
  l2: mem[done] <- r + 1;
end
thread b regs r, s init l0 begin
  l0: mem[y] <- 1;
  l1: r <- mem[x];
  l2: s <- mem[done];
  either: ensure s = 0 || r + s > 1;
  sane: ensure r >= 0;
end
";

const LITMUS: &str = "X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = "program N\naddress x\nthread t regs r init a begin\n a: r <- mem[x];\nend\n";
    let growing = "program G\naddress x\nthread t regs r init a begin\n a: r <- mem[x];\n b: mem[x] <- r + 1; goto c;\n \
                   c: ensure r < 1000000; goto a;\nend\n";
    let fails = growing.replace("1000000", "3");
    let fence = STORE_BUFFERING.replace("l1: r <- mem[y];", "f: sfence;\n  l1: r <- mem[y];");
    for (name, text) in [
        ("sb.pal", STORE_BUFFERING),
        ("sb.litmus", LITMUS),
        ("nothing.pal", nothing),
        ("growing.pal", growing),
        ("fails.pal", &fails),
        ("sfence.pal", &fence),
    ] {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

fn palisade(folder: &Path, line: &str) -> Output {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).current_dir(folder).output().expect("it runs")
}

/// The exit status, standard output and standard error.
fn said(folder: &Path, line: &str) -> (i32, String, String) {
    let output = palisade(folder, line);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

#[test]
fn each_property_has_its_line() {
    let folder = folder();
    let (exit, output, _) = said(folder.path(), "prove sb.pal --model sc");
    assert_eq!(exit, 0, "{output}");
    assert_eq!(
        output,
        "sb.pal: holds under SC\n  threads  a × 1, b × 1\n  ensure   b either (line 12): proved (in all interleavings)\n  \
         ensure   b sane (line 13): proved (for all values, in any order)\n"
    );
    let (exit, output, _) = said(folder.path(), "prove sb.pal");
    assert_eq!(exit, 1, "{output}");
    assert!(output.starts_with("sb.pal: violated under TSO\n"), "{output}");
    assert!(output.contains("ensure   b either (line 12): violated, not under SC\n"), "{output}");
    assert!(output.contains("violation: `ensure s = 0 || r + s > 1` at b either (line 12)\n"), "{output}");
    assert!(output.contains("buffer of b"), "{output}");
    let (exit, output, _) = said(folder.path(), "prove sb.pal --only sane --by values");
    assert_eq!((exit, output.lines().count()), (0, 3), "{output}");
}

#[test]
fn a_question_is_answered() {
    let folder = folder();
    let (exit, output, _) = said(folder.path(), "prove sb.litmus");
    assert_eq!(exit, 0, "{output}");
    assert!(output.contains("(0:EAX=0 /\\ 1:EAX=0): Sometimes, not under SC\n"), "{output}");
    assert!(output.contains("final state: exists"), "{output}");
    let (exit, output, _) = said(folder.path(), "prove sb.litmus --model sc");
    assert_eq!(exit, 0, "`Never` of an `exists` is no failure: {output}");
    assert!(output.contains("(0:EAX=0 /\\ 1:EAX=0): Never, proved (in all interleavings)\n"), "{output}");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let folder = folder();
    for (line, message, help) in [
        ("prove sb.pal --only eithr", "no property stands at a label `eithr`", "did you mean `either`?"),
        ("prove sb.pal --buffer 0", "a buffer holds 1 store or more", ""),
        ("prove sb.pal --by nonsense", "invalid value 'nonsense'", ""),
        ("prove sb.pal --model rmo", "invalid value 'rmo'", ""),
        ("prove missing.pal", "missing.pal", ""),
    ] {
        let (exit, output, error) = said(folder.path(), line);
        assert_eq!((exit, output.as_str()), (2, ""), "{line}: {error}");
        assert!(error.contains(message) && error.contains(help), "{line}: {error}");
    }
}

/// Nothing is green that is not known, and nothing is refused that another question has an answer
/// for.
#[test]
fn what_is_not_decided_is_said() {
    let folder = folder();
    for (line, message) in [
        ("prove sb.litmus --threads all=*", "unknown, final states need fixed copies: `--threads all=2`"),
        ("prove growing.pal", "unknown, register `r` of thread `t` grows: it takes more than 64 values"),
        ("prove growing.pal", "  help     "),
    ] {
        let (exit, output, error) = said(folder.path(), line);
        assert_eq!(exit, 3, "{line}: {output}{error}");
        assert!(output.contains(message), "{line}: {output}");
    }
    let (exit, output, _) = said(folder.path(), "prove nothing.pal");
    assert_eq!(
        (exit, output.lines().next()),
        (0, Some("nothing.pal: nothing is stated: there is no `ensure`, no `fail`, no `never` and no question"))
    );
}

#[test]
fn a_violation_wins_over_values_that_grow() {
    let folder = folder();
    let (exit, output, _) = said(folder.path(), "prove fails.pal");
    assert_eq!(exit, 1, "{output}");
    assert!(output.contains("violated"), "{output}");
}

#[test]
fn what_has_no_effect_is_remarked() {
    let folder = folder();
    let (_, _, error) = said(folder.path(), "prove sfence.pal");
    assert!(error.contains("`sfence` has no effect under TSO"), "{error}");
    let (_, _, error) = said(folder.path(), "prove sfence.pal --model pso");
    assert_eq!(error, "");
}

#[test]
fn limits_leave_it_open() {
    let folder = folder();
    let (exit, output, _) = said(folder.path(), "prove sb.pal --only either --timeout 0s");
    assert!(exit == 3 && output.contains("the time limit was reached"), "{output}");
}

#[test]
fn evidence_is_written_and_accepted() {
    let folder = folder();
    let (_, output, _) = said(folder.path(), "prove sb.pal --model pso --certificate evidence --verify --json");
    assert!(output.contains("\"evidence\":{\"verdict\":\"accepted\""), "{output}");
    let files = ["evidence/sb.pal.property.json", "evidence/sb.pal.property-witness-1.json"];
    for file in files {
        assert!(output.contains(file), "{output}");
        let (exit, output, error) = said(folder.path(), &format!("verify {file}"));
        assert_eq!(exit, 0, "{output}{error}");
    }
}

#[test]
fn many_programs_get_a_line_each() {
    let folder = folder();
    for number in 0..9 {
        std::fs::write(folder.path().join(format!("more{number}.pal")), STORE_BUFFERING).expect("it is written");
    }
    let files: Vec<String> = (0..9).map(|number| format!("more{number}.pal")).collect();
    let (exit, output, _) = said(folder.path(), &format!("prove {}", files.join(" ")));
    assert_eq!(exit, 1, "{output}");
    assert!(output.starts_with("more0.pal: violated under TSO, b either (line 12)"), "{output}");
    assert!(output.ends_with("9 programs: 0 hold, 9 violated\n"), "{output}");
}

/// A proof says which values of counters it takes for one.
#[test]
fn proofs_say_how_they_follow_counters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (model, how) in [
        ("arc-upgrade.pal", "(values of `strong` above 1 are one)"),
        ("ticket-lock.pal --domain none", "(tickets of `next_ticket` are only known to differ)"),
    ] {
        let (exit, output, _) = said(root, &format!("prove models/{model}"));
        assert!(exit == 0 && output.contains(how), "{output}");
    }
}
