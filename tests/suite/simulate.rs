//! `palisade simulate` from the outside: herd's log format, JSON, refusals, exit status.

use crate::documents;
use crate::piped::palisade_reading;
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

fn simulate(text: &str, options: &[&str]) -> Output {
    palisade_reading(&[&["simulate", "-", "--from", "native"], options].concat(), text)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// The lines of a log without the time, which no run repeats.
fn lines(output: &Output) -> Vec<String> {
    stdout(output).lines().filter(|line| !line.starts_with("Time")).map(str::to_owned).collect()
}

#[test]
fn the_log_has_herds_format() {
    let output = simulate(STORE_BUFFERING, &[]);
    let expected = [
        "Test SB Required",
        "States 4",
        "0:r1=0; 1:r2=0; [x]=1; [y]=1;",
        "0:r1=0; 1:r2=1; [x]=1; [y]=1;",
        "0:r1=1; 1:r2=0; [x]=1; [y]=1;",
        "0:r1=1; 1:r2=1; [x]=1; [y]=1;",
        "Ok",
        "Witnesses",
        "Positive: 4 Negative: 0",
        "Condition forall (true)",
        "Observation SB Always 4 0",
        "",
    ];
    assert_eq!(lines(&output), expected);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(lines(&simulate(STORE_BUFFERING, &["--model", "sc"]))[1], "States 3");
}

#[test]
fn executions_are_counted_apart_from_states() {
    // Two stores of 1 race with a load of the same address: the load reads 0, or 1 from either store, and the
    // stores come in two orders. Where the load reads 0 both orders remain, and where it reads one store as well.
    let race = "program race
thread a regs r init l0 begin l0: mem[x] <- 1; goto l1; end
thread b regs r init l0 begin l0: mem[x] <- 1; goto l1; end
thread c regs r init l0 begin l0: r <- mem[x]; goto l1; end
";
    let states = lines(&simulate(race, &[]));
    let executions = lines(&simulate(race, &["--traces"]));
    let line = |lines: &[String], prefix: &str| lines.iter().find(|line| line.starts_with(prefix)).cloned();
    assert_eq!(line(&states, "Positive"), Some("Positive: 2 Negative: 0".to_owned()));
    assert_eq!(line(&executions, "Positive"), Some("Positive: 6 Negative: 0".to_owned()));
    assert_eq!(line(&states, "States"), line(&executions, "States"));
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
fn violations_and_stuck_threads_are_told() {
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
    let lines = lines(&output);
    assert!(lines.contains(&"Stuck=1".to_owned()), "{lines:?}");
    assert!(lines.contains(&"Violation=a l2".to_owned()), "{lines:?}");
    assert_eq!(output.status.code(), Some(1));
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
    assert_eq!(lines(&simulate(spinning, &[]))[1], "States 1");
    let refused = simulate(spinning, &["--traces"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--steps"));
    let bounded = simulate(spinning, &["--traces", "--steps", "5"]);
    assert!(lines(&bounded).contains(&"Loop Ok".to_owned()));
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
