//! `palisade fences --ask properties` from the outside: reports, JSON, changed texts, refusals,
//! exit status.

use crate::documents;
use crate::piped::palisade_reading;
use std::process::Output;

/// Store buffering with a flag for each thread: under TSO both can enter.
const FLAGS: &str = "program Flags address x, y, inside
thread t1 regs r, s init want begin
  want: mem[x] <- 1;
  look: r <- mem[y];
  wait: assert r = 0;
  enter: s <- fetch_add(mem[inside], 1);
  alone: ensure s = 0;
end
thread t2 regs r, s init want begin
  want: mem[y] <- 1;
  look: r <- mem[x];
  wait: assert r = 0;
  enter: s <- fetch_add(mem[inside], 1);
  alone: ensure s = 0;
end
";

/// Message passing: under PSO the flag can come first.
const MESSAGE: &str = "program Message address data, flag
thread sender init write begin
  write: mem[data] <- 1;
  publish: mem[flag] <- 1;
end
thread receiver regs f, d init read begin
  read: f <- mem[flag];
  sees: assert f = 1;
  take: d <- mem[data];
  whole: ensure d = 1;
end
";

fn fences(text: &str, options: &[&str]) -> Output {
    palisade_reading(&[&["fences", "-", "--from", "native"], options].concat(), text)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is text")
}

#[test]
fn the_report_names_fences_rows_and_proofs() {
    let output = fences(FLAGS, &["--ask", "properties"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for line in [
        "-: 2 fences optimal, cost 2",
        "  for      the properties under TSO",
        "  fence    t1 look (line 4), cost 1",
        "  fence    t2 look (line 11), cost 1",
        "  bound    a valid set costs at least 2:",
        "+  look: mfence; goto look_f;",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
    }
    assert!(text.contains("  proved   ensure t1 alone (line 7): buffers of "), "{text}");
}

#[test]
fn store_fences_under_pso() {
    let output = fences(MESSAGE, &["--ask", "properties", "--model", "pso", "--all"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert!(text.contains("1 store fence optimal, cost 1"), "{text}");
    assert!(text.contains("  sfence   sender publish (line 4), cost 1"), "{text}");
    assert!(text.contains("+  publish: sfence; goto publish_f;"), "{text}");
    // Where sfence costs more than mfence, that is the choice.
    let output = fences(MESSAGE, &["--ask", "properties", "--model", "pso", "--cost", "mfence=1,sfence=1.5"]);
    assert!(stdout(&output).contains("1 fence optimal, cost 1"), "{}", stdout(&output));
    // Under TSO nothing is needed.
    let output = fences(MESSAGE, &["--ask", "properties"]);
    assert!(stdout(&output).contains("no fence needed"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn documents_say_what_the_fences_are_for() {
    let output = fences(MESSAGE, &["--ask", "properties", "--model", "pso", "--json", "--all"]);
    let document = documents::read(stdout(&output));
    assert_eq!(document["for"], "property");
    assert_eq!(document["model"], "pso");
    assert_eq!(document["verdict"], "violated");
    assert_eq!(document["fences"][0]["kind"], "sfence");
    assert_eq!(document["fences"][0]["violates"]["label"], "whole");
    assert_eq!(document["lower_bound"], "1");
    assert_eq!(document["proved"][0]["property"], "ensure d = 1");
    assert_eq!(document["evidence"], "accepted");
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(1));
    let output = fences(FLAGS, &["--json"]);
    let document = documents::read(stdout(&output));
    assert_eq!((&document["for"], &document["model"]), (&"robustness".into(), &"tso".into()));
}

#[test]
fn no_fence_helps_where_interleavings_violate() {
    let racy = FLAGS.replace("  wait: assert r = 0;\n", "");
    let output = fences(&racy, &["--ask", "properties"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(text.starts_with("-: no fence helps: violated under SC\n"), "{text}");
    assert!(text.contains("│") && text.contains("  violated ensure t"), "{text}");
    let output = fences(&racy, &["--ask", "properties", "--json"]);
    assert_eq!(documents::read(stdout(&output))["violated"]["label"], "alone");
}

#[test]
fn restrictions_can_leave_no_set() {
    let output = fences(FLAGS, &["--ask", "properties", "--never", "t1.*"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(text.starts_with("-: no valid set under the restrictions\n"), "{text}");
}

#[test]
fn fences_that_are_there_are_judged() {
    let fenced =
        MESSAGE.replace("  publish:", "  order: sfence;\n  publish:").replace("  take:", "  useless: mfence;\n  take:");
    let output = fences(&fenced, &["--ask", "properties", "--model", "pso", "--redundant"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert!(text.contains("no further fence needed"), "{text}");
    assert!(
        text.contains("    sender order (line 4) needed: without it, ensure receiver whole (line 12) is violated"),
        "{text}"
    );
    assert!(text.contains("    receiver useless (line 10) not needed"), "{text}");
}

#[test]
fn pairs_after_the_paper() {
    for method in ["te", "fi", "robmc", "robmc-et"] {
        let output = fences(FLAGS, &["--ask", "properties", "--objective", "pairs", "--method", method, "--all"]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
        assert!(text.contains("pairs to ban, no fewer do") || text.contains("1 pair to ban, no fewer do"), "{text}");
        assert!(text.contains(&format!("  method   {method}: ")), "{text}");
    }
    let output = fences(FLAGS, &["--ask", "properties", "--objective", "pairs", "--json", "--bound", "1..2"]);
    let document = documents::read(stdout(&output));
    assert_eq!(document["pairs"]["method"], "robmc-et");
    assert_eq!(document["pairs"]["bans"].as_array().map(Vec::len), Some(2), "{document}");
}

#[test]
fn bad_input() {
    let plain = "program P address x\nthread t init a begin a: mem[x] <- 1; end\n";
    for (text, options, message) in [
        (plain, &["--ask", "properties"][..], "nothing to prove"),
        (
            "program P address x thread a init s begin s: mem[x] <- 1; end never a at s",
            &["--ask", "properties", "--objective", "pairs"],
            "no pairs of statements can be found for `never`",
        ),
        (FLAGS, &["--ask", "properties", "--model", "sc"], "nothing to order"),
        (FLAGS, &["--model", "pso"], "fences for robustness against TSO"),
        (FLAGS, &["--cost", "mfence=2,sfence=1"], "costs of kinds of fences are for properties"),
        (FLAGS, &["--ask", "properties", "--cost", "mfence=0"], "not greater than 0"),
        (FLAGS, &["--ask", "properties", "--method", "te"], "not fences"),
        (FLAGS, &["--ask", "properties", "--bound", "1..2"], "for pairs of statements"),
        (FLAGS, &["--no-slice"], "only fences for properties are placed on slices"),
        (FLAGS, &["--ask", "properties", "--objective", "pairs", "--bound", "5..3"], "3 is less than 5"),
        (FLAGS, &["--ask", "properties", "--objective", "pairs", "--method", "fi", "--bound", "1..2"], "have a bound"),
        (FLAGS, &["--ask", "properties", "--objective", "pairs", "--method", "rows"], "finds fences, not pairs"),
        (FLAGS, &["--ask", "properties", "--objective", "pairs", "--diff"], "no text says"),
        (FLAGS, &["--objective", "pairs"], "for properties only"),
        (FLAGS, &["--ask", "properties", "--only", "zzz"], "no label of the program matches `zzz`"),
        (FLAGS, &["--ask", "properties", "--objective", "pairs", "--threads", "all=*"], "fixed numbers of copies"),
    ] {
        let output = fences(text, options);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}{}", stdout(&output), stderr(&output));
        assert!(stderr(&output).contains(message), "{options:?}: {}", stderr(&output));
    }
}

#[test]
fn questions_of_litmus_tests() {
    let test = "X86_64 SB\n{\n uint64_t x; uint64_t y;\n}\n P0             | P1             ;\n movq $1,(x)    | movq $1,(y)    ;\n movq (y),%rax  | movq (x),%rax  ;\nexists (0:rax=0 /\\ 1:rax=0)\n";
    let output = palisade_reading(&["fences", "-", "--from", "litmus", "--ask", "properties"], test);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert!(text.contains("2 fences optimal, cost 2") && text.contains("mfence"), "{text}");
    let any = palisade_reading(&["fences", "-", "--from", "litmus", "--ask", "properties", "--threads", "all=*"], test);
    assert_eq!(any.status.code(), Some(2));
    assert!(stderr(&any).contains("final states need fixed copies"), "{}", stderr(&any));
}
