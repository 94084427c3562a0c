//! Programs of which a single step of a search is long: threads that go through very many local
//! states before they touch memory. Each command ends in time with its verdict or with `unknown`,
//! which the watchdog has no part in: the work itself looks at its limits.

use crate::documents::read;
use crate::environment::sample;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Within this time ends what has a limit of less than a second, on a machine that does much else.
const SOON: Duration = Duration::from_secs(45);

/// A loop in registers that counts to four thousand million.
const COUNTS: &str = "program Counts
domain 0..4294967295
address x, y
thread one {
  x = 1;
  let r = 0;
  while (r < 4000000000) { r++; }
  let s = y;
  ensure s <= 1;
}
thread two {
  y = 1;
  let s = x;
}
";

/// Three choices in a row, of which nothing is forgotten: 2²⁴ local states.
const CHOOSES: &str = "program Chooses
domain 0..255
address x, y
thread one [2] {
  x = 1;
  let a = *;
  let b = *;
  let c = *;
  let s = y;
  x = a + b - c & 255;
  ensure s <= 1;
}
thread two {
  y = 1;
  let s = x;
}
";

/// A choice among as many values as there are.
const WIDE: &str = "program Wide
domain 0..9223372036854775806
address x, y
thread one {
  let a = *;
  x = a;
  let s = y;
  ensure s <= 1;
}
thread two {
  y = 1;
  let s = x;
}
";

/// Any number of copies, each of which chooses.
const CROWD: &str = "program Crowd
domain 0..4095
address x
thread one [*] {
  let a = *;
  x = a;
  let s = x;
  ensure s >= 0;
}
";

/// Handlers that count, and choose.
const EVENTS: &str = "program Events
domain 0..4294967295
address x
event e [2] regs r, s init a begin
  a: r <- 0; goto b;
  b: assume r < 4000000000; goto c;
  b: assume r >= 4000000000; goto d;
  c: r <- r + 1; goto b;
  d: mem[x] <- 1; goto e;
  e: s <- mem[x]; goto f;
end
";

fn ends_in_time(folder: &Path, file: &str, command: &str) {
    let begin = Instant::now();
    let mut words = command.split(' ');
    let run = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .arg(words.next().expect("a command"))
        .arg(file)
        .args(words)
        .args(["--timeout", "400ms", "--memory", "300M", "--json"])
        .env("PALISADE_WITHOUT_WATCHDOG", "1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{file}, {command}: {said}{complaint}");
    assert!(begin.elapsed() < SOON, "{file}, {command}: {:?}", begin.elapsed());
    let document = read(&run.stdout);
    if let Some(peak) = document["statistics"]["peak_memory_bytes"].as_u64() {
        assert!(peak < 600 << 20, "{file}, {command}: {peak} bytes");
    }
}

#[test]
fn one_step_of_a_search_is_bounded_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let threads = [
        "check",
        "check --model pso",
        "check --ask races",
        "check --nets",
        "prove",
        "prove --model sc",
        "prove --model pso",
        "fences",
        "fences --ask properties",
        "fences --ask hangs",
        "check --ask hangs",
        "simulate",
        "witness",
    ];
    for (name, text) in [("counts", COUNTS), ("chooses", CHOOSES), ("wide", WIDE)] {
        let file = format!("{name}.pal");
        std::fs::write(folder.path().join(&file), text).expect("it is written");
        sample(threads.to_vec(), 7).iter().for_each(|command| ends_in_time(folder.path(), &file, command));
    }
    std::fs::write(folder.path().join("crowd.pal"), CROWD).expect("it is written");
    for command in ["check", "prove", "prove --model sc", "fences", "check --ask races", "check --ask hangs"] {
        ends_in_time(folder.path(), "crowd.pal", command);
    }
    ends_in_time(folder.path(), "wide.pal", "check --ask hangs --model sc");
    std::fs::write(folder.path().join("events.pal"), EVENTS).expect("it is written");
    for command in ["check", "check --ask robustness", "fences", "simulate"] {
        ends_in_time(folder.path(), "events.pal", command);
    }
}

/// What a device takes no more of is not read to its end first.
#[cfg(target_os = "linux")]
#[test]
fn results_that_go_to_a_full_device_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("counts.pal"), COUNTS.replace("4000000000", "4")).expect("it is written");
    let run = |line: &str| {
        let words = line.split(' ');
        Command::new(env!("CARGO_BIN_EXE_palisade")).args(words).current_dir(folder.path()).output().expect("it runs")
    };
    assert!(run("plan check counts.pal -o jobs.jsonl").status.success());
    let refused = run("run jobs.jsonl -o /dev/full");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("/dev/full"), "{refused:?}");
}
