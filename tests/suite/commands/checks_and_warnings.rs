//! What is checked against the domain, what is warned of, and what options change.

use palisade::cli::ProgramOptions;
use palisade::program::{Copies, DomainOrigin, SourceText};
use palisade::report::documents::ErrorDocument;
use palisade::syntax::{Diagnostic, Format, InputError, read};
use std::io::Write;

fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let source = SourceText::new("test", text);
    let show = |diagnostic: &Diagnostic| {
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}: {}{help}", source.slice(diagnostic.span), diagnostic.message)
    };
    diagnostics.iter().map(show).collect()
}

/// Warnings, or errors in an `Err`.
fn native(text: &str) -> Result<Vec<String>, Vec<String>> {
    match read(SourceText::new("test", text), Format::Native) {
        Ok(parsed) => Ok(shown(text, &parsed.warnings)),
        Err(errors) => Err(shown(text, &errors)),
    }
}

fn trencher(text: &str) -> Vec<String> {
    shown(text, &read(SourceText::new("test", text), Format::Trencher).expect("the text is right").warnings)
}

fn body(header: &str, lines: &str) -> Result<Vec<String>, Vec<String>> {
    native(&format!("program p {header} thread t regs r, s init a begin {lines} end"))
}

#[test]
fn constants_outside_the_domain() {
    assert_eq!(
        body("domain 0..7", "a: mem[x] <- 9; b: r <- 2 - 3; c: r <- cas(mem[x], 8, 10); d: r <- 8 / 0;"),
        Err([
            "9: the value 9 is outside the domain 0..7",
            "b: r <- 2 - 3;: the value -1 is outside the domain 0..7",
            "8: the value 8 is outside the domain 0..7",
            "10: the value 10 is outside the domain 0..7",
            "d: r <- 8 / 0;: division by zero",
        ]
        .map(str::to_owned)
        .to_vec())
    );
    // Conditions and addresses are no data; what an expression computes in between is not either.
    assert_eq!(body("domain 0..7", "a: assert s < 8; b: r <- mem[99]; c: s <- (r + 9) % 8;"), Ok(vec![]));
    assert_eq!(
        body("domain 0..7", "a: r <- mem[x]; b: assert r = 8;"),
        Ok(vec!["8: no register has the value 8: it is outside the domain 0..7".to_owned()])
    );
}

#[test]
fn constants_wrap_with_a_warning() {
    assert_eq!(
        body("domain -2..1 wrap", "a: mem[x] <- 3; b: r <- mem[9]; c: assert r = -3;"),
        Ok(vec![
            "3: the constant 3 wraps to -1 in the domain -2..1".to_owned(),
            "3: the constant -3 wraps to 1 in the domain -2..1".to_owned(),
        ])
    );
}

#[test]
fn address_numbers_as_data() {
    let lines = "a: r <- y; b: s <- y; c: assert r = s;";
    assert_eq!(
        body("domain 0..3 address y = 5", lines),
        Err(vec![
            "y: the value 5 is outside the domain 0..3".to_owned(),
            "y: the value 5 is outside the domain 0..3".to_owned()
        ])
    );
    assert_eq!(
        body("domain 0..3 wrap address y = 5", "a: r <- y; b: mem[y] <- r;"),
        Ok(vec!["y: the number 5 of the address `y` wraps to 1 in the domain 0..3".to_owned()])
    );
    assert_eq!(
        body("domain 0..3 address y = 5", "a: r <- mem[y]; b: assert r = y;"),
        Ok(vec!["y: the number 5 of the address `y` is outside the domain 0..3".to_owned()])
    );
}

#[test]
fn initial_values_and_any_values() {
    assert_eq!(
        native("program p domain 0..3 address x initial x = 4 thread t init a begin a: mfence end"),
        Err(vec!["x: the initial value 4 of `x` is outside the domain 0..3".to_owned()])
    );
    let text = "program p domain 0..3 wrap address x initial x = 4 thread t init a begin a: mfence end";
    let parsed = read(SourceText::new("test", text), Format::Native).unwrap();
    assert_eq!(shown(text, &parsed.warnings), ["x: the initial value 4 of `x` wraps to 0 in the domain 0..3"]);
    assert!(parsed.program.initial_memory.is_empty());
    let help = "declare one, `domain 0..3`, or say `--domain 0..3`";
    assert_eq!(
        body("", "a: r <- *;"),
        Err(vec![format!("a: r <- *;: any value of the domain: but no domain is declared ({help})")])
    );
    assert_eq!(body("domain 0..1", "a: r <- *;"), Ok(vec![]));
}

#[test]
fn control_flow_that_is_hardly_meant() {
    assert_eq!(
        body("", "a: nop; goto c; b: nop; goto b2; b2: nop; goto b; c: nop;"),
        Ok(vec!["b: nothing leads to the label `b` of `t`".to_owned()])
    );
    assert_eq!(
        body("", "a: nop; goto entre; enter: nop; goto a;"),
        Ok(vec![
            "entre: `t` stops at `entre`, a label without instructions (did you mean `enter`?)".to_owned(),
            "enter: nothing leads to the label `enter` of `t`".to_owned(),
        ])
    );
    // A weak exchange leads to where it goes when it fails for no reason.
    let weak = "a: r <- weak_cas(mem[x], 0, 1, acquire) else c; b: nop; goto d; c: nop; goto d; d: nop;";
    assert_eq!(body("address x", weak), Ok(vec![]));
    // Final labels that are numbered on are no misspellings.
    assert_eq!(body("", "a: nop; goto q9; q9: nop; goto q10;"), Ok(vec![]));
    assert_eq!(
        trencher(
            "thread t initial q1\ntransition q1 q12 check == flag lag\ntransition q12 q1 read flag 0\ntransition q12 12 noop end"
        ),
        [
            "lag: the register `lag` of `t` is read but never written (did you mean `flag`?)",
            "12: `t` stops at `12`, a label without instructions (did you mean `q12`?)",
        ]
    );
}

#[test]
fn a_load_that_may_have_been_meant() {
    let left = "left: `r` gets the number of the address `left` (a load is `r <- mem[left]`)".to_owned();
    assert_eq!(body("", "a: mem[left] <- 1; b: r <- left; c: assert r = 0; goto a;"), Ok(vec![left]));
    // As a pointer the number is of use.
    assert_eq!(body("", "a: mem[left] <- 1; b: r <- left; c: r <- mem[r]; goto a;"), Ok(vec![]));
    assert_eq!(body("", "a: mem[left] <- 1; b: r <- left; c: mem[right] <- r; goto a;"), Ok(vec![]));
}

#[test]
fn comparisons_that_bind_as_in_c() {
    let lines = |condition: &str| body("", &format!("a: r <- mem[x]; b: s <- mem[y]; c: assert {condition};"));
    let warns = |condition: &str, message: &str, help: &str| {
        assert_eq!(lines(condition), Ok(vec![format!("{condition}: {message} ({help})")]), "{condition}");
    };
    warns("r & 1 = 0", "`r & 1 = 0` is `r & (1 = 0)`", "write `(r & 1) = 0`, or `r & (1 = 0)` if that is meant");
    warns("0 != r ^ s", "`0 != r ^ s` is `(0 != r) ^ s`", "write `0 != (r ^ s)`, or `(0 != r) ^ s` if that is meant");
    warns(
        "(r + 1) | s<2",
        "`(r + 1) | s < 2` is `(r + 1) | (s < 2)`",
        "write `((r + 1) | s) < 2`, or `(r + 1) | (s < 2)` if that is meant",
    );
    let outcome = "which compares the outcome of a comparison";
    warns(
        "r = s = 1",
        &format!("`r = s = 1` is `(r = s) = 1`, {outcome}"),
        "write `r = s && s = 1`, or `(r = s) = 1` if that is meant",
    );
    warns(
        "0 < r <= s",
        &format!("`0 < r <= s` is `(0 < r) <= s`, {outcome}"),
        "write `0 < r && r <= s`, or `(0 < r) <= s` if that is meant",
    );
    warns(
        "r = s < 2",
        &format!("`r = s < 2` is `r = (s < 2)`, {outcome}"),
        "write `r = s && s < 2`, or `r = (s < 2)` if that is meant",
    );
    // Parentheses say what is meant, and so do truth values on both sides.
    for clear in [
        "r & (1 = 0)",
        "(r & 1) = 0",
        "(r = s) = 1",
        "r = (s = 1)",
        "r = 1 & s = 1",
        "r = 1 | s = 1 | r = s",
        "!r & s = 1",
        "(r < 2) ^ s < 2",
        "r = 1 && s = 1 || r < s",
        "r & s",
    ] {
        assert_eq!(lines(clear), Ok(vec![]), "{clear}");
    }
    // A long text warns of some, and is read.
    let many: String = (0..2000).map(|index| format!("l{index}: assert r & s = 0; ")).collect();
    let warnings = native(&format!("program p thread t regs r = 1, s = 1 init l0 begin {many} end"));
    assert!(warnings.is_ok_and(|warnings| (100..1000).contains(&warnings.len())));
}

/// What is printed is read without such a warning.
#[test]
fn printed_comparisons_have_their_parentheses() {
    let text = "program p thread t regs r = 0, s = 0 init a begin
        a: assert r & (s = 0); b: assert (r = s) = 1; c: assert r != (s < 2); d: assert (r & 1) = 0; end";
    let program = read(SourceText::new("test", text), Format::Native).expect("the text is right").program;
    let printed = palisade::syntax::print(&program, Format::Native).expect("it can be printed").text;
    for clear in ["regs r = 0, s = 0", "r & (s = 0)", "(r = s) = 1", "r != (s < 2)", "(r & 1) = 0"] {
        assert!(printed.contains(clear), "{printed}");
    }
    assert_eq!(native(&printed), Ok(vec![]));
}

#[test]
fn numbers_of_addresses_that_hardly_are_meant() {
    let lines = "a: r <- mem[flag]; b: mem[x + r] <- r; c: s <- mem[slot + s];";
    let warning = |declaration: &str, name: &str, initial: &str| {
        let message =
            format!("`address {name} = …` fixes the number of the address `{name}`, not what is stored there");
        format!("{declaration}: {message} (the value at the start is `{initial}`; no number is needed here)")
    };
    assert_eq!(body("address flag = 1, x, slot[2]", lines), Ok(vec![warning("flag = 1", "flag", "initial flag = 1")]));
    assert_eq!(
        body("address flag, x, slot[2] = 7", lines),
        Ok(vec![warning("slot[2] = 7", "slot", "initial slot[0] = 7")])
    );
    // The value is given, or the number is of use.
    assert_eq!(body("address flag = 1, x, slot[2] initial flag = 1", lines), Ok(vec![]));
    for use_of_number in
        ["d: r <- mem[s];", "d: r <- mem[5];", "d: mem[x] <- flag;", "d: r <- flag + 1; e: mem[x] <- r;"]
    {
        assert_eq!(body("address flag = 1, x, slot[2]", &format!("{lines} {use_of_number}")), Ok(vec![]));
    }
    assert_eq!(body("address flag = 9, x, slot[2] initial mem[9] = 1", lines), Ok(vec![]));
}

/// A register with a value in the text is written.
#[test]
fn registers_with_a_value_are_written() {
    let thread = |registers: &str| {
        native(&format!("program p thread t regs r, {registers} init a begin a: r <- mem[x]; b: assert r = me; end"))
    };
    assert_eq!(thread("me = 0"), Ok(vec![]));
    assert_eq!(thread("me = 1"), Ok(vec![]));
    let never = "me: the register `me` of `t` is read but never written";
    assert!(thread("me").is_ok_and(|found| found.len() == 1 && found[0].starts_with(never)));
}

#[test]
fn sections_that_do_not_fit() {
    assert_eq!(
        body("", "a: unlock; b: lock; goto c; b: nop; goto c; c: unlock; goto d; d: lock; e: lock; goto d;"),
        Ok(vec![
            "a: unlock;: `t` can get here without holding the lock, and stops".to_owned(),
            "c: unlock; goto d;: `t` can get here without holding the lock, and stops".to_owned(),
            "d: lock;: `t` can get here while it holds the lock, and stops".to_owned(),
            "e: lock; goto d;: `t` can get here while it holds the lock, and stops".to_owned(),
        ])
    );
    assert_eq!(body("", "a: lock; b: mem[x] <- 1; c: unlock; goto a;"), Ok(vec![]));
}

/// A file with a text; the folder is removed with the first value.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join(name);
    std::fs::File::create(&path).and_then(|mut file| file.write_all(content)).expect("the file is written");
    let path = path.to_str().expect("the path is UTF-8").to_owned();
    (folder, path)
}

fn options(threads: &str, domain: &str, wrap: bool) -> ProgramOptions {
    ProgramOptions {
        from: None,
        threads: threads.split_terminator(',').map(|text| text.parse().expect("copies")).collect(),
        events: Vec::new(),
        posts: None,
        domain: (!domain.is_empty()).then(|| domain.parse().expect("a domain")),
        wrap,
    }
}

fn message(error: &InputError) -> String {
    let error = ErrorDocument::new(error).error;
    format!("{} ({})", error.message, error.help.unwrap_or_default())
}

const TWO: &str = "program p domain 0..3 thread owner regs r init a begin a: mem[x] <- 5; goto a end\n\
                   thread thief [2] regs r init a begin a: r <- mem[x]; goto a end";

#[test]
fn copies_and_domains_from_outside() {
    let (_folder, path) = file("two.pal", TWO.as_bytes());
    let loaded = options("all=*,owner=1", "0..7", false).read(&path).expect("5 is in the domain now");
    assert_eq!(
        loaded.program.threads.iter().map(|thread| thread.copies).collect::<Vec<_>>(),
        [Copies::Exactly(1), Copies::Any]
    );
    assert_eq!(
        loaded.program.domain.map(|domain| (domain.high, domain.wrap, domain.origin)),
        Some((7, false, DomainOrigin::Option))
    );
    // With another constant it would be another program.
    let wrapping = message(&options("", "", true).read(&path).expect_err("5 does not fit"));
    assert!(wrapping.starts_with("the constant 5 does not fit the domain 0..3, which an option gives"), "{wrapping}");
    let loaded = options("owner=0", "", false).read(&path).expect("what runs is in the domain");
    assert_eq!(loaded.warnings.len(), 0);
    let refused = |threads: &str, path: &str| message(&options(threads, "", false).read(path).expect_err("refused"));
    assert_eq!(refused("thief=3", &path), "the value 5 is outside the domain 0..3 ()");
    assert_eq!(refused("theif=3", &path), "the program has no thread named `theif` (did you mean `thief`?)");
    assert_eq!(refused("x=3", &path), "the program has no thread named `x` (the threads are `owner`, `thief`)");
    assert_eq!(refused("all=0", &path), "every thread is left out ()");
    let (_folder, plain) = file("plain.txt", b"thread t initial a transition a a noop end");
    let error = options("", "", true).read(&plain).expect_err("nothing to wrap into");
    assert_eq!(message(&error), "there is no domain to wrap into (say `--domain LOW..HIGH` as well)");
}

#[test]
fn files_that_cannot_be_read() {
    let refused = |path: &str| message(&options("", "", false).read(path).expect_err("refused"));
    let (folder, path) = file("two.unknown", TWO.as_bytes());
    let help =
        "say `--from native`, `--from trencher`, `--from litmus`, `--from memorax`, `--from tpl` or `--from machine`";
    assert_eq!(refused(&path), format!("the extension does not tell the format ({help})"));
    let missing = folder.path().join("missing.pal");
    assert!(refused(missing.to_str().unwrap()).starts_with("cannot be read: "));
    let named = ProgramOptions { from: Some(Format::Trencher), ..ProgramOptions::default() };
    assert_eq!(message(&named.read(folder.path().to_str().unwrap()).unwrap_err()), "is a directory ()");
    let (_folder, empty) = file("empty.pal", b"");
    assert_eq!(refused(&empty), "there is no program in this text ()");
    let (_folder, binary) = file("binary.pal", b"program \xff\xfe");
    assert_eq!(refused(&binary), "is not a text: the byte 0xff is not UTF-8 ()");
}

#[test]
fn a_very_large_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("large.pal");
    std::fs::File::create(&path).and_then(|file| file.set_len(100 << 20)).expect("a sparse file");
    let error = options("", "", false).read(path.to_str().unwrap()).expect_err("refused");
    assert_eq!(message(&error), "is larger than 16 MiB, too large for a program text ()");
}

/// The report names the smaller instances by the copies that are left open.
#[test]
fn a_smallest_instance_has_fewest_copies_of_what_is_left_open() {
    let instance = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["check", "--ask", "robustness"])
            .args(arguments)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find(|line| line.starts_with("instance: ")).expect("a violation").to_owned()
    };
    let mixed = instance(&["models/chase-lev.pal"]);
    assert_eq!(mixed, "instance: owner × 1, thief × 1 (none with fewer copies of the [*] threads has one)");
    let open = instance(&["--threads", "all=*", "models/simple-dekker.pal"]);
    assert!(open.ends_with("(no smaller instance has one)"), "{open}");
}
