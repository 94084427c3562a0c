//! `palisade simulate` from the outside: sentences and computations, herd's log format, JSON,
//! refusals, exit status.

use crate::documents;
use crate::piped::palisade_reading;
use serde_json::Value as Json;
use std::process::Output;

const STORE_BUFFERING: &str = "program SB
thread t1 regs r1 init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r1 <- mem[y]; goto l2;
end
thread t2 regs r2 init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r2 <- mem[x]; goto l2;
end
";

const STORE_BUFFERING_TEST: &str = "X86_64 SB
{
 uint64_t x; uint64_t y;
}
 P0             | P1             ;
 movq $1,(x)    | movq $1,(y)    ;
 movq (y),%rax  | movq (x),%rax  ;
exists (0:rax=0 /\\ 1:rax=0)
";

fn simulate(text: &str, options: &[&str]) -> Output {
    palisade_reading(&[&["simulate", "-", "--from", "native"], options].concat(), text)
}

fn simulate_test(text: &str, options: &[&str]) -> Output {
    palisade_reading(&[&["simulate", "-", "--from", "litmus"], options].concat(), text)
}

fn json(output: &Output) -> Json {
    documents::read(stdout(output))
}

/// The table below a line that begins so.
fn table<'t>(lines: &'t [String], heading: &str) -> Vec<&'t str> {
    let rest = lines.iter().skip_while(|line| !line.starts_with(heading)).skip(1);
    rest.map(String::as_str).take_while(|line| line.contains(['│', '┼'])).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// The lines of a log without the time, which no run repeats.
fn lines(output: &Output) -> Vec<String> {
    stdout(output).lines().filter(|line| !line.starts_with("Time")).map(str::to_owned).collect()
}

/// Litmus tests get the log that tools for litmus tests read.
#[test]
fn the_log_has_herds_format() {
    let output = simulate_test(STORE_BUFFERING_TEST, &[]);
    let expected = [
        "Test SB Allowed",
        "States 4",
        "0:rax=0; 1:rax=0;",
        "0:rax=0; 1:rax=1;",
        "0:rax=1; 1:rax=0;",
        "0:rax=1; 1:rax=1;",
        "Ok",
        "Witnesses",
        "Positive: 1 Negative: 3",
        "Condition exists (0:rax=0 /\\ 1:rax=0)",
        "Observation SB Sometimes 1 3",
        "",
    ];
    assert_eq!(lines(&output), expected);
    assert_eq!(output.status.code(), Some(0));
    let under_sc = simulate_test(STORE_BUFFERING_TEST, &["--model", "sc"]);
    assert_eq!(lines(&under_sc)[1], "States 3");
    assert_eq!(under_sc.status.code(), Some(1));
    let document = json(&simulate_test(STORE_BUFFERING_TEST, &["--model", "sc", "--json"]));
    assert_eq!((&document["condition_holds"], &document["holds"]), (&false.into(), &false.into()));
}

/// Programs get sentences.
#[test]
fn programs_get_sentences() {
    let output = simulate(STORE_BUFFERING, &[]);
    let expected = [
        "-: final states under TSO",
        "  threads  t1 × 1, t2 × 1",
        "  The program states no property: it has no `ensure`, no `fail` and no `never`.",
        "  4 final states in which every thread has come to its end:",
        "    x = 1, y = 1, t1.r1 = 0, t2.r2 = 0",
        "    x = 1, y = 1, t1.r1 = 0, t2.r2 = 1",
        "    x = 1, y = 1, t1.r1 = 1, t2.r2 = 0",
        "    x = 1, y = 1, t1.r1 = 1, t2.r2 = 1",
    ];
    assert_eq!(lines(&output), expected);
    assert_eq!(output.status.code(), Some(0));
    let under_sc = lines(&simulate(STORE_BUFFERING, &["--model", "sc"]));
    assert_eq!((under_sc[0].as_str(), under_sc.len()), ("-: final states under SC", 7));
    // The report tells copies apart.
    let copies = lines(&simulate(STORE_BUFFERING, &["--threads", "t1=2,t2=0"]));
    assert!(copies.contains(&"    x = 1, y = 0, t1#1.r1 = 0, t1#2.r1 = 0".to_owned()), "{copies:?}");
    // Trencher's automata as well.
    let automaton = "thread t initial a transition a b write 1 7 end";
    let output = palisade_reading(&["simulate", "-", "--from", "trencher"], automaton);
    assert!(lines(&output).contains(&"    mem[7] = 1".to_owned()), "{:?}", lines(&output));
}

/// Cells without a name are part of a final state.
#[test]
fn unnamed_cells_count() {
    let program = "program cells
address x
thread a regs r init l0 begin
  l0: mem[x + 1] <- 1; goto l1;
end
thread b regs r init l0 begin
  l0: mem[x + 1] <- 2; goto l1;
end
";
    let output = lines(&simulate(program, &[]));
    let expected = "  2 final states in which every thread has come to its end:".to_owned();
    assert!(output.contains(&expected), "{output:?}");
    assert!(output.iter().any(|line| line.starts_with("    mem[2] = 1, x = 0, ")), "{output:?}");
    let document = json(&simulate(program, &["--json"]));
    assert_eq!(document["states"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["states"][1]["[2]"], "2");
}

/// A failing property comes with a shortest computation: without the thread that it does not take,
/// without what does not matter, and with the buffers.
#[test]
fn what_fails_is_shown() {
    let program = "program inside
address flag1, flag2, other
thread t1 regs r init raise begin
  raise: mem[flag1] <- 1;
  look: r <- mem[flag2];
  check: ensure r = 1;
  done: mem[other] <- 1;
end
thread t2 regs r init raise begin
  raise: mem[flag2] <- 1;
  look: r <- mem[flag1];
end
thread t3 regs r init spin begin
  spin: r <- mem[other];
  count: mem[other] <- r + 1;
end
";
    let output = simulate(program, &[]);
    let text = lines(&output);
    assert_eq!(text[0], "-: fails under TSO");
    assert!(text.contains(&"  `ensure r = 1` at t1 check (line 6) fails.".to_owned()), "{text:?}");
    let shown = table(&text, "violation: `ensure r = 1` at t1 check (line 6)");
    let expected = [
        "    │ t1                               │ buffer of t1 │ line",
        "  ──┼──────────────────────────────────┼──────────────┼───────────────────────────",
        "  1 │ raise: flag1 ← 1 into its buffer │ flag1 = 1    │ 4: raise: mem[flag1] <- 1;",
        "  2 │ look: r ← flag2 = 0              │ flag1 = 1    │ 5: look: r <- mem[flag2];",
        "  3 │ check: violates `ensure r = 1`   │ flag1 = 1    │ 6: check: ensure r = 1;",
    ];
    assert_eq!(shown, expected);
    assert_eq!(output.status.code(), Some(1));
    let document = json(&simulate(program, &["--json"]));
    assert_eq!(document["holds"], false);
    assert_eq!(document["condition_holds"], Json::Null);
    let violation = &document["violations"][0];
    assert_eq!(
        (&violation["thread"], &violation["label"], &violation["line"]),
        (&"t1".into(), &"check".into(), &6.into())
    );
    assert_eq!((&violation["property"], &violation["shortest"]), (&"ensure r = 1".into(), &true.into()));
    let kinds: Vec<&Json> = violation["steps"].as_array().expect("steps").iter().map(|step| &step["kind"]).collect();
    assert_eq!(kinds, ["store", "load", "ensure"]);
}

/// `fail` is a property too; in a loop, and by a thread with several copies, which fails in the
/// same way each.
#[test]
fn fail_is_shown_once_for_each_instruction() {
    let program = "program turns
address x
thread a [2] regs r init look begin
  look: r <- mem[x];
  decide: assert r = 0; goto step;
  decide: assert r = 1; goto stop;
  step: mem[x] <- 1; goto look;
  stop: fail;
end
";
    let output = simulate(program, &["--model", "sc"]);
    let text = lines(&output);
    assert!(text.contains(&"  `fail` at a stop (line 8) is reached.".to_owned()), "{text:?}");
    let headings = text.iter().filter(|line| line.starts_with("violation:")).count();
    assert_eq!(headings, 1, "{text:?}");
    // One copy does it: look, decide, step, look, decide, stop. What it decides, it decides in its
    // registers.
    assert_eq!(table(&text, "violation: `fail` at a#1 stop (line 8)").len(), 2 + 4, "{text:?}");
    let whole = lines(&simulate(program, &["--model", "sc", "-v"]));
    assert_eq!(table(&whole, "violation: `fail` at a#1 stop (line 8)").len(), 2 + 6, "{whole:?}");
    let document = json(&simulate(program, &["--model", "sc", "--json"]));
    assert_eq!(document["violations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn executions_are_counted_apart_from_states() {
    // Two stores of 1 race with a load of the same address: the load reads 0, or 1 from either
    // store, and the stores come in two orders. Where the load reads 0 both orders remain, and
    // where it reads one store as well.
    let race = "program race
thread a regs r init l0 begin l0: mem[x] <- 1; goto l1; end
thread b regs r init l0 begin l0: mem[x] <- 1; goto l1; end
thread c regs r init l0 begin l0: r <- mem[x]; goto l1; end
";
    let states = lines(&simulate(race, &[]));
    let executions = lines(&simulate(race, &["--traces"]));
    let ends = "2 final states in which every thread has come to its end:";
    assert!(states.contains(&format!("  {ends}")), "{states:?}");
    assert!(executions.contains(&format!("  6 executions end in {ends}")), "{executions:?}");
    let document = json(&simulate(race, &["--traces", "--json"]));
    assert_eq!((&document["satisfying"], &document["counted"]), (&6.into(), &"executions".into()));
}

#[test]
fn json_is_one_document() {
    let output = simulate(STORE_BUFFERING, &["--json"]);
    let document = documents::read(stdout(&output));
    assert_eq!(document["schema"], "palisade/simulate/1");
    assert_eq!(document["states"].as_array().map(Vec::len), Some(4));
    assert_eq!(document["states"][0]["0:r1"], "0");
    assert_eq!(document["holds"], true);
}

#[test]
fn stuck_threads_are_shown() {
    let program = "program checks
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
  l2: ensure r != 0; goto l3;
end
thread b regs r init l0 begin
  l0: r <- mem[x]; goto l1;
  l1: assert r = 1; goto l2;
end
";
    let output = simulate(program, &[]);
    let text = lines(&output);
    assert!(text.contains(&"  1 final state in which some thread is stuck.".to_owned()), "{text:?}");
    assert!(text.contains(&"  `ensure r != 0` at a l2 (line 5) fails.".to_owned()), "{text:?}");
    // It gets stuck when it looks before the store has come.
    let shown = table(&text, "stuck: b l1 (line 9) waits for ever");
    assert!(shown.iter().any(|row| row.contains("l0: r ← x = 0")), "{text:?}");
    assert_eq!(output.status.code(), Some(1));
    let document = json(&simulate(program, &["--json"]));
    assert_eq!((&document["holds"], &document["stuck"]), (&false.into(), &1.into()));
    assert_eq!(document["violations"].as_array().map(Vec::len), Some(1));
    let steps = document["deadlock"]["steps"].as_array().expect("a computation");
    assert!(steps.iter().any(|step| step["kind"] == "load" && step["value"] == 0 && step["thread"] == "b"));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let any_number = STORE_BUFFERING.replace("thread t1 ", "thread t1 [*] ");
    assert_eq!(simulate(&any_number, &[]).status.code(), Some(2));
    assert_eq!(simulate(&any_number, &["--threads", "all=2"]).status.code(), Some(0));
    let spinning = "program spin
thread a regs r init l0 begin
  l0: r <- mem[x]; goto l1;
  l1: assert r = 0; goto l0;
  l1: assert r = 1; goto l2;
end
thread b regs r init l0 begin l0: mem[x] <- 1; goto l1; end
";
    let ends = "  1 final state in which every thread has come to its end:".to_owned();
    assert!(lines(&simulate(spinning, &[])).contains(&ends));
    let refused = simulate(spinning, &["--traces"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--steps"));
    let bounded = simulate(spinning, &["--traces", "--steps", "5"]);
    assert!(lines(&bounded).iter().any(|line| line.contains("Threads were stopped")), "{:?}", lines(&bounded));
    let leaves_domain =
        STORE_BUFFERING.replace("program SB", "program SB\ndomain 0..1").replace("mem[x] <- 1;", "mem[x] <- r1 + 2;");
    let error = simulate(&leaves_domain, &[]);
    assert_eq!(error.status.code(), Some(2));
    let text = String::from_utf8_lossy(&error.stderr);
    assert!(text.contains("address `x`: the value 2 is outside the domain 0..1"), "{text}");
    assert!(error.stdout.is_empty());
}

#[test]
fn limits_end_in_unknown() {
    let growing = "program growing
thread a regs r init l0 begin l0: r <- r + 1; goto l0; end
";
    let output = simulate(growing, &["--timeout", "50ms"]);
    assert_eq!(output.status.code(), Some(3));
}
